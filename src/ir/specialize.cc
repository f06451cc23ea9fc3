#include "ir/specialize.h"

#include "base/error.h"

namespace mycel::ir {
namespace {

std::vector<const Type*> types_of(const std::vector<Value>& in) {
  std::vector<const Type*> types;
  for (const Value& v : in) types.push_back(v ? &v.type() : nullptr);
  return types;
}

bool has_unknown_dims(const Graph& g) {
  for (const Node& n : g.nodes()) {
    for (const Type& t : n.types) {
      if (!t.shape.known()) return true;
    }
  }
  return false;
}

// The attributes with each region made for the operands, of which its parameters are the last.
Attrs specialized_regions(const Node& n, const std::vector<Value>& in) {
  Attrs attrs = n.attrs;
  for (size_t i = 0; i < attrs.size(); ++i) {
    if (!attrs[i].is<GraphPtr>() || !has_unknown_dims(*attrs[i].graph())) continue;
    const Graph& region = *attrs[i].graph();
    size_t count = region.params().size();
    if (count > in.size()) continue;
    std::vector<Shape> shapes;
    for (size_t k = in.size() - count; k < in.size(); ++k) shapes.push_back(in[k].shape());
    attrs.set(i, Attr(GraphPtr(specialize(region, shapes))));
  }
  return attrs;
}

}  // namespace

std::shared_ptr<Graph> specialize(const Graph& g, std::span<const Shape> shapes) {
  auto out = std::make_shared<Graph>(g.name());
  std::vector<Node*> map(g.size());
  size_t param = 0;
  for (const Node& n : g.nodes()) {
    if (n.is_param()) {
      Type t = n.types[0];
      if (param < shapes.size() && t.kind == Type::Kind::kTensor) t.shape = shapes[param];
      ++param;
      map[n.id] = out->add_param(t, n.name).node;
      continue;
    }
    std::vector<Value> in;
    for (const Value& v : n.inputs) in.push_back(v ? Value{map[v.node->id], v.index} : Value());
    Attrs attrs = n.attrs;
    Types types;
    try {
      attrs = specialized_regions(n, in);
      types = infer_types(*n.op, types_of(in), attrs);
    } catch (const UserError&) {
      // A loop whose carried shapes change from turn to turn takes only the general region.
      attrs = n.attrs;
      types = infer_types(*n.op, types_of(in), attrs);
    }
    map[n.id] = out->add_typed(*n.op, std::move(in), std::move(attrs), std::move(types), n.loc);
  }
  std::vector<Value> results;
  for (const Value& v : g.results()) results.push_back({map[v.node->id], v.index});
  out->set_results(std::move(results));
  return out;
}

}  // namespace mycel::ir
