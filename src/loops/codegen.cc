#include "loops/codegen.h"

#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/error.h"

namespace mycel::loops {
namespace {

constexpr const char* kLibrary = "libmycel_jit.so";

// Beside the library (or program) that this function is in, else where the system looks.
void* open_library() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&open_library), &self) && self.dli_fname) {
    std::string beside = self.dli_fname;
    size_t slash = beside.rfind('/');
    beside = slash == std::string::npos ? kLibrary : beside.substr(0, slash + 1) + kLibrary;
    if (void* handle = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  return dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
}

const Codegen* load() {
  void* handle = open_library();
  void* entry = handle ? dlsym(handle, "mycel_codegen") : nullptr;
  if (!entry) {
    const char* why = dlerror();
    throw UserError(
        ErrorKind::kRuntime,
        fmt::format("{}, which compiles kernels, cannot be loaded: {}", kLibrary, why ? why : ""),
        "It belongs into the folder of libmycel.so, from the same build.");
  }
  return reinterpret_cast<const Codegen* (*)()>(entry)();
}

}  // namespace

const Codegen& codegen() {
  static const Codegen* loaded = load();  // stays: kernels may run while the process exits
  return *loaded;
}

}  // namespace mycel::loops
