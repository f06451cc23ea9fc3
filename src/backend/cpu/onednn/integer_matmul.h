// Products of matrices of 8-bit integers through oneDNN, with what is done to each element of the
// result before it is stored; for the kernels of the quant room.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/onednn/convolution.h"

namespace mycel::cpu::onednn {

// y[batch, m, n] = a[batch, m, k] b[batch, k, n]; a and y are dense row by row, b too unless it is
// transposed. Channels are columns.
struct IntegerMatmul {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  bool transposed = false;   // b is given as [n, k]
  bool bias = false;         // float32[n]
  std::vector<PostOp> post;  // dims of operands: batch, m, n
  Integers integers;
  int a_at = 0, b_at = 1, bias_at = 2, y_at = 3;
};

std::string refuses(const IntegerMatmul& p);
std::unique_ptr<Prepared> prepare(const IntegerMatmul& p);

}  // namespace mycel::cpu::onednn
