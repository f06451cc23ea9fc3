#include "random_graph.h"

#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "random_ops.h"

namespace mycel::graph_checks {
namespace {

using ir::Attr;
using ir::Attrs;
using ir::Graph;
using ir::GraphPtr;
using ir::Type;
using ir::Value;

constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat32, DType::kFloat32, DType::kFloat64,
                             DType::kInt32,   DType::kInt64,   DType::kBool};

class Program {
 public:
  Program(Philox& draw, Graph& g, int depth, bool with_16_bit)
      : draw_(draw), g_(g), depth_(depth), with_16_bit_(with_16_bit) {}

  void add_params(const ir::Types& types) {
    for (const Type& t : types) values_.push_back(g_.add_param(t));
  }

  void grow(int nodes) {
    for (int i = 0; i < nodes; ++i) {
      try {
        step();
      } catch (const UserError&) {  // operands that do not go together: another step then
      }
    }
  }

  // The last value of this type, or a fill of it.
  Value value_of(const Type& t) {
    for (size_t i = values_.size(); i-- > 0;) {
      if (values_[i].type() == t && (i == 0 || draw_.below(3))) return values_[i];
    }
    return add("fill_constant", {}, {number(), Attr(t.shape), Attr(t.dtype)});
  }
  Value any() { return values_[draw_.below(values_.size())]; }
  Value recent() {
    size_t n = values_.size();
    return values_[n - 1 - draw_.below(std::min<size_t>(n, 4))];
  }

 private:
  int pick(int n) { return static_cast<int>(draw_.below(static_cast<uint64_t>(n))); }
  Attr number() {
    static constexpr double kNumbers[] = {0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -0.0, 4.0};
    return Attr(kNumbers[pick(8)]);
  }

  Value add(const char* op, std::vector<Value> in, Attrs attrs = {}, bool keep = true) {
    ir::Loc loc = ir::intern_loc("program.py:" + std::to_string(g_.size()));
    ir::Node* n = g_.add(ir::op_named(op), std::move(in), std::move(attrs), loc);
    for (uint32_t j = 0; keep && j < n->types.size(); ++j) values_.push_back(n->out(j));
    return n->out();
  }

  void step() {
    Value x = pick(2) ? recent() : any();
    switch (pick(depth_ < 2 ? 22 : 20)) {
      case 0:
      case 1:
      case 2:
        return unary(x);
      case 3:
      case 4:
      case 5:
        return binary(x);
      case 6:
        return compare(x);
      case 7: {
        Value y = value_of(x.type()), c = value_of({DType::kBool, x.shape()});
        add("select", {c, x, y});
        return;
      }
      case 8:
        return cast(x);
      case 9:
        return reduce(x);
      case 10:
      case 11:
        return move(x);
      case 12:
        return cut_or_join(x);
      case 13:
        return product(x);
      case 14:
        return constant();
      case 15:
      case 16:
      case 17:
        return recorded();
      case 18:
      case 19:
        return formula(x);
      case 20:
        return cond();
      default:
        return loop();
    }
  }

  void unary(const Value& x) {
    static constexpr const char* kFloat[] = {"tanh",     "neg",  "abs",   "square",
                                             "sigmoid",  "relu", "exp",   "sqrt",
                                             "identity", "sin",  "floor", "zeros_like"};
    static constexpr const char* kInt[] = {"neg",    "abs",      "square",
                                           "invert", "identity", "zeros_like"};
    if (is_float(x.dtype())) {
      add(kFloat[pick(12)], {x});
    } else if (is_int(x.dtype())) {
      add(kInt[pick(6)], {x});
    } else {
      add("logical_not", {x});
    }
  }

  // A value that broadcasts with x: alike, its last row, or one number.
  Value partner(const Value& x) {
    int kind = pick(4);
    if (kind == 0) return add("fill_constant", {}, {number(), Attr(Shape()), Attr(x.dtype())});
    if (kind == 1 && x.rank() > 0) return value_of({x.dtype(), Shape{x.shape()[-1]}});
    return pick(6) ? value_of(x.type()) : x;
  }

  void binary(const Value& x) {
    static constexpr const char* kNumber[] = {"add", "sub", "mul", "maximum", "minimum"};
    static constexpr const char* kBool[] = {"logical_and", "logical_or"};
    Value y = partner(x);
    std::vector<Value> in = pick(2) ? std::vector<Value>{x, y} : std::vector<Value>{y, x};
    if (is_bool(x.dtype())) {
      add(kBool[pick(2)], in);
    } else if (is_float(x.dtype()) && !pick(5)) {
      add("div", in);
    } else {
      add(kNumber[pick(5)], in);
    }
  }

  void compare(const Value& x) {
    static constexpr const char* kOps[] = {"less", "greater_equal", "equal", "not_equal"};
    add(kOps[pick(is_bool(x.dtype()) ? 1 : 4) + (is_bool(x.dtype()) ? 2 : 0)], {x, partner(x)});
  }

  void cast(const Value& x) {
    // Never a float to an integer: what is no number has no integer.
    DType to = kDTypes[pick(7)];
    if (is_float(x.dtype()) && !is_float(to)) to = DType::kFloat64;
    add("cast", {x}, {Attr(to)});
  }

  void reduce(const Value& x) {
    if (is_bool(x.dtype())) return unary(x);
    Attr::Ints axes;
    if (x.rank() > 0 && pick(3)) axes.push_back(pick(x.rank()));
    add(pick(2) ? "reduce_sum" : "reduce_max", {x}, {Attr(axes), Attr(pick(2) == 0)});
  }

  void move(const Value& x) {
    const Shape& s = x.shape();
    switch (pick(5)) {
      case 0:
        add("reshape", {x}, {Attr(Attr::Ints{-1})});
        return;
      case 1: {
        Attr::Ints perm;
        for (int d = 0; d < s.rank(); ++d) perm.push_back(d);
        for (int d = s.rank() - 1; d > 0; --d) std::swap(perm[d], perm[pick(d + 1)]);
        add("transpose", {x}, {Attr(perm)});
        return;
      }
      case 2:
        if (s.rank() < 4) add("expand_dims", {x}, {Attr(pick(s.rank() + 1))});
        return;
      case 3: {
        if (s.rank() >= 4 || s.size() > 200) return;
        Attr::Ints shape{1 + pick(3)};
        for (int64_t n : s) shape.push_back(n);
        add("broadcast_to", {x}, {Attr(shape)});
        return;
      }
      default: {
        if (s.rank() < 2) return;
        Attr::Ints shape{s[0] * s[1]};
        for (int d = 2; d < s.rank(); ++d) shape.push_back(s[d]);
        add("reshape", {x}, {Attr(shape)});
      }
    }
  }

  void cut_or_join(const Value& x) {
    const Shape& s = x.shape();
    if (s.rank() == 0) return;
    if (pick(3) == 0) {
      if (s.size() > 200) return;
      add("concat", {x, value_of(x.type())}, {Attr(pick(s.rank()))});
      return;
    }
    Attr::Ints begin, end, step;
    for (int64_t n : s) {
      begin.push_back(pick(static_cast<int>(n)));
      end.push_back(begin.back() + 1 + pick(static_cast<int>(n - begin.back())));
      step.push_back(1 + pick(2));
    }
    add("basic_slice", {x}, {Attr(begin), Attr(end), Attr(step)});
  }

  void product(const Value& x) {
    if (x.rank() != 2 || x.dtype() != DType::kFloat32) return binary(x);
    Value bounded = add("tanh", {x}, {}, false);
    add("matmul", {bounded, add("tanh", {value_of(x.type())}, {}, false)},
        {Attr(false), Attr(true)});
  }

  void constant() {
    DType d = kDTypes[pick(7)];
    Shape s;
    for (int rank = pick(3); rank > 0; --rank) s.push_back(1 + pick(3));
    Tensor t = Tensor::empty(d, s);
    for (int64_t i = 0; i < t.size(); ++i)
      set_element(t.mutable_raw(), d, i, static_cast<int64_t>(pick(is_bool(d) ? 2 : 5)));
    values_.push_back(g_.constant(t));
  }

  // Any op on operands of its record: values of the program where the op takes all, or a choice
  // between two that it takes, which no pass can fold.
  void recorded() {
    Use use = draw_use(draw_, with_16_bit_);
    std::vector<Value> in;
    for (const Use::Operand& o : use.operands) in.push_back(operand(o));
    ir::Node* n = g_.add(*use.op, std::move(in), use.attrs);
    for (uint32_t j = 0; j < n->types.size(); ++j) keep(n->out(j));
  }

  Value operand(const Use::Operand& o) {
    if (!o.one) return {};
    Type type = ir::type_of(o.one);
    for (size_t i = values_.size(); o.any && i-- > 0;) {
      if (values_[i].type() == type && pick(4)) return values_[i];
    }
    Value one = g_.constant(o.one);
    if (pick(4) == 0) return one;
    Value choice = value_of({DType::kBool, Shape()});
    return add("select", {choice, one, g_.constant(o.other)});
  }

  // Any op that has a formula for this dtype, whatever comes of it: operands need not be where it
  // is defined.
  void formula(const Value& x) {
    const ir::Op* op = draw_formula(draw_, x.dtype());
    if (!op) return unary(x);
    std::vector<Value> in{x};
    while (in.size() < op->inputs.size()) in.push_back(partner(x));
    ir::Node* n = g_.add(*op, std::move(in));
    for (uint32_t j = 0; j < n->types.size(); ++j) keep(n->out(j));
  }

  void keep(const Value& v) {
    if (v.shape().known() && v.shape().size() > 0 && v.shape().size() <= 400) values_.push_back(v);
  }

  // A region on these types that gives these.
  GraphPtr region(const char* name, const ir::Types& params, const ir::Types& results) {
    auto g = std::make_shared<Graph>(name);
    Program inside(draw_, *g, depth_ + 1, with_16_bit_);
    inside.add_params(params);
    inside.grow(1 + pick(6));
    std::vector<Value> out;
    for (const Type& t : results) out.push_back(inside.value_of(t));
    g->set_results(std::move(out));
    return g;
  }

  std::vector<Value> some(int at_most) {
    std::vector<Value> out;
    for (int n = 1 + pick(at_most); n > 0; --n) out.push_back(any());
    return out;
  }

  void cond() {
    std::vector<Value> in = some(3);
    ir::Types params, results;
    for (const Value& v : in) params.push_back(v.type());
    for (int n = 1 + pick(2); n > 0; --n) results.push_back(any().type());
    Value predicate = value_of({DType::kBool, Shape()});
    in.insert(in.begin(), predicate);
    GraphPtr then = region("then", params, results);
    add("cond", in, {Attr(then), Attr(region("otherwise", params, results))});
  }

  // Counts to a small number, or less far when another condition ends it.
  void loop() {
    std::vector<Value> in = some(3);
    in.insert(in.begin(),
              add("fill_constant", {}, {Attr(0.0), Attr(Shape()), Attr(DType::kInt32)}, false));
    ir::Types types;
    for (const Value& v : in) types.push_back(v.type());

    auto condition = std::make_shared<Graph>("condition");
    Program test(draw_, *condition, depth_ + 1, with_16_bit_);
    test.add_params(types);
    Value limit =
        test.add("fill_constant", {},
                 {Attr(static_cast<double>(pick(4))), Attr(Shape()), Attr(DType::kInt32)});
    Value go = test.add("less", {condition->params()[0], limit});
    if (pick(3) == 0) {
      test.grow(3);
      go = test.add("logical_and", {go, test.value_of({DType::kBool, Shape()})});
    }
    condition->set_results({go});

    auto body = std::make_shared<Graph>("body");
    Program turn(draw_, *body, depth_ + 1, with_16_bit_);
    turn.add_params(types);
    Value one = turn.add("fill_constant", {}, {Attr(1.0), Attr(Shape()), Attr(DType::kInt32)});
    Value next = turn.add("add", {body->params()[0], one}, {}, false);
    turn.grow(2 + pick(8));
    std::vector<Value> out{next};
    for (size_t i = 1; i < types.size(); ++i) {
      out.push_back(pick(4) ? turn.value_of(types[i]) : body->params()[i]);
    }
    body->set_results(std::move(out));
    add("while_loop", in, {Attr(GraphPtr(condition)), Attr(GraphPtr(body))});
  }

  Philox& draw_;
  Graph& g_;
  const int depth_;
  const bool with_16_bit_;
  std::vector<Value> values_;
};

}  // namespace

std::shared_ptr<Graph> random_graph(uint64_t seed, int nodes, bool with_16_bit) {
  Philox draw(seed, 11);
  auto g = std::make_shared<Graph>("program");
  Program p(draw, *g, 0, with_16_bit);
  ir::Types params{{DType::kFloat32, Shape{2, 3}}, {DType::kBool, Shape()}};
  for (uint64_t n = draw.below(3); n > 0; --n) {
    Shape s;
    for (uint64_t rank = draw.below(4); rank > 0; --rank)
      s.push_back(static_cast<int64_t>(1 + draw.below(4)));
    params.emplace_back(kDTypes[draw.below(7)], s);
  }
  p.add_params(params);
  p.grow(nodes);
  std::vector<Value> results;
  for (uint64_t n = 1 + draw.below(3); n > 0; --n) results.push_back(p.recent());
  results.push_back(p.any());
  g->set_results(std::move(results));
  return g;
}

}  // namespace mycel::graph_checks
