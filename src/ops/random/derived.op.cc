// Distributions made of uniform bits and other ops.
#include <cmath>
#include <numbers>

#include "ir/expansion.h"
#include "ir/type_rule.h"
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

Value uniform(Expansion& e, const Attr& shape, DType dtype, double low = 0, double high = 1) {
  return kRandomUniform({e.x(0)}, {shape, dtype, low, high});
}

// The inverse of the cumulative distribution between its values at the two bounds.
void expand_truncated_normal(Expansion& e) {
  double low = e.attrs.real("low"), high = e.attrs.real("high");
  if (!(low < high))
    value_error("keyed_truncated_normal: low must be below high, got {} and {}", low, high);
  DType d = e.attrs.dtype("dtype"), compute = d == DType::kFloat64 ? d : DType::kFloat32;
  Value u = uniform(e, e.attrs["shape"], compute, std::erf(low / std::numbers::sqrt2),
                    std::erf(high / std::numbers::sqrt2));
  Value z = kErfinv({u}) * std::numbers::sqrt2;
  // Rounding must not leave the bounds.
  z = where(less(z, low), low, where(greater(z, high), high, z));
  e.result(cast_to(z * e.attrs.real("stddev") + e.attrs.real("mean"), d));
}

void expand_bernoulli(Expansion& e) {
  Value p = e.x(1);
  DType d = p.dtype() == DType::kFloat64 ? p.dtype() : DType::kFloat32;
  const Attr& shape = e.attrs["shape"];
  if (shape.none() && !p.shape().known())
    value_error("keyed_bernoulli: give a shape, as that of p is not known yet");
  e.result(kLess({uniform(e, shape.none() ? Attr(p.shape()) : shape, d), cast_to(p, d)}));
}

// -log of a uniform number in (0, 1].
Value exponential(Expansion& e, const Attr& shape, DType d) {
  DType compute = d == DType::kFloat64 ? d : DType::kFloat32;
  return -kLog({1.0 - uniform(e, shape, compute)});
}

void expand_laplace(Expansion& e) {
  DType d = e.attrs.dtype("dtype"), compute = d == DType::kFloat64 ? d : DType::kFloat32;
  Value u = uniform(e, e.attrs["shape"], compute, -1, 1);
  // 1 - |u| would be 0 at u = -1.
  double least = compute == DType::kFloat64 ? 0x1p-53 : 0x1p-24;
  Value rest = 1.0 - kAbs({u});
  rest = where(less(rest, least), least, rest);
  e.result(cast_to(-(kSign({u}) * kLog({rest})), d));
}

Ints with_samples(const Shape& s, int64_t n) {
  Ints shape(s.begin(), s.end());
  shape.back() = n;
  return shape;
}

// Without replacement: the largest of log p + Gumbel noise (Gumbel top-k); with: inversion of the
// cumulative sums, in double precision.
Value drawn(Expansion& e, Value p, int64_t n, bool replacement) {
  if (p.rank() < 1) value_error("{}: probabilities need a dim, got {}", e.op.name, p.type().str());
  if (n < 1) value_error("{}: the number of samples must be 1 or more, got {}", e.op.name, n);
  if (!p.shape().known())
    value_error("{}: the shape must be known, got {}", e.op.name, p.type().str());
  p = cast_to(p, DType::kFloat64);
  int64_t classes = p.shape()[-1];
  if (!replacement) {
    if (n > classes)
      value_error("{}: {} samples cannot be drawn from {} classes without replacement", e.op.name,
                  n, classes);
    Value noise = -kLog({exponential(e, Attr(p.shape()), DType::kFloat64)});
    return all_results(kTopkAlong, {kLog({p}) + noise}, {n})[1];
  }
  Value sums = kCumsum({p}, {-1});
  Value total = sliced(sums, p.rank() - 1, classes - 1, 1);
  Value u = uniform(e, with_samples(p.shape(), n), DType::kFloat64) * total;
  Value place = kSearchsorted({sums, u}, {false, true});
  return where(greater(place, static_cast<double>(classes - 1)), static_cast<double>(classes - 1),
               place);
}

void expand_multinomial(Expansion& e) {
  e.result(cast_to(drawn(e, e.x(1), e.attrs.integer("num_samples"), e.attrs.boolean("replacement")),
                   e.attrs.dtype("dtype")));
}

void expand_categorical(Expansion& e) {
  Value p = kSoftmax({cast_to(e.x(1), DType::kFloat64)}, {-1});
  e.result(cast_to(drawn(e, p, e.attrs.integer("num_samples"), true), e.attrs.dtype("dtype")));
}

// The order of 64-bit words: all orders are equally likely but for ties, of which n numbers have n²
// / 2^65.
Value permutation(Expansion& e, int64_t n) {
  return all_results(kSort, {kRandomBits({e.x(0)}, {Ints{n}, DType::kUInt64})}, {0})[1];
}

void expand_permutation(Expansion& e) {
  int64_t n = e.attrs.integer("n");
  if (n < 0) value_error("keyed_permutation: n must not be negative, got {}", n);
  e.result(cast_to(permutation(e, n), e.attrs.dtype("dtype")));
}

void expand_shuffle(Expansion& e) {
  Value x = e.x(1);
  if (x.rank() == 0) value_error("keyed_shuffle: the operand needs a dim");
  if (x.shape()[0] == kUnknownDim)
    value_error("keyed_shuffle: the size of the first dim must be known");
  e.result(kGather({x, permutation(e, x.shape()[0])}, {0}));
}

}  // namespace

#define KEY_CLAUSES                                                                              \
  "key[2]; key dtypes uint32; key in ints(0, 4000000000); skip zero_size: a key has two words; " \
  "skip scalar: a "                                                                              \
  "key has two words; "

constexpr OpDef kRandomTruncatedNormal = check({
    .name = "keyed_truncated_normal",
    .doc = "mean + stddev · z, z standard normal restricted to [low, high].",
    .in = {"key: int[2]"},
    .attr = {"shape: int[]", "dtype: dtype = float32", "mean: float = 0", "stddev: float = 1",
             "low: float = -2", "high: float = 2"},
    .shard = "none",
    .expand = expand_truncated_normal,
    .cases = KEY_CLAUSES "shape = [] [7]; dtype = float32 float64 float16; bad low = 3.0",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomBernoulli = check({
    .name = "keyed_bernoulli",
    .doc = "True with probability p, in the shape of p or another that p broadcasts to.",
    .in = {"key: int[2]", "p: float"},
    .attr = {"shape: int[]? = None"},
    .shard = "none",
    .expand = expand_bernoulli,
    .cases = KEY_CLAUSES "p[3] []; p in (0, 1); shape = None [2, 3]",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomExponential = check({
    .name = "keyed_exponential",
    .doc = "Exponential numbers of rate 1: -log(u).",
    .in = {"key: int[2]"},
    .attr = {"shape: int[]", "dtype: dtype = float32"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          DType d = e.attrs.dtype("dtype");
          e.result(cast_to(exponential(e, e.attrs["shape"], d), d));
        },
    .cases = KEY_CLAUSES "shape = [] [7]; dtype = float32 float64 float16",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomGumbel = check({
    .name = "keyed_gumbel",
    .doc = "Standard Gumbel numbers: -log(-log(u)).",
    .in = {"key: int[2]"},
    .attr = {"shape: int[]", "dtype: dtype = float32"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          DType d = e.attrs.dtype("dtype"), compute = d == DType::kFloat64 ? d : DType::kFloat32;
          double least =
              compute == DType::kFloat64 ? 0x1p-54 : 0x1p-25;  // an exponential number may be 0
          Value x = exponential(e, e.attrs["shape"], compute);
          e.result(cast_to(-kLog({where(less(x, least), least, x)}), d));
        },
    .cases = KEY_CLAUSES "shape = [] [7]; dtype = float32 float64 float16",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomLaplace = check({
    .name = "keyed_laplace",
    .doc = "Standard Laplace numbers: -sign(u) · log(1 - |u|), u uniform in [-1, 1).",
    .in = {"key: int[2]"},
    .attr = {"shape: int[]", "dtype: dtype = float32"},
    .shard = "none",
    .expand = expand_laplace,
    .cases = KEY_CLAUSES "shape = [] [7]; dtype = float32 float64 float16",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomMultinomial = check({
    .name = "keyed_multinomial",
    .doc = "Indices drawn with probabilities proportional to p along its last dim, with or without "
           "replacement.",
    .in = {"key: int[2]", "p: float"},
    .attr = {"num_samples: int", "replacement: bool = True", "dtype: dtype = int32"},
    .shard = "none",
    .expand = expand_multinomial,
    .cases = KEY_CLAUSES
    "p[2, 5] [5]; p in (0.1, 1); num_samples = 1 4; replacement = True False; bad num_samples = 0",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomCategorical = check({
    .name = "keyed_categorical",
    .doc = "Indices drawn with probabilities softmax(logits) along the last dim.",
    .in = {"key: int[2]", "logits: float"},
    .attr = {"num_samples: int", "dtype: dtype = int64"},
    .shard = "none",
    .expand = expand_categorical,
    .cases = KEY_CLAUSES "logits[2, 5] [5]; num_samples = 1 4; bad num_samples = 0",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomPermutation = check({
    .name = "keyed_permutation",
    .doc = "The numbers 0 to n - 1 in random order.",
    .in = {"key: int[2]"},
    .attr = {"n: int", "dtype: dtype = int64"},
    .shard = "none",
    .expand = expand_permutation,
    .cases = KEY_CLAUSES "n = 1 9; dtype = int64 int32; bad n = -1",
    .random = true,
    .internal = true,
});

constexpr OpDef kRandomShuffle = check({
    .name = "keyed_shuffle",
    .doc = "The operand's rows (first dim) in random order.",
    .in = {"key: int[2]", "x: any"},
    .shard = "none",
    .expand = expand_shuffle,
    .cases = KEY_CLAUSES "x[5, 2] [4]",
    .random = true,
    .internal = true,
});

}  // namespace mycel::ops
