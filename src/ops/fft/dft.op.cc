// The primitives: discrete Fourier transforms, unscaled but for an attribute.
#include "ir/adjoint.h"
#include "ir/batching.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/fft/fft.h"
#include "ops/fft/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

// Axes in [0, rank), each once, none of size 0.
std::vector<int> axes_of(TypeRuleCtx& c) {
  std::vector<int> axes;
  for (int64_t a : c.attrs.ints("axes")) {
    int axis = c.axis(a);
    if (std::find(axes.begin(), axes.end(), axis) != axes.end())
      c.fail("axis {} is named twice", axis);
    if (c.shape(0)[axis] == 0) c.fail("axis {} has no elements", axis);
    axes.push_back(axis);
  }
  if (axes.empty()) c.fail("at least one axis is needed");
  return axes;
}

void dft_type(TypeRuleCtx& c) {
  axes_of(c);
  types::same_as_first(c);
}

DType complex_of(DType d) { return d == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64; }

void real_type(TypeRuleCtx& c) {
  if (c.dtype(0) != DType::kFloat32 && c.dtype(0) != DType::kFloat64)
    c.fail_type("float32 or float64 expected");
  Shape s = c.shape(0);
  int last = axes_of(c).back();
  if (s[last] != kUnknownDim) s.set(last, s[last] / 2 + 1);
  c.result(complex_of(c.dtype(0)), s);
}

void inverse_real_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  int last = axes_of(c).back();
  int64_t n = c.attrs.integer("n");
  if (n < 1 || (s[last] != kUnknownDim && s[last] != n / 2 + 1))
    c.fail("{} values of axis {} do not belong to a length of {}", s[last], last, n);
  s.set(last, n);
  c.result(real_part_of(c.dtype(0)), s);
}

bool batch_axes(Batching& b) {
  Attr::Ints axes = b.attrs.ints("axes");
  for (int64_t& a : axes) a = (a < 0 ? a + b.shape(0).rank() : a) + 1;
  return b.same({b.x(0)}, b.replaced("axes", axes));
}

// The weights of a spectrum's inner bins, which stand for themselves and their mirror images, turn
// into one another's double.
void real_grad(Adjoint& a) {
  const Shape& s = a.x_type(0).shape;
  const Attr::Ints& axes = a.attrs().ints("axes");
  int64_t n = s[normalize_axis(axes.back(), s.rank(), "real_dft")];
  if (n == kUnknownDim)
    value_error("real_dft: the length must be known for a gradient, got {}", s.str());
  a.dx(0) += kInverseRealDft({a.dy()}, {n, axes, a.attrs()["scale"], a.attrs().real("inner") / 2});
}

}  // namespace

constexpr OpDef kDft = check({
    .name = "dft",
    .doc = "Over the axes: y[k] = scale sum_j x[j] exp(-2 pi i j k / n), with inverse exp(+...).",
    .in = {"x: complex"},
    .attr = {"axes: int[]", "inverse: bool = False", "scale: float = 1"},
    .type = dft_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += kDft({a.dy()},
                          {a.attrs()["axes"], !a.attrs().boolean("inverse"), a.attrs()["scale"]});
        },
    .batch = batch_axes,
    .cases = "x[3, 4] [2, 1] [5, 13]; axes = [1] [0, 1] [-2]; inverse = False True; scale = 0.5; "
             "bad axes = [2]; bad axes = [0, 0]; bad axes = []; skip scalar: a dim is needed; skip "
             "zero_size: an empty axis has no transform",
    .internal = true,
});

constexpr OpDef kRealDft = check({
    .name = "real_dft",
    .doc = "The transform of a real tensor over the axes, of the last of them the first n // 2 + 1 "
           "values; of these all that have a mirror image are multiplied by `inner`.",
    .in = {"x: float"},
    .attr = {"axes: int[]", "scale: float = 1", "inner: float = 1"},
    .type = real_type,
    .shard = "none",
    .grad = real_grad,
    .batch = batch_axes,
    .cases = "x[3, 4] [2, 1] [5, 6] [4, 11]; axes = [1] [0, 1] [1, 0]; scale = 0.5; inner = 1 2; "
             "x dtypes float32 float64; bad axes = [2]; bad axes = []; skip scalar: a dim is "
             "needed; skip zero_size: an empty axis has no transform",
    .internal = true,
});

constexpr OpDef kInverseRealDft = check({
    .name = "inverse_real_dft",
    .doc = "From the first n // 2 + 1 values along the last of the axes the real tensor of length "
           "n: scale times the sum of all values with exp(+2 pi i j k / n), mirror images "
           "included; all that have one are multiplied by `inner`. What cannot come from a real "
           "tensor is left out.",
    .in = {"x: complex"},
    .attr = {"n: int", "axes: int[]", "scale: float = 1", "inner: float = 1"},
    .type = inverse_real_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += kRealDft({a.dy()},
                              {a.attrs()["axes"], a.attrs()["scale"], a.attrs().real("inner") * 2});
        },
    .batch = batch_axes,
    .cases = "x[3, 4] [5, 4]; n = 6 7; axes = [1] [0, 1]; scale = 0.5; inner = 1 0.5; bad n = 9; "
             "bad axes = [2]; skip scalar: a dim is needed; skip zero_size: an empty axis has no "
             "transform | x[4, 2]; n = 6; axes = [1, 0] | x[1, 2]; n = 1; axes = [0] | x[2, 6]; n "
             "= 11; axes = [1]",
    .internal = true,
});

void register_dft() { register_ops({&kDft, &kRealDft, &kInverseRealDft}); }

}  // namespace mycel::ops
