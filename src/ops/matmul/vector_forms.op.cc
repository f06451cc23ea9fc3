// Products of vectors and what statistics make of them: cross, Kronecker product, correlation of
// sequences, covariance.
#include "base/error.h"
#include "ir/expansion.h"
#include "ops/conv/conv.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/matmul/matmul.h"
#include "ops/matmul/rooms.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::Promote;
using ir::Value;
using Ints = Attr::Ints;

namespace {

bool agree(int64_t a, int64_t b) { return a == b || a == kUnknownDim || b == kUnknownDim; }

// The axis of three: the one asked for, else the first where both have three elements.
int cross_axis(const Expansion& e) {
  Value a = e.x(0), b = e.x(1);
  if (a.rank() != b.rank() || a.rank() == 0)
    value_error("cross: both operands must have the same dims, got {} and {}", a.type().str(),
                b.type().str());
  if (!e.attrs["dim"].none()) {
    int axis = normalize_axis(e.attrs.integer("dim"), a.rank(), "cross");
    if (agree(a.shape()[axis], 3) && agree(b.shape()[axis], 3)) return axis;
    value_error("cross: dim {} must have size 3, got {} and {}", axis, a.type().str(),
                b.type().str());
  }
  if (!a.shape().known() || !b.shape().known())
    value_error("cross: name 'dim' where sizes are not known, got {} and {}", a.type().str(),
                b.type().str());
  for (int d = 0; d < a.rank(); ++d) {
    if (a.shape()[d] == 3 && b.shape()[d] == 3) return d;
  }
  value_error("cross: no dim has size 3 in {} and {}", a.type().str(), b.type().str());
}

void expand_cross(Expansion& e) {
  int axis = cross_axis(e);
  auto turned = [&](Value v, int64_t by) { return kRoll({v}, {Ints{by}, Ints{axis}}); };
  Value a = e.x(0), b = e.x(1);
  e.result(turned(a, -1) * turned(b, -2) - turned(a, -2) * turned(b, -1));
}

void expand_kron(Expansion& e) {
  Value a = e.x(0), b = e.x(1);
  while (a.rank() < b.rank()) a = kExpandDims({a}, {0});
  while (b.rank() < a.rank()) b = kExpandDims({b}, {0});
  if (2 * a.rank() > kMaxRank)
    value_error("kron: at most {} dims, got {} and {}", kMaxRank / 2, e.x(0).type().str(),
                e.x(1).type().str());
  if (!a.shape().known() || !b.shape().known())
    value_error("kron: shapes must be known, got {} and {}", a.type().str(), b.type().str());
  Ints wide_a, wide_b, out;
  for (int d = 0; d < a.rank(); ++d) {
    int64_t m = a.shape()[d], n = b.shape()[d];
    wide_a.insert(wide_a.end(), {m, 1});
    wide_b.insert(wide_b.end(), {1, n});
    out.push_back(m * n);
  }
  e.result(kReshape({kReshape({a}, {wide_a}) * kReshape({b}, {wide_b})}, {out}));
}

// How many zeros surround the longer sequence in each mode.
std::pair<int64_t, int64_t> margins(const std::string& mode, int64_t short_size) {
  if (mode == "full") return {short_size - 1, short_size - 1};
  if (mode == "same") return {short_size / 2, short_size - 1 - short_size / 2};
  return {0, 0};
}

// y[i] = Σ_k long[i + k - margin] short[k].
Value slid(Value longer, Value shorter, const std::string& mode) {
  int64_t n = longer.shape()[0], k = shorter.shape()[0];
  auto [before, after] = margins(mode, k);
  DType d = longer.dtype();
  if (d == DType::kFloat32 || d == DType::kFloat64) {
    Value x = kReshape({longer}, {Ints{1, 1, n}}), w = kReshape({shorter}, {Ints{1, 1, k}});
    if (before + after > 0) x = kPadNd({x}, {Ints{0, 0, before}, Ints{0, 0, after}});
    Value y = kConv1d({x, w});
    return kReshape({y}, {Ints{n + before + after - k + 1}});
  }
  // Integers stay exact: every window is read and multiplied.
  int64_t count = n + before + after - k + 1;
  std::vector<int64_t> at;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < k; ++j) {
      int64_t p = i + j - before;
      at.push_back(p >= 0 && p < n ? p : -1);
    }
  }
  Value places = longer.graph().constant(Tensor::from(at, {count, k}));
  return kMatmul({kGather({longer, places}, {0, 0, "skip"}), shorter});
}

void expand_correlate(Expansion& e) {
  Value a = e.x(0), v = e.x(1);
  for (int i = 0; i < 2; ++i) {
    const Shape& s = e.x(i).shape();
    if (s.rank() != 1 || s[0] == kUnknownDim || s[0] < 1)
      value_error("correlate: '{}' must be a vector of a known size of at least 1, got {}",
                  e.op.inputs[i].name, e.x(i).type().str());
  }
  v = conj_of(v);
  const std::string& mode = e.attrs.string("mode");
  if (a.shape()[0] >= v.shape()[0]) return e.result(slid(a, v, mode));
  // The shorter one slides; seen from the other side the result runs backwards.
  e.result(kFlip({slid(v, a, mode)}, {Ints{0}}));
}

void expand_cov(Expansion& e) {
  Value x = e.x(0);
  if (x.rank() > 2) value_error("cov: at most 2 dims (variables in rows), got {}", x.type().str());
  if (!is_float(x.dtype()) && !is_complex(x.dtype())) x = kCast({x}, {DType::kFloat32});
  if (x.rank() < 2) x = kReshape({x}, {Ints{1, x.rank() == 0 ? 1 : -1}});
  double correction = static_cast<double>(e.attrs.integer("correction"));
  DType real = real_part_of(x.dtype());
  Value w;
  for (int i : {1, 2}) {
    if (!e.has(i)) continue;
    const Shape& s = e.x(i).shape();
    if (s.rank() != 1 || !agree(s[0], x.shape()[1]))
      value_error("cov: '{}' must be a vector of one weight per column, got {} for {}",
                  e.op.inputs[i].name, e.x(i).type().str(), e.x(0).type().str());
    Value part = cast_to(e.x(i), real);
    w = w ? w * part : part;
  }
  Ints all{0}, columns{1};
  Value total, mean, divisor;
  if (w) {
    total = kReduceSum({w}, {all, false});
    mean = kReduceSum({x * cast_to(w, x.dtype())}, {columns, true}) / cast_to(total, x.dtype());
    Value lost = number(total, correction);
    if (e.has(2) && correction != 0)
      lost = kReduceSum({w * cast_to(e.x(2), real)}, {all, false}) / total * correction;
    divisor = total - lost;
  } else {
    mean = kReduceMean({x}, {columns, true});
    divisor = reduced_count(kReal({x}), {1}) - correction;
  }
  Value centred = x - mean;
  Value weighted = w ? centred * cast_to(w, x.dtype()) : centred;
  Value sum = kBatchMatmul({weighted, conj_of(centred)}, {false, true});
  // As NumPy: a divisor below 0 counts as 0.
  Value safe = kMaximum({divisor, number(divisor, 0)});
  Value y = sum / cast_to(safe, x.dtype());
  e.result(e.x(0).rank() < 2 ? kReshape({y}, {Ints{}}) : y);
}

}  // namespace

constexpr OpDef kCross = check({
    .name = "cross",
    .doc = "The vector product along dim, which has size 3; without dim, along the first such dim. "
           "Other dims broadcast.",
    .in = {"input: number", "other: number"},
    .attr = {"dim: int? = None"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_cross,
    .cases = "input[4, 3]; other[4, 3] [1, 3]; dim = None -1; bad dim = 0; bad other[4, 2]; bad "
             "other[3]; skip zero_size: the dim has size 3; skip scalar: the dim has size 3",
    .method = "cross",
});

constexpr OpDef kKron = check({
    .name = "kron",
    .doc = "The Kronecker product: every element of x times the whole of y, block by block. Of "
           "unequal ranks the smaller gets leading dims.",
    .in = {"x: number", "y: number"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_kron,
    .cases = "x[2, 3] [3] []; y[2, 2] [4]; at ([1, 2], [3, 4]) -> [3, 4, 6, 8]",
});

constexpr OpDef kCorrelate = check({
    .name = "correlate",
    .doc = "Cross-correlation of two vectors, y[i] = sum_k a[i + k] conj(v[k]): where both overlap "
           "fully (valid), at all overlaps (full), or as many as the longer one has (same).",
    .in = {"a: number[n]", "v: number[m]"},
    .attr = {"mode: str(valid|same|full) = valid"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_correlate,
    .cases = "a[6]; v[3] [4] [8]; mode = valid same full; tol 1e-4; bad v[2, 2]; bad a[0]; skip "
             "zero_size: sequences have elements; skip scalar: vectors are needed; at ([1, 2, 3], "
             "[0, 1]) -> [2, 3]",
});

constexpr OpDef kCov = check({
    .name = "cov",
    .doc =
        "The covariance matrix of the variables in the rows of the operand: the sum of weighted "
        "products of deviations from the mean, divided by n - correction. fweights say how often "
        "a column occurs, aweights how much it counts.",
    .in = {"input: number", "fweights?: int", "aweights?: real"},
    .attr = {"correction: int = 1"},
    .shard = "none",
    .expand = expand_cov,
    .cases = "input[3, 5] [5]; fweights[5]; fweights in ints(1, 3); aweights[5]; aweights in (0.5, "
             "2); correction = 0 1; tol 1e-3; bad input[2, 2, 2]; bad fweights[4]; skip zero_size: "
             "weights belong to columns; skip scalar: weights belong to columns; skip dtypes: the "
             "mean of integers is no integer; at ([1, 2, 4], [1, 1, 1], [1, 1, 1]) -> "
             "1.5555555555555556",
    .method = "cov",
});

void register_vector_forms() { ir::register_ops({&kCross, &kKron, &kCorrelate, &kCov}); }

}  // namespace mycel::ops
