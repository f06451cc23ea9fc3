// Values read at positions that are computed: GridSample, RoiAlign, DeformConv; and the grids and
// patches that go with them.
#include <cmath>
#include <cstdint>
#include <limits>

#include "interop/onnx/ops/window.h"

namespace mycel::interop::onnx {
namespace {

Tensor floor_of(const Tensor& x) { return ops::floor(x); }

// x[n, c, …] read at integer coordinates, one [n, p] for each spatial dim, held inside; [n, c, p].
Tensor read_at(const Tensor& flat, const Ints& spatial, const Tensors& at) {
  Tensor index;
  for (size_t d = 0; d < spatial.size(); ++d) {
    Tensor bound = ops::minimum(ops::maximum(at[d], number_like(0, at[d])),
                                number_like(static_cast<double>(spatial[d] - 1), at[d]));
    Tensor i = as(bound, DType::kInt64);
    index = index ? ops::add(ops::mul(index, Tensor::scalar(DType::kInt64, spatial[d])), i) : i;
  }
  int64_t n = flat.dim(0), ch = flat.dim(1), p = index.dim(1);
  Tensor each = ops::broadcast_to(ops::reshape(index, {n, 1, p}), {n, ch, p});
  return ops::gather_d(flat, each, 2);
}

// 1 where the coordinates are inside, [n, 1, p].
Tensor inside(const Ints& spatial, const Tensors& at, DType d) {
  Tensor all;
  for (size_t k = 0; k < spatial.size(); ++k) {
    Tensor ok = ops::logical_and(
        ops::greater_equal(at[k], number_like(0, at[k])),
        ops::less_equal(at[k], number_like(static_cast<double>(spatial[k] - 1), at[k])));
    all = all ? ops::logical_and(all, ok) : ok;
  }
  return as(ops::expand_dims(all, 1), d);
}

// Back and forth between two borders.
Tensor reflected(const Tensor& x, double low, double high) {
  double range = high - low;
  if (range <= 0) return ops::mul(x, number_like(0, x));
  Tensor from = ops::abs(ops::sub(x, number_like(low, x)));
  Tensor turns = ops::floor(ops::div(from, number_like(range, x)));
  Tensor rest = ops::sub(from, ops::mul(turns, number_like(range, x)));
  Tensor even = ops::equal(ops::floor_mod(turns, number_like(2, x)), number_like(0, x));
  return ops::select(even, ops::add(rest, number_like(low, x)),
                     ops::sub(number_like(high, x), rest));
}

struct Sampling {
  std::string padding;
  bool align = false;
};

Tensor bounded(const Tensor& at, int64_t n, const Sampling& s) {
  if (s.padding == "border") {
    return ops::minimum(ops::maximum(at, number_like(0, at)),
                        number_like(static_cast<double>(n - 1), at));
  }
  if (s.padding == "reflection") {
    double end = static_cast<double>(n);
    Tensor r = s.align ? reflected(at, 0, end - 1) : reflected(at, -0.5, end - 0.5);
    return ops::minimum(ops::maximum(r, number_like(0, at)), number_like(end - 1, at));
  }
  return at;
}

Tensor tap(const Tensor& flat, const Ints& spatial, Tensors at, const Sampling& s) {
  for (size_t d = 0; d < at.size(); ++d) at[d] = bounded(at[d], spatial[d], s);
  Tensor v = read_at(flat, spatial, at);
  return s.padding == "zeros" ? ops::mul(v, inside(spatial, at, v.dtype())) : v;
}

// The 2^r corners around each position.
Tensor linear(const Tensor& flat, const Ints& spatial, const Tensors& where, const Sampling& s) {
  Tensors low, part;
  for (const Tensor& t : where) {
    low.push_back(floor_of(t));
    part.push_back(ops::sub(t, low.back()));
  }
  Tensor sum;
  for (unsigned corner = 0; corner < (1u << where.size()); ++corner) {
    Tensors at;
    Tensor weight;
    for (size_t d = 0; d < where.size(); ++d) {
      bool up = corner >> d & 1;
      at.push_back(up ? ops::add(low[d], number_like(1, low[d])) : low[d]);
      Tensor w = up ? part[d] : ops::sub(number_like(1, part[d]), part[d]);
      weight = weight ? ops::mul(weight, w) : w;
    }
    Tensor v = ops::mul(tap(flat, spatial, at, s), as(ops::expand_dims(weight, 1), flat.dtype()));
    sum = sum ? ops::add(sum, v) : v;
  }
  return sum;
}

Tensor cubic_weight(const Tensor& x, int k) {
  constexpr double a = -0.75;
  auto v = [&](double d) { return number_like(d, x); };
  auto mul = [](const Tensor& p, const Tensor& q) { return ops::mul(p, q); };
  Tensor d = k == 0   ? ops::add(x, v(1))
             : k == 1 ? x
             : k == 2 ? ops::sub(v(1), x)
                      : ops::sub(v(2), x);
  if (k == 1 || k == 2) return ops::add(mul(mul(ops::sub(mul(v(a + 2), d), v(a + 3)), d), d), v(1));
  return ops::sub(mul(ops::add(mul(ops::sub(mul(v(a), d), v(5 * a)), d), v(8 * a)), d), v(4 * a));
}

Tensor cubic(const Tensor& flat, const Ints& spatial, const Tensors& where, const Sampling& s) {
  Tensors low, part;
  for (const Tensor& t : where) {
    low.push_back(floor_of(t));
    part.push_back(ops::sub(t, low.back()));
  }
  Tensor sum;
  size_t r = where.size(), count = 1;
  for (size_t d = 0; d < r; ++d) count *= 4;
  for (size_t k = 0; k < count; ++k) {
    Tensors at;
    Tensor weight;
    for (size_t d = 0, rest = k; d < r; ++d, rest /= 4) {
      int step = static_cast<int>(rest % 4);
      at.push_back(ops::add(low[d], number_like(step - 1, low[d])));
      Tensor w = cubic_weight(part[d], step);
      weight = weight ? ops::mul(weight, w) : w;
    }
    Tensor v = ops::mul(tap(flat, spatial, at, s), as(ops::expand_dims(weight, 1), flat.dtype()));
    sum = sum ? ops::add(sum, v) : v;
  }
  return sum;
}

Values grid_sample(Call& c) {
  Tensor x = c.x(0), grid = c.x(1);
  Ints spatial = spatial_dims(c, x), dims = c.dims(x), to = c.dims(grid);
  size_t r = spatial.size();
  if (grid.rank() != x.rank() || to.back() != static_cast<int64_t>(r))
    c.fail("a grid {} for {}", grid.shape().str(), x.shape().str());
  Sampling s{c.text("padding_mode", "zeros"), c.flag("align_corners", false)};
  std::string mode = c.text("mode", "linear");
  Tensor flat = ops::reshape(x, {dims[0], dims[1], -1}),
         points = ops::reshape(grid, {dims[0], -1, static_cast<int64_t>(r)});
  Tensors where;  // the grid names the last dim first
  for (size_t d = 0; d < r; ++d) {
    Tensor u =
        ops::squeeze(ops::narrow(points, 2, static_cast<int64_t>(r - 1 - d), 1), ir::Attr(Ints{2}));
    auto n = static_cast<double>(spatial[d]);
    Tensor up = ops::add(u, number_like(1, u));
    where.push_back(s.align ? ops::mul(up, number_like((n - 1) / 2, u))
                            : ops::div(ops::sub(ops::mul(up, number_like(n, u)), number_like(1, u)),
                                       number_like(2, u)));
  }
  if (mode != "cubic" && mode != "bicubic") {
    for (size_t d = 0; d < r; ++d) where[d] = bounded(where[d], spatial[d], s);
  }
  Tensor y;
  if (mode == "nearest") {
    for (Tensor& t : where) t = ops::round(t);
    y = tap(flat, spatial, where, s);
  } else if (mode == "cubic" || mode == "bicubic") {
    y = cubic(flat, spatial, where, s);
  } else if (mode == "linear" || mode == "bilinear") {
    y = linear(flat, spatial, where, s);
  } else {
    c.fail("mode '{}'; allowed: linear, nearest, cubic", mode);
  }
  Ints out{dims[0], dims[1]};
  out.insert(out.end(), to.begin() + 1, to.end() - 1);
  return one(ops::reshape(y, out));
}

Values affine_grid(Call& c) {
  Tensor theta = c.x(0);
  Ints size = c.known_ints(1);
  bool align = c.flag("align_corners", false);
  size_t r = size.size() - 2;
  if (theta.rank() != 3 || theta.dim(1) != static_cast<int64_t>(r))
    c.fail("theta {} for a size of {} dims", theta.shape().str(), size.size());
  int64_t points = 1;
  for (size_t d = 0; d < r; ++d) points *= size[d + 2];
  Tensor base = Tensor::empty(theta.dtype(), Shape{points, static_cast<int64_t>(r + 1)});
  for (int64_t p = 0; p < points; ++p) {
    int64_t rest = p;
    for (size_t d = r; d-- > 0;) {  // last dim first in a row
      int64_t n = size[d + 2], i = rest % n;
      rest /= n;
      double v =
          align ? (n == 1 ? 0.0 : -1 + 2.0 * static_cast<double>(i) / static_cast<double>(n - 1))
                : (2.0 * static_cast<double>(i) + 1) / static_cast<double>(n) - 1;
      set_element(base.mutable_raw(), theta.dtype(),
                  p * static_cast<int64_t>(r + 1) + static_cast<int64_t>(r - 1 - d), v);
    }
    set_element(base.mutable_raw(), theta.dtype(),
                p * static_cast<int64_t>(r + 1) + static_cast<int64_t>(r), 1.0);
  }
  Ints out{size[0]};
  out.insert(out.end(), size.begin() + 2, size.end());
  out.push_back(static_cast<int64_t>(r));
  return one(ops::reshape(ops::matmul(base, theta, false, true), out));
}

struct Roi {
  int64_t height, width, rows, columns;  // bins; samples in each
};

// Mean or largest of the samples of each bin. `boxes`: [n, 4] in pixels of x, `rows_of`: the
// images.
Tensor aligned(Call& c, const Tensor& x, const Tensor& boxes, const Tensor& images,
               const Roi& roi) {
  Dims dims = c.dims(x);
  Tensor features = ops::gather(ops::reshape(x, {dims[0], dims[1], -1}), images, 0);
  int64_t n = boxes.dim(0);
  double low =
      c.opset >= 16 && c.text("coordinate_transformation_mode", "half_pixel") == "half_pixel" ? 0.5
                                                                                              : 0;
  auto column = [&](int64_t k) { return ops::narrow(boxes, 1, k, 1); };
  auto positions = [&](int64_t from, int64_t to, int64_t bins, int64_t samples) {
    Tensor start = ops::sub(column(from), number_like(low, boxes)),
           size = ops::sub(column(to), column(from));
    if (low == 0) size = ops::maximum(size, number_like(1, size));
    Tensor steps = Tensor::empty(boxes.dtype(), Shape{1, bins * samples});
    for (int64_t i = 0; i < bins * samples; ++i)
      set_element(steps.mutable_raw(), boxes.dtype(), i,
                  (static_cast<double>(i) + 0.5) / static_cast<double>(bins * samples));
    return ops::add(start, ops::mul(size, steps));  // [n, bins * samples]
  };
  Tensor ys = positions(1, 3, roi.height, roi.rows), xs = positions(0, 2, roi.width, roi.columns);
  int64_t h = roi.height * roi.rows, w = roi.width * roi.columns;
  Tensor yy = ops::reshape(ops::broadcast_to(ops::reshape(ys, {n, h, 1}), {n, h, w}), {n, h * w});
  Tensor xx = ops::reshape(ops::broadcast_to(ops::reshape(xs, {n, 1, w}), {n, h, w}), {n, h * w});
  Ints spatial{dims[2], dims[3]};
  // More than one pixel outside counts as zero, less as the edge.
  auto off = [&](const Tensor& t, int64_t size) {
    return ops::logical_or(ops::less(t, number_like(-1, t)),
                           ops::greater(t, number_like(static_cast<double>(size), t)));
  };
  Tensor gone = ops::expand_dims(ops::logical_or(off(yy, dims[2]), off(xx, dims[3])), 1);
  Sampling edge{"border", true};
  Tensors where{bounded(yy, dims[2], edge), bounded(xx, dims[3], edge)};
  Ints split{n, dims[1], roi.height, roi.rows, roi.width, roi.columns};
  if (c.text("mode", "avg") == "max") {
    // The largest of the weighted corners, not of the interpolated values: what ONNX means.
    Tensor most;
    Tensor y0 = floor_of(where[0]), x0 = floor_of(where[1]);
    Tensor fy = ops::sub(where[0], y0), fx = ops::sub(where[1], x0);
    for (int k = 0; k < 4; ++k) {
      Tensor ay = k & 2 ? fy : ops::sub(number_like(1, fy), fy),
             ax = k & 1 ? fx : ops::sub(number_like(1, fx), fx);
      Tensors at{k & 2 ? ops::add(y0, number_like(1, y0)) : y0,
                 k & 1 ? ops::add(x0, number_like(1, x0)) : x0};
      Tensor v = ops::mul(tap(features, spatial, at, edge), ops::expand_dims(ops::mul(ay, ax), 1));
      most = most ? ops::maximum(most, v) : v;
    }
    Tensor v = ops::select(gone, number_like(0, most), most);
    return ops::reduce_max(ops::reshape(v, split), ir::Attr(Ints{3, 5}));
  }
  Tensor v = linear(features, spatial, where, edge);
  v = ops::select(gone, number_like(0, v), v);
  return ops::reduce_mean(ops::reshape(v, split), ir::Attr(Ints{3, 5}));
}

Values roi_align(Call& c) {
  Tensor x = c.x(0), images = as(c.x(2), DType::kInt64);
  Tensor boxes = ops::mul(c.x(1), number_like(c.real("spatial_scale", 1), c.x(1)));
  Roi roi{c.integer("output_height", 1), c.integer("output_width", 1),
          c.integer("sampling_ratio", 0), 0};
  roi.columns = roi.rows;
  if (roi.rows > 0) return one(aligned(c, x, boxes, images, roi));
  // As many samples as a bin has pixels: each box has its own number.
  Tensor known = c.known(boxes, "the boxes");
  Tensors each;
  for (int64_t i = 0; i < known.dim(0); ++i) {
    auto at = [&](int64_t k) { return element_as_double(known.raw(), known.dtype(), i * 4 + k); };
    Roi own = roi;
    own.rows = std::max<int64_t>(
        static_cast<int64_t>(std::ceil((at(3) - at(1)) / static_cast<double>(roi.height))), 1);
    own.columns = std::max<int64_t>(
        static_cast<int64_t>(std::ceil((at(2) - at(0)) / static_cast<double>(roi.width))), 1);
    each.push_back(aligned(c, x, ops::narrow(boxes, 0, i, 1), ops::narrow(images, 0, i, 1), own));
  }
  return one(ops::concat(each, 0));
}

// Sums of overlapping blocks: where each element of each block lands is a constant.
Values col2im(Call& c) {
  Tensor x = c.x(0);
  Ints image = c.known_ints(1), block = c.known_ints(2), dims = c.dims(x);
  size_t r = image.size();
  Ints dilation = c.ints("dilations", Ints(r, 1)), stride = c.ints("strides", Ints(r, 1)),
       pads = c.ints("pads", Ints(2 * r, 0));
  if (block.size() != r || dilation.size() != r || stride.size() != r || pads.size() != 2 * r)
    c.fail("{} dims of the image, {} of blocks, {} strides", r, block.size(), stride.size());
  for (size_t d = 0; d < r; ++d) {
    if (block[d] < 1 || stride[d] < 1 || image[d] < 0 || image[d] > INT32_MAX)
      c.fail("an image of {} in blocks of {} every {}", image[d], block[d], stride[d]);
  }
  int64_t cells = 1, places = 1, pixels = 1;
  Ints steps;
  for (size_t d = 0; d < r; ++d) {
    cells *= block[d];
    pixels *= image[d];
    steps.push_back(
        (image[d] + pads[d] + pads[d + r] - dilation[d] * (block[d] - 1) - 1) / stride[d] + 1);
    places *= steps.back();
  }
  if (dims.size() != 3 || dims[1] % cells || dims[2] != places)
    c.fail("{} for blocks of {} in {} places", x.shape().str(), cells, places);
  int64_t channels = dims[1] / cells;
  Ints to;  // of [cell, place], `pixels` for the padding
  for (int64_t cell = 0; cell < cells; ++cell) {
    for (int64_t p = 0; p < places; ++p) {
      int64_t at = 0, rest_cell = cell, rest_place = p, weight = 1;
      bool in = true;
      for (size_t d = r; d-- > 0;) {
        int64_t k = rest_cell % block[d], s = rest_place % steps[d];
        rest_cell /= block[d];
        rest_place /= steps[d];
        int64_t pos = s * stride[d] + k * dilation[d] - pads[d];
        in = in && pos >= 0 && pos < image[d];
        at += pos * weight;
        weight *= image[d];
      }
      to.push_back(in ? at : pixels);
    }
  }
  Tensor rows =
      ops::transpose(ops::reshape(x, {dims[0] * channels, cells * places}), ir::Attr(Ints{1, 0}));
  Tensor sum =
      ops::tensor_scatter_add(Tensor::zeros(x.dtype(), Shape{pixels + 1, dims[0] * channels}),
                              ops::expand_dims(ints_tensor(to), 1), rows);
  Tensor y = ops::transpose(ops::narrow(sum, 0, 0, pixels), ir::Attr(Ints{1, 0}));
  Ints out{dims[0], channels};
  out.insert(out.end(), image.begin(), image.end());
  return one(ops::reshape(y, out));
}

// The inputs of each kernel element read at moved positions, then one product with the weights.
Values deform_conv(Call& c) {
  Tensor x = c.x(0), w = c.x(1), offset = c.x(2), bias = c.x_or(3), mask = c.x_or(4);
  Dims dims = c.dims(x), spatial = spatial_dims(c, x), ws = c.dims(w);
  if (spatial.size() != 2) c.unsupported("{} spatial dims; 2 are allowed", spatial.size());
  Window at = window_of(c, {ws[2], ws[3]}, spatial);
  int64_t groups = c.integer("group", 1), sets = c.integer("offset_group", 1);
  if (groups < 1 || sets < 1) c.fail("{} groups, {} groups of offsets", groups, sets);
  int64_t cells = ws[2] * ws[3], oh = offset.dim(2), ow = offset.dim(3), n = dims[0], out = oh * ow;
  if (offset.dim(1) != sets * cells * 2)
    c.fail("offset {}; {} channels are expected", offset.shape().str(), sets * cells * 2);
  Tensor moves = ops::reshape(offset, {n, sets, cells, 2, out});
  Tensor base_y = Tensor::empty(x.dtype(), Shape{1, 1, cells, out}),
         base_x = Tensor::empty(x.dtype(), Shape{1, 1, cells, out});
  for (int64_t k = 0; k < cells; ++k) {
    for (int64_t p = 0; p < out; ++p) {
      set_element(
          base_y.mutable_raw(), x.dtype(), k * out + p,
          static_cast<double>((p / ow) * at.stride[0] - at.pads[0] + (k / ws[3]) * at.dilation[0]));
      set_element(
          base_x.mutable_raw(), x.dtype(), k * out + p,
          static_cast<double>((p % ow) * at.stride[1] - at.pads[2] + (k % ws[3]) * at.dilation[1]));
    }
  }
  auto moved = [&](int64_t which, const Tensor& base) {
    Tensor m = ops::squeeze(ops::narrow(moves, 3, which, 1), ir::Attr(Ints{3}));
    return ops::reshape(ops::add(m, base), {n * sets, cells * out});
  };
  Tensors where{moved(0, base_y), moved(1, base_x)};
  Tensor flat = ops::reshape(x, {n * sets, dims[1] / sets, dims[2] * dims[3]});
  Tensor v = linear(flat, spatial, where, {"zeros", true});
  v = ops::reshape(v, {n, sets, dims[1] / sets, cells, out});
  if (mask) v = ops::mul(v, ops::reshape(mask, {n, sets, 1, cells, out}));
  v = ops::reshape(v, {n, groups, dims[1] / groups * cells, out});
  Tensor weights = ops::reshape(w, {groups, ws[0] / groups, ws[1] * cells});
  Tensor y = ops::reshape(ops::matmul(weights, v), {n, ws[0], oh, ow});
  if (bias) y = ops::add(y, ops::reshape(bias, {-1, 1, 1}));
  return one(y);
}

constexpr Record kRecords[] = {
    {"GridSample", grid_sample}, {"AffineGrid", affine_grid, "1"}, {"RoiAlign", roi_align},
    {"Col2Im", col2im, "1 2"},   {"DeformConv", deform_conv},
};

}  // namespace

Records sample_records() { return kRecords; }

}  // namespace mycel::interop::onnx
