// What the LLVM folder offers to the rest of the loops room, without LLVM types. LLVM is
// initialised on the first compile only; loading a cached object needs no more than its linker.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loops/nest.h"

namespace mycel::loops {

// LLVM version, CPU and features that code is made for; part of every cache key. MYCEL_CPU (a name
// that LLVM knows, e.g. x86-64, haswell; or native) chooses; read once.
const std::string& machine_key();

// An object file with one function per stage. Throws InternalError when LLVM refuses. Thread-safe.
std::string compile_object(const Nest& nest);

// Links an object into memory. False when the bytes are not an object for this machine.
struct LoadedObject {
  std::shared_ptr<void> memory;  // keeps the code alive
  size_t bytes = 0;
  std::vector<StageFn> stages;
};
bool load_object(const std::string& object, size_t stages, LoadedObject* out);

}  // namespace mycel::loops
