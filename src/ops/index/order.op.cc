// Sorting and searching. NaN counts as the greatest value, as in NumPy; equal elements keep their
// order.
#include "ir/expansion.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::LoopCtx;
using ir::no_gradient;
using ir::TypeRuleCtx;
using ir::Value;
using loops::Val;

namespace {

void sort_type(TypeRuleCtx& c) {
  c.axis(c.attrs.integer("axis"));
  c.result(c.dtype(0), c.shape(0));
  c.result(DType::kInt32, c.shape(0));
}

void topk_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  int axis = c.axis(c.attrs.integer("dim"));
  int64_t k = c.attrs.integer("k");
  if (k < 0 || (s[axis] != kUnknownDim && k > s[axis]))
    c.fail("k must lie in [0, {}], got {}", s[axis], k);
  s.set(axis, k);
  c.result(c.dtype(0), s);
  c.result(DType::kInt32, s);
}

void chosen_grad(Adjoint& a, const char* axis) {
  a.dx(0) += kElementsScatterAdd({zeros_of(a, 0), a.y(1), a.dy(0)}, {a.attrs()[axis]});
}

void searchsorted_type(TypeRuleCtx& c) {
  const Shape &line = c.shape(0), &v = c.shape(1);
  if (c.dtype(0) != c.dtype(1)) c.fail_type("sorted_sequence and values must have one dtype");
  if (line.rank() == 0) c.fail("sorted_sequence must have a dim");
  bool fits = line.rank() == 1 || line.rank() == v.rank();
  for (int d = 0; fits && line.rank() > 1 && d + 1 < line.rank(); ++d) {
    fits = line[d] == v[d] || line[d] == kUnknownDim || v[d] == kUnknownDim;
  }
  if (!fits)
    c.fail("sorted_sequence must be a vector, or agree with values in all dims but the last");
  c.result(c.attrs.boolean("out_int32") ? DType::kInt32 : DType::kInt64, v);
}

// Halves [low, high) until it is empty: the first place whose element is not less (right: is
// greater).
void searchsorted_loops(LoopCtx& c) {
  const Shape &line = c.in_type(0).shape, &v = c.in_type(1).shape;
  bool right = c.attrs.boolean("right"), floating = is_float(c.in_type(0).dtype);
  loops::Nest& nest = c.nest;
  int64_t row = line.rank() == 1 ? 0 : v[-1];
  Val n = nest.number(line[-1]), values_per_row = nest.number(row ? row : 1);
  nest.parallel(v.size(), 32, [&](Val i) {
    Val x = nest.load(c.in(1), i);
    Val base = row ? i / values_per_row * n : nest.index(0);
    loops::Var low = nest.var(nest.index(0)), high = nest.var(n);
    nest.loop_while([&] { return low.get() < high.get(); },
                    [&] {
                      Val middle = (low.get() + high.get()) / 2;
                      Val e = nest.load(c.in(0), base + middle);
                      Val before = right ? !(x < e) : e < x;
                      if (floating) {
                        before = right ? before && !(isnan(e) && !isnan(x))
                                       : before || (isnan(x) && !isnan(e));
                      }
                      low.set(select(before, middle + 1, low.get()));
                      high.set(select(before, high.get(), middle));
                    });
    nest.store(c.out(), i, low.get());
  });
}

}  // namespace

constexpr OpDef kSort = check({
    .name = "sort",
    .doc = "The elements in order along `axis`, and where each came from. Equal elements keep "
           "their order; NaN is greater "
           "than every number.",
    .in = {"input_x: real"},
    .attr = {"axis: int = -1", "descending: bool = False"},
    .out = {"values", "indices"},
    .type = sort_type,
    .shard = "... -> ..., ... : whole(axis)",
    .grad = [](Adjoint& a) { chosen_grad(a, "axis"); },
    .cases = "input_x[3, 5, 2]; input_x in distinct(-2, 2); axis = -1 0 1; descending = False "
             "True; bad axis = 3; "
             "skip scalar: a scalar has no axes",
    .onnx = "TopK",
    .primitive = "Sort(axis, descending)",
    .method = "sort",
});

constexpr OpDef kArgsort = check({
    .name = "argsort",
    .doc = "Where the elements of the sorted tensor come from.",
    .in = {"input: real"},
    .attr = {"axis: int = -1", "descending: bool = False"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.result(all_results(kSort, {e.x(0)}, {e.attrs["axis"], e.attrs["descending"]})[1]);
        },
    .cases = "input[3, 5]; axis = -1 0; descending = False True; bad axis = 2; skip scalar: a "
             "scalar has no axes",
    .method = "argsort",
});

constexpr OpDef kMsort = check({
    .name = "msort",
    .doc = "The elements in ascending order along the first dim.",
    .in = {"input: real"},
    .shard = "none",
    .expand = [](Expansion& e) { e.result(kSort({e.x(0)}, {0, false})); },
    .cases =
        "input[5, 3]; input in distinct(-2, 2); bad input[]; skip scalar: a scalar has no axes",
    .method = "msort",
});

constexpr OpDef kTopkAlong = check({
    .name = "topk",
    .doc = "The k largest (or smallest) elements along `dim`, in order, and their places. Of equal "
           "elements the first is "
           "taken first; NaN is greater than every number. The results are in order whether sorted "
           "asks for it or not.",
    .in = {"input: real"},
    .attr = {"k: int", "dim: int = -1", "largest: bool = True", "sorted: bool = True"},
    .out = {"values", "indices"},
    .type = topk_type,
    .shard = "... -> ..., ... : whole(dim)",
    .grad = [](Adjoint& a) { chosen_grad(a, "dim"); },
    .cases = "input[3, 5]; input in distinct(-2, 2); k = 1 3; dim = -1 0; largest = True False; "
             "bad k = 9; bad k = -1; bad "
             "dim = 2; skip zero_size: k elements are needed; skip scalar: a scalar has no axes",
    .onnx = "TopK",
    .method = "topk",
});

constexpr OpDef kTopK = check({
    .name = "top_k",
    .doc = "The k largest elements along the last dim, in order, and their places.",
    .in = {"input_x: real"},
    .attr = {"k: int", "sorted: bool = True"},
    .out = {"values", "indices"},
    .shard = "none",
    .expand = [](Expansion& e) { e.results = all_results(kTopkAlong, {e.x(0)}, {e.attrs["k"]}); },
    .cases = "input_x[3, 5]; input_x in distinct(-2, 2); k = 1 3; bad k = 9; skip zero_size: k "
             "elements are needed; skip "
             "scalar: a scalar has no axes",
    .primitive = "TopK(sorted)",
    .method = "top_k",
});

constexpr OpDef kSearchsorted = check({
    .name = "searchsorted",
    .doc = "For each value the first place in the ascending sequence before which it can be put "
           "(right: the last).",
    .in = {"sorted_sequence: real", "values: real"},
    .attr = {"out_int32: bool = False", "right: bool = False"},
    .type = searchsorted_type,
    .shard = "none",
    .grad = no_gradient("places do not change with small changes of values"),
    .loops = searchsorted_loops,
    .cases = "sorted_sequence[5]; sorted_sequence in sorted(0, 4); values[2, 3]; values in "
             "ints(-1, 5); out_int32 = False "
             "True; right = False True; bad sorted_sequence[] | sorted_sequence[2, 5]; "
             "sorted_sequence in sorted(0, 4); "
             "values[2, 3]; bad values[3, 3]; skip dtypes: both have one dtype; skip scalar: a "
             "sequence has a dim; skip "
             "zero_size: rows belong together",
});

}  // namespace mycel::ops
