// Which nodes are matrix products or convolutions that the runtime has kernels for, what of the
// following ops those take along, and the numbers that their steps hold
// (lite/runtime/contractions.h).
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "ir/graph.h"
#include "lite/runtime/packing.h"

namespace mycel::lite {

struct Contraction {
  bool convolution = false, depthwise = false;
  ir::Value x, w, bias;
  Packing packing = Packing::kPlain;  // of a weight
  int64_t groups = 1;
  float low = -std::numeric_limits<float>::infinity(),
        high = std::numeric_limits<float>::infinity();
  // of a product
  int64_t rows = 0, columns = 0, terms = 0;
  bool x_transposed = false, w_transposed = false;
  std::vector<int64_t> batch, x_stride, w_stride;
  // of a convolution
  int64_t images = 0, in_channels = 0, out_channels = 0;
  std::vector<int64_t> in, kernel, out, stride, dilation, pad;
};

bool contraction_of(const ir::Node& n, Contraction& c);
// Whether `user`, which reads `y`, becomes part of it: a bias, a ReLU, or both in one. `steady`:
// values known before the network runs.
bool joins(const ir::Node& user, const ir::Value& y, Contraction& c,
           const std::function<bool(const ir::Value&)>& steady);
void write_numbers(const Contraction& c, bool packed, std::vector<int64_t>& numbers,
                   std::vector<float>& reals);
std::vector<uint64_t> scratch_of(const Contraction& c, bool packed);

}  // namespace mycel::lite
