// What libmycel_jit gives to libmycel: the only name that it exports.
#include "loops/llvm/machine_code.h"

namespace mycel::loops {

extern "C" __attribute__((visibility("default"))) const Codegen* mycel_codegen() {
  static const Codegen table = {machine_key, compile_object, load_object};
  return &table;
}

}  // namespace mycel::loops
