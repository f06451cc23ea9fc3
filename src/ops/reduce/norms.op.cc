// Norms: Euclidean, general p, normalisation by them, distances.
#include <cmath>

#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/control/control.h"
#include "ops/elementwise/elementwise.h"
#include "ops/linalg/linalg.h"
#include "ops/reduce/fold.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/rooms.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

Attr::Ints ints(const Attr& a) { return a.none() ? Attr::Ints{} : a.ints(); }

// (sum |x|^p)^(1/p) along the axes; inf, -inf and 0 (how many are not zero) included.
Value vector_norm(Value x, double p, const Attr::Ints& axis, bool keep) {
  Attrs along = {axis, keep};
  if (p == 2) return kEuclideanNorm({x}, along);
  Value size = kAbs({x});
  if (p == 0) return kReduceSum({cast_to(not_equal(size, 0.0), size.dtype())}, along);
  if (p == 1) return kReduceSum({size}, along);
  if (std::isinf(p)) return (p > 0 ? kReduceMax : kReduceMin)({size}, along);
  Value sum = kReduceSum({kPow({size, number(size, p)})}, along);
  return kPow({sum, number(sum, 1 / p)});
}

// Norms of the matrices in two axes: sums of rows or columns, or singular values.
Value matrix_norm(Expansion& e, Value x, double p, int row, int column) {
  bool by_columns = std::fabs(p) == 1;  // column sums; infinity: row sums; 2: singular values
  const OpDef& extreme = p > 0 ? kReduceMax : kReduceMin;
  if (std::fabs(p) == 2) {
    Value s = singular_values_over(x, {row, column}, true, e.op.name.c_str());
    return extreme({s}, {Attr::Ints{-1}, false});
  }
  if (!by_columns && !std::isinf(p))
    value_error("{}: ord of matrices must be None, 1, -1, 2, -2, inf or -inf, got {}", e.op.name,
                p);
  Value sums = kReduceSum({kAbs({x})}, {Attr::Ints{by_columns ? row : column}, true});
  return extreme({sums}, {Attr::Ints{by_columns ? column : row}, true});
}

void axes_type(TypeRuleCtx& c, const Attr& axis, bool keep, DType d) {
  auto axes = reduced_axes(ints(axis), c.shape(0).rank(), c.op.name);
  c.result(d, reduced_shape(c.shape(0), axes, keep));
}

}  // namespace

constexpr OpDef kEuclideanNorm = check({
    .name = "euclidean_norm",
    .doc = "sqrt(sum |x|^2) over the axes (all when empty); its slope where it is 0 is taken as 0.",
    .in = {"x: number"},
    .attr = {"axis: int[]? = []", "keep_dims: bool = False"},
    .promote = Promote::kFloat,
    .type =
        [](TypeRuleCtx& c) {
          axes_type(c, c.attrs["axis"], c.attrs.boolean("keep_dims"), real_part_of(c.dtype(0)));
        },
    .shard = "... -> ... : whole(axis)",
    .grad =
        [](Adjoint& a) {
          auto axes = axes_of(a);
          int rank = a.x_type(0).shape.rank();
          Value scale = kDivNoNan({with_axes(a.dy(), axes, rank), with_axes(a.y(), axes, rank)});
          a.dx(0) += a.x(0) * cast_to(scale, a.x_type(0).dtype);
        },
    .loops =
        [](LoopCtx& c) {
          emit_fold(
              c, axes_of(c),
              {.accumulator = c.out_type().dtype,
               .lift = [](auto x) { return x.im ? real(x) * real(x) + imag(x) * imag(x) : x * x; },
               .merge = [](auto a, auto b) { return a + b; },
               .finish = [](auto sum) { return sqrt(sum); }});
        },
    .cases = "x[2, 3, 4]; axis = [] 0 -1 [0, 2]; keep_dims = False True; bad axis = 3; at ([3, 4]) "
             "-> 5 | x[]; axis = []",
    .onnx = "ReduceL2",
    .primitive = "EuclideanNorm(keep_dims)",
    .internal = true,
});

constexpr OpDef kLpNorm = check({
    .name = "lp_norm",
    .doc = "(sum |x|^p)^(1/p) over the axes, no less than epsilon.",
    .in = {"x: float"},
    .attr = {"axis: int[]", "p: int = 2", "keep_dims: bool = False", "epsilon: float = 1e-12"},
    .type =
        [](TypeRuleCtx& c) {
          axes_type(c, c.attrs["axis"], c.attrs.boolean("keep_dims"), c.dtype(0));
        },
    .shard = "... -> ... : whole(axis)",
    .expand =
        [](Expansion& e) {
          Value y = vector_norm(e.x(0), static_cast<double>(e.attrs.integer("p")),
                                e.attrs.ints("axis"), e.attrs.boolean("keep_dims"));
          e.result(kMaximum({y, number(y, e.attrs.real("epsilon"))}));
        },
    .cases = "x[2, 3, 4]; axis = 0 [0, 2]; p = 2 1 3; keep_dims = False True; at ([3, 4]) -> 5; "
             "bad axis = 3",
    .onnx = "LpNormalization",
    .primitive = "LpNorm(axis, p, keep_dims, epsilon)",
    .internal = true,
});

constexpr OpDef kNorm = check({
    .name = "norm",
    .doc = "Norm of order ord over dim. Of vectors (one axis, or all of them flattened when dim is "
           "None and ord is "
           "given): (sum |x|^ord)^(1/ord), also inf, -inf, 0. Of matrices (two axes): None is the "
           "root of the sum "
           "of squares, 1, -1, inf, -inf are extremes of column or row sums, 2 and -2 the largest "
           "and smallest singular value.",
    .in = {"a: number"},
    .attr = {"ord: float? = None", "dim: int[]? = None", "keepdim: bool = False",
             "dtype: dtype? = None"},
    .promote = Promote::kFloat,
    .type =
        [](TypeRuleCtx& c) {
          DType d = c.attrs["dtype"].none() ? c.dtype(0) : c.attrs.dtype("dtype");
          axes_type(c, c.attrs["dim"], c.attrs.boolean("keepdim"), real_part_of(d));
        },
    .shard = "... -> ... : whole(dim)",
    .expand =
        [](Expansion& e) {
          Value x = e.attrs["dtype"].none() ? e.x(0) : cast_to(e.x(0), e.attrs.dtype("dtype"));
          const Attr &order = e.attrs["ord"], &dim = e.attrs["dim"];
          bool keep = e.attrs.boolean("keepdim");
          auto axes = reduced_axes(ints(dim), x.rank(), e.op.name);
          Attr::Ints axis(axes.begin(), axes.end());
          bool matrix = !order.none() && axes.size() == 2 && (x.rank() == 2 || !dim.none());
          if (!matrix)
            return e.result(vector_norm(x, order.none() ? 2.0 : order.real(), axis, keep));
          int row = normalize_axis(dim.none() ? 0 : dim.ints()[0], x.rank(), "norm");
          int column = normalize_axis(dim.none() ? 1 : dim.ints()[1], x.rank(), "norm");
          Value y = matrix_norm(e, x, order.real(), row, column);
          e.result(keep ? y : kReduceSum({y}, {axis, false}));
        },
    .cases =
        "a[2, 3, 4]; ord = None 1 inf -inf; dim = [1] [0, 2] [2, 0]; keepdim = False True; bad dim "
        "= 3; "
        "a dtypes float16 float32 float64 complex64 int32 | a[6]; dim = None; ord = 3 0.5 0; at "
        "([3, 4]) -> 4.4979414452754150; skip grad2: the root of x has kinks nearby | a[3, 4]; "
        "dim = None; ord = None 1 inf | a[2, 3, 4]; a dtypes float32 float64 complex64; ord = 2 "
        "-2; dim = [0, 2] [1, 0]; keepdim = False True; tol 1e-4; fd 1e-5; bad ord = 3.0",
    .method = "norm",
});

constexpr OpDef kSquareSumAll = check({
    .name = "square_sum_all",
    .doc = "sum(x^2) and sum(y^2), two 0-d tensors.",
    .in = {"x: float", "y: float"},
    .out = {"x_sum", "y_sum"},
    .type =
        [](TypeRuleCtx& c) {
          c.result(c.dtype(0), Shape());
          c.result(c.dtype(1), Shape());
        },
    .shard = "..., ... -> , : reduce(all, sum)",
    .expand =
        [](Expansion& e) {
          e.result(kReduceSumSquare({e.x(0)}));
          e.result(kReduceSumSquare({e.x(1)}));
        },
    .cases = "x[2, 3]; y[4]; at ([3, 4], [1, 2]) -> 25, 5",
    .primitive = "SquareSumAll",
    .internal = true,
});

constexpr OpDef kRenorm = check({
    .name = "renorm",
    .doc = "Every slice at one position of axis, scaled down to p-norm maxnorm where its norm is "
           "larger.",
    .in = {"input: float"},
    .attr = {"p: float", "axis: int", "maxnorm: float"},
    .type =
        [](TypeRuleCtx& c) {
          if (c.shape(0).rank() == 0) c.fail("at least one axis is needed");
          if (c.attrs.real("p") <= 0) c.fail("p must be positive");
          if (c.attrs.real("maxnorm") < 0) c.fail("maxnorm must not be negative");
          c.axis(c.attrs.integer("axis"));
          types::same_as_first(c);
        },
    .shard = "... -> ... : whole(all)",
    .expand =
        [](Expansion& e) {
          Value x = e.x(0);
          int axis = normalize_axis(e.attrs.integer("axis"), x.rank(), "renorm");
          Attr::Ints others;
          for (int d = 0; d < x.rank(); ++d) {
            if (d != axis) others.push_back(d);
          }
          // One axis only: every element is a slice of its own.
          Value size = others.empty() ? kAbs({x}) : vector_norm(x, e.attrs.real("p"), others, true);
          double most = e.attrs.real("maxnorm");
          Value large = greater(size, most);
          Value scale = where(large, most / where(large, size, 1.0), 1.0);
          e.result(x * scale);
        },
    .cases = "input[2, 3, 4]; p = 2 1; axis = 0 -1; maxnorm = 1; bad axis = 3; bad p = -1",
    .primitive = "Renorm(p, axis=dim, maxnorm)",
    .method = "renorm",
});

constexpr OpDef kDist = check({
    .name = "dist",
    .doc = "p-norm of input - other, a 0-d tensor; the operands broadcast.",
    .in = {"input: inexact", "other: inexact"},
    .attr = {"p: float = 2"},
    .promote = Promote::kCommon,
    .type =
        [](TypeRuleCtx& c) {
          types::broadcast(c);
          c.out[0] = Type(real_part_of(c.dtype(0)), Shape());
        },
    .shard = "..., ... -> : reduce(all, sum)",
    .expand =
        [](Expansion& e) { e.result(vector_norm(e.x(0) - e.x(1), e.attrs.real("p"), {}, false)); },
    .cases =
        "input[2, 3]; other[3]; p = 2 1 3 inf; at ([3, 4], [0, 0]) -> 5; bad input[2] other[3]",
});

constexpr OpDef kL2Normalize = check({
    .name = "l2_normalize",
    .doc = "x over its Euclidean norm along the axes: x / sqrt(max(sum x^2, epsilon)).",
    .in = {"x: float"},
    .attr = {"axis: int[] = 0", "epsilon: float = 0.0001"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          Value x = e.x(0);
          if (x.rank() == 0) value_error("l2_normalize: the operand needs a dim, got a scalar");
          Value sum = kReduceSum({x * x}, {e.attrs["axis"], true});
          e.result(x * kRsqrt({kMaximum({sum, number(sum, e.attrs.real("epsilon"))})}));
        },
    .cases = "x[2, 3, 4]; axis = 0 -1 [0, 2]; epsilon = 0.0001; bad axis = 3 | x[2, 3]; axis = 1; "
             "epsilon = 100.0; skip scalar: a scalar has no axes",
    .primitive = "L2Normalize(axis, epsilon)",
});

constexpr OpDef kL2Loss = check({
    .name = "l2_loss",
    .doc = "Half the sum of squares: sum x^2 / 2.",
    .in = {"input_x: float"},
    .shard = "none",
    .expand =
        [](Expansion& e) { e.result(kReduceSum({e.x(0) * e.x(0)}, {Attr::Ints{}, false}) * 0.5); },
    .cases = "at ([3, 4]) -> 12.5",
    .primitive = "L2Loss",
});

void register_norms() {
  register_ops({&kL2Normalize, &kL2Loss});
  register_ops({&kEuclideanNorm, &kLpNorm, &kNorm, &kSquareSumAll, &kRenorm, &kDist});
}

}  // namespace mycel::ops
