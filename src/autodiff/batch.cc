#include "autodiff/batch.h"

#include "autodiff/batch_rules.h"
#include "autodiff/batcher.h"
#include "base/error.h"
#include "ir/batching.h"
#include "ir/core_ops.h"
#include "passes/pass.h"

namespace mycel::autodiff {

using ir::Attr;
using ir::Graph;
using ir::GraphPtr;
using ir::Node;
using ir::Type;
using ir::Value;

void Batcher::run(const Graph& g) {
  for (const Node& n : g.nodes()) {
    if (!n.is_param()) visit(const_cast<Node*>(&n));
  }
}

Value Batcher::emit(const ir::Op& op, std::vector<Value> in, ir::Attrs attrs) {
  return out_.add(op, std::move(in), std::move(attrs), loc_)->out();
}

Value Batcher::spread(const Item& item, const Type& t) {
  if (item.batched) return item.value;
  if (is_stack(t)) return spread_stack(item.value, t);
  Shape s = batched_type(t, size_).shape;
  return emit(*ir::core_ops().broadcast_to, {item.value}, {Attr(s)});
}

// Each example gets a copy of what is on the stack.
Value Batcher::spread_stack(const Value& v, const Type& t) {
  static const ir::Op& expand_dims = ir::op_named("expand_dims");
  static const ir::Op& tile = ir::op_named("tile");
  const ir::CoreOps& core = ir::core_ops();
  if (v.node->op == core.stack_new) {
    return emit(*core.stack_new, {}, {Attr(t.dtype), Attr(batched_type(t, size_).shape)});
  }
  Value rows = emit(*core.stack_to_rows, {v}, {Attr(-1), Attr(false)});
  Attr::Ints copies(static_cast<size_t>(rows.rank()) + 1, 1);
  copies[1] = size_;
  rows = emit(tile, {emit(expand_dims, {rows}, {Attr(1)})}, {Attr(copies)});
  return emit(*core.stack_from_rows, {rows}, {Attr(false)});
}

void Batcher::visit(Node* n) {
  loc_ = n->loc;
  bool any = false;
  for (const Value& v : n->inputs) any |= v && at(v).batched;
  const ir::CoreOps& core = ir::core_ops();
  // Under a mask a loop, a call or an effect must see it even when all examples share its operands.
  bool needs_mask = mask_ && (n->op == core.while_loop || n->op == core.call ||
                              n->op == core.cond || n->op->def.side_effect);
  if (!any && !needs_mask) return copy(n);
  if (n->op == core.cond) return branch(n);
  if (n->op == core.while_loop) return loop(n);
  if (n->op == core.call) return called(n);
  if (n->op == core.stack_push) return push(n);
  if (n->op == core.stack_pop) return pop(n);
  if (n->op == core.stack_add) return add_stacks(n);
  if (n->op == core.stack_from_rows) return from_rows(n);
  if (n->op == core.stack_to_rows) return to_rows(n);
  ordinary(n);
}

void Batcher::copy(Node* n) {
  std::vector<Value> in;
  for (const Value& v : n->inputs) in.push_back(v ? at(v).value : Value());
  Node* to = out_.add_typed(*n->op, std::move(in), n->attrs, n->types, n->loc);
  for (uint32_t j = 0; j < n->types.size(); ++j) set({n, j}, {to->out(j), false});
}

void Batcher::give(Node* n, const std::vector<Value>& batched) {
  for (uint32_t j = 0; j < n->types.size(); ++j) set({n, j}, {batched[j], true});
}

void Batcher::ordinary(Node* n) {
  std::vector<Value> x;
  Flags batched;
  for (const Value& v : n->inputs) {
    x.push_back(v ? at(v).value : Value());
    batched.push_back(v && at(v).batched);
  }
  ir::Batching b(out_, *n, std::move(x), std::move(batched), size_);
  bool done = n->op->def.batch ? n->op->def.batch(b) : batch_by_record(b);
  if (done) return give(n, b.results);
  once_per_example(n);
}

// -- the loop over examples

namespace {

// while left > 0
GraphPtr some_left(const Graph& body) {
  static const ir::Op& greater = ir::op_named("greater");
  auto g = std::make_shared<Graph>("condition");
  for (const Value& p : body.params()) g->add_param(p.type(), p.node->name);
  g->set_results({g->add(greater, {g->params()[0], g->scalar(DType::kInt64, 0)})->out()});
  return g;
}

// The node where `takes` holds, else its passed-on operands.
Node* if_it_takes_part(Graph& g, Value takes, Node* n, const std::vector<Value>& in,
                       const std::vector<int>& passed) {
  auto then = std::make_shared<Graph>("then"), otherwise = std::make_shared<Graph>("otherwise");
  std::vector<Value> operands{takes}, args, given, outs;
  for (const Value& v : in) {
    args.push_back(v ? then->add_param(v.type()) : Value());
    given.push_back(v ? otherwise->add_param(v.type()) : Value());
    if (v) operands.push_back(v);
  }
  Node* run = then->add_typed(*n->op, args, n->attrs, n->types, n->loc);
  std::vector<Value> kept;
  for (uint32_t j = 0; j < n->types.size(); ++j) {
    outs.push_back(run->out(j));
    const Type& t = n->types[j];
    kept.push_back(
        passed[j] >= 0
            ? given[static_cast<size_t>(passed[j])]
            : otherwise->add(*ir::core_ops().full, {}, {Attr(0.0), Attr(t.shape), Attr(t.dtype)})
                  ->out());
  }
  then->set_results(std::move(outs));
  otherwise->set_results(std::move(kept));
  return g.add(*ir::core_ops().cond, operands, {GraphPtr(then), GraphPtr(otherwise)}, n->loc);
}

}  // namespace

// Operands come from stacks, results go onto stacks. What an effect passes on (an operand shared by
// all and a result of its type) goes from example to example, so that effects keep their order.
void Batcher::once_per_example(Node* n) {
  const ir::CoreOps& core = ir::core_ops();
  if (looped_) looped_->push_back(n->op->name);
  auto body = std::make_shared<Graph>("example");
  std::vector<Value> in, results, one;
  std::vector<size_t> place(n->inputs.size(), 0);  // of an operand among the carried values
  std::vector<int> passed(n->types.size(), -1);
  auto next = [&](const Value& rows) {
    const Type& t = rows.type();
    Shape element(std::vector<int64_t>(t.shape.begin() + 1, t.shape.end()));
    in.push_back(emit(*core.stack_from_rows, {rows}));
    Node* pop =
        body->add(*core.stack_pop, {body->add_param({t.dtype, element, Type::Kind::kStack})});
    results.push_back(pop->out(0));
    return pop->out(1);
  };
  in.push_back(out_.scalar(DType::kInt64, static_cast<double>(size_)));
  Value left = body->add_param({DType::kInt64, Shape{}}, "left");
  results.push_back(body->add(*core.add, {left, body->scalar(DType::kInt64, -1)})->out());
  bool effect = n->op->def.side_effect;
  for (size_t i = 0; i < n->inputs.size(); ++i) {
    const Value& v = n->inputs[i];
    if (!v) {
      one.emplace_back();
    } else if (at(v).batched) {
      one.push_back(next(at(v).value));
    } else {
      place[i] = in.size();
      in.push_back(at(v).value);
      one.push_back(body->add_param(v.type()));
      results.push_back(one.back());
      for (size_t j = 0; effect && j < passed.size(); ++j) {
        if (passed[j] >= 0 || !(n->types[j] == v.type())) continue;
        passed[j] = static_cast<int>(i);
        break;
      }
    }
  }
  Node* made = effect && mask_ ? if_it_takes_part(*body, next(mask_), n, one, passed)
                               : body->add_typed(*n->op, one, n->attrs, n->types, n->loc);
  std::vector<size_t> stack(n->types.size(), 0);
  for (uint32_t j = 0; j < n->types.size(); ++j) {
    if (passed[j] >= 0) {
      results[place[static_cast<size_t>(passed[j])]] = made->out(j);
      continue;
    }
    const Type& t = n->types[j];
    stack[j] = in.size();
    in.push_back(emit(*core.stack_new, {}, {Attr(t.dtype), Attr(t.shape)}));
    Value s = body->add_param({t.dtype, t.shape, Type::Kind::kStack});
    results.push_back(body->add(*core.stack_push, {s, made->out(j)})->out());
  }
  body->set_results(std::move(results));
  Node* loop = out_.add(*core.while_loop, in, {some_left(*body), GraphPtr(body)}, loc_);
  for (uint32_t j = 0; j < n->types.size(); ++j) {
    if (passed[j] >= 0) {
      set({n, j}, {loop->out(static_cast<uint32_t>(place[static_cast<size_t>(passed[j])])), false});
      continue;
    }
    Value s = loop->out(static_cast<uint32_t>(stack[j]));
    set({n, j}, {emit(*core.stack_to_rows, {s}, {Attr(size_)}), true});
  }
}

// -- stacks

Value Batcher::own_mask(Node* n, size_t i) {
  if (i >= n->inputs.size() || !n->inputs[i]) return mask_;
  Value own = spread(at(n->inputs[i]), n->inputs[i].type());
  if (!mask_) return own;
  Shape wide{size_};
  for (int d = 1; d < own.rank(); ++d) wide.push_back(1);
  Value m = emit(*ir::core_ops().reshape, {mask_}, {Attr(wide)});
  return emit(*ir::core_ops().logical_and, {own, m});
}
void Batcher::push(Node* n) {
  std::vector<Value> in{spread(at(n->inputs[0]), n->inputs[0].type()),
                        spread(at(n->inputs[1]), n->inputs[1].type())};
  if (Value m = own_mask(n, 2)) in.push_back(m);
  give(n, {emit(*n->op, in)});
}
void Batcher::pop(Node* n) {
  std::vector<Value> in{spread(at(n->inputs[0]), n->inputs[0].type())};
  bool like = n->inputs.size() > 2 && n->inputs[2];
  Value m = own_mask(n, 1);
  if (m || like) in.push_back(m);
  if (like) in.push_back(spread(at(n->inputs[2]), n->inputs[2].type()));
  Node* made = out_.add(*n->op, in, {}, loc_);
  Value top = made->out(1);
  // The zeros of those who do not take part are no values of the program.
  if (mask_) top = replaced({top}, {true}, stand_ins(mask_))[0];
  give(n, {made->out(0), top});
}
void Batcher::add_stacks(Node* n) {
  give(n, {emit(*n->op, {spread(at(n->inputs[0]), n->inputs[0].type()),
                         spread(at(n->inputs[1]), n->inputs[1].type())})});
}
// Rows and batch change places.
Value Batcher::swapped(Value v) {
  Attr::Ints order;
  for (int d = 0; d < v.rank(); ++d) order.push_back(d);
  std::swap(order[0], order[1]);
  return emit(*ir::core_ops().transpose, {v}, {Attr(order)});
}
void Batcher::from_rows(Node* n) {
  give(n, {emit(*n->op, {swapped(at(n->inputs[0]).value)}, n->attrs)});
}
void Batcher::to_rows(Node* n) {
  std::vector<Value> in{spread(at(n->inputs[0]), n->inputs[0].type())};
  if (n->inputs.size() > 1 && n->inputs[1]) {
    const Item& like = at(n->inputs[1]);
    in.push_back(like.batched ? swapped(like.value) : like.value);
  }
  give(n, {swapped(emit(*n->op, in, n->attrs))});
}

Batch batch_graph(const Graph& original, const std::vector<bool>& params, int64_t size) {
  auto g = passes::expand_composites(original);
  Batch out;
  out.graph = std::make_shared<Graph>(g->name() + "_batch");
  Batcher b(size, *out.graph, &out.looped);
  for (size_t i = 0; i < g->params().size(); ++i) {
    const Value& p = g->params()[i];
    Type t = params[i] ? batched_type(p.type(), size) : p.type();
    b.set(p, {out.graph->add_param(t, p.node->name), params[i]});
  }
  b.run(*g);
  std::vector<Value> results;
  for (const Value& v : g->results()) {
    results.push_back(b.at(v).value);
    out.results.push_back(b.at(v).batched);
  }
  out.graph->set_results(std::move(results));
  out.graph = passes::eliminate_dead_code(*out.graph);
  return out;
}

}  // namespace mycel::autodiff
