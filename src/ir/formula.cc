#include "ir/formula.h"

#include <vector>

namespace mycel::ir {

void compose(const Graph& body, std::span<const loops::Val> in, std::span<loops::Val> out) {
  std::vector<std::vector<loops::Val>> values(body.size());
  for (size_t i = 0; i < body.params().size(); ++i) values[body.params()[i].node->id] = {in[i]};
  for (const Node& n : body.nodes()) {
    if (n.is_param()) continue;
    std::vector<loops::Val> x, y(n.types.size());
    for (const Value& v : n.inputs) x.push_back(values[v.node->id][v.index]);
    n.op->def.scalar.fn(x.data(), n.attrs, y.data());
    for (size_t j = 0; j < y.size(); ++j) y[j] = loops::cast(y[j], n.types[j].dtype);
    values[n.id] = std::move(y);
  }
  for (size_t j = 0; j < out.size(); ++j) {
    const Value& v = body.results()[j];
    out[j] = values[v.node->id][v.index];
  }
}

}  // namespace mycel::ir
