#include <cstring>

#include "base/error.h"
#include "ir/core_ops.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mycel::passes {
namespace {

// A larger constant costs more memory and compile time than computing it costs at run time.
constexpr int64_t kMaxElements = 4096;

bool constant(const ir::Node& n) {
  return n.op == ir::core_ops().constant || n.op == ir::core_ops().full;
}

bool small(const ir::Type& t) {
  return t.kind == ir::Type::Kind::kTensor && t.shape.known() && t.shape.size() <= kMaxElements;
}

bool foldable(const ir::Node& n) {
  if (n.is_param() || constant(n) || n.inputs.empty() || n.types.empty()) return false;
  if (n.op->def.random || n.op->def.side_effect || n.op->holds_code || has_regions(n)) return false;
  for (const ir::Type& t : n.types) {
    if (!small(t)) return false;
  }
  return true;
}

Tensor value_of(const ir::Node& n) {
  if (n.op == ir::core_ops().constant) return n.attrs[0].tensor();
  return Tensor::full(n.types[0].dtype, n.types[0].shape, n.attrs[0].real());
}

// The operands' values, or nothing when one of them is not a small constant.
bool collect(const ir::ValueList& in, Tensors& values) {
  for (const ir::Value& v : in) {
    if (v && (v.node->is_param() || !constant(*v.node) || !small(v.type()))) return false;
  }
  for (const ir::Value& v : in) values.push_back(v ? value_of(*v.node) : Tensor());
  return true;
}

GraphOut fold_level(const ir::Graph& g, Evaluate evaluate) {
  Rewrite r(g);
  for (const ir::Node& n : g.nodes()) {
    Tensors in, out;
    if (foldable(n) && collect(r.operands(n), in)) {
      try {
        out = evaluate(*n.op, in, n.attrs);
      } catch (const UserError&) {
        out.clear();  // it fails when it is reached, if it is
      }
    }
    bool folded = !out.empty() && out.size() == n.types.size();
    for (size_t i = 0; folded && i < out.size(); ++i) folded = out[i].shape() == n.types[i].shape;
    if (!folded) {
      r.copy(n);
      continue;
    }
    ir::ValueList by;
    for (const Tensor& t : out) {
      ir::Value v = r.out().constant(t);
      v.node->loc = n.loc;
      by.push_back(v);
    }
    r.replace(n, std::move(by));
  }
  return r.finish();
}

}  // namespace

GraphOut fold_constants(const ir::Graph& g, Evaluate evaluate) {
  return at_every_level(g, [evaluate](const ir::Graph& h) { return fold_level(h, evaluate); });
}

}  // namespace mycel::passes
