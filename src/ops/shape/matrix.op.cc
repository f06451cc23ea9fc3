// Diagonals and triangles of matrices (the last two dims unless said otherwise).
#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/expansion.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/batching.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/moves.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::LoopCtx;
using ir::TypeRuleCtx;
namespace types = ir::types;
using loops::Val;
using Ints = Attr::Ints;

namespace {

constexpr int64_t kFar = int64_t{1} << 62;  // beyond every diagonal

void need_matrix(TypeRuleCtx& c) {
  if (c.shape(0).rank() < 2) c.fail("the operand needs two dims or more");
  types::same_as_first(c);
}

// y[.., i, j] = first <= j - i <= last ? x[.., i, j] : 0.
void band_loops(LoopCtx& c) {
  const Shape& s = c.in_type(0).shape;
  loops::Nest& nest = c.nest;
  Val rows = nest.number(s[-2]), columns = nest.number(s[-1]);
  Val first = nest.number(c.attrs.integer("first")), last = nest.number(c.attrs.integer("last"));
  nest.parallel(s.size(0, s.rank() - 1), std::max<int64_t>(1, s[-1]), [&](Val r) {
    Val i = r % rows, start = r * columns;
    nest.loop(columns, loops::LoopKind::kVector, [&](Val j) {
      Val x = nest.load(c.in(0), start + j), d = j - i, keep = d >= first && d <= last;
      Val y = x.im ? make_complex(select(keep, real(x), 0.0), select(keep, imag(x), 0.0))
                   : select(keep, x, constant(x, int64_t{0}));
      nest.store(c.out(), start + j, y);
    });
  });
}

// The plane of two axes and the length of one of its diagonals.
struct Plane {
  int a, b;
  int64_t offset, length, first_a, first_b;
};
Plane plane_of(const ir::AttrsView& attrs, const Shape& s, const char* op) {
  Plane p{};
  p.a = normalize_axis(attrs.integer("dim1"), s.rank(), op);
  p.b = normalize_axis(attrs.integer("dim2"), s.rank(), op);
  p.offset = attrs.integer("offset");
  p.first_a = p.offset < 0 ? -p.offset : 0;
  p.first_b = p.offset > 0 ? p.offset : 0;
  bool known = s[p.a] != kUnknownDim && s[p.b] != kUnknownDim;
  p.length =
      known ? std::max<int64_t>(0, std::min(s[p.a] - p.first_a, s[p.b] - p.first_b)) : kUnknownDim;
  return p;
}

Shape diagonal_shape(TypeRuleCtx& c, const Shape& s) {
  if (s.rank() < 2) c.fail("the operand needs two dims or more");
  Plane p = plane_of(c.attrs, s, c.op.name.c_str());
  if (p.a == p.b) c.fail("dim1 and dim2 must be two axes");
  Shape out;
  for (int d = 0; d < s.rank(); ++d) {
    if (d != p.a && d != p.b) out.push_back(s[d]);
  }
  out.push_back(p.length);
  return out;
}

void diagonal_update_type(TypeRuleCtx& c) {
  Shape want = diagonal_shape(c, c.shape(0));
  const Shape& v = c.shape(1);
  bool fits = v.rank() == want.rank();
  for (int d = 0; fits && d < v.rank(); ++d)
    fits = v[d] == want[d] || v[d] == kUnknownDim || want[d] == kUnknownDim;
  if (!fits) c.fail("value must have the shape {} of the diagonal", want.str());
  if (c.dtype(1) != c.dtype(0))
    c.fail_type("value must have the dtype of the tensor that it is written to");
  types::same_as_first(c);
}

ir::Attrs plane_attrs(Adjoint& a) {
  return {a.attrs()["offset"], a.attrs()["dim1"], a.attrs()["dim2"]};
}

void diagonal_update_grad(Adjoint& a) {
  if (a.wants(1)) a.dx(1) += kDiagonal({a.dy()}, plane_attrs(a));
  if (!a.wants(0)) return;
  const ir::Type& v = a.x_type(1);
  Value hole = v.shape.known() ? filled(a.graph(), 0, v.shape, v.dtype) : kZerosLike({a.x(1)});
  a.dx(0) += kDiagonalUpdate({a.dy(), hole}, plane_attrs(a));
}

// The copy between a tensor's diagonal and a tensor of its shape; `read` takes from the diagonal.
void diagonal_move(MoveCtx& c, const Shape& whole, const Shape& line, int operand, bool read) {
  Plane p = plane_of(c.attrs, whole, "diagonal");
  Strides outer = row_strides(whole), inner = row_strides(line);
  Move& m = c.add(operand);
  auto dim = [&](int64_t n, int64_t in_whole, int64_t in_line) {
    m.dim(n, read ? in_whole : in_line, read ? in_line : in_whole);
  };
  int k = 0;
  for (int d = 0; d < whole.rank(); ++d) {
    if (d != p.a && d != p.b) dim(whole[d], outer[d], inner[k++]);
  }
  dim(p.length, outer[p.a] + outer[p.b], 1);
  if (p.length > 0)
    (read ? m.src_offset : m.dst_offset) = p.first_a * outer[p.a] + p.first_b * outer[p.b];
}

void expand_band_part(Expansion& e) {
  int64_t lower = e.attrs.integer("lower"), upper = e.attrs.integer("upper");
  if (e.x(0).rank() < 2)
    value_error("matrix_band_part: the operand needs two dims or more, got {}",
                e.x(0).type().str());
  e.result(kBand({e.x(0)}, {lower < 0 ? -kFar : -lower, upper < 0 ? kFar : upper}));
}

template <bool lower>
void expand_triangle(Expansion& e) {
  if (e.x(0).rank() < 2)
    value_error("{}: the operand needs two dims or more, got {}", e.op.name, e.x(0).type().str());
  int64_t k = e.attrs.integer("diagonal");
  e.result(kBand({e.x(0)}, {lower ? -kFar : k, lower ? k : kFar}));
}

// The last dim becomes the diagonal of a new plane, whose axes end up at dim1 and dim2.
Value embedded(Value x, int64_t offset, int64_t dim1, int64_t dim2, const char* op) {
  int rank = x.rank() + 1;
  if (x.rank() == 0) value_error("{}: the operand needs a dim", op);
  int a = normalize_axis(dim1, rank, op), b = normalize_axis(dim2, rank, op);
  if (a == b) value_error("{}: dim1 and dim2 must be two axes", op);
  Shape s = x.shape();
  if (!s.known()) value_error("{}: the operand's shape must be known, got {}", op, x.type().str());
  int64_t n = s[-1] + std::abs(offset);
  Shape out;
  for (int d = 0, k = 0; d < rank; ++d) out.push_back(d == a || d == b ? n : s[k++]);
  return kDiagonalUpdate({filled(x.graph(), 0, out, x.dtype()), x}, {offset, dim1, dim2});
}

void expand_diag(Expansion& e) {
  Value x = e.x(0);
  Shape s = x.shape();
  if (s.rank() == 0) value_error("diag: the operand needs a dim");
  if (2 * s.rank() > kMaxRank)
    value_error("diag: the result would have more than {} dims", kMaxRank);
  Shape twice = s;
  for (int64_t n : s) twice.push_back(n);
  Value y = embedded(kRavel({x}), 0, 0, 1, "diag");
  e.result(s.rank() == 1 ? y : kReshape({y}, {Attr(twice)}));
}

void expand_trace(Expansion& e) {
  if (e.x(0).rank() < 2)
    value_error("trace: the operand needs two dims or more, got {}", e.x(0).type().str());
  Value line = kDiagonal({e.x(0)}, {e.attrs["offset"], e.attrs["dim1"], e.attrs["dim2"]});
  e.result(kReduceSum({line}, {Ints{-1}, false}));
}

}  // namespace

void diagonal_moves(MoveCtx& c) { diagonal_move(c, c.in(), c.out(), 0, true); }

void diagonal_update_moves(MoveCtx& c) {
  c.whole();
  diagonal_move(c, c.out(), c.in(1), 1, false);
}

constexpr OpDef kBand = check({
    .name = "band",
    .doc = "The elements on diagonals first to last (column minus row) of each matrix, zero "
           "elsewhere.",
    .in = {"x: any"},
    .attr = {"first: int", "last: int"},
    .type = need_matrix,
    .shard = "none",
    .grad = [](Adjoint& a) { a.dx(0) += kBand({a.dy()}, {a.attrs()["first"], a.attrs()["last"]}); },
    .loops = band_loops,
    .batch = batch_leading,
    .cases =
        "x[2, 3, 4] [5, 2]; first = -1 0 2; last = 0 1; bad x[3]; skip scalar: two dims are needed",
    .onnx = "Trilu",
    .internal = true,
});

constexpr OpDef kMatrixBandPart = check({
    .name = "matrix_band_part",
    .doc = "Keeps `lower` diagonals below and `upper` above the main one, all when negative; zero "
           "elsewhere.",
    .in = {"x: any"},
    .attr = {"lower: int", "upper: int"},
    .shard = "none",
    .expand = expand_band_part,
    .cases =
        "x[2, 3, 4]; lower = -1 0 1; upper = -1 0 2; bad x[3]; skip scalar: two dims are needed",
    .primitive = "MatrixBandPart",
});

constexpr OpDef kTril = check({
    .name = "tril",
    .doc = "The lower triangle: elements with column - row <= diagonal, zero elsewhere.",
    .in = {"input: any"},
    .attr = {"diagonal: int = 0"},
    .shard = "none",
    .expand = expand_triangle<true>,
    .cases = "diagonal = 0 1 -2 9; bad input[3]; skip scalar: two dims are needed",
    .onnx = "Trilu",
    .primitive = "Tril(diagonal)",
    .method = "tril",
});

constexpr OpDef kTriu = check({
    .name = "triu",
    .doc = "The upper triangle: elements with column - row >= diagonal, zero elsewhere.",
    .in = {"input: any"},
    .attr = {"diagonal: int = 0"},
    .shard = "none",
    .expand = expand_triangle<false>,
    .cases = "diagonal = 0 1 -2 9; bad input[3]; skip scalar: two dims are needed",
    .onnx = "Trilu",
    .primitive = "Triu(diagonal)",
    .method = "triu",
});

constexpr OpDef kDiagonal = check({
    .name = "diagonal",
    .doc = "The elements x[i, i + offset] of the plane of two axes, as a last dim.",
    .in = {"input: any"},
    .attr = {"offset: int = 0", "dim1: int = 0", "dim2: int = 1"},
    .type = [](TypeRuleCtx& c) { c.result(c.dtype(0), diagonal_shape(c, c.shape(0))); },
    .shard = "none",
    .grad =
        [](Adjoint& a) { a.dx(0) += kDiagonalUpdate({zeros_of(a, 0), a.dy()}, plane_attrs(a)); },
    .loops = move_loops<diagonal_moves>,
    .batch = batch_axis,
    .cases = "input[2, 3, 4]; offset = 0 1 -1 9; dim1 = 0 -1; dim2 = 1; bad dim1 = 1; bad dim1 = "
             "3; bad input[3]; skip scalar: "
             "two dims are needed",
    .method = "diagonal",
});

constexpr OpDef kDiagonalUpdate = check({
    .name = "diagonal_update",
    .doc = "x with a diagonal replaced by value, which has the shape that `diagonal` gives.",
    .in = {"x: any", "value: any"},
    .attr = {"offset: int = 0", "dim1: int = 0", "dim2: int = 1"},
    .type = diagonal_update_type,
    .shard = "none",
    .grad = diagonal_update_grad,
    .loops = move_loops<diagonal_update_moves>,
    .batch = batch_axis,
    .cases = "x[3, 2, 4]; value[2, 3]; offset = 0 1; dim1 = 0; dim2 = 2; bad value[3, 3]; skip "
             "dtypes: both have one dtype; "
             "skip zero_size: sizes belong together; skip scalar: two dims are needed",
    .internal = true,
});

constexpr OpDef kDiag = check({
    .name = "diag",
    .doc = "A tensor of twice the dims with the operand on its diagonal: y[i, i] = x[i] for an "
           "index tuple i.",
    .in = {"input: any"},
    .shard = "none",
    .expand = expand_diag,
    .cases = "input[3] [2, 3]; skip scalar: a dim is needed",
    .primitive = "Diag",
    .method = "diag",
});

constexpr OpDef kDiagflat = check({
    .name = "diagflat",
    .doc = "A matrix with the flattened operand on the diagonal `offset`.",
    .in = {"input: any"},
    .attr = {"offset: int = 0"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.result(embedded(kRavel({e.x(0)}), e.attrs.integer("offset"), 0, 1, "diagflat"));
        },
    .cases = "input[3] [2, 2] []; offset = 0 2 -1",
    .method = "diagflat",
});

constexpr OpDef kDiagEmbed = check({
    .name = "diag_embed",
    .doc = "Matrices with the vectors of the last dim on the diagonal `offset`; dim1 and dim2 are "
           "their axes in the result.",
    .in = {"input: any"},
    .attr = {"offset: int = 0", "dim1: int = -2", "dim2: int = -1"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.result(embedded(e.x(0), e.attrs.integer("offset"), e.attrs.integer("dim1"),
                            e.attrs.integer("dim2"), "diag_embed"));
        },
    .cases = "input[2, 3]; offset = 0 1 -2; dim1 = -2 0; dim2 = -1; bad dim1 = -1; bad dim1 = 5; "
             "skip scalar: a dim is needed",
});

constexpr OpDef kTrace = check({
    .name = "trace",
    .doc = "The sum of a diagonal of the plane of two axes.",
    .in = {"input: number"},
    .attr = {"offset: int = 0", "dim1: int = 0", "dim2: int = 1"},
    .shard = "none",
    .expand = expand_trace,
    .cases =
        "input[3, 4] [2, 3, 2]; offset = 0 1 -1; bad input[3]; skip scalar: two dims are needed",
    .primitive = "Trace",
    .method = "trace",
});

}  // namespace mycel::ops
