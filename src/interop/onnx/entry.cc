// The entry through which libmycel finds this library.
#include <algorithm>

#include "base/error.h"
#include "base/mapped_file.h"
#include "interop/onnx/line.h"
#include "interop/onnx/model.h"
#include "interop/onnx/record.h"
#include "interop/onnx/write.h"
#include "interop/onnx_library.h"

namespace mycel::interop::onnx {
namespace {

std::shared_ptr<OnnxModel> parse(std::string_view bytes, const std::string& folder) {
  return std::make_shared<ReadModel>(bytes, folder);
}

std::shared_ptr<OnnxModel> load(const std::string& path) {
  Ref<MappedFile> file = MappedFile::open(path);
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  try {
    return parse({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()},
                 folder);
  } catch (UserError& e) {
    e.prefix("'" + path + "': ");
    throw;
  }
}

std::vector<std::string> ops() {
  std::vector<std::string> out;
  for (const Record* r : all_records())
    out.push_back(*r->domain ? std::string(r->domain) + "::" + r->name : r->name);
  for (const Line* l : all_lines()) {
    if (!find_record("", l->name)) out.push_back(l->name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

constexpr OnnxLibrary kLibrary{load, parse, write_model, ops};

}  // namespace
}  // namespace mycel::interop::onnx

extern "C" const mycel::interop::OnnxLibrary* mycel_onnx() {
  return &mycel::interop::onnx::kLibrary;
}
