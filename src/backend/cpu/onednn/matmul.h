// Matrix products through oneDNN, for the lists of the matmul room.
#pragma once

#include <memory>
#include <string>

#include "backend/cpu/kernel.h"

namespace mycel::cpu::onednn {

// Records with operands (a, b) and attributes transpose_a, transpose_b: NumPy's matmul, 1-D
// operands and broadcast batch dimensions included.
std::string matmul_refuses(const Problem& problem);
std::unique_ptr<Prepared> matmul(const Problem& problem);

// One small product on one thread, for kernels that call it for piece after piece:
// y[rows, cols] = a[rows, depth] b[depth, cols], added to y where `add` says so. Strides count
// elements; a column stride is 1 or the row stride is. float32, buffers (a, b, y).
struct Tile {
  int64_t rows = 1, cols = 1, depth = 1;
  int64_t a_row = 1, a_col = 1, b_row = 1, b_col = 1, y_row = 1;
  bool add = false;
};
std::shared_ptr<const Prepared> tile_product(const Tile& tile);

// y = x Wᵀ + b: operands (x[..., i], w[o, i], b?[o]).
std::string dense_refuses(const Problem& problem);
std::unique_ptr<Prepared> dense(const Problem& problem);

}  // namespace mycel::cpu::onednn
