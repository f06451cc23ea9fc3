// Random choices among what a mask allows, and among classes.
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/random/random.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using Ints = Attr::Ints;

namespace {

// Uniform float64 numbers in [0, 1).
Value noise(Expansion& e, int64_t n) {
  return kRandomUniform({e.x(0)}, {Ints{n}, DType::kFloat64, 0.0, 1.0});
}

// The order of n random numbers, those that are not allowed behind all others.
Value random_order(Expansion& e, Value allowed, int64_t n) {
  return all_results(kSort, {where(allowed, noise(e, n), 2.0)}, {0})[1];
}

void expand_choice(Expansion& e) {
  Value x = e.x(1);
  int64_t count = e.attrs.integer("count");
  if (count < 1) value_error("keyed_choice: count must be 1 or more, got {}", count);
  if (x.rank() < 1 || x.rank() > 5)
    value_error("keyed_choice: the mask must have 1 to 5 dims, got {}", x.type().str());
  if (!x.shape().known())
    value_error("keyed_choice: the shape must be known, got {}", x.type().str());
  int64_t n = x.shape().size(), taken = std::min(count, n);
  Value flat = kRavel({x}), order = sliced(random_order(e, flat, n), 0, 0, taken);
  Value mask = kGather({flat, order}, {0});
  if (taken < count) {
    order = kPadNd({order}, {Ints{0}, Ints{count - taken}});
    mask = kPadNd({mask}, {Ints{0}, Ints{count - taken}});
  }
  order = where(mask, order, 0.0);
  std::vector<Value> columns;
  for (int d = 0; d < x.rank(); ++d) {
    double step = static_cast<double>(x.shape().size(d + 1, x.rank()));
    Value at = kFloorDiv({order, number(order, step)});
    at = kFloorMod({at, number(order, static_cast<double>(x.shape()[d]))});
    columns.push_back(kExpandDims({at}, {1}));
  }
  e.result(kConcat(columns, {1}));
  e.result(mask);
}

void expand_candidates(Expansion& e) {
  int64_t n = e.attrs.integer("num_sampled"), range = e.attrs.integer("range_max");
  bool unique = e.attrs.boolean("unique"), no_hits = e.attrs.boolean("remove_accidental_hits");
  Value truth = e.x(1);
  if (n < 1 || range < 1)
    value_error("keyed_candidates: num_sampled and range_max must be positive, got {} and {}", n,
                range);
  int64_t most =
      no_hits && truth.shape().known() ? range - std::min(range, truth.shape().size()) : range;
  if (unique && n > range)
    value_error("keyed_candidates: {} different classes cannot be drawn from {}", n, range);
  if (no_hits && (most < 1 || (unique && n > most)))
    value_error(
        "keyed_candidates: without the true classes {} classes may be left, of which {} "
        "cannot be drawn",
        most, n);
  Value all =
      e.graph.add(ir::op_of(kArange), {}, {0.0, static_cast<double>(range), 1.0, DType::kInt64})
          ->out();
  Value allowed = kOnesLike({all}, {DType::kBool});
  if (no_hits) {
    Value t = kReshape({cast_to(truth, DType::kInt64)}, {Ints{-1, 1}});
    allowed = kLogicalNot({kReduceAny({kEqual({all, t})}, {Ints{0}})});
  }
  Value drawn;
  if (unique || no_hits) {
    Value order = random_order(e, allowed, range);
    if (unique) {
      drawn = sliced(order, 0, 0, n);
    } else {
      Value left = kReduceSum({cast_to(allowed, DType::kFloat64)});
      drawn = kGather({order, cast_to(kFloor({noise(e, n) * left}), DType::kInt64)}, {0});
    }
  } else {
    drawn = kFloor({noise(e, n) * static_cast<double>(range)});
  }
  // How often a class is expected: each is as likely as any other.
  double expected = static_cast<double>(n) / static_cast<double>(range);
  Value often = cast_to(truth * 0.0, DType::kFloat32) + expected;
  drawn = cast_to(drawn, truth.dtype());
  e.result(drawn);
  e.result(often);
  e.result(filled(e.graph, expected, {n}, DType::kFloat32));
}

}  // namespace

#define KEY_CLAUSES                                                                              \
  "key[2]; key dtypes uint32; key in ints(0, 4000000000); skip zero_size: a key has two words; " \
  "skip scalar: a key has two words; "

constexpr OpDef kRandomChoice = check({
    .name = "keyed_choice",
    .doc = "The indices of `count` of the elements where x holds, drawn without replacement, one "
           "row each, and True; when there are fewer, rows of zeros and False follow.",
    .in = {"key: int[2]", "x: bool"},
    .attr = {"count: int = 256"},
    .out = {"index", "mask"},
    .shard = "none",
    .expand = expand_choice,
    .cases = KEY_CLAUSES "x[3, 4] [5]; count = 1 4 20; bad count = 0",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomCandidates = check({
    .name = "keyed_candidates",
    .doc = "num_sampled classes of [0, range_max), each as likely as the others, all different "
           "with unique, and none of the true ones with remove_accidental_hits; how often each "
           "true class and each drawn one is expected: num_sampled / range_max.",
    .in = {"key: int[2]", "true_classes: index[n, t]"},
    .attr = {"num_sampled: int", "unique: bool", "range_max: int",
             "remove_accidental_hits: bool = False"},
    .out = {"sampled_candidates", "true_expected_count", "sampled_expected_count"},
    .shard = "none",
    .expand = expand_candidates,
    .cases = KEY_CLAUSES
    "true_classes[2, 1]; true_classes in ints(0, 6); num_sampled = 3; unique "
    "= True False; range_max = 7; remove_accidental_hits = False True; bad "
    "range_max = 0; bad num_sampled = 0 | true_classes[2, 1]; num_sampled = "
    "9; unique = False; range_max = 7; bad unique = True",
    .random = true,
    .internal = true,
});

#undef KEY_CLAUSES

}  // namespace mycel::ops
