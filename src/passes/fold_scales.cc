#include <algorithm>
#include <vector>

#include "ir/core_ops.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

namespace mycel::passes {
namespace {

using ir::Node;
using ir::Value;

bool is_convolution(const Node& n) {
  if (n.is_param()) return false;
  const std::string& name = n.op->name;
  return name == "conv1d" || name == "conv2d" || name == "conv3d";
}

// What follows from steady parameters and constants alone.
std::vector<bool> steady_nodes(const ir::Graph& g, const std::vector<bool>& params) {
  std::vector<bool> steady(g.size(), false);
  for (size_t i = 0; i < g.params().size() && i < params.size(); ++i) {
    steady[g.params()[i].node->id] = params[i];
  }
  for (const Node& n : g.nodes()) {
    if (n.is_param() || has_regions(n) || n.op->holds_code) continue;
    if (n.op->def.random || n.op->def.side_effect) continue;
    bool all = true;
    for (const Value& v : n.inputs) all &= !v || steady[v.node->id];
    steady[n.id] = all;
  }
  return steady;
}

class Folder {
 public:
  Folder(const ir::Graph& g, const std::vector<bool>& params)
      : steady_(steady_nodes(g, params)), uses_(g.size(), 0), r_(g), g_(g) {
    for (const Node& n : g.nodes()) {
      for (const Value& v : n.inputs) {
        if (v) ++uses_[v.node->id];
      }
    }
    for (const Value& v : g.results()) ++uses_[v.node->id];
  }

  GraphOut run() {
    for (const Node& n : g_.nodes()) {
      if (fold(n)) continue;
      Node* made = r_.copy(n);
      if (!is_convolution(n) || !steady(n.inputs[1])) continue;
      if (!n.inputs[2] || steady(n.inputs[2])) takes_.push_back(made);
    }
    return r_.finish();
  }

 private:
  bool steady(const Value& v) const { return v && steady_[v.node->id]; }

  // The convolution in the new graph that `v` has become, if nothing else reads it and its weights
  // are steady.
  Node* convolution(const Value& v) const {
    if (!v || uses_[v.node->id] != 1) return nullptr;
    Node* made = r_.translate(v).node;
    return std::find(takes_.begin(), takes_.end(), made) == takes_.end() ? nullptr : made;
  }

  // Whether `v` has one number for each channel of `y`.
  static bool per_channel(const Value& v, const Node& y) {
    const Shape &s = v.shape(), &of = y.types[0].shape;
    int axis = ir::AttrsView{*y.op, y.attrs}.string("layout") == "channel_last" ? of.rank() - 1 : 1;
    int at = axis - (of.rank() - s.rank());
    return s.known() && of.known() && s.rank() <= of.rank() && at >= 0 && s[at] == of[axis] &&
           s.size() == of[axis];
  }

  Value emit(const char* op, ir::ValueList in, ir::Loc loc) {
    return r_.out().add(ir::op_named(op), std::move(in), {}, loc)->out();
  }
  // One number per channel, along the first of `rank` dims.
  Value leading(const Value& v, int rank, ir::Loc loc) {
    ir::Attr::Ints shape(static_cast<size_t>(rank), 1);
    shape[0] = v.shape().size();
    return r_.out().add(*ir::core_ops().reshape, {v}, {ir::Attr(shape)}, loc)->out();
  }

  bool fold(const Node& n) {
    if (n.is_param() || n.types.size() != 1) return false;
    const bool scales = n.op->name == "mul", shifts = n.op == ir::core_ops().add;
    DType dtype = n.types[0].dtype;
    if ((!scales && !shifts) || !is_float(dtype) || size_of(dtype) < 4) return false;
    for (int k : {0, 1}) {
      const Value& other = n.inputs[1 - k];
      Node* conv = convolution(n.inputs[k]);
      if (!conv || !steady(other) || !(conv->types[0] == n.types[0])) continue;
      if (other.dtype() != dtype || conv->inputs[1].dtype() != dtype || !per_channel(other, *conv))
        continue;
      replace(n, *conv, r_.translate(other), scales);
      return true;
    }
    return false;
  }

  void replace(const Node& n, const Node& conv, const Value& by, bool scales) {
    ir::ValueList in(conv.inputs.begin(), conv.inputs.end());
    Value flat = leading(by, 1, n.loc);
    if (scales) in[1] = emit("mul", {in[1], leading(by, in[1].shape().rank(), n.loc)}, n.loc);
    if (in[2]) {
      in[2] = emit(scales ? "mul" : "add", {in[2], flat}, n.loc);
    } else if (!scales) {
      in[2] = flat;
    }
    Node* made = r_.out().add_typed(*conv.op, std::move(in), conv.attrs, conv.types, conv.loc);
    r_.replace(n, made);
    takes_.push_back(made);
  }

  std::vector<bool> steady_;
  std::vector<uint32_t> uses_;
  std::vector<Node*> takes_;  // convolutions of the new graph that can be folded into
  Rewrite r_;
  const ir::Graph& g_;
};

}  // namespace

GraphOut fold_scales(const ir::Graph& g, const std::vector<bool>& steady) {
  return Folder(g, steady).run();
}

}  // namespace mycel::passes
