// Reductions of truth values.
#include "ir/expansion.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduce/fold.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

void truth_type(TypeRuleCtx& c) {
  reduce_type(c);
  c.out[0].dtype = DType::kBool;
}

template <bool all>
void truth_loops(LoopCtx& c) {
  emit_fold(c, axes_of(c),
            {.accumulator = DType::kBool,
             .integer_init = all,
             .lift = [](auto x) { return cast(x, DType::kBool); },
             .merge = [](auto a, auto b) { return all ? a & b : a | b; }});
}

}  // namespace

constexpr OpDef kReduceAll = check({
    .name = "reduce_all",
    .doc = "Whether every element along the axes (all when empty) is true, that is not zero; true "
           "for no elements.",
    .in = {"input: any"},
    .attr = {"axis: int[]? = []", "keep_dims: bool = False"},
    .type = truth_type,
    .shard = "... -> ... : reduce(axis, and)",
    .grad = no_gradient("the result is bool"),
    .loops = truth_loops<true>,
    .cases = "input in {0, 1, 1, 1}; input[2, 3, 4]; axis = [] None 0 -1 [0, 2]; keep_dims = False "
             "True; "
             "at ([1, 2, 3]) -> 1; at ([1, 0, 3]) -> 0; bad axis = 3 | input[]; axis = []",
    .onnx = "ReduceMin",
    .primitive = "ReduceAll(keep_dims)",
    .method = "all",
    .alias = "all",
});

constexpr OpDef kReduceAny = check({
    .name = "reduce_any",
    .doc = "Whether some element along the axes (all when empty) is true, that is not zero; false "
           "for no elements.",
    .in = {"input: any"},
    .attr = {"axis: int[]? = []", "keep_dims: bool = False"},
    .type = truth_type,
    .shard = "... -> ... : reduce(axis, or)",
    .grad = no_gradient("the result is bool"),
    .loops = truth_loops<false>,
    .cases = "input in {0, 0, 0, 1}; input[2, 3, 4]; axis = [] None 0 -1 [0, 2]; keep_dims = False "
             "True; "
             "at ([0, 0, 3]) -> 1; at ([0, 0]) -> 0; bad axis = 3 | input[]; axis = []",
    .onnx = "ReduceMax",
    .primitive = "ReduceAny(keep_dims)",
    .method = "any",
    .alias = "any",
});

constexpr OpDef kCountNonzero = check({
    .name = "count_nonzero",
    .doc = "Number of elements that are not zero, along the axes (all when empty).",
    .in = {"x: any"},
    .attr = {"axis: int[]? = []", "keep_dims: bool = False", "dtype: dtype = int32"},
    .type =
        [](TypeRuleCtx& c) {
          reduce_type(c);
          c.out[0].dtype = c.attrs.dtype("dtype");
        },
    .shard = "... -> ... : reduce(axis, sum)",
    .grad = no_gradient("a count does not change smoothly"),
    .loops =
        [](LoopCtx& c) {
          emit_fold(c, axes_of(c),
                    {.accumulator = DType::kInt64,
                     .lift = [](auto x) { return cast(cast(x, DType::kBool), DType::kInt64); },
                     .merge = [](auto a, auto b) { return a + b; }});
        },
    .cases = "x in {0, 1, 2}; x[2, 3, 4]; axis = [] 0 [0, 2]; keep_dims = False True; dtype = "
             "int32 int64; "
             "at ([1, 0, 3]) -> 2 | x[]; axis = []",
    .primitive = "CountNonZero",
});

void register_truth() { register_ops({&kReduceAll, &kReduceAny, &kCountNonzero}); }

}  // namespace mycel::ops
