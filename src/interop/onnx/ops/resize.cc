// Resize and Upsample: each output position is a weighted sum of a few input positions, axis by
// axis. Positions and weights follow from sizes alone, so they are constants of the graph.
#include <cmath>

#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {
namespace {

struct Rule {
  std::string mode, coordinates, nearest;
  double cubic = -0.75, extrapolation = 0;
  bool exclude_outside = false, antialias = false;
};

struct AxisPlan {
  int64_t in = 0, out = 0;
  double scale = 1, from = 0, to = 1;  // from, to: the region of tf_crop_and_resize
};

double position(const Rule& r, const AxisPlan& a, int64_t i) {
  double x = static_cast<double>(i), in = static_cast<double>(a.in), width = a.scale * in;
  if (r.coordinates == "align_corners") return width == 1 ? 0 : x * (in - 1) / (width - 1);
  if (r.coordinates == "asymmetric") return x / a.scale;
  if (r.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / a.scale;
  if (r.coordinates == "tf_crop_and_resize") {
    double span = (a.to - a.from) * (in - 1);
    return a.from * (in - 1) +
           (a.out == 1 ? span / 2 : x * span / (static_cast<double>(a.out) - 1));
  }
  if (r.coordinates == "pytorch_half_pixel" && a.out == 1) return -0.5;
  double half = (x + 0.5) / a.scale - 0.5;
  if (r.coordinates != "half_pixel_symmetric") return half;
  return in / 2 * (1 - static_cast<double>(a.out) / width) + half;
}

double cubic_weight(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

int64_t nearest_of(const Rule& r, double x) {
  if (r.nearest == "floor") return static_cast<int64_t>(std::floor(x));
  if (r.nearest == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (r.nearest == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

// Weights by input position, those beyond the edge counted for the edge or dropped.
struct Taps {
  std::vector<int64_t> at;
  std::vector<double> weight;
};

Taps taps_of(const Rule& r, const AxisPlan& a, int64_t i) {
  double x = position(r, a, i);
  Taps t;
  auto edge = [&](int64_t p) { return std::clamp<int64_t>(p, 0, a.in - 1); };
  if (r.mode == "nearest") return {{edge(nearest_of(r, x))}, {1}};
  double reach = r.mode == "cubic" ? 2 : 1, shrink = r.antialias ? std::min(a.scale, 1.0) : 1;
  auto first = static_cast<int64_t>(std::floor(x - reach / shrink)) + 1;
  auto last = static_cast<int64_t>(std::ceil(x + reach / shrink)) - 1;
  double sum = 0;
  for (int64_t p = first; p <= last; ++p) {
    double d = (static_cast<double>(p) - x) * shrink;
    double w = r.mode == "cubic" ? cubic_weight(d, r.cubic) : std::max(1 - std::abs(d), 0.0);
    bool outside = p < 0 || p >= a.in;
    if (w == 0 || (outside && r.exclude_outside)) continue;
    t.at.push_back(edge(p));
    t.weight.push_back(w);
    sum += w;
  }
  for (double& w : t.weight) w /= sum;
  return t;
}

// At most this many taps are gathered; more are a product with a matrix.
constexpr size_t kMaxGathered = 8;

Tensor along_axis(const Tensor& x, int axis, const std::vector<Taps>& taps, int64_t in) {
  size_t most = 0;
  for (const Taps& t : taps) most = std::max(most, t.at.size());
  auto out = static_cast<int64_t>(taps.size());
  DType work = is_float(x.dtype()) ? x.dtype() : DType::kFloat32;
  if (most > kMaxGathered) {
    Tensor m = Tensor::zeros(work, Shape{out, in});
    std::vector<double> dense(static_cast<size_t>(out * in), 0);
    for (int64_t i = 0; i < out; ++i) {
      const Taps& t = taps[static_cast<size_t>(i)];
      for (size_t k = 0; k < t.at.size(); ++k)
        dense[static_cast<size_t>(i * in + t.at[k])] += t.weight[k];
    }
    for (size_t k = 0; k < dense.size(); ++k)
      set_element(m.mutable_raw(), work, static_cast<int64_t>(k), dense[k]);
    Tensor rows = ops::moveaxis(as(x, work), {axis}, {-1});
    return ops::moveaxis(ops::matmul(rows, m, false, true), {-1}, {axis});
  }
  Tensor y;
  for (size_t k = 0; k < most; ++k) {
    Ints at;
    Ints shape(static_cast<size_t>(x.rank()), 1);
    shape[static_cast<size_t>(axis)] = out;
    Tensor w = Tensor::empty(work, Shape(shape));
    bool whole = true;
    for (int64_t i = 0; i < out; ++i) {
      const Taps& t = taps[static_cast<size_t>(i)];
      bool there = k < t.at.size();
      at.push_back(there ? t.at[k] : 0);
      double v = there ? t.weight[k] : 0;
      whole = whole && v == 1;
      set_element(w.mutable_raw(), work, i, v);
    }
    Tensor part = ops::gather(x, ints_tensor(at), axis);
    if (!whole) part = ops::mul(as(part, work), w);
    y = y ? ops::add(y, part) : part;
  }
  return y;
}

Tensor resized(Call& c, const Rule& r, const Tensor& x, const Ints& axes,
               const std::vector<AxisPlan>& plans) {
  Tensor y = x, outside;
  for (size_t k = 0; k < axes.size(); ++k) {
    const AxisPlan& a = plans[k];
    if (a.in <= 0 || a.out <= 0) c.fail("an axis of {} cannot become {}", a.in, a.out);
    std::vector<Taps> taps;
    bool same = a.in == a.out, any_outside = false;
    int axis = static_cast<int>(axes[k]);
    Ints shape(static_cast<size_t>(x.rank()), 1);
    shape[static_cast<size_t>(axis)] = a.out;
    Tensor beyond = Tensor::zeros(DType::kBool, Shape(shape));
    for (int64_t i = 0; i < a.out; ++i) {
      taps.push_back(taps_of(r, a, i));
      same = same && taps.back().at == std::vector<int64_t>{i} && taps.back().weight[0] == 1;
      double at = position(r, a, i);
      if (r.coordinates == "tf_crop_and_resize" && (at < 0 || at > static_cast<double>(a.in - 1))) {
        beyond.mutable_data<bool>()[static_cast<size_t>(i)] = true;
        any_outside = true;
      }
    }
    if (!same) y = along_axis(y, axis, taps, a.in);
    if (any_outside) outside = outside ? ops::logical_or(outside, beyond) : beyond;
  }
  if (outside) y = ops::select(outside, number_like(r.extrapolation, y), y);
  if (y.dtype() != x.dtype()) y = as(is_float(x.dtype()) ? y : ops::round(y), x.dtype());
  return y;
}

Rule rule_of(Call& c) {
  Rule r;
  r.mode = c.text("mode", "nearest");
  r.coordinates = c.text("coordinate_transformation_mode", "half_pixel");
  r.nearest = c.text("nearest_mode", "round_prefer_floor");
  r.cubic = c.real("cubic_coeff_a", -0.75);
  r.extrapolation = c.real("extrapolation_value", 0);
  r.exclude_outside = c.flag("exclude_outside", false);
  r.antialias = c.flag("antialias", false);
  if (r.mode != "nearest" && r.mode != "linear" && r.mode != "cubic")
    c.fail("mode '{}'; allowed: nearest, linear, cubic", r.mode);
  if (c.opset < 11) r.coordinates = "asymmetric", r.nearest = "floor";
  return r;
}

Values resize(Call& c) {
  Tensor x = c.x(0);
  Rule r = rule_of(c);
  if (c.opset < 11) {
    std::vector<double> s = c.known_reals(1);
    std::vector<AxisPlan> plans;
    for (int d = 0; d < x.rank(); ++d) {
      int64_t n = c.dims(x)[static_cast<size_t>(d)];
      plans.push_back(
          {n,
           static_cast<int64_t>(std::floor(static_cast<double>(n) * s.at(static_cast<size_t>(d)))),
           s[static_cast<size_t>(d)], 0, 1});
    }
    return one(resized(c, r, x, counted(x.rank()), plans));
  }
  Ints axes = c.has_attr("axes") ? axes_of(c, c.ints("axes"), x.rank()) : counted(x.rank());
  Ints sizes = c.has(3) ? c.known_ints(3) : Ints();
  std::vector<double> scales = c.has(2) ? c.known_reals(2) : std::vector<double>();
  if (sizes.empty() && scales.empty()) c.fail("neither scales nor sizes are given");
  if ((sizes.empty() ? scales.size() : sizes.size()) != axes.size())
    c.fail("{} scales, {} sizes for {} axes", scales.size(), sizes.size(), axes.size());
  std::vector<double> roi =
      c.has(1) && r.coordinates == "tf_crop_and_resize" ? c.known_reals(1) : std::vector<double>();
  std::vector<AxisPlan> plans;
  for (size_t k = 0; k < axes.size(); ++k) {
    AxisPlan a;
    a.in = c.dims(x)[static_cast<size_t>(axes[k])];
    auto in = static_cast<double>(a.in);
    a.scale = sizes.empty() ? scales[k] : static_cast<double>(sizes[k]) / in;
    a.out = sizes.empty() ? static_cast<int64_t>(std::floor(in * a.scale)) : sizes[k];
    if (roi.size() == 2 * axes.size()) a.from = roi[k], a.to = roi[k + axes.size()];
    plans.push_back(a);
  }
  std::string policy = c.text("keep_aspect_ratio_policy", "stretch");
  if (!sizes.empty() && policy != "stretch") {
    double scale = plans[0].scale;
    for (const AxisPlan& a : plans)
      scale = policy == "not_larger" ? std::min(scale, a.scale) : std::max(scale, a.scale);
    for (AxisPlan& a : plans) {
      a.scale = scale;
      a.out = static_cast<int64_t>(std::floor(scale * static_cast<double>(a.in) + 0.5));
    }
  }
  return one(resized(c, r, x, axes, plans));
}

Values upsample(Call& c) {
  Tensor x = c.x(0);
  Rule r = rule_of(c);
  r.coordinates = "asymmetric";
  r.nearest = "floor";
  std::vector<double> scales = c.opset < 9 ? c.reals("scales") : c.known_reals(1);
  if (static_cast<int>(scales.size()) != x.rank())
    c.fail("{} scales for {} dims", scales.size(), x.rank());
  std::vector<AxisPlan> plans;
  for (size_t d = 0; d < scales.size(); ++d) {
    int64_t n = c.dims(x)[d];
    plans.push_back(
        {n, static_cast<int64_t>(std::floor(static_cast<double>(n) * scales[d])), scales[d], 0, 1});
  }
  return one(resized(c, r, x, counted(x.rank()), plans));
}

constexpr Record kRecords[] = {{"Resize", resize, "1 2 3"}, {"Upsample", upsample, "1"}};

}  // namespace

Records resize_records() { return kRecords; }

}  // namespace mycel::interop::onnx
