// The contents page of what is written with a writer: one line a family.
#include <map>

#include "interop/onnx/writing.h"

namespace mycel::interop::onnx {

Write find_writer(std::string_view onnx_op) {
  static const std::map<std::string_view, Write> all = [] {
    std::map<std::string_view, Write> m;
    for (Writers family :
         {elementwise_writers(), shape_writers(), reduce_writers(), index_writers(),
          window_writers(), matmul_writers(), control_writers()}) {
      for (const Writer& w : family) m.emplace(w.name, w.write);
    }
    return m;
  }();
  auto it = all.find(onnx_op);
  return it == all.end() ? nullptr : it->second;
}

}  // namespace mycel::interop::onnx
