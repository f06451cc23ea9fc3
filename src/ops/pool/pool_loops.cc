#include "ops/pool/pool_loops.h"

#include <limits>

#include "ops/pool/inner_loops.h"

namespace mycel::ops {
namespace {

using loops::Buf;
using loops::LoopKind;
using loops::Nest;
using loops::Val;
using loops::Var;

Val ceil_div(Val a, Val b) { return (max(a, 0) + b - 1) / b; }

int64_t product(const std::vector<int64_t>& v) {
  int64_t n = 1;
  for (int64_t x : v) n *= x;
  return n;
}

// Input positions base, base + step, … of one window along one dim.
struct Window {
  Val base, step, count;
  Val padded;  // count with the padding
};

class Numbers {
 public:
  Numbers(Nest& nest, const PoolGeometry& g) : g_(g), rank(g.rank()) {
    batch = nest.number(g.batch), channels = nest.number(g.channels);
    in = list(nest, g.in), out = list(nest, g.out);
    kernel = list(nest, g.kernel), stride = list(nest, g.stride), dilation = list(nest, g.dilation);
    pad_begin = list(nest, g.pad_begin), pad_end = list(nest, g.pad_end);
    x_step = steps(nest, g.in), y_step = steps(nest, g.out);
    int64_t x_size = product(g.in), y_size = product(g.out);
    x_channel = nest.number(g.channel_last ? 1 : x_size),
    y_channel = nest.number(g.channel_last ? 1 : y_size);
    x_batch = nest.number(x_size * g.channels), y_batch = nest.number(y_size * g.channels);
  }

  Window window(int d, Val at) const {
    if (g_.adaptive()) {
      Val start = at * in[d] / out[d], end = ceil_div((at + 1) * in[d], out[d]);
      return {start, at * 0 + 1, end - start, end - start};
    }
    Val start = at * stride[d] - pad_begin[d];
    Val first = ceil_div(-start, dilation[d]);
    Val last = min(ceil_div(in[d] - start, dilation[d]), kernel[d]);
    Val padded = min(ceil_div(in[d] + pad_end[d] - start, dilation[d]), kernel[d]);
    return {start + first * dilation[d], dilation[d], max(last - first, 0), padded};
  }

  // Offsets of the plane (n, c) in x and in y.
  Val x_plane(Val n, Val c) const { return n * x_batch + c * x_channel; }
  Val y_plane(Val n, Val c) const { return n * y_batch + c * y_channel; }

 private:
  static std::vector<Val> list(Nest& nest, const std::vector<int64_t>& v) {
    std::vector<Val> result;
    for (int64_t x : v) result.push_back(nest.number(x));
    return result;
  }
  std::vector<Val> steps(Nest& nest, const std::vector<int64_t>& extent) const {
    std::vector<int64_t> s(extent.size());
    int64_t stride_now = g_.channel_last ? g_.channels : 1;
    for (size_t d = extent.size(); d-- > 0;) {
      s[d] = stride_now;
      stride_now *= extent[d];
    }
    return list(nest, s);
  }
  const PoolGeometry& g_;

 public:
  int rank;
  Val batch, channels, x_channel, y_channel, x_batch, y_batch;
  std::vector<Val> in, out, kernel, stride, dilation, pad_begin, pad_end, x_step, y_step;
};

std::vector<Val> split(Val task, const std::vector<Val>& extent) {
  std::vector<Val> at(extent.size());
  for (size_t d = extent.size(); d-- > 1;) {
    at[d] = task % extent[d];
    task = task / extent[d];
  }
  at[0] = task;
  return at;
}

// Visits the positions of the window at output `at`: f(offset in x, position within the plane).
template <typename F>
void walk(Nest& nest, const Numbers& s, const Val* at, Val x_plane, LoopKind kind, F f) {
  std::function<void(int, Val, Val)> dim = [&](int d, Val offset, Val flat) {
    if (d == s.rank) return f(offset, flat);
    Window w = s.window(d, at[d]);
    nest.loop(w.count, kind, [&](Val i) {
      Val position = w.base + i * w.step;
      dim(d + 1, offset + position * s.x_step[d], d == 0 ? position : flat * s.in[d] + position);
    });
  };
  dim(0, x_plane, x_plane * 0);
}

// The offset of output `at` within its plane.
Val output_offset(const Numbers& s, const Val* at, Val plane) {
  for (int d = 0; d < s.rank; ++d) plane = plane + at[d] * s.y_step[d];
  return plane;
}

Val lowest(Nest& nest, DType t) {
  if (is_float(t)) return loops::constant(nest, t, -std::numeric_limits<double>::infinity());
  if (is_unsigned_int(t) || is_bool(t)) return loops::constant(nest, t, int64_t{0});
  return loops::constant(nest, t, std::numeric_limits<int64_t>::min() >> (64 - 8 * size_of(t)));
}

DType loaded(DType t) { return is_float(t) && size_of(t) == 2 ? DType::kFloat32 : t; }

// The first maximum of a window: its value, offset in x and position within the plane. An empty
// window gives the lowest value at -1.
struct Best {
  Var value, offset, flat;
};

Best find_best(Nest& nest, const Numbers& s, Buf x, const Val* at, Val x_plane) {
  Best b{nest.var(lowest(nest, loaded(x.dtype))), nest.var(nest.index(-1)),
         nest.var(nest.index(-1))};
  walk(nest, s, at, x_plane, LoopKind::kSequential, [&](Val offset, Val flat) {
    Val v = nest.load(x, offset), best = b.value;
    Val better = v > best || b.flat.get() < 0;
    if (is_float(x.dtype)) better = better || (isnan(v) && !isnan(best));
    b.value.set(select(better, v, best));
    b.offset.set(select(better, offset, b.offset.get()));
    b.flat.set(select(better, flat, b.flat.get()));
  });
  return b;
}

// One task per output element: f(batch, channel, position) with the offset of the element in y.
template <typename F>
void each_output(Nest& nest, const PoolGeometry& g, const Numbers& s, F f) {
  std::vector<Val> extent = {s.batch, s.channels};
  extent.insert(extent.end(), s.out.begin(), s.out.end());
  int64_t cost = 1;
  for (int d = 0; d < g.rank(); ++d) {
    cost *= g.adaptive() ? (g.out[d] ? g.in[d] / g.out[d] + 1 : 1) : g.kernel[d];
  }
  nest.parallel(g.batch * g.channels * product(g.out), 4 * cost, [&](Val task) {
    std::vector<Val> at = split(task, extent);
    f(s.x_plane(at[0], at[1]), at.data() + 2,
      output_offset(s, at.data() + 2, s.y_plane(at[0], at[1])));
  });
}

// Where channels come last: one task per position of x or y (its sizes in `extent`), whose channels
// are vector loops: f(batch, position).
template <typename F>
void each_position(Nest& nest, const PoolGeometry& g, const Numbers& s,
                   const std::vector<int64_t>& extent, int64_t cost, F f) {
  std::vector<Val> sizes = {s.batch};
  for (int64_t n : extent) sizes.push_back(nest.number(n));
  nest.parallel(g.batch * product(extent), cost * g.channels, [&](Val task) {
    std::vector<Val> at = split(task, sizes);
    f(at[0], at.data() + 1);
  });
}

// Visits the output positions whose windows may hold input position `at`: f(position).
template <typename F>
void each_window(Nest& nest, const PoolGeometry& g, const Numbers& s, const Val* at, F f) {
  std::vector<Val> out(static_cast<size_t>(s.rank));
  std::function<void(int)> dim = [&](int d) {
    if (d == s.rank) return f(out.data());
    Val i = at[d], first, last;
    if (g.adaptive()) {
      first = i * s.out[d] / s.in[d];
      last = ((i + 1) * s.out[d] - 1) / s.in[d] + 1;
    } else {
      Val reach = (s.kernel[d] - 1) * s.dilation[d];
      first = ceil_div(i + s.pad_begin[d] - reach, s.stride[d]);
      last = min((i + s.pad_begin[d]) / s.stride[d] + 1, s.out[d]);
    }
    nest.loop(max(last - first, 0), LoopKind::kSequential, [&](Val j) {
      out[d] = first + j;
      dim(d + 1);
    });
  };
  dim(0);
}

// Maxima of a whole output row at a time, so that the loop over the row is a vector loop. Along a
// row (of positions, or of channels where they come last) the kernel position is fixed.
void emit_max_rows(Nest& nest, const PoolGeometry& g, Buf x, Buf y) {
  Numbers s(nest, g);
  int last = g.rank() - 1;
  int walked = g.channel_last ? g.rank() : last;  // dims walked window by window
  std::vector<Val> extent = {s.batch};
  if (!g.channel_last) extent.push_back(s.channels);
  extent.insert(extent.end(), s.out.begin(), s.out.begin() + walked);
  int64_t row = g.channel_last ? g.channels : g.out[last];
  int64_t rows = row == 0 ? 0 : g.batch * g.channels * product(g.out) / row;
  nest.parallel(rows, row * product(g.kernel), [&](Val task) {
    std::vector<Val> at = split(task, extent);
    const Val* p = at.data() + (g.channel_last ? 1 : 2);
    Val zero = task * 0, channel = g.channel_last ? zero : at[1];
    Val x0 = s.x_plane(at[0], channel), y0 = s.y_plane(at[0], channel);
    for (int d = 0; d < walked; ++d) y0 = y0 + p[d] * s.y_step[d];
    Val width = g.channel_last ? s.channels : s.out[last];
    nest.loop(width, LoopKind::kVector,
              [&](Val i) { nest.store(y, y0 + i, lowest(nest, loaded(y.dtype))); });
    auto fold = [&](Val from, Val count, Val y1, Val step) {
      nest.loop(count, LoopKind::kVector, [&](Val i) {
        nest.store(y, y1 + i, max(nest.load(y, y1 + i), nest.load(x, from + i * step)));
      });
    };
    std::function<void(int, Val)> dim = [&](int d, Val offset) {
      if (d < walked) {
        Window w = s.window(d, p[d]);
        nest.loop(w.count, LoopKind::kSequential,
                  [&](Val i) { dim(d + 1, offset + (w.base + i * w.step) * s.x_step[d]); });
      } else if (g.channel_last) {
        fold(offset, width, y0, nest.index(1));
      } else {
        nest.loop(s.kernel[last], LoopKind::kSequential, [&](Val k) {
          Val shift = k * s.dilation[last] - s.pad_begin[last];
          Val first = ceil_div(-shift, s.stride[last]);
          Val end = min(ceil_div(s.in[last] - shift, s.stride[last]), s.out[last]);
          fold(offset + first * s.stride[last] + shift, max(end - first, 0), y0 + first,
               s.stride[last]);
        });
      }
    };
    dim(0, x0);
  });
}

}  // namespace

void emit_max_pool(Nest& nest, const PoolGeometry& g, Buf x, Buf y, const Buf* index) {
  if (!index && windows_inside(g)) return emit_inner_max(nest, g, x, y);
  if (!index && !g.adaptive()) return emit_max_rows(nest, g, x, y);
  Numbers s(nest, g);
  each_output(nest, g, s, [&](Val plane, const Val* at, Val to) {
    Best b = find_best(nest, s, x, at, plane);
    nest.store(y, to, b.value);
    if (index) nest.store(*index, to, cast(b.flat.get(), index->dtype));
  });
}

void emit_max_gather(Nest& nest, const PoolGeometry& g, Buf x, Buf v, Buf y) {
  Numbers s(nest, g);
  each_output(nest, g, s, [&](Val plane, const Val* at, Val to) {
    Best b = find_best(nest, s, x, at, plane);
    nest.if_(
        b.flat.get() < 0,
        [&] { nest.store(y, to, loops::constant(nest, loaded(y.dtype), int64_t{0})); },
        [&] { nest.store(y, to, nest.load(v, b.offset)); });
  });
}

namespace {

// First where each maximum is, then for each input position the sum over the windows that chose it.
void emit_max_scatter_last(Nest& nest, const PoolGeometry& g, Buf x, Buf u, Buf dx) {
  Numbers s(nest, g);
  DType dtype = loaded(x.dtype);
  int64_t elements = std::max<int64_t>(g.batch * g.channels * product(g.out), 1);
  Buf best = nest.scratch(dtype, elements), chosen = nest.scratch(DType::kInt32, elements);
  Val none = loops::constant(nest, DType::kInt32, int64_t{-1});
  Val nothing = loops::constant(nest, loaded(dx.dtype), int64_t{0});
  auto channels = [&](auto f) { nest.loop(s.channels, LoopKind::kVector, f); };
  each_position(nest, g, s, g.out, 8, [&](Val n, const Val* at) {
    Val y0 = output_offset(s, at, s.y_plane(n, n * 0));
    channels([&](Val c) {
      nest.store(best, y0 + c, lowest(nest, dtype));
      nest.store(chosen, y0 + c, none);
    });
    walk(nest, s, at, s.x_plane(n, n * 0), LoopKind::kSequential, [&](Val offset, Val flat) {
      Val here = cast(flat, DType::kInt32);
      channels([&](Val c) {
        Val v = nest.load(x, offset + c), so_far = nest.load(best, y0 + c);
        Val index = nest.load(chosen, y0 + c);
        Val better = v > so_far || index < 0;
        if (is_float(x.dtype)) better = better || (isnan(v) && !isnan(so_far));
        nest.store(best, y0 + c, select(better, v, so_far));
        nest.store(chosen, y0 + c, select(better, here, index));
      });
    });
  });
  each_position(nest, g, s, g.in, 8, [&](Val n, const Val* at) {
    Val x0 = s.x_plane(n, n * 0), flat = n * 0;
    for (int d = 0; d < s.rank; ++d) {
      x0 = x0 + at[d] * s.x_step[d];
      flat = flat * s.in[d] + at[d];
    }
    Val here = cast(flat, DType::kInt32);
    channels([&](Val c) { nest.store(dx, x0 + c, nothing); });
    each_window(nest, g, s, at, [&](const Val* out) {
      Val y0 = output_offset(s, out, s.y_plane(n, n * 0));
      channels([&](Val c) {
        Val mine = nest.load(chosen, y0 + c) == here;
        nest.accumulate(dx, x0 + c, select(mine, nest.load(u, y0 + c), nothing));
      });
    });
  });
}

}  // namespace

void emit_max_scatter(Nest& nest, const PoolGeometry& g, Buf x, Buf u, Buf dx) {
  if (windows_inside(g) && windows_apart(g)) return emit_inner_scatter(nest, g, x, u, dx);
  if (g.channel_last && product(g.in) < (int64_t{1} << 31)) {
    return emit_max_scatter_last(nest, g, x, u, dx);
  }
  Numbers s(nest, g);
  Val plane_size = nest.number(product(g.in));
  Val positions = nest.number(product(g.out));
  Val element_step = nest.number(g.channel_last ? g.channels : 1);
  // Windows overlap, so one task owns a whole plane.
  nest.parallel(g.batch * g.channels, 4 * (product(g.in) + product(g.out) * 9), [&](Val task) {
    Val n = task / s.channels, c = task % s.channels;
    Val x0 = s.x_plane(n, c), y0 = s.y_plane(n, c);
    nest.loop(plane_size, LoopKind::kVector, [&](Val i) {
      nest.store(dx, x0 + i * element_step, loops::constant(nest, loaded(dx.dtype), int64_t{0}));
    });
    nest.loop(positions, LoopKind::kSequential, [&](Val p) {
      std::vector<Val> at = split(p, s.out);
      Best b = find_best(nest, s, x, at.data(), x0);
      nest.if_(b.flat.get() >= 0, [&] {
        nest.accumulate(dx, b.offset, nest.load(u, output_offset(s, at.data(), y0)));
      });
    });
  });
}

namespace {

// What the window at `at` is divided by, as a value of `dtype`.
Val divisor_of(Nest& nest, const Numbers& s, const Divisor& divisor, Val fixed, const Val* at,
               DType dtype) {
  if (divisor.fixed > 0) return cast(fixed, dtype);
  Val count = nest.index(1);
  for (int d = 0; d < s.rank; ++d) {
    Window w = s.window(d, at[d]);
    count = count * (divisor.count_padding ? w.padded : w.count);
  }
  return cast(max(count, 1), dtype);
}

}  // namespace

void emit_avg_pool(Nest& nest, const PoolGeometry& g, const Divisor& divisor, Buf x, Buf y) {
  Numbers s(nest, g);
  Val fixed = nest.number(divisor.fixed);
  DType dtype = loaded(x.dtype);
  if (g.channel_last && x.dtype == dtype) {  // sums are kept in y
    each_position(nest, g, s, g.out, 8, [&](Val n, const Val* at) {
      Val y0 = output_offset(s, at, s.y_plane(n, n * 0));
      auto channels = [&](auto f) { nest.loop(s.channels, LoopKind::kVector, f); };
      channels([&](Val c) { nest.store(y, y0 + c, loops::constant(nest, dtype, 0.0)); });
      walk(nest, s, at, s.x_plane(n, n * 0), LoopKind::kSequential, [&](Val offset, Val) {
        channels([&](Val c) { nest.accumulate(y, y0 + c, nest.load(x, offset + c)); });
      });
      Val by = divisor_of(nest, s, divisor, fixed, at, dtype);
      channels([&](Val c) { nest.store(y, y0 + c, nest.load(y, y0 + c) / by); });
    });
    return;
  }
  each_output(nest, g, s, [&](Val plane, const Val* at, Val to) {
    Var sum = nest.var(loops::constant(nest, dtype, 0.0));
    walk(nest, s, at, plane, LoopKind::kReduce,
         [&](Val offset, Val) { sum += nest.load(x, offset); });
    nest.store(y, to, sum.get() / divisor_of(nest, s, divisor, fixed, at, dtype));
  });
}

void emit_avg_dx(Nest& nest, const PoolGeometry& g, const Divisor& divisor, Buf dy, Buf dx) {
  Numbers s(nest, g);
  Val fixed = nest.number(divisor.fixed);
  DType dtype = loaded(dx.dtype);
  if (g.channel_last && dx.dtype == dtype) {  // sums are kept in dx
    each_position(nest, g, s, g.in, 8, [&](Val n, const Val* at) {
      Val x0 = s.x_plane(n, n * 0);
      for (int d = 0; d < s.rank; ++d) x0 = x0 + at[d] * s.x_step[d];
      auto channels = [&](auto f) { nest.loop(s.channels, LoopKind::kVector, f); };
      channels([&](Val c) { nest.store(dx, x0 + c, loops::constant(nest, dtype, 0.0)); });
      each_window(nest, g, s, at, [&](const Val* out) {
        Val y0 = output_offset(s, out, s.y_plane(n, n * 0));
        Val by = divisor_of(nest, s, divisor, fixed, out, dtype);
        channels([&](Val c) { nest.accumulate(dx, x0 + c, nest.load(dy, y0 + c) / by); });
      });
    });
    return;
  }
  std::vector<Val> extent = {s.batch, s.channels};
  extent.insert(extent.end(), s.in.begin(), s.in.end());
  nest.parallel(g.batch * g.channels * product(g.in), 20, [&](Val task) {
    std::vector<Val> at = split(task, extent), out(s.rank);
    Var sum = nest.var(loops::constant(nest, dtype, 0.0));
    // Output positions first … last - 1 have this input position in their window.
    std::function<void(int)> dim = [&](int d) {
      if (d == s.rank) {
        Val from = output_offset(s, out.data(), s.y_plane(at[0], at[1]));
        sum += nest.load(dy, from) / divisor_of(nest, s, divisor, fixed, out.data(), dtype);
        return;
      }
      Val i = at[d + 2], first, last;
      if (g.adaptive()) {
        first = i * s.out[d] / s.in[d];
        last = ((i + 1) * s.out[d] - 1) / s.in[d] + 1;
      } else {  // means have no dilation
        first = ceil_div(i + s.pad_begin[d] - s.kernel[d] + 1, s.stride[d]);
        last = min((i + s.pad_begin[d]) / s.stride[d] + 1, s.out[d]);
      }
      nest.loop(max(last - first, 0), LoopKind::kReduce, [&](Val j) {
        out[d] = first + j;
        dim(d + 1);
      });
    };
    dim(0);
    Val to = s.x_plane(at[0], at[1]);
    for (int d = 0; d < s.rank; ++d) to = to + at[d + 2] * s.x_step[d];
    nest.store(dx, to, sum);
  });
}

}  // namespace mycel::ops
