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

// y = x Wᵀ + b: operands (x[..., i], w[o, i], b?[o]).
std::string dense_refuses(const Problem& problem);
std::unique_ptr<Prepared> dense(const Problem& problem);

}  // namespace mycel::cpu::onednn
