// What the contractions of 8-bit integers share: their scales and zero points as arguments of a
// oneDNN primitive. The descriptions are in convolution.h and integer_matmul.h.
#pragma once

#include <utility>
#include <vector>

#include "backend/cpu/onednn/convolution.h"
#include "backend/cpu/onednn/recipe.h"

namespace mycel::cpu::onednn {

// Integer products are this much faster than float32 ones, at least.
constexpr double kIntegerSpeed = 3;

void add_quantization(Program& program, const Integers& q, int64_t channels,
                      std::vector<std::pair<int, int>>& args);
void add_to_key(Key& key, const Integers& q);
void add_to_key(Key& key, const PostOp& p);

}  // namespace mycel::cpu::onednn
