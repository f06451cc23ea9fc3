#include "ops/conv/conv_loops.h"

namespace mycel::ops {
namespace {

using loops::Buf;
using loops::LoopKind;
using loops::Nest;
using loops::Val;
using loops::Var;

using Body = std::function<void()>;

// The geometry as run-time numbers.
struct Numbers {
  Numbers(Nest& nest, const ConvGeometry& g);

  int rank;
  Val in_channels, out_channels, in_group, out_group, batch;
  std::vector<Val> in, kernel, out, stride, dilation, pad;
  Val x_batch, x_channel, y_batch, y_channel;  // strides
  std::vector<Val> x_step, y_step, w_step;
  Val w_out, w_in;
};

struct Strides {
  int64_t batch, channel;
  std::vector<int64_t> step;
};

Strides strides_of(int64_t channels, const std::vector<int64_t>& extent, bool channel_last) {
  Strides s;
  s.step.resize(extent.size());
  int64_t stride = channel_last ? channels : 1;
  for (size_t d = extent.size(); d-- > 0;) {
    s.step[d] = stride;
    stride *= extent[d];
  }
  s.channel = channel_last ? 1 : stride;
  s.batch = channel_last ? stride : stride * channels;
  return s;
}

Numbers::Numbers(Nest& nest, const ConvGeometry& g) : rank(g.rank()) {
  auto n = [&](int64_t v) { return nest.number(v); };
  auto list = [&](const std::vector<int64_t>& v) {
    std::vector<Val> out;
    for (int64_t x : v) out.push_back(nest.number(x));
    return out;
  };
  batch = n(g.batch);
  in_channels = n(g.in_channels);
  out_channels = n(g.out_channels);
  in_group = n(g.in_channels / g.groups);
  out_group = n(g.out_channels / g.groups);
  in = list(g.in);
  kernel = list(g.kernel);
  out = list(g.out);
  stride = list(g.stride);
  dilation = list(g.dilation);
  pad = list(g.pad_begin);
  Strides xs = strides_of(g.in_channels, g.in, g.channel_last);
  Strides ys = strides_of(g.out_channels, g.out, g.channel_last);
  Strides ws = strides_of(g.in_channels / g.groups, g.kernel, false);
  x_batch = n(xs.batch), x_channel = n(xs.channel), x_step = list(xs.step);
  y_batch = n(ys.batch), y_channel = n(ys.channel), y_step = list(ys.step);
  w_out = n(ws.batch), w_in = n(ws.channel), w_step = list(ws.step);
}

// ceil(a / b) where it is positive, else 0; b > 0.
Val ceil_div(Val a, Val b) { return (max(a, 0) + b - 1) / b; }

Var zero(Nest& nest, DType t) {
  bool narrow = is_float(t) && size_of(t) == 2;
  return nest.var(loops::constant(nest, narrow ? DType::kFloat32 : t, int64_t{0}));
}

int64_t product(const std::vector<int64_t>& v) {
  int64_t n = 1;
  for (int64_t x : v) n *= x;
  return n;
}

// Splits a task number into coordinates, the last one fastest; the first takes what remains.
std::vector<Val> split(Val task, const std::vector<Val>& extent) {
  std::vector<Val> at(extent.size());
  for (size_t d = extent.size(); d-- > 1;) {
    at[d] = task % extent[d];
    task = task / extent[d];
  }
  at[0] = task;
  return at;
}

// Whether no window reaches beyond x in spatial dimension d.
bool never_padded(const ConvGeometry& g, int d) {
  const int64_t last = (g.out[d] - 1) * g.stride[d] - g.pad_begin[d];
  return g.pad_begin[d] == 0 && last + (g.kernel[d] - 1) * g.dilation[d] < g.in[d];
}

}  // namespace

void emit_conv(Nest& nest, const ConvGeometry& g, Buf x, Buf w, const Buf* bias, Buf y) {
  emit_conv(nest, g,
            {[&](Val at, Val) { return nest.load(x, at); },
             [&](Val at, Val) { return nest.load(w, at); }},
            bias, y);
}

void emit_conv(Nest& nest, const ConvGeometry& g, const ConvReads& read, const Buf* bias, Buf y) {
  Numbers s(nest, g);
  // What is loaded of x serves four output channels of a group.
  constexpr int64_t kTile = 4;
  const int64_t tile = (g.out_channels / g.groups) % kTile == 0 ? kTile : 1;
  int64_t cost = tile * g.in_channels / g.groups * product(g.kernel);
  std::vector<Val> extent = {s.batch, nest.number(g.out_channels / tile)};
  extent.insert(extent.end(), s.out.begin(), s.out.end());
  nest.parallel(g.batch * (g.out_channels / tile) * product(g.out), cost, [&](Val task) {
    std::vector<Val> at = split(task, extent);
    Val o = at[1] * tile, group = o / s.out_group;
    Val x0 = at[0] * s.x_batch + group * s.in_group * s.x_channel;
    Val y0 = at[0] * s.y_batch + o * s.y_channel, w0 = o * s.w_out;
    std::vector<Var> sum;
    for (int64_t j = 0; j < tile; ++j) sum.push_back(zero(nest, y.dtype));
    auto channels = [&](Val from, Val with, const std::function<void(Val, Val)>& then) {
      nest.loop(s.in_group, LoopKind::kReduce,
                [&](Val c) { then(from + c * s.x_channel, with + c * s.w_in); });
    };
    auto add = [&](Val from, Val with) {
      const Val v = read.x(from, o);
      for (int64_t j = 0; j < tile; ++j) sum[j] += v * read.w(with + s.w_out * j, o + j);
    };
    // Kernel positions that fall inside x: the others meet padding.
    std::function<void(int, Val, Val)> dim = [&](int d, Val from, Val with) {
      if (d == s.rank) return g.channel_last ? channels(from, with, add) : add(from, with);
      const Val start = at[d + 2] * s.stride[d] - s.pad[d];
      auto at_kernel = [&](Val k) {
        dim(d + 1, from + (start + k * s.dilation[d]) * s.x_step[d], with + k * s.w_step[d]);
      };
      if (never_padded(g, d)) return nest.loop(s.kernel[d], LoopKind::kReduce, at_kernel);
      const Val first = ceil_div(-start, s.dilation[d]);
      const Val last = min(ceil_div(s.in[d] - start, s.dilation[d]), s.kernel[d]);
      nest.loop(max(last - first, 0), LoopKind::kReduce, [&](Val i) { at_kernel(first + i); });
    };
    // Innermost goes what lies side by side.
    if (g.channel_last) {
      dim(0, x0, w0);
    } else {
      channels(x0, w0, [&](Val from, Val with) { dim(0, from, with); });
    }
    for (int d = 0; d < s.rank; ++d) y0 = y0 + at[d + 2] * s.y_step[d];
    for (int64_t j = 0; j < tile; ++j) {
      const Val v = bias ? sum[j].get() + nest.load(*bias, o + j) : sum[j].get();
      nest.store(y, y0 + s.y_channel * j, v);
    }
  });
}

void emit_conv_dx(Nest& nest, const ConvGeometry& g, Buf dy, Buf w, Buf dx) {
  Numbers s(nest, g);
  int64_t cost = g.out_channels / g.groups * product(g.kernel);
  std::vector<Val> extent = {s.batch, s.in_channels};
  extent.insert(extent.end(), s.in.begin(), s.in.end());
  nest.parallel(g.batch * g.in_channels * product(g.in), cost, [&](Val task) {
    std::vector<Val> at = split(task, extent);
    Val group = at[1] / s.in_group, c = at[1] % s.in_group;
    Val y0 = at[0] * s.y_batch + group * s.out_group * s.y_channel;
    Val w0 = group * s.out_group * s.w_out + c * s.w_in;
    Var sum = zero(nest, dx.dtype);
    // Position i of x meets kernel position k at output t / stride, t = i + pad - k dilation.
    std::function<void(int, Val, Val)> dim = [&](int d, Val y1, Val w1) {
      if (d == s.rank) {
        sum += nest.load(dy, y1) * nest.load(w, w1);
        return;
      }
      Val reach = at[d + 2] + s.pad[d];
      Val first = max(reach - s.out[d] * s.stride[d] + s.dilation[d], 0) / s.dilation[d];
      Val last = min(reach / s.dilation[d] + 1, s.kernel[d]);
      nest.loop(max(last - first, 0), LoopKind::kReduce, [&](Val i) {
        Val k = first + i, t = reach - k * s.dilation[d];
        auto inner = [&] { dim(d + 1, y1 + t / s.stride[d] * s.y_step[d], w1 + k * s.w_step[d]); };
        if (g.stride[d] == 1) {
          inner();
        } else {
          nest.if_(t % s.stride[d] == 0, inner);
        }
      });
    };
    nest.loop(s.out_group, LoopKind::kReduce,
              [&](Val o) { dim(0, y0 + o * s.y_channel, w0 + o * s.w_out); });
    Val x0 = at[0] * s.x_batch + at[1] * s.x_channel;
    for (int d = 0; d < s.rank; ++d) x0 = x0 + at[d + 2] * s.x_step[d];
    nest.store(dx, x0, sum);
  });
}

void emit_conv_dw(Nest& nest, const ConvGeometry& g, Buf x, Buf dy, Buf dw) {
  Numbers s(nest, g);
  std::vector<Val> extent = {s.out_channels, s.in_group};
  extent.insert(extent.end(), s.kernel.begin(), s.kernel.end());
  int64_t tasks = g.out_channels * (g.in_channels / g.groups) * product(g.kernel);
  nest.parallel(tasks, g.batch * product(g.out), [&](Val task) {
    std::vector<Val> at = split(task, extent);
    Val o = at[0], c = o / s.out_group * s.in_group + at[1];
    Var sum = zero(nest, dw.dtype);
    // Output positions at which this kernel position falls inside x.
    std::function<void(int, Val, Val)> dim = [&](int d, Val x1, Val y1) {
      if (d == s.rank) {
        sum += nest.load(x, x1) * nest.load(dy, y1);
        return;
      }
      Val shift = at[d + 2] * s.dilation[d] - s.pad[d];
      Val first = ceil_div(-shift, s.stride[d]);
      Val last = min(ceil_div(s.in[d] - shift, s.stride[d]), s.out[d]);
      nest.loop(max(last - first, 0), LoopKind::kReduce, [&](Val i) {
        Val p = first + i;
        dim(d + 1, x1 + (p * s.stride[d] + shift) * s.x_step[d], y1 + p * s.y_step[d]);
      });
    };
    nest.loop(s.batch, LoopKind::kReduce, [&](Val n) {
      dim(0, n * s.x_batch + c * s.x_channel, n * s.y_batch + o * s.y_channel);
    });
    nest.store(dw, task, sum);
  });
}

}  // namespace mycel::ops
