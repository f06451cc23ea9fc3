#include "data/vision/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

#include "base/error.h"
#include "data/vision/filter.h"

namespace mycel::data::vision {
namespace {

Taps cubic_taps(int64_t from, int64_t to) {
  constexpr float kA = -0.75F;
  Taps t{4, std::vector<int64_t>(to), std::vector<int>(to, 4), std::vector<float>(to * 4)};
  const double scale = 1.0 / (static_cast<double>(to) / static_cast<double>(from));
  for (int64_t o = 0; o < to; ++o) {
    auto x = static_cast<float>((static_cast<double>(o) + 0.5) * scale - 0.5);
    const auto i = static_cast<int64_t>(std::floor(x));
    x -= static_cast<float>(i);
    float* w = &t.weight[o * 4];
    w[0] = ((kA * (x + 1) - 5 * kA) * (x + 1) + 8 * kA) * (x + 1) - 4 * kA;
    w[1] = ((kA + 2) * x - (kA + 3)) * x * x + 1;
    w[2] = ((kA + 2) * (1 - x) - (kA + 3)) * (1 - x) * (1 - x) + 1;
    w[3] = 1.F - w[0] - w[1] - w[2];
    t.first[o] = i - 1;
  }
  return t;
}

Taps linear_float_taps(int64_t from, int64_t to) {
  Taps t{2, std::vector<int64_t>(to), std::vector<int>(to, 2), std::vector<float>(to * 2)};
  const double scale = 1.0 / (static_cast<double>(to) / static_cast<double>(from));
  for (int64_t o = 0; o < to; ++o) {
    auto x = static_cast<float>((static_cast<double>(o) + 0.5) * scale - 0.5);
    const auto i = static_cast<int64_t>(std::floor(x));
    x -= static_cast<float>(i);
    t.first[o] = i;
    t.weight[o * 2] = 1 - x;
    t.weight[o * 2 + 1] = x;
  }
  return t;
}

// Averages over the part of the input that an output covers, parts of pixels included.
Taps area_taps(int64_t from, int64_t to) {
  const double scale = 1.0 / (static_cast<double>(to) / static_cast<double>(from));
  const int width = static_cast<int>(std::ceil(scale)) + 2;
  Taps t{width, std::vector<int64_t>(to), std::vector<int>(to), std::vector<float>(to * width)};
  for (int64_t o = 0; o < to; ++o) {
    const double begin = static_cast<double>(o) * scale, end = begin + scale;
    const double cell = std::min(scale, static_cast<double>(from) - begin);
    auto low = static_cast<int64_t>(std::ceil(begin)), high = static_cast<int64_t>(std::floor(end));
    high = std::min(high, from - 1);
    low = std::min(low, high);
    const auto add = [&](int64_t i, double share) {
      if (t.count[o] == 0) t.first[o] = i;
      t.weight[o * width + t.count[o]++] = static_cast<float>(share / cell);
    };
    if (static_cast<double>(low) - begin > 1e-3) add(low - 1, static_cast<double>(low) - begin);
    for (int64_t i = low; i < high; ++i) add(i, 1);
    if (end - static_cast<double>(high) > 1e-3)
      add(high, std::min(std::min(end - static_cast<double>(high), 1.0), cell));
  }
  return t;
}

// Enlarging by area: linear between pixels, but only at the seams of the enlarged pixels.
Taps seam_taps(int64_t from, int64_t to) {
  Taps t{2, std::vector<int64_t>(to), std::vector<int>(to, 2), std::vector<float>(to * 2)};
  const double inverse = static_cast<double>(to) / static_cast<double>(from);
  const double scale = 1.0 / inverse;
  for (int64_t o = 0; o < to; ++o) {
    const auto i = static_cast<int64_t>(std::floor(static_cast<double>(o) * scale));
    auto x = static_cast<float>(static_cast<double>(o + 1) - static_cast<double>(i + 1) * inverse);
    x = x <= 0 ? 0.F : x - std::floor(x);
    t.first[o] = i;
    t.weight[o * 2] = 1 - x;
    t.weight[o * 2 + 1] = x;
  }
  return t;
}

double lanczos3(double x) {
  const auto sinc = [](double v) {
    return v == 0 ? 1.0 : std::sin(v * std::numbers::pi) / (v * std::numbers::pi);
  };
  return x > -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0.0;
}

double pil_cubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : 0.0;
}

// Pillow's: a filter of `support` input pixels, widened by the shrinkage.
Taps wide_taps(int64_t from, int64_t to, double (*f)(double), double support,
               std::vector<double>* exact) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double widened = std::max(scale, 1.0);
  support *= widened;
  const int width = static_cast<int>(std::ceil(support)) * 2 + 1;
  Taps t{width, std::vector<int64_t>(to), std::vector<int>(to), std::vector<float>(to * width)};
  exact->assign(static_cast<size_t>(to) * width, 0);
  for (int64_t o = 0; o < to; ++o) {
    const double center = (static_cast<double>(o) + 0.5) * scale;
    const auto low = std::max<int64_t>(0, static_cast<int64_t>(center - support + 0.5));
    const auto high = std::min<int64_t>(from, static_cast<int64_t>(center + support + 0.5));
    double* w = &(*exact)[static_cast<size_t>(o) * width];
    double sum = 0;
    for (int64_t i = low; i < high; ++i)
      sum += w[i - low] =
          f((static_cast<double>(i - low) + static_cast<double>(low) - center + 0.5) *
            (1.0 / widened));
    for (int64_t i = 0; i < high - low; ++i) {
      if (sum != 0) w[i] /= sum;
      t.weight[o * width + i] = static_cast<float>(w[i]);
    }
    t.first[o] = low;
    t.count[o] = static_cast<int>(high - low);
  }
  return t;
}

template <typename T>
void filtered(const Source& s, Size to, Filter kind, T* out) {
  constexpr bool kBytes = std::is_same_v<T, uint8_t>;
  const bool shrinks = to.h <= s.h && to.w <= s.w;
  // OpenCV halves an image by averages, whichever of the two was asked for.
  const bool halves = s.h == 2 * to.h && s.w == 2 * to.w;
  if (kind == Filter::kLanczos || kind == Filter::kPilCubic) {
    const auto f = kind == Filter::kLanczos ? lanczos3 : pil_cubic;
    const double support = kind == Filter::kLanczos ? 3 : 2;
    std::vector<double> across, down;
    const Taps x = wide_taps(s.w, to.w, f, support, &across);
    const Taps y = wide_taps(s.h, to.h, f, support, &down);
    if constexpr (kBytes) return filter_exact(s, x, across, y, down, to, out);
    return filter(s, x, y, to, out);
  }
  if (kind == Filter::kCubic) {
    const Taps x = cubic_taps(s.w, to.w), y = cubic_taps(s.h, to.h);
    if constexpr (kBytes) return cubic_bytes(s, x, y, to, out);
    return filter(s, x, y, to, out);
  }
  if (halves || (kind == Filter::kArea && shrinks)) {
    if constexpr (kBytes) {
      if (halves) {
        const auto* d = reinterpret_cast<const uint8_t*>(s.data);
        const int64_t n = to.w * s.c;
        for (int64_t y = 0; y < to.h; ++y) {
          const uint8_t *u = d + 2 * y * s.stride, *l = u + s.stride;
          for (int64_t x = 0; x < to.w; ++x) {
            for (int64_t k = 0; k < s.c; ++k) {
              const int64_t p = 2 * x * s.c + k;
              out[y * n + x * s.c + k] =
                  static_cast<uint8_t>((u[p] + u[p + s.c] + l[p] + l[p + s.c] + 2) >> 2);
            }
          }
        }
        return;
      }
    }
    return filter(s, area_taps(s.w, to.w), area_taps(s.h, to.h), to, out);
  }
  if (kind == Filter::kArea) return filter(s, seam_taps(s.w, to.w), seam_taps(s.h, to.h), to, out);
  if constexpr (kBytes) return linear_bytes(s, to, out);
  filter(s, linear_float_taps(s.w, to.w), linear_float_taps(s.h, to.h), to, out);
}

}  // namespace

Filter filter_of(const std::string& member) {
  constexpr std::pair<const char*, Filter> kNames[] = {
      {"NEAREST", Filter::kNearest}, {"ANTIALIAS", Filter::kLanczos},
      {"BILINEAR", Filter::kLinear}, {"BICUBIC", Filter::kCubic},
      {"AREA", Filter::kArea},       {"PILCUBIC", Filter::kPilCubic}};
  for (const auto& [name, filter] : kNames) {
    if (member == name) return filter;
  }
  MYCEL_CHECK(false, "Inter has no member {}", member);
  return Filter::kNearest;
}

Tensor resize(const Tensor& image, const Crop& crop, Size to, Filter filter) {
  const Extent e = extent_of(image);
  if (to.h / 1000 > crop.h || to.w / 1000 > crop.w)
    value_error("{} x {} pixels cannot become {} x {}: at most 1000 times as many on a side",
                crop.h, crop.w, to.h, to.w);
  const auto size = static_cast<int64_t>(size_of(image.dtype()));
  const Source s{static_cast<const char*>(image.raw()) + (crop.top * e.w + crop.left) * e.c * size,
                 e.row() * size, crop.h, crop.w, e.c};
  Tensor out = image_like(e, image.dtype(), to.h, to.w);
  if (filter == Filter::kNearest) {
    nearest(s, to, e.c * size, static_cast<char*>(out.mutable_raw()));
    return out;
  }
  switch (image.dtype()) {
    case DType::kUInt8:
      filtered(s, to, filter, static_cast<uint8_t*>(out.mutable_raw()));
      return out;
    case DType::kInt16:
      filtered(s, to, filter, static_cast<int16_t*>(out.mutable_raw()));
      return out;
    case DType::kUInt16:
      filtered(s, to, filter, static_cast<uint16_t*>(out.mutable_raw()));
      return out;
    case DType::kFloat32:
      filtered(s, to, filter, static_cast<float*>(out.mutable_raw()));
      return out;
    case DType::kFloat64:
      filtered(s, to, filter, static_cast<double*>(out.mutable_raw()));
      return out;
    default:
      type_error(
          "expected an image of uint8, int16, uint16, float32 or float64 to resize with "
          "this interpolation, got {}",
          image.describe());
  }
}

Tensor resize(const Tensor& image, Size to, Filter filter) {
  const Extent e = extent_of(image);
  return resize(image, {0, 0, e.h, e.w}, to, filter);
}

Filter any_filter(Philox& draw) {
  constexpr Filter kFilters[] = {Filter::kLinear, Filter::kNearest, Filter::kCubic, Filter::kArea};
  return kFilters[draw.below(4)];
}

Size keep_ratio(int64_t h, int64_t w, int64_t side) {
  const auto longer = static_cast<float>(std::max(h, w)),
             shorter = static_cast<float>(std::min(h, w));
  const auto other = static_cast<int64_t>(longer / shorter * static_cast<float>(side));
  return h < w ? Size{side, other} : Size{other, side};
}

}  // namespace mycel::data::vision
