// The published transforms: lengths, axes and norms over the primitives.
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/fft/fft.h"
#include "ops/fft/rooms.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records
using Ints = Attr::Ints;

namespace {

DType float_of(DType d) {
  d = real_part_of(d);
  return d == DType::kFloat64 ? d : DType::kFloat32;  // 16 bits are transformed in 32
}

Value complex_value(Value x) {
  if (is_complex(x.dtype())) return x;
  return cast_to(x,
                 float_of(x.dtype()) == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64);
}

int64_t size_of(const Expansion& e, Value x, int axis) {
  int64_t n = x.shape()[axis];
  if (n == kUnknownDim)
    value_error("{}: the size of axis {} must be known, got {}", e.op.name, axis, x.type().str());
  return n;
}

// Cut off or filled up with zeros to n elements along an axis.
Value fitted(const Expansion& e, Value x, int axis, int64_t n) {
  int64_t now = size_of(e, x, axis);
  if (n < 1) value_error("{}: lengths must be at least 1, got {}", e.op.name, n);
  if (now > n) return sliced(x, axis, 0, n);
  if (now == n) return x;
  Ints low(x.rank(), 0), high(x.rank(), 0);
  high[axis] = n - now;
  return kPadNd({x}, {low, high});
}

double scale_of(const Expansion& e, bool inverse, double count) {
  const Attr& norm = e.attrs["norm"];
  std::string name = norm.none() ? "backward" : norm.string();
  if (name == "ortho") return 1 / std::sqrt(count);
  return (name == "backward") == inverse ? 1 / count : 1.0;
}

struct Plan {
  Ints axes;     // in [0, rank)
  Ints lengths;  // kUnknownDim: that of the operand
};

Plan plan_of(const Expansion& e) {
  Value x = e.x(0);
  Plan p;
  if (e.op.attr_index("n") >= 0) {
    const Attr& n = e.attrs["n"];
    p.axes = {normalize_axis(e.attrs.integer("dim"), x.rank(), e.op.name.c_str())};
    p.lengths = {n.none() ? kUnknownDim : n.integer()};
    if (!n.none() && n.integer() < 1)
      value_error("{}: 'n' must be at least 1, got {}", e.op.name, n.integer());
    return p;
  }
  const Attr &s = e.attrs["s"], &dim = e.attrs["dim"];
  if (!s.none()) p.lengths = s.ints();
  int count = dim.none() ? (s.none() ? x.rank() : static_cast<int>(p.lengths.size()))
                         : static_cast<int>(dim.ints().size());
  if (s.none()) p.lengths.assign(count, kUnknownDim);
  if (static_cast<int>(p.lengths.size()) != count || count > x.rank())
    value_error("{}: 's' of {} lengths for {} dims of {}", e.op.name, p.lengths.size(), count,
                x.type().str());
  for (int i = 0; i < count; ++i) {
    int64_t axis = dim.none() ? x.rank() - count + i : dim.ints()[i];
    p.axes.push_back(normalize_axis(axis, x.rank(), e.op.name.c_str()));
    if (p.lengths[i] == -1) p.lengths[i] = kUnknownDim;  // published: the operand's length
    if (p.lengths[i] != kUnknownDim && p.lengths[i] < 1)
      value_error("{}: lengths must be at least 1, got {}", e.op.name, p.lengths[i]);
  }
  return p;
}

// The operand fitted to its lengths, all axes but `skipped` at the end.
Value prepared(const Expansion& e, Value x, const Plan& p, double* count, size_t skipped = 0) {
  *count = 1;
  for (size_t i = 0; i + skipped < p.axes.size(); ++i) {
    int axis = static_cast<int>(p.axes[i]);
    int64_t n = p.lengths[i] == kUnknownDim ? size_of(e, x, axis) : p.lengths[i];
    x = fitted(e, x, axis, n);
    *count *= static_cast<double>(n);
  }
  return x;
}

template <bool inverse>
void expand_complex(Expansion& e) {
  Plan p = plan_of(e);
  double count;
  Value x = prepared(e, complex_value(e.x(0)), p, &count);
  e.result(p.axes.empty() ? x : kDft({x}, {p.axes, inverse, scale_of(e, inverse, count)}));
}

void expand_real(Expansion& e) {
  if (is_complex(e.x(0).dtype()))
    type_error("{}: the operand must be real, got {}", e.op.name, e.x(0).type().str());
  Plan p = plan_of(e);
  double count;
  Value x = prepared(e, cast_to(e.x(0), float_of(e.x(0).dtype())), p, &count);
  e.result(kRealDft({x}, {p.axes, scale_of(e, false, count)}));
}

// The last axis holds half a spectrum.
Value inverse_real(const Expansion& e, Value x, const Plan& p) {
  double count;
  x = prepared(e, complex_value(x), p, &count, 1);
  int last = static_cast<int>(p.axes.back());
  int64_t n = p.lengths.back();
  if (n == kUnknownDim) n = 2 * (size_of(e, x, last) - 1);
  if (n < 1)
    value_error("{}: axis {} of {} tells no length; give one", e.op.name, last, x.type().str());
  x = fitted(e, x, last, n / 2 + 1);
  return kInverseRealDft({x}, {n, p.axes, scale_of(e, true, count * static_cast<double>(n))});
}

void expand_inverse_real(Expansion& e) { e.result(inverse_real(e, e.x(0), plan_of(e))); }

void expand_with_size(Expansion& e) {
  Value x = e.x(0);
  int64_t dims = e.attrs.integer("signal_ndim");
  bool inverse = e.attrs.boolean("inverse"), real = e.attrs.boolean("real");
  bool onesided = e.attrs.boolean("onesided");
  const Ints& sizes = e.attrs.ints("signal_sizes");
  if (dims < 1 || dims > 3 || dims > x.rank())
    value_error(
        "fft_with_size: signal_ndim must lie in [1, 3] and in the {} dims of the operand, "
        "got {}",
        x.rank(), dims);
  if (is_complex(x.dtype()) == (real && !inverse))
    type_error("fft_with_size: inverse {}, real {} takes a {} operand, got {}", inverse, real,
               real && !inverse ? "real" : "complex", x.type().str());
  if (!sizes.empty() && static_cast<int64_t>(sizes.size()) != dims)
    value_error("fft_with_size: signal_sizes must name {} lengths, got {}", dims,
                e.attrs["signal_sizes"].str());
  Plan p;
  for (int64_t d = x.rank() - dims; d < x.rank(); ++d) p.axes.push_back(d);
  p.lengths = Ints(dims, kUnknownDim);
  if (real && inverse && onesided) {
    if (!sizes.empty()) p.lengths.back() = sizes.back();
    for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i) {
      int64_t here = size_of(e, x, static_cast<int>(p.axes[i]));
      if (here != (i + 1 == dims ? sizes[i] / 2 + 1 : sizes[i]))
        value_error("fft_with_size: signal_sizes {} do not belong to {}",
                    e.attrs["signal_sizes"].str(), x.type().str());
    }
    return e.result(inverse_real(e, x, p));
  }
  double count;
  prepared(e, x, p, &count);
  double scale = scale_of(e, inverse, count);
  if (real && !inverse && onesided)
    return e.result(kRealDft({cast_to(x, float_of(x.dtype()))}, {p.axes, scale}));
  Value y = kDft({complex_value(x)}, {p.axes, inverse, scale});
  e.result(real && inverse ? kReal({y}) : y);
}

#define MYCEL_NORM "norm: str(backward|ortho|forward)? = None"

}  // namespace

constexpr OpDef kFft = check({
    .name = "fft",
    .doc = "The discrete Fourier transform along `dim`, cut or filled with zeros to n values: y[k] "
           "= sum_j x[j] exp(-2 pi i j k / n), divided by n with norm forward, by sqrt(n) with "
           "ortho.",
    .in = {"input: number"},
    .attr = {"n: int? = None", "dim: int = -1", MYCEL_NORM},
    .promote = Promote::kFloat,
    .shard = "none",
    .expand = expand_complex<false>,
    .cases = "input[3, 4]; n = None 3 7; dim = -1 0; norm = None ortho forward; bad n = 0; bad dim "
             "= 2; skip scalar: a dim is needed; skip zero_size: an empty axis has no transform",
    .method = "fft",
});

constexpr OpDef kIfft = check({
    .name = "ifft",
    .doc = "The inverse of fft along `dim`: y[j] = sum_k x[k] exp(2 pi i j k / n) / n; with norm "
           "forward not divided, with ortho by sqrt(n).",
    .in = {"input: number"},
    .attr = {"n: int? = None", "dim: int = -1", MYCEL_NORM},
    .promote = Promote::kFloat,
    .shard = "none",
    .expand = expand_complex<true>,
    .cases = "input[3, 4]; n = None 3 7; dim = -1 0; norm = None ortho forward; bad n = 0; bad dim "
             "= 2; skip scalar: a dim is needed; skip zero_size: an empty axis has no transform",
    .method = "ifft",
});

constexpr OpDef kFftn = check({
    .name = "fftn",
    .doc = "fft along several dims, cut or filled to the lengths s: `dim`, else the last ones that "
           "s has lengths for, else all.",
    .in = {"input: number"},
    .attr = {"s: int[]? = None", "dim: int[]? = None", MYCEL_NORM},
    .promote = Promote::kFloat,
    .shard = "none",
    .expand = expand_complex<false>,
    .cases = "input[2, 3, 4]; s = None [3, 5]; norm = None ortho; bad s = [0, 2]; bad s = [1, 1, "
             "1, 1]; skip zero_size: an empty axis has no transform | input[2, 3, 4]; s = None; "
             "dim = [0] [2, 0]; bad dim = [3]",
});

constexpr OpDef kIfftn = check({
    .name = "ifftn",
    .doc = "ifft along several dims; see fftn.",
    .in = {"input: number"},
    .attr = {"s: int[]? = None", "dim: int[]? = None", MYCEL_NORM},
    .promote = Promote::kFloat,
    .shard = "none",
    .expand = expand_complex<true>,
    .cases =
        "input[2, 3, 4]; s = None [3, 5]; norm = None ortho; bad s = [0, 2]; skip zero_size: an "
        "empty axis has no transform | input[2, 3, 4]; s = None; dim = [0] [2, 0]; bad dim = [3]",
});

constexpr OpDef kFft2 = check({
    .name = "fft2",
    .doc = "fftn along two dims, the last ones unless `dim` names others.",
    .in = {"input: number"},
    .attr = {"s: int[]? = None", "dim: int[]? = [-2, -1]", MYCEL_NORM},
    .promote = Promote::kFloat,
    .shard = "none",
    .expand = expand_complex<false>,
    .cases = "input[2, 3, 4]; s = None [3, 5]; bad s = [2]; skip zero_size: an empty axis has no "
             "transform; skip scalar: dims are needed",
});

constexpr OpDef kIfft2 = check({
    .name = "ifft2",
    .doc = "ifftn along two dims, the last ones unless `dim` names others.",
    .in = {"input: number"},
    .attr = {"s: int[]? = None", "dim: int[]? = [-2, -1]", MYCEL_NORM},
    .promote = Promote::kFloat,
    .shard = "none",
    .expand = expand_complex<true>,
    .cases = "input[2, 3, 4]; s = None [3, 5]; bad s = [2]; skip zero_size: an empty axis has no "
             "transform; skip scalar: dims are needed",
});

constexpr OpDef kRfft = check({
    .name = "rfft",
    .doc = "fft of a real tensor along `dim`: the first n // 2 + 1 values, whose mirror images are "
           "the others' conjugates.",
    .in = {"input: real"},
    .attr = {"n: int? = None", "dim: int = -1", MYCEL_NORM},
    .promote = Promote::kFloat,
    .shard = "none",
    .expand = expand_real,
    .cases = "input[3, 4]; n = None 3 7; dim = -1 0; norm = None ortho forward; bad n = 0; bad dim "
             "= 2; skip scalar: a dim is needed; skip zero_size: an empty axis has no transform",
});

constexpr OpDef kIrfft = check({
    .name = "irfft",
    .doc = "The inverse of rfft: n real values, 2 (m - 1) unless given, from m of a spectrum.",
    .in = {"input: number"},
    .attr = {"n: int? = None", "dim: int = -1", MYCEL_NORM},
    .promote = Promote::kFloat,
    .shard = "none",
    .expand = expand_inverse_real,
    .cases = "input[3, 4]; n = None 3 7; dim = -1 0; norm = None ortho forward; bad n = 0; bad dim "
             "= 2; skip scalar: a dim is needed; skip zero_size: an empty axis has no transform",
});

constexpr OpDef kFftWithSize = check({
    .name = "fft_with_size",
    .doc = "The transform over the last signal_ndim dims: fft or, with inverse, ifft of complex "
           "tensors; with real the transform of a real tensor, or back to one, of half the "
           "spectrum when onesided. signal_sizes are the lengths of the real tensor.",
    .in = {"x: inexact"},
    .attr = {"signal_ndim: int", "inverse: bool", "real: bool",
             "norm: str(backward|ortho|forward) = backward", "onesided: bool = True",
             "signal_sizes: int[] = []"},
    .shard = "none",
    .expand = expand_with_size,
    .cases = "x[2, 3, 4]; x dtypes complex64 complex128; signal_ndim = 1 2 3; inverse = False "
             "True; real = False; norm = backward ortho; bad signal_ndim = 4; bad signal_ndim = 0; "
             "skip zero_size: an empty axis has no transform; skip scalar: a dim is needed | x[2, "
             "3, 4]; signal_ndim = 2; inverse = True; real = True; onesided = False True | x[3, "
             "4]; signal_ndim = 1; inverse = True; real = True; signal_sizes = [6] [7]; bad "
             "signal_sizes = [5] | x[3, 4]; x dtypes float32 float64; signal_ndim = 1 2; inverse = "
             "False; real = True; onesided = True False",
    .primitive = "FFTWithSize(signal_ndim, inverse, real, norm, onesided, signal_sizes)",
    .internal = true,
});

void register_fft_forms() {
  register_ops({&kFft, &kIfft, &kFftn, &kIfftn, &kFft2, &kIfft2, &kRfft, &kIrfft, &kFftWithSize});
}

}  // namespace mycel::ops
