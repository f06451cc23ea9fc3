// Softmax and its relatives, each one fused loop nest with an exact gradient kernel.
#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/control/control.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/rooms.h"
#include "ops/reduce/softmax_loops.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

void softmax_type(TypeRuleCtx& c) {
  if (c.shape(0).rank() > 0) {
    c.axis(c.attrs.integer("axis"));
  } else if (c.attrs.integer("axis") != 0 && c.attrs.integer("axis") != -1) {
    c.fail("axis must be 0 or -1 for a 0-d operand");
  }
  const Attr& d = c.attrs["dtype"];
  DType out = d.none() ? c.dtype(0) : d.dtype();
  if (!is_float(out)) {
    c.fail_type("the result would be {}; give a float operand, or a float dtype", name_of(out));
  }
  c.result(out, c.shape(0));
}

void same_pair(TypeRuleCtx& c) {
  types::broadcast(c);
  if (c.shape(0).known() && c.shape(1).known() && !(c.shape(0) == c.shape(1)))
    c.fail("the shapes differ");
}

Value along(Value v, Adjoint& a) {
  return kReduceSum({v}, {Attr::Ints{a.attrs().integer("axis")}, true});
}

extern const OpDef kSoftmaxGrad, kLogSoftmaxGrad;

}  // namespace

constexpr OpDef kSoftmax = check({
    .name = "softmax",
    .doc = "e^x / sum(e^x) along axis, without overflow. dtype: that of the result, and of the "
           "computation.",
    .in = {"x: real"},
    .attr = {"axis: int = -1", "dtype: dtype? = None"},
    .type = softmax_type,
    .shard = "... -> ... : whole(axis)",
    .moves = "m -> m : axis axis",
    .grad = [](Adjoint& a) { a.dx(0) += kSoftmaxGrad({a.y(), a.dy()}, {a.attrs()["axis"]}); },
    .loops = softmax_loops,
    .cases = "dtypes float16 bfloat16 float32 float64; x[2, 3, 4]; axis = -1 0 1; "
             "at ([1, 2, 3]) -> [0.090030573170380462, 0.24472847105479767, 0.66524095577482186]; "
             "at ([1000, 0]) -> [1, 0]; bad axis = 3 | x[2, 600, 3] [5, 2000]; axis = 1; skip "
             "grad: as for small "
             "ones; skip grad2: as for small ones; skip dtypes: as for small ones | x[]; axis = 0 "
             "-1; at (3) -> 1",
    .onnx = "Softmax",
    .primitive = "Softmax(axis)",
});

namespace {
constexpr OpDef kSoftmaxGrad = check({
    .name = "softmax_grad",
    .doc = "Gradient of softmax from its result: y * (dy - sum(y * dy)) along axis.",
    .in = {"y: float", "dy: float"},
    .attr = {"axis: int = -1"},
    .promote = Promote::kCommon,
    .type = same_pair,
    .shard = "..., ... -> ... : whole(axis)",
    .grad =
        [](Adjoint& a) {
          Value y = a.x(0), dy = a.x(1), u = a.dy();
          if (a.wants(0)) a.dx(0) += u * (dy - along(y * dy, a)) - dy * along(u * y, a);
          a.dx(1) += kSoftmaxGrad({y, u}, {a.attrs()["axis"]});
        },
    .loops = softmax_grad_loops,
    .cases = "y[2, 3, 4]; dy[2, 3, 4]; axis = -1 0 1; skip broadcast: the shapes are equal",
    .internal = true,
});
}  // namespace

constexpr OpDef kLogSoftmax = check({
    .name = "log_softmax",
    .doc = "x - log(sum(e^x)) along axis, without overflow.",
    .in = {"logits: real"},
    .attr = {"axis: int = -1", "dtype: dtype? = None"},
    .type = softmax_type,
    .shard = "... -> ... : whole(axis)",
    .moves = "m -> m : axis axis",
    .grad = [](Adjoint& a) { a.dx(0) += kLogSoftmaxGrad({a.y(), a.dy()}, {a.attrs()["axis"]}); },
    .loops = log_softmax_loops,
    .cases = "dtypes float16 bfloat16 float32 float64; logits[2, 3, 4]; axis = -1 0 1; "
             "at ([1, 2, 3]) -> [-2.4076059644443801, -1.4076059644443801, -0.40760596444438013]; "
             "at ([1000, 0]) -> [0, -1000]; bad axis = 3 | logits[2, 600, 3] [5, 2000]; axis = 1; "
             "skip grad: as for "
             "small ones; skip grad2: as for small ones; skip dtypes: as for small ones | "
             "logits[]; axis = 0 -1; "
             "at (3) -> 0",
    .onnx = "LogSoftmax",
    .primitive = "LogSoftmax(axis)",
});

namespace {
constexpr OpDef kLogSoftmaxGrad = check({
    .name = "log_softmax_grad",
    .doc = "Gradient of log_softmax from its result: dy - e^y * sum(dy) along axis.",
    .in = {"y: float", "dy: float"},
    .attr = {"axis: int = -1"},
    .promote = Promote::kCommon,
    .type = same_pair,
    .shard = "..., ... -> ... : whole(axis)",
    .grad =
        [](Adjoint& a) {
          Value e = kExp({a.x(0)}), u = a.dy();
          if (a.wants(0)) a.dx(0) -= u * e * along(a.x(1), a);
          a.dx(1) += u - along(u * e, a);
        },
    .loops = log_softmax_grad_loops,
    .cases = "y[2, 3, 4]; dy[2, 3, 4]; axis = -1 0 1; skip broadcast: the shapes are equal",
    .internal = true,
});
}  // namespace

constexpr OpDef kSoftmin = check({
    .name = "softmin",
    .doc = "softmax(-x) along axis.",
    .in = {"x: real"},
    .attr = {"axis: int = -1", "dtype: dtype? = None"},
    .type = softmax_type,
    .shard = "... -> ... : whole(axis)",
    .expand =
        [](Expansion& e) { e.result(kSoftmax({-e.x(0)}, {e.attrs["axis"], e.attrs["dtype"]})); },
    .cases = "dtypes float16 bfloat16 float32 float64; x[2, 3, 4]; axis = -1 1; bad axis = 3; "
             "at ([3, 2, 1]) -> [0.090030573170380462, 0.24472847105479767, 0.66524095577482186]",
});

constexpr OpDef kLogsumexp = check({
    .name = "logsumexp",
    .doc = "log(sum(e^x)) over the axes (all when empty), without overflow; -inf for no elements' "
           "worth of mass.",
    .in = {"input: real"},
    .attr = {"axis: int[]? = []", "keep_dims: bool = False"},
    .promote = Promote::kFloat,
    .type = reduce_type,
    .shard = "... -> ... : whole(axis)",
    .expand =
        [](Expansion& e) {
          Value x = e.x(0);
          auto axes = reduced_axes(axis_attr(e.attrs), x.rank(), e.op.name);
          Attr axis = Attr::Ints(axes.begin(), axes.end());
          if (x.rank() == 0) return e.result(x);
          // A shift by the largest element, through which no gradient needs to flow; none where it
          // is infinite.
          Value top = kStopGradient({kReduceMax({x}, {axis, true})});
          Value shift = where(kIsfinite({top}), top, 0.0);
          Value sum = kLog({kReduceSum({kExp({x - shift})}, {axis, true})}) + shift;
          if (!e.attrs.boolean("keep_dims")) sum = kReduceSum({sum}, {axis, false});
          e.result(sum);
        },
    .cases = "input[2, 3, 4]; axis = [] 0 -1 [0, 2]; keep_dims = False True; bad axis = 3; "
             "at ([1, 2, 3]) -> 3.4076059644443801; at ([1000, 1000]) -> 1000.6931471805599; at "
             "([-inf, -inf]) -> -inf "
             "| input[]; axis = []",
    .onnx = "ReduceLogSumExp",
    .method = "logsumexp",
});

void register_softmax() {
  register_ops({&kSoftmax, &kSoftmaxGrad, &kLogSoftmax, &kLogSoftmaxGrad, &kSoftmin, &kLogsumexp});
}

}  // namespace mycel::ops
