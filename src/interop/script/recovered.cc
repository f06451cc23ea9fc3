#include "interop/script/recovered.h"

namespace mycel::interop::script {

Recovered recover(const runtime::TracedModel& model) {
  Recovered r;
  r.source.graph = model.graph;
  r.source.inputs = model.inputs;
  // Names that tracing gives to tensors which no network owns.
  r.source.weights = model.weights;
  for (const auto& [name, value] : model.weights)
    r.source.statistics.push_back(!is_float(value.dtype()));
  for (const ir::Node& n : model.graph->nodes()) {
    r.source.first_value.push_back(r.source.values.size());
    r.source.values.resize(r.source.values.size() + n.types.size());
  }
  auto params = model.graph->params();
  for (size_t i = 0; i < model.weights.size(); ++i) {
    const ir::Node& p = *params[model.inputs.size() + i].node;
    r.source.values[r.source.first_value[p.id]] = model.weights[i].second;
  }
  return r;
}

}  // namespace mycel::interop::script
