#include "interop/tensorflow.h"

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/shared_library.h"
#include "interop/tensorflow_library.h"

namespace mycel::interop {
namespace {

const TensorflowLibrary& library() {
  static const TensorflowLibrary* loaded = reinterpret_cast<const TensorflowLibrary* (*)()>(
      symbol_of_library("libmycel_tensorflow.so", "mycel_tensorflow",
                        "reads TFLite files and TensorFlow graphs"))();
  return *loaded;
}

template <typename Parse>
std::shared_ptr<OnnxModel> parse_file(const std::string& path, Parse&& parse) {
  Ref<MappedFile> file = MappedFile::open(path);
  try {
    return parse(std::string_view(reinterpret_cast<const char*>(file->bytes().data()),
                                  file->bytes().size()));
  } catch (UserError& e) {
    e.prefix("'" + path + "': ");
    throw;
  }
}

}  // namespace

std::shared_ptr<OnnxModel> parse_tflite(std::string_view bytes) {
  return library().parse_lite(bytes);
}

std::shared_ptr<OnnxModel> load_tflite(const std::string& path) {
  return parse_file(path, [](std::string_view bytes) { return parse_tflite(bytes); });
}

std::shared_ptr<OnnxModel> parse_tensorflow(std::string_view bytes, const Names& inputs,
                                            const Names& outputs) {
  return library().parse_graph(bytes, inputs, outputs);
}

std::shared_ptr<OnnxModel> load_tensorflow(const std::string& path, const Names& inputs,
                                           const Names& outputs) {
  return parse_file(
      path, [&](std::string_view bytes) { return parse_tensorflow(bytes, inputs, outputs); });
}

std::vector<TensorflowOp> tensorflow_ops() { return library().ops(); }

}  // namespace mycel::interop
