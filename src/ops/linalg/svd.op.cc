// Singular values, vectors and norms made of them.
#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/rooms.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

int64_t least(const Shape& s) { return shorter(s[-2], s[-1]); }

void svd_type(TypeRuleCtx& c) {
  need_matrix(c);
  const Shape& s = c.shape(0);
  bool full = c.attrs.boolean("full_matrices");
  c.result(real_part_of(c.dtype(0)), behind_batch(s, 2, {least(s)}));
  c.result(c.dtype(0), behind_batch(s, 2, {s[-2], full ? s[-2] : least(s)}));
  c.result(c.dtype(0), behind_batch(s, 2, {s[-1], full ? s[-1] : least(s)}));
}

Value skew(Value a) { return a - adjoint_of(a); }

// What d contributes outside the columns of q: (1 - q q^H) d.
Value outside(Value q, Value d) { return d - mm(q, mm(adjoint_of(q), d)); }

// Giles 2008, 3.3, and for complex matrices Wan and Zhang 2019: of phases, which are arbitrary,
// only what u and v share counts.
void svd_grad(Adjoint& a) {
  Value s = a.y(0), u = a.y(1), v = a.y(2), vh = adjoint_of(v);
  const Shape& x = a.x_type(0).shape;
  if (a.attrs().boolean("full_matrices") && dims_differ(x[-2], x[-1]))
    value_error(
        "svd: singular vectors beyond min(m, n) are not unique and have no gradient; use "
        "full_matrices=False, got {}",
        a.x_type(0).str());
  Value left = scaled_columns(u, a.dy(0));
  if (!a.has_dy(1) && !a.has_dy(2)) {
    a.dx(0) += mm(left, vh);
    return;
  }
  Value gaps = cast_to(gap_reciprocals(s * s), u.dtype());
  Value inverse = kDivNoNan({ones_of(s), s});
  Value gu = mm(adjoint_of(u), a.dy(1)), gv = mm(vh, a.dy(2));
  Value inner = scaled_columns(skew(gu) * gaps, s) + scaled_rows(s, skew(gv) * gaps);
  if (is_complex(u.dtype())) inner = inner + scaled_rows(inverse, kBand({skew(gu)}, {0, 0}) * 0.5);
  Value da = mm(left + mm(u, inner), vh);
  da = da + mm(scaled_columns(outside(u, a.dy(1)), inverse), vh);
  a.dx(0) += da + mm(scaled_columns(u, inverse), adjoint_of(outside(v, a.dy(2))));
}

void expand_nuclear(Expansion& e) {
  Value x = e.x(0);
  const Attr& dim = e.attrs["dim"];
  if (dim.none() && x.rank() != 2)
    value_error("nuclear_norm: name 'dim' for an operand of other than 2 dims, got {}",
                x.type().str());
  Attr::Ints two = dim.none() ? Attr::Ints{0, 1} : dim.ints();
  bool keep = e.attrs.boolean("keepdim");
  e.result(kReduceSum({singular_values_over(x, two, keep, "nuclear_norm")}, {Attr::Ints{-1}}));
}

}  // namespace

Value singular_values_over(Value x, const std::vector<int64_t>& axes, bool keep, const char* op) {
  if (axes.size() != 2) value_error("{}: matrices lie in two dims, got {}", op, axes.size());
  int a = normalize_axis(axes[0], x.rank(), op), b = normalize_axis(axes[1], x.rank(), op);
  if (a == b) value_error("{}: matrices lie in two different dims, got {} twice", op, a);
  Value s = kSingularValues({kMoveaxis({x}, {Attr::Ints{a, b}, Attr::Ints{-2, -1}})});
  if (!keep) return s;
  for (int axis : {std::min(a, b), std::max(a, b)}) s = kExpandDims({s}, {axis});
  return s;
}

constexpr OpDef kSvd = check({
    .name = "svd_vectors",
    .doc = "s [..., k] falling, u and v with orthonormal columns so that each matrix [..., m, n] "
           "is u diag(s) v^H; k = min(m, n) columns, or u [m, m] and v [n, n] with full_matrices.",
    .in = {"input: inexact[..., m, n]"},
    .attr = {"full_matrices: bool = False"},
    .out = {"s", "u", "v"},
    .type = svd_type,
    .shard = "... m n -> ... k, ... m k, ... n k : whole(m), whole(n)",
    .grad = svd_grad,
    .cases = "input[2, 4, 3] [3, 3] [2, 3]; input in (-2, 2); input dtypes float32 float64 "
             "complex64 complex128; tol 1e-4; fd 1e-4; bad input[3]; skip grad: complex phases "
             "are arbitrary, tests/python/test_linalg.py; skip grad2: the same; skip dtypes: "
             "signs are arbitrary | input[3, 3] [3, 2]; full_matrices = True",
    .internal = true,
});

constexpr OpDef kSingularValues = check({
    .name = "singular_values",
    .doc = "The singular values [..., min(m, n)] of each matrix, falling.",
    .in = {"input: inexact[..., m, n]"},
    .type =
        [](TypeRuleCtx& c) {
          need_matrix(c);
          c.result(real_part_of(c.dtype(0)), behind_batch(c.shape(0), 2, {least(c.shape(0))}));
        },
    .shard = "... m n -> ... k : whole(m), whole(n)",
    .grad =
        [](Adjoint& a) {
          auto parts = all_results(kSvd, {a.x(0)}, {});
          a.dx(0) += mm(scaled_columns(parts[1], a.dy()), adjoint_of(parts[2]));
        },
    .cases = "input[2, 4, 3] [3, 3] [2, 3]; input in (-2, 2); input dtypes float32 float64 "
             "complex64 complex128; tol 1e-4; fd 1e-4; bad input[3]",
});

constexpr OpDef kNuclearNorm = check({
    .name = "nuclear_norm",
    .doc = "The sum of the singular values of the matrices in two dims; all of a matrix when dim "
           "is None.",
    .in = {"x: inexact"},
    .attr = {"dim: int[]? = None", "keepdim: bool = False"},
    .shard = "none",
    .expand = expand_nuclear,
    .cases = "x[3, 4]; x in (-2, 2); keepdim = False True; x dtypes float32 float64 complex64 "
             "complex128; tol 1e-4; fd 1e-4; skip scalar: two dims are needed | x[2, 3, 4]; dim = "
             "[0, 2] [-1, 0]; keepdim = False True; bad dim = [1]; bad dim = [0, 0]; bad dim = "
             "[0, 3]",
    .primitive = "NuclearNorm(dim, keepdim)",
    .internal = true,
});

void register_svd() { register_ops({&kSvd, &kSingularValues, &kNuclearNorm}); }

}  // namespace mycel::ops
