#include <vector>

#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

namespace mycel::passes {
namespace {

using ir::Node;
using ir::Value;

// Operands of batch_norm_train_dx, and of normalize_channels, which has the parameters reshaped.
enum Gradient { kX, kScale, kMean, kVariance, kDy, kOffset };
enum Normal { kNormalX, kNormalScale, kNormalOffset, kNormalMean, kNormalVariance };

Value without(const Value& v, const char* op) { return made_by(v, op) ? v.node->inputs[0] : v; }

// The offset of the normalisation whose ReLU `y` is, where it is that of `gradient`'s operands.
Value offset_of(const Value& y, const Node& gradient) {
  Value relu = without(y, "cast");
  if (!made_by(relu, "relu")) return {};
  Value normal = relu.node->inputs[0];
  if (!made_by(normal, "normalize_channels")) return {};
  const ir::ValueList& in = normal.node->inputs;
  auto flat = [&](int k) { return without(in[static_cast<size_t>(k)], "reshape"); };
  bool same = without(in[kNormalX], "cast").same(without(gradient.inputs[kX], "cast")) &&
              flat(kNormalScale).same(gradient.inputs[kScale]) &&
              flat(kNormalMean).same(gradient.inputs[kMean]) &&
              flat(kNormalVariance).same(gradient.inputs[kVariance]);
  auto number = [](const Node& n, const char* name) {
    return ir::AttrsView{*n.op, n.attrs}.real(name);
  };
  Value offset = flat(kNormalOffset);
  if (!same || number(*normal.node, "epsilon") != number(gradient, "epsilon")) return {};
  return offset.type() == gradient.inputs[kScale].type() ? offset : Value();
}

GraphOut fuse_level(const ir::Graph& g) {
  std::vector<uint32_t> uses(g.size(), 0);
  for (const Node& n : g.nodes()) {
    for (const Value& v : n.inputs) {
      if (v) ++uses[v.node->id];
    }
  }
  for (const Value& v : g.results()) ++uses[v.node->id];
  Rewrite r(g);
  for (const Node& n : g.nodes()) {
    bool gradient = !n.is_param() && n.op->name == "batch_norm_train_dx";
    bool has_offset = gradient && n.inputs.size() > kOffset && n.inputs[kOffset];
    Value masked = gradient ? n.inputs[kDy] : Value(), offset;
    if (gradient && !has_offset && made_by(masked, "relu_grad") && uses[masked.node->id] == 1) {
      const ir::ValueList& in = masked.node->inputs;
      if (in[0].shape() == masked.shape()) offset = offset_of(in[1], n);
    }
    if (!offset) {
      r.copy(n);
      continue;
    }
    ir::ValueList in = r.operands(n);
    in[kDy] = r.translate(masked.node->inputs[0]);
    if (in.size() > kOffset) in.pop_back();  // it is absent
    in.push_back(r.translate(offset));
    r.copy(n, std::move(in), n.attrs);
  }
  return r.finish();
}

}  // namespace

GraphOut fuse_norm_gradients(const ir::Graph& g) { return at_every_level(g, fuse_level); }

}  // namespace mycel::passes
