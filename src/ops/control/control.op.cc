#include "ops/control/control.h"

#include "ir/adjoint.h"
#include "ir/function.h"
#include "ir/graph.h"
#include "ir/type_rule.h"
#include "ops/all_ops.h"

namespace mycel::ops {
namespace {

using ir::Adjoint;
using ir::check;
using ir::Graph;
using ir::no_gradient;
using ir::Type;
using ir::TypeRuleCtx;
using ir::Value;
namespace types = ir::types;

bool compatible(const Type& a, const Type& b) {
  if (a.dtype != b.dtype || a.kind != b.kind || a.shape.rank() != b.shape.rank()) return false;
  for (int d = 0; d < a.shape.rank(); ++d) {
    if (dims_differ(a.shape[d], b.shape[d])) return false;
  }
  return true;
}

// The region's parameters must be the operands from `first` on.
void check_region(TypeRuleCtx& c, const Graph& region, const char* name, int first) {
  int count = c.inputs() - first;
  if (static_cast<int>(region.params().size()) != count) {
    c.fail("'{}' takes {} values, {} operands follow", name, region.params().size(), count);
  }
  for (int i = 0; i < count; ++i) {
    if (!compatible(region.params()[i].type(), c.in(first + i))) {
      c.fail("'{}' takes {} as value {}, the operand is {}", name, region.params()[i].type().str(),
             i, c.in(first + i).str());
    }
  }
}

void check_predicate(TypeRuleCtx& c, const Type& t, const char* what) {
  if (t.dtype != DType::kBool || t.shape.size() != 1)
    c.fail("{} must be one bool, got {}", what, t.str());
}

void cond_type(TypeRuleCtx& c) {
  check_predicate(c, c.in(0), "the predicate");
  const Graph& then = *c.attrs["then"].graph();
  const Graph& otherwise = *c.attrs["otherwise"].graph();
  check_region(c, then, "then", 1);
  check_region(c, otherwise, "otherwise", 1);
  if (then.results().size() != otherwise.results().size()) {
    c.fail("'then' gives {} results, 'otherwise' {}", then.results().size(),
           otherwise.results().size());
  }
  for (size_t i = 0; i < then.results().size(); ++i) {
    const Type& a = then.results()[i].type();
    const Type& b = otherwise.results()[i].type();
    if (!compatible(a, b))
      c.fail("result {} is {} in 'then' and {} in 'otherwise'", i, a.str(), b.str());
    Shape s = a.shape;
    for (int d = 0; d < s.rank(); ++d) {
      if (s[d] != b.shape[d]) s.set(d, kUnknownDim);
    }
    c.out.push_back(Type(a.dtype, s, a.kind));
  }
}

// Gradient of a branch = the branch taken again, on (operands, seeds). Operands that carry no
// gradient are still operands: the branch recomputes what it needs from them.
void cond_grad(Adjoint& a) {
  const Graph& then = *a.attrs()["then"].graph();
  std::vector<int> wrt;
  for (int i = 1; i < a.inputs(); ++i) {
    if (a.wants(i)) wrt.push_back(i - 1);
  }
  std::vector<Value> operands;
  for (int i = 0; i < a.inputs(); ++i) operands.push_back(a.x(i));
  for (size_t j = 0; j < then.results().size(); ++j) {
    if (is_float(then.results()[j].dtype()) || is_complex(then.results()[j].dtype())) {
      operands.push_back(a.dy(static_cast<int>(j)));
    }
  }
  ir::Node* n = a.graph().add(
      ir::op_of(kCond), operands,
      {a.region_gradient(then, wrt), a.region_gradient(*a.attrs()["otherwise"].graph(), wrt)});
  for (size_t k = 0; k < wrt.size(); ++k) a.dx(wrt[k] + 1) += n->out(static_cast<uint32_t>(k));
}

void while_type(TypeRuleCtx& c) {
  const Graph& condition = *c.attrs["condition"].graph();
  const Graph& body = *c.attrs["body"].graph();
  check_region(c, condition, "condition", 0);
  check_region(c, body, "body", 0);
  if (condition.results().size() != 1) c.fail("'condition' must give one bool");
  check_predicate(c, condition.results()[0].type(), "the result of 'condition'");
  if (static_cast<int>(body.results().size()) != c.inputs()) {
    c.fail("'body' gives {} results for {} carried values", body.results().size(), c.inputs());
  }
  for (int i = 0; i < c.inputs(); ++i) {
    const Type& t = body.results()[i].type();
    if (!compatible(t, c.in(i))) {
      c.fail("carried value {} enters as {} and leaves 'body' as {}", i, c.in(i).str(), t.str());
    }
    c.out.push_back(
        Type(t.dtype, c.shape(i) == t.shape ? t.shape : body.params()[i].shape(), t.kind));
  }
}

void call_type(TypeRuleCtx& c) {
  ir::FunctionPtr function = c.attrs["function"].function();
  const ir::Function& f = *function;
  if (static_cast<int>(f.params.size()) != c.inputs()) {
    c.fail("@{} takes {} values, {} given", f.name, f.params.size(), c.inputs());
  }
  for (int i = 0; i < c.inputs(); ++i) {
    if (!compatible(f.params[i], c.in(i))) {
      c.fail("@{} takes {} as value {}", f.name, f.params[i].str(), i);
    }
  }
  c.out = f.results;
}

// The gradient of a function is a function: a body that calls itself gets a gradient that calls
// itself. It computes the primal anew, so a recursion n deep takes n calls of calls.
void call_grad(Adjoint& a) {
  ir::FunctionPtr f = a.attrs()["function"].function();
  std::vector<int> wrt;
  std::vector<Value> operands;
  for (int i = 0; i < a.inputs(); ++i) {
    if (a.wants(i)) wrt.push_back(i);
    operands.push_back(a.x(i));
  }
  for (size_t j = 0; j < f->results.size(); ++j) {
    if (is_float(f->results[j].dtype) || is_complex(f->results[j].dtype)) {
      operands.push_back(a.dy(static_cast<int>(j)));
    }
  }
  ir::Node* n = a.graph().add(ir::op_of(kCall), operands, {a.function_gradient(f, wrt)});
  for (size_t k = 0; k < wrt.size(); ++k) a.dx(wrt[k]) += n->out(static_cast<uint32_t>(k));
}

void callback_type(TypeRuleCtx& c) {
  // Results are like the operands `like` points at.
  for (int64_t i : c.attrs.ints("like")) {
    if (i < 0 || i >= c.inputs()) c.fail("'like' names operand {} of {}", i, c.inputs());
    c.result(c.dtype(static_cast<int>(i)), c.shape(static_cast<int>(i)));
  }
}

// Gradient of a function with its own: call the user's rule on (operands, results, seeds).
void custom_grad(Adjoint& a) {
  std::vector<Value> operands;
  ir::Attr::Ints like;
  for (int i = 0; i < a.inputs(); ++i) {
    operands.push_back(a.x(i));
    like.push_back(i);
  }
  int results = static_cast<int>(a.node().types.size());
  for (int j = 0; j < results; ++j) operands.push_back(a.y(j));
  for (int j = 0; j < results; ++j) operands.push_back(a.dy(j));
  ir::Node* n =
      a.graph().add(ir::op_of(kCallback), operands, {a.attrs()["backward"], ir::Attr(like)});
  for (int i = 0; i < a.inputs(); ++i) {
    if (a.wants(i)) a.dx(i) += n->out(static_cast<uint32_t>(i));
  }
}

}  // namespace

constexpr OpDef kCond = check({
    .name = "cond",
    .doc = "then(operands) if pred else otherwise(operands); only the taken region runs. Both "
           "regions take "
           "the operands and give results of the same types.",
    .in = {"pred: bool", "*operands: any"},
    .attr = {"then: graph", "otherwise: graph"},
    .out = {"*y"},
    .type = cond_type,
    .shard = "replicated",
    .grad = cond_grad,
    .cases = "skip all: regions and host functions are tested in runtime/control_test.cc",
    .onnx = "If",
    .internal = true,
});

constexpr OpDef kWhileLoop = check({
    .name = "while_loop",
    .doc = "Repeats operands = body(operands) while condition(operands). The types of the carried "
           "values "
           "do not change.",
    .in = {"*operands: any"},
    .attr = {"condition: graph", "body: graph"},
    .out = {"*y"},
    .type = while_type,
    .shard = "replicated",
    .grad = loop_gradient,
    .cases = "skip all: regions and host functions are tested in runtime/control_test.cc",
    .onnx = "Loop",
    .internal = true,
});

constexpr OpDef kCall = check({
    .name = "call",
    .doc = "The results of a function of the graph, which may call itself.",
    .in = {"*operands: any"},
    .attr = {"function: function"},
    .out = {"*y"},
    .type = call_type,
    .shard = "replicated",
    .grad = call_grad,
    .cases = "skip all: regions and host functions are tested in runtime/control_test.cc",
    .internal = true,
});

constexpr OpDef kCallback = check({
    .name = "callback",
    .doc = "Calls a function of the host program; result k has the type of operand like[k].",
    .in = {"*operands: any"},
    .attr = {"function: callback", "like: int[]"},
    .out = {"*y"},
    .type = callback_type,
    .shard = "replicated",
    .grad = no_gradient("a host function is opaque in a compiled graph"),
    .cases = "skip all: regions and host functions are tested in runtime/control_test.cc",
    .side_effect = true,
    .internal = true,
});

constexpr OpDef kCustomGradient = check({
    .name = "custom_gradient",
    .doc = "forward(operands), differentiated by backward(operands…, results…, seeds…) instead of "
           "by the "
           "rules of the ops inside.",
    .in = {"*operands: any"},
    .attr = {"forward: callback", "backward: callback"},
    .out = {"*y"},
    .type =
        [](TypeRuleCtx& c) {
          c.fail("the result types of a host function are known only when it runs");
        },
    .shard = "replicated",
    .grad = custom_grad,
    .cases = "skip all: regions and host functions are tested in runtime/control_test.cc",
    .internal = true,
});

constexpr OpDef kStopGradient = check({
    .name = "stop_gradient",
    .doc = "x, with no gradient flowing through it.",
    .in = {"x: any"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint&) {},
    .scalar = ir::unary([](auto x) { return x; }),
    .cases = "skip grad: its gradient is not its derivative; skip grad2: likewise",
    .onnx = "Identity",
});

constexpr OpDef kIdentity = check({
    .name = "identity",
    .doc = "x.",
    .in = {"x: any"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy(); },
    .scalar = ir::unary([](auto x) { return x; }),
    .cases = "default",
    .onnx = "Identity",
    .primitive = "Identity()",
});

void register_control() {
  ir::register_ops(
      {&kCond, &kWhileLoop, &kCall, &kCallback, &kCustomGradient, &kStopGradient, &kIdentity});
  register_stack();
}

}  // namespace mycel::ops
