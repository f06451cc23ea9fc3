#include "interop/onnx.h"

#include "base/shared_library.h"
#include "interop/onnx_library.h"

namespace mycel::interop {
namespace {

const OnnxLibrary& library() {
  static const OnnxLibrary* loaded = reinterpret_cast<const OnnxLibrary* (*)()>(
      symbol_of_library("libmycel_onnx.so", "mycel_onnx", "reads and writes ONNX files"))();
  return *loaded;
}

}  // namespace

std::shared_ptr<OnnxModel> load_onnx(const std::string& path) { return library().load(path); }

std::shared_ptr<OnnxModel> parse_onnx(std::string_view bytes, const std::string& folder) {
  return library().parse(bytes, folder);
}

void save_onnx(const std::string& path, const runtime::TracedModel& model) {
  library().save(path, model);
}

std::vector<std::string> onnx_ops() { return library().ops(); }

}  // namespace mycel::interop
