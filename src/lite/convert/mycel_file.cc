// The format of mycel.export, in and out.
#include "ir/graph_file.h"
#include "ir/specialize.h"
#include "lite/convert/formats.h"

namespace mycel::lite {

bool is_mycel(const std::string&, std::string_view head) {
  return ir::is_graph_file(std::as_bytes(std::span(head)));
}

runtime::TracedModel read_mycel(const std::string& path, const ConvertOptions& options) {
  ir::GraphFile file = ir::read_graph_file(path);
  runtime::TracedModel model{file.graph, {}, std::move(file.weights)};
  ir::Types types;
  for (size_t i = 0; i < file.inputs; ++i) {
    model.inputs.push_back(file.graph->params()[i].node->name);
    types.push_back(file.graph->params()[i].type());
  }
  if (options.shapes.empty()) return model;
  std::vector<Shape> shapes;
  for (const ir::Type& t : with_shapes(model.inputs, types, options)) shapes.push_back(t.shape);
  model.graph = ir::specialize(*file.graph, shapes);
  return model;
}

std::vector<std::string> write_mycel(const runtime::TracedModel& model, const std::string& path,
                                     const ConvertOptions&) {
  runtime::save_model(path, model);
  return {};
}

}  // namespace mycel::lite
