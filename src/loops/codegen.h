// The code generator as the rest of the loops room sees it, without LLVM types. It lives in a
// library of its own, libmycel_jit, which is loaded when the first kernel is needed: a program that
// only looks around never pays for LLVM.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loops/nest.h"

namespace mycel::loops {

// A linked object.
struct LoadedObject {
  std::shared_ptr<void> memory;  // keeps the code alive
  size_t bytes = 0;
  std::vector<StageFn> stages;
};

struct Codegen {
  // LLVM version, CPU and features that code is made for; part of every cache key. MYCEL_CPU (a
  // name that LLVM knows, e.g. x86-64, haswell; or native) chooses; read once.
  const std::string& (*machine_key)();
  // An object file with one function per stage. Throws InternalError when LLVM refuses.
  std::string (*compile_object)(const Nest& nest);
  // Links an object into memory. False when the bytes are not an object for this machine. Needs no
  // more of LLVM than its linker.
  bool (*load_object)(const std::string& object, size_t stages, LoadedObject* out);
};

// Thread-safe, as are its functions. UserError kRuntime when the library cannot be loaded.
const Codegen& codegen();

}  // namespace mycel::loops
