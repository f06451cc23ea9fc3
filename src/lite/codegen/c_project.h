// Writes a network as a folder of C99 that a compiler for anything from a server to a
// microcontroller takes: no memory is allocated, weights are constants, everything else lies in one
// static arena whose layout was planned here.
//   NAME.h           what a program calls
//   NAME.c           the steps in order
//   NAME_kernels.h   one function per different step, from the loop IR
//   NAME_weights.h   constants
//   NAME_check.h     inputs, and what Mycel computed from them
//   main.c           runs the check and measures; Makefile, CMakeLists.txt build it
//   startup.c, memory.ld   cortex-m only: for Arm's MPS2 boards, which QEMU emulates
#pragma once

#include <string>

#include "lite/codegen/network.h"

namespace mycel::lite {

enum class CTarget { kX86, kArm64, kArm32, kCortexM };
// "x86", "arm64", "arm32a", "cortex-m"; ValueError listing them otherwise.
CTarget target_named(const std::string& name);

struct CProject {
  std::string name = "network";  // of files and functions; a C identifier
  CTarget target = CTarget::kX86;
  double tolerance = 1e-5;  // of the check, relative to the largest result in magnitude
};

struct CSizes {
  size_t constant_bytes = 0, arena_bytes = 0;
  size_t functions = 0, steps = 0;
};

// `inputs` and `results`: of the check. Makes the folder where there is none; UserError kOs when it
// cannot be written.
CSizes write_c_project(const Network& network, const Tensors& inputs, const Tensors& results,
                       const CProject& project, const std::string& folder);

}  // namespace mycel::lite
