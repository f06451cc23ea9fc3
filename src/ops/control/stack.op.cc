// Ops on stacks: what the reverse of a loop pops. The gradient of a stack is a stack, so a push is
// the gradient of a pop and the other way round, and loops over stacks differentiate to any order.
#include "ir/adjoint.h"
#include "ir/graph.h"
#include "ir/type_rule.h"
#include "ops/control/control.h"

namespace mycel::ops {
namespace {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Type;
using ir::TypeRuleCtx;
using ir::Value;

constexpr const char* kTested = "skip all: stacks are tested in runtime/loop_test.cc";

Type stack_type(DType d, const Shape& s) { return {d, s, Type::Kind::kStack}; }

Shape without_first(const Shape& s) { return Shape(std::vector<int64_t>(s.begin() + 1, s.end())); }
Shape with_first(int64_t n, const Shape& s) {
  Shape out{n};
  for (int64_t d : s) out.push_back(d);
  return out;
}

void check_mask(TypeRuleCtx& c, int i, const Shape& element) {
  if (!c.has(i)) return;
  const Shape& m = c.shape(i);
  bool fits = m.rank() <= element.rank();
  for (int d = 0; fits && d < m.rank(); ++d) {
    fits = m[d] == element[d] || m[d] == kUnknownDim || element[d] == kUnknownDim;
  }
  if (!fits) c.fail("the mask must have the first dims of an element");
}

bool same_dims(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int d = 0; d < a.rank(); ++d) {
    if (dims_differ(a[d], b[d])) return false;
  }
  return true;
}

void push_type(TypeRuleCtx& c) {
  if (c.dtype(0) != c.dtype(1) || !same_dims(c.shape(0), c.shape(1))) {
    c.fail("the value is no element of the stack");
  }
  check_mask(c, 2, c.shape(0));
  c.out.push_back(c.in(0));
}

void pop_type(TypeRuleCtx& c) {
  check_mask(c, 1, c.shape(0));
  c.out.push_back(c.in(0));
  c.result(c.dtype(0), c.shape(0));
}

// Popping the gradient of the stack gives that of the element and that of the stack below it.
void push_grad(Adjoint& a) {
  std::vector<Value> in{a.dy()};
  bool masked = a.node().inputs.size() > 2 && a.node().inputs[2];
  in.push_back(masked ? a.x(2) : Value());
  // A zero of unknown shape takes it from the element that was pushed.
  if (!a.x_type(1).shape.known()) in.push_back(a.x(1));
  ir::Node* n = a.graph().add(ir::op_of(kStackPop), in);
  a.dx(0) += n->out(0);
  a.dx(1) += n->out(1);
}

void pop_grad(Adjoint& a) {
  std::vector<Value> in{a.dy(0), a.dy(1)};
  if (a.node().inputs.size() > 1 && a.node().inputs[1]) in.push_back(a.x(1));
  a.dx(0) += a.graph().add(ir::op_of(kStackPush), in)->out();
}

}  // namespace

constexpr OpDef kStackNew = check({
    .name = "stack_new",
    .doc = "An empty stack of elements of one dtype and shape.",
    .attr = {"dtype: dtype", "shape: int[]"},
    .type =
        [](TypeRuleCtx& c) {
          c.out.push_back(stack_type(c.attrs.dtype("dtype"), Shape(c.attrs.ints("shape"))));
        },
    .shard = "replicated",
    .grad = [](Adjoint&) {},
    .cases = kTested,
    .internal = true,
    .control = true,
});

constexpr OpDef kStackPush = check({
    .name = "stack_push",
    .doc = "The stack with x on top. A mask has the first dims of x, which then number stacks of "
           "their own: only those where it holds are pushed.",
    .in = {"stack: stack", "x: any", "mask?: bool"},
    .type = push_type,
    .shard = "replicated",
    .grad = push_grad,
    .cases = kTested,
    .internal = true,
    .control = true,
});

constexpr OpDef kStackPop = check({
    .name = "stack_pop",
    .doc =
        "The stack without its top, and the top. What the mask leaves out and an empty stack give "
        "zeros (of the shape of `like` where elements vary in shape).",
    .in = {"stack: stack", "mask?: bool", "like?: any"},
    .out = {"rest", "top"},
    .type = pop_type,
    .shard = "replicated",
    .grad = pop_grad,
    .cases = kTested,
    .internal = true,
    .control = true,
});

constexpr OpDef kStackAdd = check({
    .name = "stack_add",
    .doc = "Sum of two stacks of gradients, tops aligned; what one of them lacks is zero.",
    .in = {"a: stack", "b: stack"},
    .type = [](TypeRuleCtx& c) { c.out.push_back(c.in(0)); },
    .shard = "replicated",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += a.dy();
          a.dx(1) += a.dy();
        },
    .cases = kTested,
    .internal = true,
    .control = true,
});

constexpr OpDef kStackFromRows = check({
    .name = "stack_from_rows",
    .doc = "The rows of x as a stack; first_on_top: the first pop gives x[0].",
    .in = {"x: any"},
    .attr = {"first_on_top: bool = True"},
    .type =
        [](TypeRuleCtx& c) {
          if (c.shape(0).rank() < 1) c.fail("x needs at least one dim");
          c.out.push_back(stack_type(c.dtype(0), without_first(c.shape(0))));
        },
    .shard = "replicated",
    .grad =
        [](Adjoint& a) {
          std::vector<Value> in{a.dy()};
          int64_t n = a.x_type(0).shape[0];
          if (n == kUnknownDim) in.push_back(a.x(0));
          a.dx(0) += a.graph()
                         .add(ir::op_of(kStackToRows), in,
                              {Attr(n), Attr(a.attrs().boolean("first_on_top"))})
                         ->out();
        },
    .cases = kTested,
    .internal = true,
    .control = true,
});

constexpr OpDef kStackToRows = check({
    .name = "stack_to_rows",
    .doc =
        "The upper `count` elements of a stack as the rows of an array (all when count is -1, as "
        "many as `like` has when it is given), the top as the last row or the first.",
    .in = {"stack: stack", "like?: any"},
    .attr = {"count: int = -1", "first_on_top: bool = False"},
    .type =
        [](TypeRuleCtx& c) {
          int64_t n = c.attrs.integer("count");
          c.result(c.dtype(0), with_first(n < 0 ? kUnknownDim : n, c.shape(0)));
        },
    .shard = "replicated",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += a.graph()
                         .add(ir::op_of(kStackFromRows), {a.dy()},
                              {Attr(a.attrs().boolean("first_on_top"))})
                         ->out();
        },
    .cases = kTested,
    .internal = true,
    .control = true,
});

void register_stack() {
  ir::register_ops(
      {&kStackNew, &kStackPush, &kStackPop, &kStackAdd, &kStackFromRows, &kStackToRows});
}

}  // namespace mycel::ops
