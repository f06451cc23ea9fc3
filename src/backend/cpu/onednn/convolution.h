// Convolutions of 1 to 3 spatial dimensions through oneDNN: forward, gradient of the data (which is
// also transposed convolution) and gradient of the weights. The conv room describes the problem;
// layouts inside are chosen here, where measurement says what is fast.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/cpu/kernel.h"

namespace mycel::cpu::onednn {

// Done to each element of the result before it is stored, in order: with an operand that
// broadcasts against it, or by numbers. ReLU and clipping keep NaN; rounding
// and ranges are for integers.
struct PostOp {
  enum class Kind : int64_t { kAdd, kSub, kMul, kDiv, kLinear, kRelu, kClip, kRange, kRound } kind;
  int at = -1;                    // of the operand among the buffers
  DType dtype = DType::kFloat32;  // of the operand
  std::vector<int64_t> dims;      // the operand's: n, spatial…, c, as many as the result has
  double a = 1, b = 0;            // linear: a x + b; clip: min(max(x, 0), a); range: [a, b]
};

// Of contractions of 8-bit integers: dtypes, and what is taken off, multiplied or added on the way,
// by position among the buffers (-1: nothing is). Sums are made float32, multiplied by the scale,
// the float32 bias is added, post-ops follow, then rounding to even and saturation.
struct Integers {
  DType x = DType::kUInt8, w = DType::kInt8, y = DType::kInt32;
  int x_zero_at = -1;  // int32, one number
  int scale_at = -1;   // float32
  bool scale_by_channel = false;
  int32_t y_zero = 0;
};

struct Convolution {
  enum class Pass { kForward, kBackwardData, kBackwardWeights };

  Pass pass = Pass::kForward;
  DType dtype = DType::kFloat32;
  int64_t batch = 1, groups = 1;
  int64_t in_channels = 1, out_channels = 1;  // of all groups together
  // One entry per spatial dimension. `dilation` 1 is dense.
  std::vector<int64_t> in, kernel, out, stride, dilation, pad_begin, pad_end;
  bool bias = false;                 // forward only
  bool channel_last = false;         // x and y are n…c; weights are always o(c/groups)k…
  std::vector<PostOp> post;          // forward and channel last only
  std::optional<Integers> integers;  // forward only; `dtype` is then of no meaning
  // Positions among the buffers; of the three that matter in a pass, one is the result.
  int x_at = 0, w_at = 1, bias_at = 2, y_at = 3;
};

std::string refuses(const Convolution& c);
std::unique_ptr<Prepared> prepare(const Convolution& c);

}  // namespace mycel::cpu::onednn
