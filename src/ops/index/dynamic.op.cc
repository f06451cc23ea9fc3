// Ops whose result sizes depend on values (and the counting ops beside them). In a graph the size
// is unknown until the op has run.
#include <algorithm>

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::no_gradient;
using ir::TypeRuleCtx;

namespace {

void compress_type(TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &mask = c.shape(1);
  bool fits = x.rank() == mask.rank();
  for (int d = 0; fits && d < x.rank(); ++d)
    fits = x[d] == mask[d] || x[d] == kUnknownDim || mask[d] == kUnknownDim;
  if (!fits) c.fail("mask must have the operand's shape");
  c.result(c.dtype(0), {kUnknownDim});
}

// Element k of dy belongs to the k-th place where the mask holds.
void compress_grad(Adjoint& a) {
  Value mask = a.x(1), flat = kRavel({mask});
  Value before = kCumsum({cast_to(flat, DType::kInt64)}, {0});
  Value place = where(flat, before - 1.0, -1.0);  // -1 reads 0
  a.dx(0) += shaped_like(a, kGather({a.dy(), place}, {0, 0, "skip_negative"}), 0);
}

void expand_masked_select(Expansion& e) {
  Value x = e.x(0), mask = e.x(1);
  if (!(x.shape() == mask.shape()) || !x.shape().known()) {
    Shape s;
    if (!mycel::broadcast(x.shape(), mask.shape(), &s)) {
      value_error("masked_select: the shapes do not broadcast (got {} and {})", x.type().str(),
                  mask.type().str());
    }
    Value like = kLogicalOr({kZerosLike({x}, {DType::kBool}), mask});
    x = s.known() ? kBroadcastTo({x}, {Attr(s)}) : kBroadcastLike({x, like});
    mask = like;
  }
  e.result(kCompress({x, mask}));
}

void unique_type(TypeRuleCtx& c) {
  c.result(c.dtype(0), {kUnknownDim});
  c.result(c.dtype(0) == DType::kInt64 ? DType::kInt64 : DType::kInt32, c.shape(0));
}

void unique_with_pad_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  if (s.rank() != 1) c.fail("the operand must be a vector");
  c.result(c.dtype(0), s);
  c.result(c.dtype(0) == DType::kInt64 ? DType::kInt64 : DType::kInt32, s);
}

void bincount_type(TypeRuleCtx& c) {
  if (c.shape(0).rank() != 1) c.fail("the operand must be a vector");
  if (c.attrs.integer("minlength") < 0)
    c.fail("minlength must not be negative, got {}", c.attrs.integer("minlength"));
  if (c.has(1) && c.shape(1).rank() != 1) c.fail("weights must be a vector");
  if (c.has(1) && c.shape(1).known() && c.shape(0).known() && !(c.shape(1) == c.shape(0)))
    c.fail("weights must be as many as values");
  c.result(c.has(1) ? c.dtype(1) : DType::kInt64, {kUnknownDim});
}

void bins_type(TypeRuleCtx& c, int64_t bins, DType dtype) {
  if (bins < 1) c.fail("the number of bins must be 1 or more, got {}", bins);
  c.result(dtype, {bins});
}

void runs_type(TypeRuleCtx& c) {
  const Attr& axis = c.attrs["axis"];
  Shape y{kUnknownDim}, idx = c.shape(0);
  if (!axis.none()) {
    int d = c.axis(axis.integer());
    y = c.shape(0);
    idx = Shape{y[d]};
    y.set(d, kUnknownDim);
  }
  c.result(c.dtype(0), y);
  c.result(DType::kInt32, idx);
  c.result(DType::kInt32, {kUnknownDim});
}

void expand_unique_consecutive(Expansion& e) {
  std::vector<Value> all = all_results(kRuns, {e.x(0)}, {e.attrs["axis"]});
  e.result(all[0]);
  if (e.attrs.boolean("return_idx")) e.result(all[1]);
  if (e.attrs.boolean("return_counts")) e.result(all[2]);
}

// floor((x - low) / (high - low) · bins), clipped to the first and last bin, counted.
void expand_fixed_width(Expansion& e) {
  Value x = kRavel({e.x(0)}), range = e.x(1);
  if (range.rank() != 1 || (range.shape()[0] != 2 && range.shape()[0] != kUnknownDim)) {
    value_error("histogram_fixed_width: range must hold two numbers, got {}", range.type().str());
  }
  int64_t bins = e.attrs.integer("nbins");
  if (bins < 1) value_error("histogram_fixed_width: nbins must be 1 or more, got {}", bins);
  Value low = cast_to(sliced(range, 0, 0, 1), DType::kFloat64),
        high = cast_to(sliced(range, 0, 1, 1), DType::kFloat64);
  Value bin =
      kFloor({(cast_to(x, DType::kFloat64) - low) / (high - low) * static_cast<double>(bins)});
  bin = where(greater(bin, static_cast<double>(bins - 1)), static_cast<double>(bins - 1),
              where(less(bin, 0.0), 0.0, bin));
  Value ones = kOnesLike({x}, {e.attrs["dtype"]});
  e.result(kUnsortedSegmentSum({ones, cast_to(bin, DType::kInt64)}, {bins}));
}

constexpr const char* kDiscrete =
    "the result is made of places and counts, which do not change with small changes of values";

}  // namespace

constexpr OpDef kNonzero = check({
    .name = "nonzero",
    .doc = "The indices of the elements that are not 0, one row each, in row-major order.",
    .in = {"input: any"},
    .type = [](TypeRuleCtx& c) { c.result(DType::kInt64, {kUnknownDim, c.shape(0).rank()}); },
    .shard = "none",
    .grad = no_gradient(kDiscrete),
    .cases = "input[3, 4]; input in ints(-1, 1) | input[]; input in {0, 1}",
    .onnx = "NonZero",
    .primitive = "NonZero",
    .method = "nonzero argwhere",
    .alias = "argwhere",
});

constexpr OpDef kShapeOf = check({
    .name = "shape_of",
    .doc = "The sizes of the dims, for dims that are not known before the program runs.",
    .in = {"input: any"},
    .type = [](TypeRuleCtx& c) { c.result(DType::kInt64, {c.shape(0).rank()}); },
    .shard = "none",
    .grad = no_gradient("sizes do not change with values"),
    .cases = "input[3, 4] | input[] | input[0, 2]",
    .onnx = "Shape",
    .internal = true,
});

constexpr OpDef kCompress = check({
    .name = "compress_elements",
    .doc = "The elements where mask, of the same shape, holds, in row-major order.",
    .in = {"x: any", "mask: bool"},
    .type = compress_type,
    .shard = "none",
    .grad = compress_grad,
    .cases = "x[3, 4]; mask[3, 4]; bad mask[4] | x[]; mask[]; skip zero_size: the shapes belong "
             "together",
    .internal = true,
});

constexpr OpDef kMaskedSelect = check({
    .name = "masked_select",
    .doc = "The elements where mask holds, in row-major order; operand and mask broadcast.",
    .in = {"input: any", "mask: bool"},
    .shard = "none",
    .expand = expand_masked_select,
    .cases = "input[3, 4]; mask[3, 4] [4] [3, 1]; bad mask[5]; skip zero_size: the shapes belong "
             "together",
    .primitive = "MaskedSelect",
    .method = "masked_select",
});

constexpr OpDef kUnique = check({
    .name = "unique",
    .doc = "The different elements in order of first appearance, and for every element the place "
           "of its value there. NaNs "
           "are one value.",
    .in = {"x: real"},
    .out = {"y", "idx"},
    .type = unique_type,
    .shard = "none",
    .grad = no_gradient(kDiscrete),
    .cases = "x[3, 4]; x in ints(0, 4) | x[]",
    .onnx = "Unique",
    .primitive = "Unique",
});

constexpr OpDef kUniqueWithPad = check({
    .name = "unique_with_pad",
    .doc = "As unique, with the first result filled up to the operand's length with pad_num.",
    .in = {"x: real", "pad_num: real[]"},
    .out = {"y", "idx"},
    .type =
        [](TypeRuleCtx& c) {
          if (c.shape(1).rank() != 0) c.fail("pad_num must be a scalar");
          if (c.dtype(0) != c.dtype(1)) c.fail_type("pad_num must have the operand's dtype");
          unique_with_pad_type(c);
        },
    .shard = "none",
    .grad = no_gradient(kDiscrete),
    .cases = "x[6]; x in ints(0, 3); pad_num[]; bad x[2, 2]; skip scalar: a vector is needed; skip "
             "dtypes: both have one "
             "dtype; skip zero_size: pad_num is a scalar",
    .primitive = "UniqueWithPad",
    .method = "unique_with_pad",
});

constexpr OpDef kRuns = check({
    .name = "consecutive_runs",
    .doc = "The first element (or slice along axis) of every run of equal ones, the run of each "
           "element, and the lengths "
           "of the runs; without axis the operand is flattened.",
    .in = {"x: any"},
    .attr = {"axis: int? = None"},
    .out = {"y", "idx", "counts"},
    .type = runs_type,
    .shard = "none",
    .grad = no_gradient(kDiscrete),
    .cases = "x[3, 4]; x in ints(0, 1); axis = None 0 -1; bad axis = 2; skip scalar: a scalar has "
             "no axes",
    .internal = true,
});

constexpr OpDef kUniqueConsecutive = check({
    .name = "unique_consecutive",
    .doc = "The elements (or slices along axis) without repetitions of their predecessor; on "
           "request, the place of each "
           "element there and how long each run is.",
    .in = {"input: any"},
    .attr = {"return_idx: bool = False", "return_counts: bool = False", "axis: int? = None"},
    .out = {"*results"},
    .shard = "none",
    .expand = expand_unique_consecutive,
    .cases = "input[3, 4]; input in ints(0, 1); return_idx = False True; return_counts = False "
             "True; axis = None 0; bad axis "
             "= 2; no grad of input: the result is made of places and counts; skip scalar: a "
             "scalar has no axes",
    .primitive = "UniqueConsecutive(return_idx, return_counts, axis)",
    .method = "unique_consecutive",
});

constexpr OpDef kRepeatIndices = check({
    .name = "repeat_indices",
    .doc = "0 as often as counts[0] says, then 1 as often as counts[1] says, and so on.",
    .in = {"counts: index"},
    .type =
        [](TypeRuleCtx& c) {
          if (c.shape(0).rank() != 1) c.fail("counts must be a vector");
          c.result(DType::kInt64, {kUnknownDim});
        },
    .shard = "none",
    .grad = no_gradient(kDiscrete),
    .cases = "counts[5]; counts in ints(0, 3); bad counts[2, 2] | counts[0]; skip scalar: a vector "
             "is needed",
    .internal = true,
});

constexpr OpDef kBincount = check({
    .name = "bincount",
    .doc = "How often each value 0, 1, … occurs, or the sum of its weights: max(minlength, largest "
           "value + 1) entries.",
    .in = {"input: int", "weights?: number"},
    .attr = {"minlength: int = 0"},
    .type = bincount_type,
    .shard = "none",
    .grad = [](Adjoint& a) { a.dx(1) += kGather({a.dy(), cast_to(a.x(0), DType::kInt64)}, {0}); },
    .cases = "input[7]; input in ints(0, 4); weights[7]; minlength = 0 9; bad input[2, 2]; bad "
             "minlength = -1; skip scalar: a "
             "vector is needed; skip zero_size: weights belong to values",
    .method = "bincount",
});

constexpr OpDef kHistc = check({
    .name = "histc",
    .doc = "Counts of elements in `bins` equal intervals from min to max, the last one closed; "
           "others are not counted. When "
           "min equals max, the operand's smallest and largest element are taken.",
    .in = {"input: real"},
    .attr = {"bins: int = 100", "min: float = 0", "max: float = 0"},
    .type =
        [](TypeRuleCtx& c) {
          double low = c.attrs.real("min"), high = c.attrs.real("max");
          if (!(low <= high)) c.fail("max must not be below min, got {} and {}", high, low);
          bins_type(c, c.attrs.integer("bins"), DType::kInt32);
        },
    .shard = "none",
    .grad = no_gradient(kDiscrete),
    .cases = "input[3, 5]; bins = 1 4; min = -1.0; max = 1.5; bad bins = 0; bad min = 2.0 | "
             "input[3, 5]; bins = 4; min = 0.0; max = "
             "0.0",
    .primitive = "Histogram(bins, min, max)",
    .method = "histc",
});

constexpr OpDef kHistogramFixedWidth = check({
    .name = "histogram_fixed_width",
    .doc = "Counts of elements in nbins equal intervals of a range; elements outside fall into the "
           "first or last one.",
    .in = {"x: real", "range: real[2]"},
    .attr = {"nbins: int", "dtype: dtype = int32"},
    .shard = "none",
    .expand = expand_fixed_width,
    .cases = "x[3, 4]; range[2]; range in sorted(-1, 1); nbins = 1 5; bad nbins = 0; bad range[3]; "
             "skip dtypes: one dtype is "
             "enough; skip zero_size: range has two numbers; skip scalar: range has two numbers",
    .primitive = "HistogramFixedWidth(nbins, dtype)",
});

}  // namespace mycel::ops
