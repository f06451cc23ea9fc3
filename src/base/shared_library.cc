#include "base/shared_library.h"

#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/error.h"

namespace mycel {
namespace {

// Beside the library (or program) that this function is in, else where the system looks.
void* open_library(const char* library, std::string* why) {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&open_library), &self) && self.dli_fname) {
    std::string beside = self.dli_fname;
    const size_t slash = beside.rfind('/');
    beside = slash == std::string::npos ? library : beside.substr(0, slash + 1) + library;
    if (void* handle = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    if (const char* e = dlerror()) *why = e;
  }
  if (void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL)) return handle;
  return nullptr;
}

}  // namespace

void* symbol_of_library(const char* library, const char* symbol, const char* purpose) {
  std::string why;
  void* handle = open_library(library, &why);
  void* entry = handle ? dlsym(handle, symbol) : nullptr;
  if (!entry) {
    if (why.empty()) why = "it has no " + std::string(symbol);
    throw UserError(ErrorKind::kRuntime,
                    fmt::format("{}, which {}, cannot be loaded: {}", library, purpose, why),
                    "It belongs into the folder of libmycel.so, from the same build.");
  }
  return entry;
}

}  // namespace mycel
