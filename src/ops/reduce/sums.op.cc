// Sum, mean, product and the sum back to a broadcast operand.
#include "ir/adjoint.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduce/fold.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/rooms.h"
#include "ops/shape/batching.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

// dy with its axes put back; it still has to be broadcast.
Value dy_with_axes(Adjoint& a) { return with_axes(a.dy(), axes_of(a), a.x_type(0).shape.rank()); }

loops::Val plus(loops::Val a, loops::Val b) { return a + b; }
loops::Val times(loops::Val a, loops::Val b) { return a * b; }

// Sums of bool count, as int64.
DType sum_dtype(DType d) { return is_bool(d) ? DType::kInt64 : d; }
void sum_type(TypeRuleCtx& c) {
  reduce_type(c);
  c.out[0].dtype = sum_dtype(c.out[0].dtype);
}

// Axes that a broadcast from `to` to `from` added or stretched.
std::vector<int> broadcast_axes(const Shape& from, const Shape& to) {
  std::vector<int> axes;
  int lead = from.rank() - to.rank();
  for (int d = 0; d < from.rank(); ++d) {
    if (d < lead || (to[d - lead] == 1 && from[d] != 1)) axes.push_back(d);
  }
  return axes;
}

}  // namespace

constexpr OpDef kReduceSum = check({
    .name = "reduce_sum",
    .doc = "Sum over the axes (all when empty); bools are counted in int64, other dtypes stay. "
           "float16 and "
           "bfloat16 accumulate in float32; an empty sum is 0.",
    .in = {"x: any"},
    .attr = {"axis: int[]? = []", "keep_dims: bool = False"},
    .type = sum_type,
    .shard = "... -> ... : reduce(axis, sum)",
    .moves = "m -> r : axis axis",
    .grad = [](Adjoint& a) { a.dx(0) += spread(a, dy_with_axes(a)); },
    .loops =
        [](LoopCtx& c) {
          DType d = c.out_type().dtype;
          emit_fold(c, axes_of(c),
                    {.accumulator = d, .lift = [d](auto x) { return cast(x, d); }, .merge = plus});
        },
    .cases =
        "x[2, 3, 4]; axis = [] 0 1 -1 [0, 2] [0, 1] [1, 2]; keep_dims = False True; bad axis = 3; "
        "at ([1, 2, 3.5]) -> 6.5 | x[]; axis = [] 0 | x[70000]; axis = 0; skip grad2: as for small "
        "ones; "
        "skip grad: as for small ones | x[600, 70]; axis = 0",
    .onnx = "ReduceSum",
    .primitive = "ReduceSum(keep_dims)",
});

constexpr OpDef kReduceMean = check({
    .name = "reduce_mean",
    .doc = "Mean over the axes (all when empty); integers are averaged in float32, and the mean of "
           "nothing "
           "is NaN.",
    .in = {"x: any"},
    .attr = {"axis: int[]? = []", "keep_dims: bool = False"},
    .promote = Promote::kFloat,
    .type = reduce_type,
    .shard = "... -> ... : reduce(axis, mean)",
    .moves = "m -> r : axis axis",
    .grad =
        [](Adjoint& a) {
          Value dy = dy_with_axes(a);
          int64_t count = reduced_count(a.x_type(0).shape, axes_of(a));
          if (count != kUnknownDim) {
            a.dx(0) += spread(a, dy * (1.0 / static_cast<double>(count)));
          } else {
            Value ones = kOnesLike({a.x(0)});
            a.dx(0) += spread(a, dy / kReduceSum({ones}, {a.attrs()["axis"], true}));
          }
        },
    .loops =
        [](LoopCtx& c) {
          auto axes = axes_of(c);
          auto count = static_cast<double>(reduced_count(c.in_type(0).shape, axes));
          emit_fold(c, axes,
                    {.accumulator = c.out_type().dtype,
                     .lift = [](auto x) { return x; },
                     .merge = plus,
                     .finish =
                         [&c, count](loops::Val total) {
                           DType part = real_part_of(total.dtype());
                           return total / cast(c.nest.number(count, part), total.dtype());
                         }});
        },
    .cases = "x[2, 3, 4]; axis = [] 0 1 -1 [0, 2] [0, 1]; keep_dims = False True; bad axis = 3; "
             "at ([1, 2, 4.5]) -> 2.5 | x[]; axis = [] 0 | x[600, 70]; axis = 0",
    .onnx = "ReduceMean",
    .primitive = "ReduceMean(keep_dims)",
    .method = "mean",
    .alias = "mean",
});

constexpr OpDef kReduceSumSquare = check({
    .name = "reduce_sum_square",
    .doc = "Sum of |x|^2 over the axes (all when empty).",
    .in = {"x: number"},
    .attr = {"axis: int[]? = []", "keep_dims: bool = False"},
    .type =
        [](TypeRuleCtx& c) {
          reduce_type(c);
          c.out[0].dtype = real_part_of(c.out[0].dtype);
        },
    .shard = "... -> ... : reduce(axis, sum)",
    .moves = "m -> r : axis axis",
    .grad =
        [](Adjoint& a) { a.dx(0) += cast_to(dy_with_axes(a), a.x_type(0).dtype) * a.x(0) * 2.0; },
    .loops =
        [](LoopCtx& c) {
          emit_fold(
              c, axes_of(c),
              {.accumulator = c.out_type().dtype,
               .lift = [](auto x) { return x.im ? real(x) * real(x) + imag(x) * imag(x) : x * x; },
               .merge = plus});
        },
    .cases = "x[2, 3, 4]; axis = [] 0 [0, 2] -1; keep_dims = False True; at ([1, 2, 3]) -> 14 | "
             "x[]; axis = []",
    .onnx = "ReduceSumSquare",
});

constexpr OpDef kReduceProd = check({
    .name = "reduce_prod",
    .doc =
        "Product over the axes (all when empty); bools multiply in int64. An empty product is 1.",
    .in = {"input: any"},
    .attr = {"axis: int[]? = []", "keep_dims: bool = False"},
    .type = sum_type,
    .shard = "... -> ... : reduce(axis, prod)",
    .moves = "m -> r : axis axis",
    .grad =
        [](Adjoint& a) {
          // The product of the other elements, also where one of them is 0: with exactly one zero
          // only its own place gets a gradient, with more no place does.
          Value x = a.x(0), zero = equal(x, 0.0);
          Value safe = where(zero, 1.0, x);
          Attrs along = {a.attrs()["axis"], true};
          Value rest = kReduceProd({safe}, along);
          Value zeros = kReduceSum({zero}, along);
          Value others = where(zero, where(equal(zeros, 1.0), rest, 0.0),
                               where(equal(zeros, 0.0), rest / safe, 0.0));
          a.dx(0) += dy_with_axes(a) * conj_of(others);
        },
    .loops =
        [](LoopCtx& c) {
          DType d = c.out_type().dtype;
          emit_fold(c, axes_of(c),
                    {.accumulator = d,
                     .init = 1,
                     .integer_init = 1,
                     .lift = [d](auto x) { return cast(x, d); },
                     .merge = times});
        },
    .cases = "input in (0.5, 1.5); input[2, 3, 4]; axis = [] 0 [0, 2] -1; keep_dims = False True; "
             "at ([1, 2, 4.5]) -> 9 | input[]; axis = []",
    .onnx = "ReduceProd",
    .primitive = "ReduceProd(keep_dims)",
    .method = "prod",
    .alias = "prod",
});

constexpr OpDef kSumTo = check({
    .name = "sum_to",
    .doc = "Sums away what a broadcast from `shape` to the operand's shape would have repeated.",
    .in = {"x: any"},
    .attr = {"shape: int[]"},
    .type =
        [](TypeRuleCtx& c) {
          Shape to(c.attrs.ints("shape"));
          Shape both;
          if (!mycel::broadcast(c.shape(0), to, &both) || both.rank() != c.shape(0).rank()) {
            c.fail("shape {} does not broadcast to the operand", to.str());
          }
          for (int d = 0; d < both.rank(); ++d) {
            if (c.shape(0)[d] != kUnknownDim && both[d] != c.shape(0)[d]) {
              c.fail("shape {} does not broadcast to the operand", to.str());
            }
          }
          c.result(sum_dtype(c.dtype(0)), to);
        },
    .shard = "... -> ...",
    .moves = "m -> b : shape shape",
    .grad = [](Adjoint& a) { a.dx(0) += spread(a, a.dy()); },
    .loops =
        [](LoopCtx& c) {
          DType d = c.out_type().dtype;
          emit_fold(c, broadcast_axes(c.in_type(0).shape, c.out_type().shape),
                    {.accumulator = d, .lift = [d](auto x) { return cast(x, d); }, .merge = plus});
        },
    .batch = batch_sum_to,
    .cases = "x[2, 3, 4]; shape = [2, 3, 4] [3, 4] [4] [] [1, 3, 1] [2, 1, 4] [1, 1]; bad shape = "
             "[5] | x[]; "
             "shape = []; bad shape = [5]",
    .internal = true,
});

void register_sums() {
  register_ops({&kReduceSum, &kReduceMean, &kReduceSumSquare, &kReduceProd, &kSumTo});
}

}  // namespace mycel::ops
