// The first question to any oneDNN kernel: are these dtypes and extents its business at all?
#pragma once

#include <string>

#include "backend/cpu/kernel.h"

namespace mycel::cpu::onednn {

// Empty when operands and results share one dtype that oneDNN computes in and no dimension is 0;
// otherwise why not. Operands of which only the shape is used can be left out by `operands`.
std::string unsuited(const Problem& problem, int operands = 1 << 30);

}  // namespace mycel::cpu::onednn
