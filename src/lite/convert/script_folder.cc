// A Python module of a network's file: interop/script.h.
#include <string_view>

#include <fmt/format.h>

#include "interop/script.h"
#include "lite/convert/formats.h"

namespace mycel::lite {

std::vector<std::string> write_script(const std::string& from, const Reader& reader,
                                      const std::string& folder, const ConvertOptions& options) {
  interop::ScriptOptions o;
  o.shapes = options.shapes;
  interop::ScriptReport r =
      std::string_view(reader.name) == "onnx"
          ? interop::onnx_to_script(from, folder, o)
          : interop::model_to_script(reader.read(from, options), from, folder, o);
  std::vector<std::string> lines{fmt::format("{}: {} lines, {} classes, {} layers, {} calls of ops",
                                             r.network, r.lines, r.classes, r.layers, r.calls),
                                 fmt::format("{} of {} nodes are in layers", r.in_layers, r.nodes)};
  lines.insert(lines.end(), r.notes.begin(), r.notes.end());
  return lines;
}

}  // namespace mycel::lite
