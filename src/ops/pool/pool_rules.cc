#include "ops/pool/pool_rules.h"

#include <algorithm>

#include "ops/pool/pool.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::Attrs;
using ir::AttrsView;
using ir::LoopCtx;
using ir::TypeRuleCtx;
using ir::Value;

namespace {

bool known(const Attr::Ints& v) { return std::count(v.begin(), v.end(), kUnknownDim) == 0; }

Attr::Ints spatial_of(const Shape& s, bool channel_last) {
  auto from = s.begin() + (channel_last ? 1 : 2);
  return {from, from + (s.rank() - 2)};
}

void check_rank(const TypeRuleCtx& c, int rank) {
  if (c.shape(0).rank() == rank + 2) return;
  c.fail("the operand must have {} dims: batch, channels and {} to pool over; it has {}", rank + 2,
         rank, c.shape(0).rank());
}

// x's shape with other spatial sizes.
Shape with_spatial(Shape x, const Attr::Ints& spatial, bool channel_last) {
  for (size_t d = 0; d < spatial.size(); ++d)
    x.set(spatial_axis(static_cast<int>(d), channel_last), spatial[d]);
  return x;
}

Shape pooled(TypeRuleCtx& c, const PoolSteps& s, int rank) {
  check_pool_steps(c, s, rank);
  Attr::Ints in = spatial_of(c.shape(0), s.steps.channel_last), out;
  for (int d = 0; d < rank; ++d) {
    out.push_back(pool_out(s, d, rank, in[d]));
    if (out[d] == 0 && in[d] != 0) {
      c.fail(
          "the window does not fit: kernel_size {} over {} positions\n"
          "Take a smaller kernel_size, or pad_mode='same'.",
          s.kernel[d], in[d]);
    }
  }
  return with_spatial(c.shape(0), out, s.steps.channel_last);
}

// Output sizes of an adaptive pooling of `x`.
Shape adapted(const TypeRuleCtx& c, const Shape& x, Attr::Ints size, bool channel_last) {
  int rank = x.rank() - 2;
  if (static_cast<int>(size.size()) != rank) c.fail("'output_size' must be {} numbers", rank);
  for (int d = 0; d < rank; ++d) {
    if (size[d] == -1) size[d] = x[spatial_axis(d, channel_last)];
    if (size[d] < 1 && size[d] != kUnknownDim)
      c.fail("'output_size' must be positive, got {}", size[d]);
    if (x[spatial_axis(d, channel_last)] == 0) c.fail("a dim of size 0 cannot be pooled");
  }
  return with_spatial(x, size, channel_last);
}

bool is_adaptive(const AttrsView& a) { return a.ints("kernel_size").empty(); }

// kMaxPoolGather and kMaxPoolScatter: the attributes of a max record, then output_size.
Attrs pair_attrs(const Adjoint& a) {
  Attrs attrs;
  for (const char* name :
       {"kernel_size", "stride", "padding", "dilation", "ceil_mode", "pad_mode", "layout"}) {
    attrs.push_back(a.attrs()[name]);
  }
  return attrs;
}

// The same for an adaptive record.
Attrs adaptive_pair_attrs(const Adjoint& a) {
  return {Attr::Ints{}, Attr(), Attr::Ints{0},       Attr::Ints{},
          false,        "pad",  a.attrs()["layout"], a.attrs()["output_size"]};
}

PoolGeometry geometry(const Shape& x, const Shape& y, const AttrsView& a, bool max) {
  if (a.ints("kernel_size").empty()) return pool_geometry(x, y, adaptive_steps_of(a));
  return pool_geometry(x, y, max ? max_steps_of(a) : avg_steps_of(a));
}

}  // namespace

void max_pool_type(TypeRuleCtx& c, int rank) {
  check_rank(c, rank ? rank : std::clamp(c.shape(0).rank() - 2, 1, 3));
  if (c.attrs.ints("kernel_size").empty()) c.fail("'kernel_size' must not be empty");
  c.result(c.dtype(0), pooled(c, max_steps_of(c.attrs), c.shape(0).rank() - 2));
}

void max_pool_grad(Adjoint& a) {
  if (a.has_dy(0)) a.dx(0) += kMaxPoolScatter({a.x(0), a.dy(0)}, pair_attrs(a));
}

void max_pool_loops(LoopCtx& c) {
  bool argmax = c.op.outputs.size() == 2;
  loops::Buf index = argmax ? c.out(1) : loops::Buf{};
  emit_max_pool(c.nest, geometry(c.in_type(0).shape, c.out_type().shape, c.attrs, true), c.in(0),
                c.out(), argmax ? &index : nullptr);
}

void max_pool_argmax_type(TypeRuleCtx& c) {
  max_pool_type(c, 0);
  DType d = c.attrs.dtype("index_dtype");
  if (d != DType::kInt32 && d != DType::kInt64) c.fail_type("'index_dtype' must be int32 or int64");
  c.result(d, c.out[0].shape);
}

void max_gather_type(TypeRuleCtx& c) {
  check_rank(c, std::clamp(c.shape(0).rank() - 2, 1, 3));
  const Shape &x = c.shape(0), &u = c.shape(1);
  bool alike = x.rank() == u.rank();
  for (int d = 0; alike && d < x.rank(); ++d) alike = x[d] == u[d] || x[d] < 0 || u[d] < 0;
  if (!alike) c.fail("both operands must have one shape");
  bool last = c.attrs.string("layout") == "channel_last";
  Shape y = is_adaptive(c.attrs) ? adapted(c, c.shape(0), c.attrs.ints("output_size"), last)
                                 : pooled(c, max_steps_of(c.attrs), c.shape(0).rank() - 2);
  c.result(c.dtype(1), y);
}

void max_gather_grad(Adjoint& a) { a.dx(1) += kMaxPoolScatter({a.x(0), a.dy()}, a.attrs().all()); }

void max_gather_loops(LoopCtx& c) {
  emit_max_gather(c.nest, geometry(c.in_type(0).shape, c.out_type().shape, c.attrs, true), c.in(0),
                  c.in(1), c.out());
}

namespace {

// Whether pooling an operand of shape x gives something of shape y.
void check_pooled_from(TypeRuleCtx& c, const Shape& x, const Shape& y, bool max) {
  const int rank = y.rank() - 2;
  const bool last = c.attrs.string("layout") == "channel_last";
  bool fits = x.rank() == y.rank() && !dims_differ(x[0], y[0]) &&
              !dims_differ(x[channel_axis(rank, last)], y[channel_axis(rank, last)]);
  const bool adaptive = is_adaptive(c.attrs);
  const PoolSteps s = adaptive ? PoolSteps() : max ? max_steps_of(c.attrs) : avg_steps_of(c.attrs);
  if (!adaptive) check_pool_steps(c, s, rank);
  for (int d = 0; fits && d < rank; ++d) {
    const int64_t in = x[spatial_axis(d, last)], out = y[spatial_axis(d, last)];
    fits = in >= kUnknownDim && (adaptive || !dims_differ(pool_out(s, d, rank, in), out));
  }
  if (!fits) c.fail("pooling {} does not give {}", x.str(), y.str());
}

}  // namespace

void max_scatter_type(TypeRuleCtx& c) {
  check_rank(c, std::clamp(c.shape(0).rank() - 2, 1, 3));
  if (c.shape(1).rank() != c.shape(0).rank()) c.fail("both operands must have one rank");
  check_pooled_from(c, c.shape(0), c.shape(1), true);
  c.result(c.dtype(1), c.shape(0));
}

void max_scatter_grad(Adjoint& a) { a.dx(1) += kMaxPoolGather({a.x(0), a.dy()}, a.attrs().all()); }

void max_scatter_loops(LoopCtx& c) {
  emit_max_scatter(c.nest, geometry(c.in_type(0).shape, c.in_type(1).shape, c.attrs, true), c.in(0),
                   c.in(1), c.out());
}

Divisor divisor_of(const AttrsView& a) {
  // Padding that pad_mode same adds is never counted.
  return {a.boolean("count_include_pad") && a.string("pad_mode") != "same",
          a.integer("divisor_override")};
}

void avg_pool_type(TypeRuleCtx& c, int rank) {
  check_rank(c, rank);
  if (c.attrs.integer("divisor_override") < 0) c.fail("'divisor_override' must not be negative");
  c.result(c.dtype(0), pooled(c, avg_steps_of(c.attrs), rank));
}

namespace {

Value avg_dx(Adjoint& a, Attrs attrs, const Attr& output_size, bool channel_last) {
  attrs.push_back(output_size);
  Attr::Ints in = spatial_of(a.x_type(0).shape, channel_last);
  if (!known(in)) return kAvgPoolDx({a.dy(), a.x(0)}, attrs);
  attrs.push_back(in);
  return kAvgPoolDx({a.dy()}, attrs);
}

}  // namespace

void avg_pool_grad(Adjoint& a) {
  a.dx(0) += avg_dx(a, a.attrs().all(), Attr::Ints{}, a.attrs().string("layout") == "channel_last");
}

void avg_pool_loops(LoopCtx& c) {
  emit_avg_pool(c.nest, geometry(c.in_type(0).shape, c.out_type().shape, c.attrs, false),
                divisor_of(c.attrs), c.in(0), c.out());
}

void avg_dx_type(TypeRuleCtx& c) {
  check_rank(c, std::clamp(c.shape(0).rank() - 2, 1, 3));
  Shape x = c.shape(0);
  if (c.has(1)) {
    x = c.shape(1);
  } else {
    const Attr& size = c.attrs["size"];
    if (size.none() || static_cast<int>(size.ints().size()) != x.rank() - 2)
      c.fail("'size' must be {} numbers, or the operand 'like' be given", x.rank() - 2);
    x = with_spatial(x, size.ints(), c.attrs.string("layout") == "channel_last");
  }
  check_pooled_from(c, x, c.shape(0), false);
  c.result(c.dtype(0), x);
}

void avg_dx_grad(Adjoint& a) {
  int rank = a.y_type().shape.rank() - 2;
  if (is_adaptive(a.attrs())) {
    const OpDef& op = rank == 1   ? kAdaptiveAvgPool1d
                      : rank == 2 ? kAdaptiveAvgPool2d
                                  : kAdaptiveAvgPool3d;
    a.dx(0) += op({a.dy()}, {a.attrs()["output_size"], a.attrs()["layout"]});
    return;
  }
  const OpDef& op = rank == 1 ? kAvgPool1d : rank == 2 ? kAvgPool2d : kAvgPool3d;
  Attrs attrs;
  for (const char* name : {"kernel_size", "stride", "padding", "ceil_mode", "count_include_pad",
                           "divisor_override", "pad_mode", "layout"}) {
    attrs.push_back(a.attrs()[name]);
  }
  a.dx(0) += op({a.dy()}, attrs);
}

void avg_dx_loops(LoopCtx& c) {
  emit_avg_dx(c.nest, geometry(c.out_type().shape, c.in_type(0).shape, c.attrs, false),
              divisor_of(c.attrs), c.in(0), c.out());
}

void adaptive_type(TypeRuleCtx& c, int rank) {
  check_rank(c, rank);
  c.result(c.dtype(0), adapted(c, c.shape(0), c.attrs.ints("output_size"),
                               c.attrs.string("layout") == "channel_last"));
}

void adaptive_max_grad(Adjoint& a) {
  a.dx(0) += kMaxPoolScatter({a.x(0), a.dy()}, adaptive_pair_attrs(a));
}

void adaptive_max_loops(LoopCtx& c) {
  emit_max_pool(c.nest,
                pool_geometry(c.in_type(0).shape, c.out_type().shape, adaptive_steps_of(c.attrs)),
                c.in(0), c.out(), nullptr);
}

void adaptive_avg_grad(Adjoint& a) {
  Attrs attrs = {Attr::Ints{}, Attr::Ints{},       Attr::Ints{0}, false, true, 0,
                 "pad",        a.attrs()["layout"]};
  a.dx(0) +=
      avg_dx(a, attrs, a.attrs()["output_size"], a.attrs().string("layout") == "channel_last");
}

void adaptive_avg_loops(LoopCtx& c) {
  PoolGeometry g =
      pool_geometry(c.in_type(0).shape, c.out_type().shape, adaptive_steps_of(c.attrs));
  emit_avg_pool(c.nest, g, Divisor{}, c.in(0), c.out());
}

}  // namespace mycel::ops
