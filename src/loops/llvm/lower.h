// Nest to LLVM IR: scalar loops with metadata that lets LLVM's vectorizer work without run-time
// checks.
#pragma once

#include <llvm/IR/Module.h>

#include "loops/nest.h"

namespace mycel::loops {

struct MachineTraits {
  bool fma = false;  // fused multiply-add in hardware
  bool avx512 = false;
  bool f16c = false;  // conversions between float16 and float32 in hardware
};

// Adds the functions "stage0", "stage1", … to the module.
void lower(const Nest& nest, const MachineTraits& traits, llvm::Module& module);

}  // namespace mycel::loops
