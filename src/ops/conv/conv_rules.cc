#include "ops/conv/conv_rules.h"

#include <algorithm>

#include "ops/conv/conv.h"
#include "ops/conv/conv_loops.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::Attrs;
using ir::LoopCtx;
using ir::Type;
using ir::TypeRuleCtx;
using ir::Value;

namespace {

void check_rank(const TypeRuleCtx& c, int operand, int rank, const char* what) {
  if (c.shape(operand).rank() == rank) return;
  c.fail("{} has {} dims {}; expected {}", what, c.shape(operand).rank(), c.shape(operand).str(),
         rank);
}

void check_channels(const TypeRuleCtx& c, const ConvSteps& s, int64_t in, const Shape& w) {
  if (in != kUnknownDim && w[1] != kUnknownDim && in != w[1] * s.groups) {
    c.fail(
        "the input has {} channels, the weight {} takes {} in {} group{}\n"
        "Give the layer in_channels={}, or an input whose channels are dim {}.",
        in, w.str(), w[1] * s.groups, s.groups, s.groups == 1 ? "" : "s", in,
        s.channel_last ? -1 : 1);
  }
  if (w[0] != kUnknownDim && w[0] % s.groups != 0) {
    c.fail("{} output channels cannot be divided into {} groups", w[0], s.groups);
  }
}

// An activation shape from its parts.
Shape activation(int64_t batch, int64_t channels, const std::vector<int64_t>& spatial,
                 bool channel_last) {
  Shape s{batch};
  if (!channel_last) s.push_back(channels);
  for (int64_t n : spatial) s.push_back(n);
  if (channel_last) s.push_back(channels);
  return s;
}

std::vector<int64_t> spatial_of(const Shape& s, bool channel_last) {
  auto from = s.begin() + (channel_last ? 1 : 2);
  return {from, from + (s.rank() - 2)};
}

bool known(const std::vector<int64_t>& v) {
  return std::count(v.begin(), v.end(), kUnknownDim) == 0;
}

Value conv(Value x, Value w, const Attrs& attrs) {
  const OpDef& op = x.rank() == 3 ? kConv1d : x.rank() == 4 ? kConv2d : kConv3d;
  return op({x, w}, attrs);
}

// stride, pad_mode, padding, dilation, groups, layout: the order of the conv records.
Attrs attrs_of(const ConvSteps& s) {
  return {s.stride,   s.pad_mode, s.padding,
          s.dilation, s.groups,   s.channel_last ? "channel_last" : "channel_first"};
}

// `s` with the borders written out, so that the size of x is no longer needed to find them. False
// when x or the kernel is not known.
bool explicit_borders(ConvSteps& s, const std::vector<int64_t>& in,
                      const std::vector<int64_t>& kernel) {
  if (s.pad_mode == "same" && (!known(in) || !known(kernel))) return false;
  std::vector<int64_t> padding;
  int rank = static_cast<int>(in.size());
  for (int d = 0; d < rank; ++d) {
    Border b = border_of(s, d, rank, in[d], kernel[d]);
    padding.insert(padding.end(), {b.before, b.after});
  }
  s.pad_mode = "pad";
  s.padding = padding;
  return true;
}

// The gradient of x (type `xt`; `x` is asked for only when its size is unknown).
template <typename X>
Value emit_dx(Value dy, Value w, ConvSteps s, const Type& xt, const std::vector<int64_t>& kernel,
              X x) {
  std::vector<int64_t> in = spatial_of(xt.shape, s.channel_last);
  int rank = static_cast<int>(in.size());
  if (!known(in) || !known(kernel) || !explicit_borders(s, in, kernel)) {
    return kConvDx({dy, w, x()}, attrs_of(s));
  }
  std::vector<int64_t> extra;
  for (int d = 0; d < rank; ++d) {
    int64_t used = (conv_out(s, d, rank, in[d], kernel[d]) - 1) * s.stride[d] +
                   s.dilation[d] * (kernel[d] - 1) + 1;
    extra.push_back(in[d] + s.padding[2 * d] + s.padding[2 * d + 1] - used);
  }
  Attrs attrs = attrs_of(s);
  attrs.push_back(extra);
  return kConvDx({dy, w}, attrs);
}

template <typename W>
Value emit_dw(Value x, Value dy, const ConvSteps& s, const std::vector<int64_t>& kernel, W w) {
  Attrs attrs = attrs_of(s);
  if (!known(kernel)) return kConvDw({x, dy, w()}, attrs);
  attrs.push_back(kernel);
  return kConvDw({x, dy}, attrs);
}

std::vector<int64_t> kernel_of(const Type& w) { return {w.shape.begin() + 2, w.shape.end()}; }

}  // namespace

void conv_type(TypeRuleCtx& c, int rank) {
  ConvSteps s = steps_of(c.attrs);
  check_rank(c, 0, rank + 2, "the input");
  check_rank(c, 1, rank + 2, "the weight [out, in / groups, kernel…]");
  check_steps(c, s, rank);
  const Shape &x = c.shape(0), &w = c.shape(1);
  check_channels(c, s, x[channel_axis(rank, s.channel_last)], w);
  if (c.has(2) && (c.shape(2).rank() != 1 || dims_differ(c.shape(2)[0], w[0]))) {
    c.fail("the bias must have shape [{}]", w[0]);
  }
  std::vector<int64_t> out;
  for (int d = 0; d < rank; ++d) {
    int64_t in = x[spatial_axis(d, s.channel_last)];
    out.push_back(conv_out(s, d, rank, in, w[d + 2]));
    if (out.back() == 0 && in != 0) {
      c.fail("the kernel does not fit: size {} with dilation {} over {} positions", w[d + 2],
             s.dilation[d], in);
    }
  }
  c.result(c.dtype(0), activation(x[0], w[0], out, s.channel_last));
}

void conv_grad(Adjoint& a) {
  ConvSteps s = steps_of(a.attrs());
  std::vector<int64_t> kernel = kernel_of(a.x_type(1));
  Value dy = a.dy();
  if (a.wants(0)) a.dx(0) += emit_dx(dy, a.x(1), s, a.x_type(0), kernel, [&] { return a.x(0); });
  if (a.wants(1)) a.dx(1) += emit_dw(a.x(0), dy, s, kernel, [&] { return a.x(1); });
  if (a.inputs() > 2 && a.wants(2)) {
    Attr::Ints axes;
    for (int d = 0; d < dy.rank(); ++d) {
      if (d != channel_axis(dy.rank() - 2, s.channel_last)) axes.push_back(d);
    }
    a.dx(2) += kReduceSum({dy}, {axes});
  }
}

void conv_loops(LoopCtx& c) {
  loops::Buf bias = c.has(2) ? c.in(2) : loops::Buf{};
  emit_conv(c.nest,
            geometry_of(c.in_type(0).shape, c.in_type(1).shape, c.out_type().shape, c.attrs),
            c.in(0), c.in(1), c.has(2) ? &bias : nullptr, c.out());
}

namespace {

// Whether a convolution of x with w gives something of shape dy.
void check_like(TypeRuleCtx& c, const ConvSteps& s, const Shape& x, const Shape& w,
                const Shape& dy) {
  const int rank = dy.rank() - 2, channel = channel_axis(rank, s.channel_last);
  bool fits = x.rank() == dy.rank() && w.rank() == dy.rank();
  if (fits) {
    const bool open = x[channel] == kUnknownDim || w[1] == kUnknownDim;
    fits = !dims_differ(x[0], dy[0]) && !dims_differ(w[0], dy[channel]) &&
           (open || x[channel] == w[1] * s.groups);
  }
  for (int d = 0; fits && d < rank; ++d) {
    const int axis = spatial_axis(d, s.channel_last);
    fits = !dims_differ(conv_out(s, d, rank, x[axis], w[d + 2]), dy[axis]);
  }
  if (!fits) c.fail("a convolution of {} with {} does not give {}", x.str(), w.str(), dy.str());
}

}  // namespace

void conv_dx_type(TypeRuleCtx& c) {
  ConvSteps s = steps_of(c.attrs);
  const Shape &dy = c.shape(0), &w = c.shape(1);
  int rank = dy.rank() - 2;
  if (rank < 1 || rank > 3) c.fail("dy must have 3 to 5 dims");
  check_rank(c, 1, rank + 2, "the weight [out, in / groups, kernel…]");
  check_steps(c, s, rank);
  if (dims_differ(dy[channel_axis(rank, s.channel_last)], w[0])) {
    c.fail("dy has {} channels, the weight gives {}", dy[channel_axis(rank, s.channel_last)], w[0]);
  }
  if (c.has(2)) {
    check_like(c, s, c.shape(2), w, dy);
    return c.result(c.dtype(0), c.shape(2));
  }
  if (s.pad_mode == "same") c.fail("pad_mode 'same' needs the operand 'like'");
  std::vector<int64_t> extra = c.attrs.ints("extra"), in;
  if (extra.size() == 1) extra.resize(rank, extra[0]);
  if (static_cast<int>(extra.size()) != rank) c.fail("'extra' must be 1 or {} numbers", rank);
  for (int d = 0; d < rank; ++d) {
    int64_t out = dy[spatial_axis(d, s.channel_last)], k = w[d + 2];
    Border b = border_of(s, d, rank, kUnknownDim, k);
    if (extra[d] < 0 || extra[d] >= s.stride[d]) {
      c.fail("'extra' must lie in [0, stride), got {} with stride {}", extra[d], s.stride[d]);
    }
    bool open = out == kUnknownDim || k == kUnknownDim;
    in.push_back(open ? kUnknownDim
                      : (out - 1) * s.stride[d] + s.dilation[d] * (k - 1) + 1 - b.before - b.after +
                            extra[d]);
    if (!open && in.back() < 0) c.fail("the padding is larger than the result");
  }
  int64_t channels = w[1] == kUnknownDim ? kUnknownDim : w[1] * s.groups;
  c.result(c.dtype(0), activation(dy[0], channels, in, s.channel_last));
}

void conv_dx_grad(Adjoint& a) {
  ConvSteps s = steps_of(a.attrs());
  std::vector<int64_t> kernel = kernel_of(a.x_type(1));
  Value g = a.dy();
  if (a.wants(0)) a.dx(0) += conv(g, a.x(1), attrs_of(s));
  if (a.wants(1)) a.dx(1) += emit_dw(g, a.x(0), s, kernel, [&] { return a.x(1); });
}

void conv_dx_loops(LoopCtx& c) {
  emit_conv_dx(c.nest,
               geometry_of(c.out_type().shape, c.in_type(1).shape, c.in_type(0).shape, c.attrs),
               c.in(0), c.in(1), c.out());
}

void conv_dw_type(TypeRuleCtx& c) {
  ConvSteps s = steps_of(c.attrs);
  const Shape &x = c.shape(0), &dy = c.shape(1);
  int rank = x.rank() - 2;
  if (rank < 1 || rank > 3) c.fail("x must have 3 to 5 dims");
  check_rank(c, 1, rank + 2, "dy");
  check_steps(c, s, rank);
  int channel = channel_axis(rank, s.channel_last);
  if (x[channel] != kUnknownDim && x[channel] % s.groups != 0) {
    c.fail("{} channels cannot be divided into {} groups", x[channel], s.groups);
  }
  if (c.has(2)) {
    check_like(c, s, x, c.shape(2), dy);
    return c.result(c.dtype(0), c.shape(2));
  }
  const Attr& kernel = c.attrs["kernel"];
  if (kernel.none() || static_cast<int>(kernel.ints().size()) != rank) {
    c.fail("'kernel' must be {} numbers, or the operand 'like' be given", rank);
  }
  Shape w{dy[channel], x[channel] == kUnknownDim ? kUnknownDim : x[channel] / s.groups};
  for (int64_t k : kernel.ints()) {
    if (k < 0) c.fail("'kernel' must not be negative, got {}", kernel.str());
    w.push_back(k);
  }
  for (int d = 0; d < rank; ++d) {
    int64_t out = conv_out(s, d, rank, x[spatial_axis(d, s.channel_last)], w[d + 2]);
    if (dims_differ(out, dy[spatial_axis(d, s.channel_last)])) {
      c.fail("dy has {} positions where x gives {}", dy[spatial_axis(d, s.channel_last)], out);
    }
  }
  c.result(c.dtype(0), w);
}

void conv_dw_grad(Adjoint& a) {
  ConvSteps s = steps_of(a.attrs());
  Value g = a.dy();
  std::vector<int64_t> kernel = kernel_of(a.y_type());
  if (a.wants(0)) a.dx(0) += emit_dx(a.x(1), g, s, a.x_type(0), kernel, [&] { return a.x(0); });
  if (a.wants(1)) a.dx(1) += conv(a.x(0), g, attrs_of(s));
}

void conv_dw_loops(LoopCtx& c) {
  emit_conv_dw(c.nest,
               geometry_of(c.in_type(0).shape, c.out_type().shape, c.in_type(1).shape, c.attrs),
               c.in(0), c.in(1), c.out());
}

}  // namespace mycel::ops
