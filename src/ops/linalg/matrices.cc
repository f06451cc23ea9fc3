#include "ops/linalg/matrices.h"

#include "ir/attrs.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/matmul/matmul.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::Expansion;
using ir::TypeRuleCtx;
using Ints = Attr::Ints;

namespace {

bool supported(DType d) { return d == DType::kFloat32 || d == DType::kFloat64 || is_complex(d); }

std::string shape_error(const Shape& s, bool square) {
  if (s.rank() < 2) return fmt::format("has {} dims; expected [..., m, n]", s.rank());
  if (square && dims_differ(s[-2], s[-1]))
    return fmt::format("must hold square matrices, got {} by {}", s[-2], s[-1]);
  return "";
}

void need(TypeRuleCtx& c, int i, bool square) {
  const std::string& name = c.op.inputs[i].name;
  if (!supported(c.dtype(i)))
    c.fail_type("'{}' must be float32, float64, complex64 or complex128", name);
  std::string wrong = shape_error(c.shape(i), square);
  if (!wrong.empty()) c.fail("'{}' {}", name, wrong);
}

void need(const Expansion& e, int i, bool square) {
  const std::string& name = e.op.inputs[i].name;
  const ir::Type& t = e.x(i).type();
  if (!supported(t.dtype))
    type_error("{}: '{}' must be float32, float64, complex64 or complex128, got {}", e.op.name,
               name, t.str());
  std::string wrong = shape_error(t.shape, square);
  if (!wrong.empty()) value_error("{}: '{}' {} ({})", e.op.name, name, wrong, t.str());
}

}  // namespace

void need_matrix(TypeRuleCtx& c, int i) { need(c, i, false); }
void need_square(TypeRuleCtx& c, int i) { need(c, i, true); }
void need_matrix(const Expansion& e, int i) { need(e, i, false); }
void need_square(const Expansion& e, int i) { need(e, i, true); }

int64_t shorter(int64_t m, int64_t n) {
  return m == kUnknownDim || n == kUnknownDim ? kUnknownDim : std::min(m, n);
}

Shape behind_batch(const Shape& s, int drop, std::initializer_list<int64_t> dims) {
  Shape out(s.dims().first(static_cast<size_t>(s.rank() - drop)));
  for (int64_t n : dims) out.push_back(n);
  return out;
}

void solution_type(TypeRuleCtx& c) {
  need_square(c, 0);
  need_matrix(c, 1);
  const Shape &a = c.shape(0), &b = c.shape(1);
  if (c.dtype(0) != c.dtype(1)) c.fail_type("both operands must have one dtype");
  if (dims_differ(a[-1], b[-2]))
    c.fail("a matrix of {} rows cannot be solved for {} rows", a[-1], b[-2]);
  Shape y;
  if (!mycel::broadcast(behind_batch(a, 2, {}), behind_batch(b, 2, {}), &y))
    c.fail("the batch dims do not broadcast");
  y.push_back(b[-2] == kUnknownDim ? a[-1] : b[-2]);
  y.push_back(b[-1]);
  c.result(c.dtype(1), y);
}

Value mm(Value a, Value b) { return kBatchMatmul({a, b}); }
Value adjoint_of(Value a) { return kAdjoint({a}); }
Value hermitian_part(Value a) { return (a + adjoint_of(a)) * 0.5; }
Value lower_part(Value a, int64_t last) { return kTril({a}, {last}); }
Value upper_part(Value a, int64_t first) { return kTriu({a}, {first}); }

Value real_diagonal(Value a) {
  Value d = kBand({a}, {0, 0});
  return is_complex(a.dtype()) ? (d + kConj({d})) * 0.5 : d;
}

Value identity_like(Value a) {
  Value ones = a.shape().known() ? filled(a.graph(), 1, a.shape(), a.dtype()) : ones_of(a);
  return kBand({ones}, {0, 0});
}

Value onto_lower(Value gradient) {
  Value both = gradient + adjoint_of(gradient);
  return lower_part(both, -1) + real_diagonal(both) * 0.5;
}

Value scaled_columns(Value a, Value scale) {
  return a * cast_to(kExpandDims({scale}, {-2}), a.dtype());
}
Value scaled_rows(Value scale, Value a) {
  return cast_to(kExpandDims({scale}, {-1}), a.dtype()) * a;
}

Value gap_reciprocals(Value w) {
  Value gap = kExpandDims({w}, {-2}) - kExpandDims({w}, {-1});
  Value none = cast_to(equal(gap, 0.0), gap.dtype());
  return (1.0 - none) / (gap + none);
}

Value rows_of(Value a, int64_t start, int64_t length) {
  return sliced(a, a.rank() - 2, start, length);
}
Value columns_of(Value a, int64_t start, int64_t length) {
  return sliced(a, a.rank() - 1, start, length);
}

Value ordered_rows(Value a, Value order) {
  Value index = kExpandDims({order}, {-1});
  index = a.shape().known() ? kBroadcastTo({index}, {Attr(a.shape())}) : kBroadcastLike({index, a});
  return kGatherD({a, index}, {-2});
}

int64_t known_size(Value a, int dim, const char* op) {
  if (a.rank() < (dim < 0 ? -dim : dim + 1))
    value_error("{}: an operand has too few dims, got {}", op, a.type().str());
  int64_t n = a.shape()[dim];
  if (n == kUnknownDim)
    value_error("{}: the size of matrices must be known here, got {}", op, a.type().str());
  return n;
}

}  // namespace mycel::ops
