// Matrix products and convolutions as steps of a plan: sizes read from the step's numbers and
// checked against the operands' bytes, then run over the threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lite/runtime/threads.h"

namespace mycel::lite {

// y[b, i, j] = clamp(bias[j] + sum_k x[b, i, k] w[b, k, j]), batches broadcast.
// Operands: x, w, bias?, y, scratch for w packed (where it is not), for x transposed.
struct Product {
  int64_t rows = 0, columns = 0, terms = 0;
  bool x_transposed = false, w_transposed = false, packed = false, bias = false;
  std::vector<int64_t> batch, x_stride, w_stride;  // in matrices
  float low = 0, high = 0;

  // rows columns terms flags batches extents... x_strides... w_strides...
  std::string read(std::span<const int64_t> numbers, std::span<const float> reals);
  std::string check(std::span<const uint64_t> bytes) const;
  int64_t batches() const;
  void run(void* const* buffers, Threads& threads) const;
};

// Channels-last convolution; groups of one channel in and out each are "depthwise". Operands: x, w
// (packed), bias?, y, scratch (one row of zeros).
struct Convolution {
  int64_t batch = 0, groups = 0, in_channels = 0, out_channels = 0;
  bool depthwise = false, bias = false;
  std::vector<int64_t> in, kernel, out, stride, dilation, pad;
  float low = 0, high = 0;

  // batch groups in_channels out_channels flags rank in... kernel... out... stride... dilation...
  // pad...
  std::string read(std::span<const int64_t> numbers, std::span<const float> reals);
  std::string check(std::span<const uint64_t> bytes) const;
  void run(void* const* buffers, Threads& threads) const;
};
constexpr int64_t kBiasFlag = 1, kPackedFlag = 2, kXTransposedFlag = 4, kWTransposedFlag = 8,
                  kDepthwiseFlag = 16;

}  // namespace mycel::lite
