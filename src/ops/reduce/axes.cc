// Axes and shapes of reductions.
#include <algorithm>

#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::TypeRuleCtx;

std::vector<int> reduced_axes(const std::vector<int64_t>& axis, int rank, const std::string& op) {
  std::vector<int> axes;
  if (axis.empty()) {
    for (int d = 0; d < rank; ++d) axes.push_back(d);
    return axes;
  }
  for (int64_t a : axis) {
    if (rank == 0 && (a == 0 || a == -1))
      continue;  // as NumPy: a 0-d tensor has a first and last axis
    int d = normalize_axis(a, rank, op.c_str());
    if (std::find(axes.begin(), axes.end(), d) != axes.end())
      value_error("{}: axis {} is given twice", op, a);
    axes.push_back(d);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

std::vector<int64_t> axis_attr(const ir::AttrsView& attrs) {
  const ir::Attr& a = attrs["axis"];
  return a.none() ? std::vector<int64_t>{} : a.ints();
}
std::vector<int> axes_of(ir::LoopCtx& c) {
  return reduced_axes(axis_attr(c.attrs), c.in_type(0).shape.rank(), c.op.name);
}
std::vector<int> axes_of(Adjoint& a) {
  return reduced_axes(axis_attr(a.attrs()), a.x_type(0).shape.rank(), a.node().op->name);
}

int64_t reduced_count(const Shape& s, const std::vector<int>& axes) {
  int64_t n = 1;
  for (int d : axes) {
    if (s[d] == kUnknownDim) return kUnknownDim;
    n *= s[d];
  }
  return n;
}

Value reduced_count(Value v, const std::vector<int>& axes) {
  int64_t n = reduced_count(v.shape(), axes);
  if (n != kUnknownDim) return number(v, static_cast<double>(n));
  return kReduceSum({kOnesLike({v})}, {ir::Attr::Ints(axes.begin(), axes.end()), true});
}

Shape reduced_shape(const Shape& s, const std::vector<int>& axes, bool keep_dims) {
  Shape out;
  for (int d = 0; d < s.rank(); ++d) {
    bool reduced = std::binary_search(axes.begin(), axes.end(), d);
    if (!reduced) {
      out.push_back(s[d]);
    } else if (keep_dims) {
      out.push_back(1);
    }
  }
  return out;
}

void reduce_type(TypeRuleCtx& c) {
  auto axes = reduced_axes(axis_attr(c.attrs), c.shape(0).rank(), c.op.name);
  c.result(c.dtype(0), reduced_shape(c.shape(0), axes, c.attrs.boolean("keep_dims")));
}

Value with_axes(Value reduced, const std::vector<int>& axes, int operand_rank) {
  if (reduced.rank() == operand_rank) return reduced;
  if (reduced.shape().known()) {
    Shape s = reduced.shape();
    for (int d : axes) s.insert(d, 1);
    return kReshape({reduced}, {ir::Attr(s)});
  }
  for (int d : axes) reduced = kExpandDims({reduced}, {int64_t{d}});
  return reduced;
}

Value spread(Adjoint& a, Value v) {
  const Shape& s = a.x_type(0).shape;
  if (v.shape() == s && s.known()) return v;
  if (s.known()) return kBroadcastTo({v}, {ir::Attr(s)});
  return kBroadcastLike({v, a.x(0)});
}

}  // namespace mycel::ops
