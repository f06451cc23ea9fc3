// Branches, loops and calls under vmap. An example that does not take a branch, or has left a loop,
// computes what another one does, and its result is not taken.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "autodiff/batcher.h"
#include "base/error.h"
#include "ir/core_ops.h"
#include "ir/function.h"
#include "passes/pass.h"

namespace mycel::autodiff {

using ir::Attr;
using ir::Graph;
using ir::GraphPtr;
using ir::Node;
using ir::Type;
using ir::Types;
using ir::Value;

namespace {

// What passes through effects only to keep their order: the parameter that result `j` comes from by
// way of at least one effect, else -1. No example has such a value of its own.
int effect_source(const Graph& g, size_t j, bool* any) {
  const ir::CoreOps& core = ir::core_ops();
  Value v = g.results()[j];
  while (!v.node->is_param()) {
    const Node& n = *v.node;
    auto source = [&](const Graph& region, size_t first) {
      int i = effect_source(region, v.index, any);
      return i < 0 ? Value() : n.inputs[static_cast<size_t>(i) + first];
    };
    Value from;
    if (n.op->def.side_effect) {
      *any = true;
      for (const Value& x : n.inputs) {
        if (!from && x && x.type() == v.type()) from = x;
      }
    } else if (n.op == core.cond) {
      from = source(*n.attrs[0].graph(), 1);
      Value other = source(*n.attrs[1].graph(), 1);
      if (!from || !other || !from.same(other)) return -1;
    } else if (n.op == core.while_loop) {
      from = source(*n.attrs[1].graph(), 0);
      if (!from || !from.same(n.inputs[v.index])) return -1;
    }
    if (!from) return -1;
    v = from;
  }
  for (size_t i = 0; i < g.params().size(); ++i) {
    if (g.params()[i].same(v)) return static_cast<int>(i);
  }
  return -1;
}

bool carries_effects(const Graph& body, size_t i) {
  bool any = false;
  return effect_source(body, i, &any) == static_cast<int>(i) && any;
}

}  // namespace

Value Batcher::stand_ins(Value mask) {
  static const ir::Op& arange = ir::op_named("arange");
  static const ir::Op& argmax = ir::op_named("argmax_axis");
  Value number = emit(arange, {}, {0.0, static_cast<double>(size_), 1.0, DType::kInt32});
  Value first = emit(argmax, {mask}, {Attr(0), Attr(DType::kInt32)});
  return emit(*ir::core_ops().select, {mask, number, first});
}

std::vector<Value> Batcher::replaced(const std::vector<Value>& args, const Flags& batched,
                                     Value stand_ins) {
  static const ir::Op& gather = ir::op_named("gather");
  std::vector<Value> out = args;
  for (size_t i = 0; i < args.size(); ++i) {
    if (batched[i] && !is_stack(args[i].type())) {
      out[i] = emit(gather, {args[i], stand_ins}, {Attr(0)});
    }
  }
  return out;
}

Value Batcher::select(Value mask, Value yes, Value no) {
  Shape wide{size_};
  for (int d = 1; d < yes.rank(); ++d) wide.push_back(1);
  if (yes.rank() > 1) mask = emit(*ir::core_ops().reshape, {mask}, {Attr(wide)});
  return emit(*ir::core_ops().select, {mask, yes, no});
}

Batcher::Region Batcher::open(const Graph& g, const Flags& batched, bool masked) const {
  Region r{std::make_shared<Graph>(g.name()), {}, {}};
  for (size_t i = 0; i < g.params().size(); ++i) {
    const Type& t = g.params()[i].type();
    r.carried.push_back(
        r.graph->add_param(batched[i] ? batched_type(t, size_) : t, g.params()[i].node->name));
  }
  if (masked) r.mask = r.graph->add_param({DType::kBool, Shape{size_}}, "mask");
  return r;
}

// The results of `g` on these values.
std::vector<Batcher::Item> Batcher::apply(const Graph& g, const std::vector<Value>& args,
                                          const Flags& batched, Value mask) {
  Batcher b(size_, out_, looped_);
  b.set_mask(mask);
  auto expanded = passes::expand_composites(g);
  for (size_t i = 0; i < args.size(); ++i) b.set(expanded->params()[i], {args[i], batched[i]});
  b.run(*expanded);
  std::vector<Item> out;
  for (const Value& v : expanded->results()) out.push_back(b.at(v));
  return out;
}

// Which results of `g` are batched, found by trying.
Batcher::Flags Batcher::flags_of(const Graph& g, const Flags& batched, bool masked) const {
  Region r = open(g, batched, masked);
  Flags out;
  for (const Item& item : Batcher(size_, *r.graph, nullptr).apply(g, r.carried, batched, r.mask)) {
    out.push_back(item.batched);
  }
  return out;
}

Node* Batcher::guarded(const GraphPtr& then, const std::vector<Value>& args, Value mask) {
  const ir::CoreOps& core = ir::core_ops();
  auto otherwise = std::make_shared<Graph>("otherwise");
  for (const Value& v : args) otherwise->add_param(v.type());
  std::vector<Value> zeros;
  for (const Value& v : then->results()) {
    const Type& t = v.type();
    zeros.push_back(
        otherwise->add(*core.full, {}, {Attr(0.0), Attr(t.shape), Attr(t.dtype)})->out());
  }
  otherwise->set_results(std::move(zeros));
  std::vector<Value> operands{emit(*core.reduce_any, {mask})};
  operands.insert(operands.end(), args.begin(), args.end());
  return out_.add(*core.cond, operands, {then, GraphPtr(otherwise)}, loc_);
}

// -- branches

void Batcher::branch(Node* n) {
  const Item& pred = at(n->inputs[0]);
  Flags in;
  std::vector<Value> args;
  for (size_t i = 1; i < n->inputs.size(); ++i) {
    in.push_back(at(n->inputs[i]).batched);
    args.push_back(at(n->inputs[i]).value);
  }
  const Graph& then = *n->attrs[0].graph();
  const Graph& otherwise = *n->attrs[1].graph();
  if (pred.batched) return both(n, then, otherwise, args, in);
  bool masked = static_cast<bool>(mask_);
  Flags out = flags_of(then, in, masked), other = flags_of(otherwise, in, masked);
  for (size_t j = 0; j < out.size(); ++j) out[j] = out[j] || other[j];
  std::vector<Value> operands{pred.value};
  operands.insert(operands.end(), args.begin(), args.end());
  if (mask_) operands.push_back(mask_);
  Node* made = out_.add(*n->op, operands,
                        {branch_region(then, in, out), branch_region(otherwise, in, out)}, loc_);
  for (uint32_t j = 0; j < n->types.size(); ++j) set({n, j}, {made->out(j), out[j]});
}

GraphPtr Batcher::branch_region(const Graph& g, const Flags& in, const Flags& out) const {
  Region r = open(g, in, static_cast<bool>(mask_));
  Batcher b = inside(r);
  std::vector<Item> items = b.apply(g, r.carried, in, r.mask);
  std::vector<Value> results;
  for (size_t j = 0; j < out.size(); ++j) {
    results.push_back(out[j] ? b.spread(items[j], g.results()[j].type()) : items[j].value);
  }
  r.graph->set_results(std::move(results));
  return r.graph;
}

// Examples differ: each branch is computed for its own examples, if there are any.
void Batcher::both(Node* n, const Graph& then, const Graph& otherwise,
                   const std::vector<Value>& args, const Flags& in) {
  static const ir::Op& logical_not = ir::op_named("logical_not");
  const ir::CoreOps& core = ir::core_ops();
  Value pred = emit(*core.reshape, {at(n->inputs[0]).value}, {Attr(Shape{size_})});
  Value not_pred = emit(logical_not, {pred});
  auto masked = [&](Value m) { return mask_ ? emit(*core.logical_and, {m, mask_}) : m; };
  std::vector<int> effects(n->types.size(), -1);
  for (size_t j = 0; j < effects.size(); ++j) {
    bool any = false;
    int a = effect_source(then, j, &any), b = effect_source(otherwise, j, &any);
    if (a == b && any) effects[j] = a;
  }
  std::vector<Value> yes = one_side(n, then, args, in, effects, masked(pred));
  std::vector<Value> after = args;
  for (size_t j = 0; j < effects.size(); ++j) {
    if (effects[j] >= 0) after[static_cast<size_t>(effects[j])] = yes[j];
  }
  std::vector<Value> no = one_side(n, otherwise, after, in, effects, masked(not_pred));
  for (uint32_t j = 0; j < n->types.size(); ++j) {
    bool effect = effects[j] >= 0;
    set({n, j}, {effect ? no[j] : select(pred, yes[j], no[j]), !effect});
  }
}

std::vector<Value> Batcher::one_side(Node* n, const Graph& g, const std::vector<Value>& args,
                                     const Flags& in, const std::vector<int>& effects, Value mask) {
  for (const Type& t : n->types) {
    if (is_stack(t)) {
      throw UserError(ErrorKind::kUnsupported,
                      "vmap: a branch that examples take differently gives a stack",
                      "Push outside of the branch.");
    }
  }
  Region r = open(g, in, true);
  Batcher b = inside(r);
  std::vector<Value> ready = b.replaced(r.carried, in, b.stand_ins(r.mask));
  std::vector<Item> items = b.apply(g, ready, in, r.mask);
  std::vector<Value> results;
  bool known = true;
  for (size_t j = 0; j < items.size(); ++j) {
    bool effect = effects[j] >= 0;
    results.push_back(effect ? items[j].value : b.spread(items[j], g.results()[j].type()));
    known &= results.back().shape().known();
  }
  r.graph->set_results(std::move(results));
  std::vector<Value> operands = args;
  operands.push_back(mask);
  // Zeros of unknown shape cannot be made: such a branch is computed in any case.
  if (!known) return ir::inline_graph(*r.graph, out_, operands);
  Node* made = guarded(r.graph, operands, mask);
  std::vector<Value> out;
  for (uint32_t j = 0; j < n->types.size(); ++j) out.push_back(made->out(j));
  return out;
}

// -- loops

Batcher::Carried Batcher::settle(Node* n, const Graph& condition, const Graph& body) const {
  Carried c;
  for (const Value& v : n->inputs) c.batched.push_back(at(v).batched);
  for (bool more = true; more;) {
    more = false;
    c.masked = static_cast<bool>(mask_) || flags_of(condition, c.batched, false)[0];
    Flags next = flags_of(body, c.batched, c.masked);
    for (size_t i = 0; i < next.size(); ++i) {
      bool invariant = body.results()[i].same(body.params()[i]);
      if (c.batched[i] || !(next[i] || (c.masked && !invariant))) continue;
      if (carries_effects(body, i)) continue;
      c.batched[i] = more = true;
    }
  }
  return c;
}

// The examples whose condition holds, of those that take part.
Value Batcher::going_on(const Graph& condition, const std::vector<Value>& carried,
                        const Flags& batched) {
  Item p = apply(condition, carried, batched, mask_)[0];
  Value pred = spread(p, condition.results()[0].type());
  pred = emit(*ir::core_ops().reshape, {pred}, {Attr(Shape{size_})});
  return mask_ ? emit(*ir::core_ops().logical_and, {pred, mask_}) : pred;
}

GraphPtr Batcher::loop_condition(const Graph& condition, const Carried& c) const {
  Region r = open(condition, c.batched, static_cast<bool>(mask_));
  Batcher b = inside(r);
  b.set_mask(r.mask);
  Value go = c.masked
                 ? b.emit(*ir::core_ops().reduce_any, {b.going_on(condition, r.carried, c.batched)})
                 : b.apply(condition, r.carried, c.batched, {})[0].value;
  r.graph->set_results({go});
  return r.graph;
}

GraphPtr Batcher::loop_body(const Graph& condition, const Graph& body, const Carried& c) const {
  Region r = open(body, c.batched, static_cast<bool>(mask_));
  Batcher b = inside(r);
  b.set_mask(r.mask);
  Value go;
  std::vector<Value> ready = r.carried;
  if (c.masked) {
    go = b.going_on(condition, r.carried, c.batched);
    ready = b.replaced(r.carried, c.batched, b.stand_ins(go));
  }
  std::vector<Item> next = b.apply(body, ready, c.batched, go);
  std::vector<Value> results;
  for (size_t i = 0; i < next.size(); ++i) {
    const Type& t = body.results()[i].type();
    if (body.results()[i].same(body.params()[i])) {
      results.push_back(r.carried[i]);
      continue;
    }
    Value v = c.batched[i] ? b.spread(next[i], t) : next[i].value;
    bool stays = c.masked && c.batched[i] && !is_stack(t);
    results.push_back(stays ? b.select(go, v, r.carried[i]) : v);
  }
  if (r.mask) results.push_back(r.mask);
  r.graph->set_results(std::move(results));
  return r.graph;
}

void Batcher::loop(Node* n) {
  const Graph& condition = *n->attrs[0].graph();
  const Graph& body = *n->attrs[1].graph();
  Carried c = settle(n, condition, body);
  std::vector<Value> in;
  for (size_t i = 0; i < n->inputs.size(); ++i) {
    const Item& item = at(n->inputs[i]);
    in.push_back(c.batched[i] ? spread(item, n->inputs[i].type()) : item.value);
  }
  if (mask_) in.push_back(mask_);
  Node* made =
      out_.add(*n->op, in, {loop_condition(condition, c), loop_body(condition, body, c)}, loc_);
  for (uint32_t j = 0; j < n->types.size(); ++j) set({n, j}, {made->out(j), c.batched[j]});
}

// -- functions

// A batch of a function: (arguments…, mask?) -> results, all batched.
ir::FunctionPtr Batcher::derived(const ir::FunctionPtr& f, const Flags& in) const {
  bool masked = static_cast<bool>(mask_);
  std::string key = fmt::format("vmap {} {}{}", size_, fmt::join(in, " "), masked ? " masked" : "");
  std::lock_guard lock(f->mutex);
  if (auto it = f->derived.find(key); it != f->derived.end()) return it->second.lock();
  if (!f->body) {
    throw UserError(ErrorKind::kRuntime,
                    fmt::format("call: @{} is mapped while its body is not known", f->name),
                    "Take vmap outside of the function.");
  }
  Types params, results;
  for (size_t i = 0; i < in.size(); ++i) {
    params.push_back(in[i] ? batched_type(f->params[i], size_) : f->params[i]);
  }
  if (masked) params.emplace_back(DType::kBool, Shape{size_});
  for (const Type& t : f->results) results.push_back(batched_type(t, size_));
  auto made = ir::make_function(f->name + "_batch", std::move(params), std::move(results), f);
  f->derived[key] = made;
  try {
    Region r = open(*f->body, in, masked);
    Batcher b = inside(r);
    std::vector<Value> values;
    std::vector<Item> items = b.apply(*f->body, r.carried, in, r.mask);
    for (size_t j = 0; j < items.size(); ++j) {
      values.push_back(b.spread(items[j], f->results[j]));
    }
    r.graph->set_results(std::move(values));
    ir::set_body(made, r.graph);
  } catch (...) {
    f->derived.erase(key);
    throw;
  }
  return made;
}

// Under a mask the call only happens when some example takes part: a recursion ends.
void Batcher::called(Node* n) {
  Flags in;
  std::vector<Value> args;
  for (const Value& v : n->inputs) {
    in.push_back(at(v).batched);
    args.push_back(at(v).value);
  }
  ir::FunctionPtr f = derived(n->attrs[0].function(), in);
  Node* made = nullptr;
  if (!mask_) {
    made = out_.add(*n->op, args, {Attr(f)}, loc_);
  } else {
    args.push_back(mask_);
    auto then = std::make_shared<Graph>("then");
    std::vector<Value> inner, outs;
    for (const Value& v : args) inner.push_back(then->add_param(v.type()));
    Node* call = then->add(*n->op, inner, {Attr(f)}, loc_);
    for (uint32_t j = 0; j < n->types.size(); ++j) outs.push_back(call->out(j));
    then->set_results(std::move(outs));
    made = guarded(then, args, mask_);
  }
  for (uint32_t j = 0; j < n->types.size(); ++j) set({n, j}, {made->out(j), true});
}

}  // namespace mycel::autodiff
