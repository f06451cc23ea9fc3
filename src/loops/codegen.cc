#include "loops/codegen.h"

#include "base/shared_library.h"

namespace mycel::loops {

const Codegen& codegen() {
  static const Codegen* loaded = reinterpret_cast<const Codegen* (*)()>(
      symbol_of_library("libmycel_jit.so", "mycel_codegen", "compiles kernels"))();
  return *loaded;
}

}  // namespace mycel::loops
