#include <algorithm>
#include <numeric>

#include "ir/core_ops.h"
#include "passes/moved.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mycel::passes {
namespace {

using ir::Node;
using ir::Value;
using ir::ValueList;

// n c s… becomes n s… c.
Order to_last(int rank) {
  Order order(static_cast<size_t>(rank));
  std::iota(order.begin() + 1, order.end() - 1, 2);
  order.back() = 1;
  return order;
}

// oneDNN has kernels for these.
bool has_fast_kernels(DType t) { return is_float(t) ? size_of(t) <= 4 : size_of(t) == 1; }

// Walks the graph once. Every value of the old graph stands in the new one with its channels first
// (as it was), last, or both: what is missing is made by a transpose where it is first asked for.
class Mover {
 public:
  explicit Mover(const ir::Graph& g)
      : g_(g), out_(std::make_shared<ir::Graph>(g.name())), at_(g.size()) {
    size_t values = 0;
    for (const Node& n : g.nodes()) {
      at_[n.id] = values;
      values += n.types.size();
    }
    values_.resize(values);
  }

  GraphOut run() {
    for (const Node& n : g_.nodes()) {
      if (n.is_param()) {
        find({const_cast<Node*>(&n), 0}).first = out_->add_param(n.types[0], n.name);
      } else if (!move(n)) {
        keep(n);
      }
    }
    std::vector<Value> results;
    for (const Value& v : g_.results()) results.push_back(first(v));
    out_->set_results(std::move(results));
    return out_;
  }

 private:
  struct Stands {
    Value first, last;
    bool made_last = false;  // first is what costs a transpose
  };

  Stands& find(const Value& v) { return values_[at_[v.node->id] + v.index]; }

  Value emit(const ir::Op& op, ValueList in, ir::Attrs attrs, ir::Loc loc) {
    attrs = op.complete(std::move(attrs));
    std::vector<const ir::Type*> types;
    for (const Value& v : in) types.push_back(v ? &v.type() : nullptr);
    ir::Types out = ir::infer_types(op, types, attrs);
    return out_->add_typed(op, std::move(in), std::move(attrs), std::move(out), loc)->out();
  }
  Value transposed(const Value& v, const Order& order, ir::Loc loc) {
    ir::Attr::Ints perm(order.begin(), order.end());
    return emit(*ir::core_ops().transpose, {v}, {ir::Attr(perm)}, loc);
  }
  Value reshaped(const Value& v, const Shape& s, ir::Loc loc) {
    return v.shape() == s ? v : emit(*ir::core_ops().reshape, {v}, {ir::Attr(s)}, loc);
  }

  Value first(const Value& v) {
    if (!v) return {};
    Stands& s = find(v);
    if (!s.first) s.first = transposed(s.last, inverse(to_last(v.rank())), v.node->loc);
    return s.first;
  }
  // Of a value that broadcasts against `rank` dims too.
  Value last(const Value& v, int rank) {
    if (v.rank() == 0) return first(v);
    if (v.rank() == rank) {
      Stands& s = find(v);
      if (!s.last) s.last = repeated(v);
      if (!s.last) s.last = transposed(s.first, to_last(rank), v.node->loc);
      return s.last;
    }
    Value wide = reshaped(first(v), under_ones(v.shape(), rank), v.node->loc);
    return transposed(wide, to_last(rank), v.node->loc);
  }
  // A value that only repeats a smaller one is made again from that.
  Value repeated(const Value& v) {
    const Node& n = *v.node;
    const Moves* m = n.is_param() ? nullptr : moves_of(*n.op);
    if (!m || m->of_operand(0) != 'b') return {};
    auto attrs = moved_attrs(n, *m, to_last(v.rank()));
    return attrs ? emit(*n.op, {last(n.inputs[0], v.rank())}, *attrs, n.loc) : Value();
  }

  void keep(const Node& n) {
    ValueList in;
    for (const Value& v : n.inputs) in.push_back(first(v));
    Node* to = out_->add_typed(*n.op, std::move(in), n.attrs, n.types, n.loc);
    for (uint32_t j = 0; j < n.types.size(); ++j) {
      find({const_cast<Node*>(&n), j}).first = to->out(j);
    }
  }

  static bool fits(const Node& n) {
    for (const ir::Type& t : n.types) {
      if (t.kind != ir::Type::Kind::kTensor || !t.shape.known()) return false;
    }
    for (const Value& v : n.inputs) {
      if (v && (v.type().kind != ir::Type::Kind::kTensor || !v.shape().known())) return false;
    }
    return !n.op->def.random && !n.op->def.side_effect && !n.op->holds_code && !has_regions(n);
  }

  bool move(const Node& n) {
    if (!fits(n)) return false;
    const Moves* m = moves_of(*n.op);
    if (m) return move_by_line(n, *m);
    return is_elementwise(n) && move_elementwise(n);
  }

  bool move_elementwise(const Node& n) {
    int rank = n.types[0].shape.rank();
    if (rank < 3) return false;
    bool gains = false;
    for (const Value& v : n.inputs) {
      if (!v) return false;
      gains |= v.shape() == n.types[0].shape && find(v).made_last;
    }
    if (!gains) return false;
    ValueList in;
    for (const Value& v : n.inputs) in.push_back(last(v, rank));
    add_moved(n, std::move(in), n.attrs);
    return true;
  }

  // All results of `n` are moved.
  void add_moved(const Node& n, ValueList in, const ir::Attrs& attrs) {
    ir::Types types;
    for (const ir::Type& t : n.types) {
      types.emplace_back(t.dtype, moved(t.shape, to_last(t.shape.rank())));
    }
    Node* to = out_->add_typed(*n.op, std::move(in), attrs, std::move(types), n.loc);
    for (uint32_t j = 0; j < n.types.size(); ++j) {
      set_last({const_cast<Node*>(&n), j}, to->out(j));
    }
  }
  void set_last(const Value& v, const Value& to) {
    Stands& s = find(v);
    s.last = to;
    s.made_last = true;
  }

  bool move_by_line(const Node& n, const Moves& m) {
    int rank = 0;
    bool gains = m.best && !n.inputs.empty() && has_fast_kernels(n.inputs[0].dtype());
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const Value& v = n.inputs[i];
      char mark = m.of_operand(i);
      if (mark == 'm') {
        if (!v || (rank && v.rank() != rank)) return false;
        rank = v.rank();
        gains |= find(v).made_last;
      } else if (mark == '-' ? static_cast<bool>(v) : mark != '.' && mark != 'b') {
        return false;
      }
    }
    if (!gains || rank < 3) return false;  // one with `b` alone is moved where it is asked for
    Order order = to_last(rank);
    auto attrs = moved_attrs(n, m, order);
    if (!attrs) return false;
    std::vector<Order> lost = orders_of_results(n, m, order);
    if (lost.size() != n.types.size()) return false;
    ValueList in;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      bool with_dims = m.of_operand(i) == 'm' || m.of_operand(i) == 'b';
      in.push_back(with_dims ? last(n.inputs[i], rank) : first(n.inputs[i]));
    }
    emit_by_line(n, m, std::move(in), *attrs, lost);
    return true;
  }

  // The order in which each result comes, empty where it is as ever. Fewer than results when one
  // has an order that is neither.
  std::vector<Order> orders_of_results(const Node& n, const Moves& m, const Order& order) {
    std::vector<Order> orders;
    for (size_t j = 0; j < n.types.size(); ++j) {
      char mark = m.of_result(j);
      int rank = n.types[j].shape.rank();
      Order o;
      if (mark == 'm' || mark == 'b' || (mark == 'r' && rank == static_cast<int>(order.size()))) {
        o = order;
      } else if (mark == 'r') {
        if (!reduced(n, order, rank, &o)) break;
      }
      orders.push_back(std::move(o));
    }
    return orders;
  }
  // What is left of `order` without the axes that are reduced, if that is first or last.
  static bool reduced(const Node& n, const Order& order, int rank, Order* left) {
    const ir::Attr& axes = n.view()["axis"];
    std::vector<int> place(order.size(), 0);
    if (!axes.none()) {
      for (int64_t a : axes.ints()) place[static_cast<size_t>(a < 0 ? a + place.size() : a)] = -1;
    }
    if (axes.none() || axes.ints().empty()) std::fill(place.begin(), place.end(), -1);
    int next = 0;
    for (int& p : place) p = p < 0 ? -1 : next++;
    for (int d : order) {
      if (place[static_cast<size_t>(d)] >= 0) left->push_back(place[static_cast<size_t>(d)]);
    }
    if (static_cast<int>(left->size()) != rank) return false;
    if (std::is_sorted(left->begin(), left->end())) {
      left->clear();
      return true;
    }
    return rank >= 3 && *left == to_last(rank);
  }

  void emit_by_line(const Node& n, const Moves& m, ValueList in, const ir::Attrs& attrs,
                    const std::vector<Order>& orders) {
    ir::Types types;
    for (size_t j = 0; j < n.types.size(); ++j) {
      const ir::Type& t = n.types[j];
      Shape s = t.shape;
      if (!orders[j].empty())
        s = moved(under_ones(s, static_cast<int>(orders[j].size())), orders[j]);
      types.emplace_back(t.dtype, s);
    }
    Node* to = out_->add_typed(*n.op, std::move(in), attrs, std::move(types), n.loc);
    for (uint32_t j = 0; j < n.types.size(); ++j) {
      Value old{const_cast<Node*>(&n), j};
      if (orders[j].empty()) {
        find(old).first = to->out(j);
      } else if (m.of_result(j) == 'b') {
        Value back = transposed(to->out(j), inverse(orders[j]), n.loc);
        find(old).first = reshaped(back, n.types[j].shape, n.loc);
      } else {
        set_last(old, to->out(j));
      }
    }
  }

  const ir::Graph& g_;
  std::shared_ptr<ir::Graph> out_;
  std::vector<size_t> at_;  // by node id: where its results are in values_
  std::vector<Stands> values_;
};

bool concerned(const Node& n) {
  if (n.is_param()) return false;
  const Moves* m = moves_of(*n.op);
  return m && m->best && n.attrs[static_cast<size_t>(m->order)].string() == "channel_first";
}

GraphOut move_level(const ir::Graph& g) {
  for (const Node& n : g.nodes()) {
    if (concerned(n)) return Mover(g).run();
  }
  return copy_of(g);
}

}  // namespace

GraphOut channels_last(const ir::Graph& g) { return at_every_level(g, move_level); }

}  // namespace mycel::passes
