#include "data/vision/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

#include "base/error.h"
#include "data/vision/pixel.h"

namespace mycel::data::vision {
namespace {

// Weights of any filter: output o is the sum of count[o] inputs from first[o] on, with the weights
// from o * width on. Inputs beyond the border stand for the border's.
struct Taps {
  int width = 0;
  std::vector<int64_t> first;
  std::vector<int> count;
  std::vector<float> weight;
};

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

struct Source {
  const char* data;
  int64_t stride;  // bytes
  int64_t h, w, c;
};

// Elements that follow each other, times a weight, added.
template <typename T>
__attribute__((always_inline)) inline void add_row(const T* in, float weight, int64_t n,
                                                   float* sum) {
  for (int64_t i = 0; i < n; ++i) sum[i] += static_cast<float>(in[i]) * weight;
}
MYCEL_FOR_EACH_CPU void add(const uint8_t* in, float w, int64_t n, float* sum) {
  add_row(in, w, n, sum);
}
MYCEL_FOR_EACH_CPU void add(const float* in, float w, int64_t n, float* sum) {
  add_row(in, w, n, sum);
}
template <typename T>
void add(const T* in, float w, int64_t n, float* sum) {
  add_row(in, w, n, sum);
}

// A row, filtered across; at[o * width + i]: the pixel of tap i of output o.
template <typename In, typename Out>
void across(const In* row, const Taps& x, const std::vector<int64_t>& at, int64_t c, Out* out) {
  const auto n = static_cast<int64_t>(x.first.size());
  const auto run = [&](auto channels) {
    constexpr int kC = decltype(channels)::value;
    for (int64_t o = 0; o < n; ++o) {
      const int64_t* p = &at[o * x.width];
      const float* w = &x.weight[o * x.width];
      if constexpr (kC > 0) {
        float sum[kC] = {};
        for (int i = 0; i < x.count[o]; ++i)
          for (int k = 0; k < kC; ++k) sum[k] += static_cast<float>(row[p[i] + k]) * w[i];
        for (int k = 0; k < kC; ++k) out[o * kC + k] = element_of<Out>(sum[k]);
      } else {
        for (int64_t k = 0; k < c; ++k) {
          float sum = 0;
          for (int i = 0; i < x.count[o]; ++i) sum += static_cast<float>(row[p[i] + k]) * w[i];
          out[o * c + k] = element_of<Out>(sum);
        }
      }
    }
  };
  if (c == 3) return run(std::integral_constant<int, 3>{});
  if (c == 1) return run(std::integral_constant<int, 1>{});
  run(std::integral_constant<int, 0>{});
}

// Whichever of the two directions leaves less to the other comes first; floats between them.
template <typename T>
void filter_float(const Source& s, const Taps& x, const Taps& y, Size to, T* out) {
  std::vector<int64_t> at(x.weight.size());
  for (int64_t o = 0; o < to.w; ++o)
    for (int i = 0; i < x.count[o]; ++i)
      at[o * x.width + i] = std::clamp<int64_t>(x.first[o] + i, 0, s.w - 1) * s.c;
  const bool down_first = to.h <= s.h;
  const int64_t n = to.w * s.c, wide = s.w * s.c;
  std::vector<float> middle(static_cast<size_t>(down_first ? 0 : s.h * n));
  std::vector<float> line(static_cast<size_t>(down_first ? wide : n));
  const auto row_of = [&](int64_t r) { return reinterpret_cast<const T*>(s.data + r * s.stride); };
  for (int64_t r = 0; !down_first && r < s.h; ++r) across(row_of(r), x, at, s.c, &middle[r * n]);
  for (int64_t o = 0; o < to.h; ++o) {
    std::fill(line.begin(), line.end(), 0.F);
    for (int i = 0; i < y.count[o]; ++i) {
      const float w = y.weight[o * y.width + i];
      const int64_t r = std::clamp<int64_t>(y.first[o] + i, 0, s.h - 1);
      if (down_first) {
        add(row_of(r), w, wide, line.data());
      } else {
        add(&middle[r * n], w, n, line.data());
      }
    }
    if (down_first) {
      across(line.data(), x, at, s.c, out + o * n);
    } else {
      for (int64_t j = 0; j < n; ++j) out[o * n + j] = element_of<T>(line[j]);
    }
  }
}

// Pillow's arithmetic for bytes: weights of 22 bits, bytes between the two passes.
constexpr int kWideBits = 22;
std::vector<int32_t> fixed(const std::vector<double>& w) {
  std::vector<int32_t> f(w.size());
  for (size_t i = 0; i < w.size(); ++i)
    f[i] = static_cast<int32_t>((w[i] < 0 ? -0.5 : 0.5) + w[i] * (1 << kWideBits));
  return f;
}
uint8_t wide_byte(int32_t v) { return static_cast<uint8_t>(std::clamp(v >> kWideBits, 0, 255)); }

void filter_wide(const Source& s, Size to, double (*f)(double), double support, uint8_t* out) {
  std::vector<double> ex, ey;
  const Taps x = wide_taps(s.w, to.w, f, support, &ex), y = wide_taps(s.h, to.h, f, support, &ey);
  const std::vector<int32_t> fx = fixed(ex), fy = fixed(ey);
  const int64_t n = to.w * s.c;
  std::vector<uint8_t> middle(static_cast<size_t>(s.h * n));
  const auto* data = reinterpret_cast<const uint8_t*>(s.data);
  for (int64_t r = 0; r < s.h; ++r) {
    uint8_t* m = &middle[static_cast<size_t>(r * n)];
    if (s.w == to.w) {  // nothing to do across
      std::memcpy(m, data + r * s.stride, static_cast<size_t>(n));
      continue;
    }
    for (int64_t o = 0; o < to.w; ++o) {
      const uint8_t* p = data + r * s.stride + x.first[o] * s.c;
      for (int64_t k = 0; k < s.c; ++k) {
        int32_t sum = 1 << (kWideBits - 1);
        for (int i = 0; i < x.count[o]; ++i) sum += p[i * s.c + k] * fx[o * x.width + i];
        m[o * s.c + k] = wide_byte(sum);
      }
    }
  }
  if (s.h == to.h) {
    std::memcpy(out, middle.data(), middle.size());
    return;
  }
  std::vector<int32_t> line(static_cast<size_t>(n));
  for (int64_t o = 0; o < to.h; ++o) {
    std::fill(line.begin(), line.end(), 1 << (kWideBits - 1));
    for (int i = 0; i < y.count[o]; ++i) {
      const int32_t w = fy[o * y.width + i];
      const uint8_t* m = &middle[(y.first[o] + i) * n];
      for (int64_t j = 0; j < n; ++j) line[j] += m[j] * w;
    }
    for (int64_t j = 0; j < n; ++j) out[o * n + j] = wide_byte(line[j]);
  }
}

void linear_bytes(const Source& s, Size to, uint8_t* out) {
  const LinearTaps x = linear_taps(s.w, to.w, false), y = linear_taps(s.h, to.h, true);
  const int64_t n = to.w * s.c;
  std::vector<int16_t> rows(static_cast<size_t>(2 * n));
  int16_t* slot[2] = {rows.data(), rows.data() + n};
  int64_t held[2] = {-1, -1};
  const auto* data = reinterpret_cast<const uint8_t*>(s.data);
  const auto load = [&](int64_t r, int other) {  // the slot that holds row r; `other` is kept
    for (int k = 0; k < 2; ++k)
      if (held[k] == r) return k;
    const int k = other == 0 ? 1 : 0;
    if (s.c == 3) {
      resize_row_3(data + r * s.stride, x, s.w, slot[k]);
    } else {
      resize_row(data + r * s.stride, x, s.c, slot[k]);
    }
    held[k] = r;
    return k;
  };
  for (int64_t o = 0; o < to.h; ++o) {
    int u = y.first[o] == held[1] ? 1 : 0;
    if (held[u] != y.first[o]) u = load(y.first[o], y.second[o] == held[0] ? 0 : 1);
    const int l = load(y.second[o], u);
    if (s.c == 3) {
      blend_rows_3(slot[u], slot[l], y.a[o], y.b[o], to.w, out + o * n);
    } else {
      blend_rows(slot[u], slot[l], y.a[o], y.b[o], n, out + o * n);
    }
  }
}

void nearest(const Source& s, Size to, int64_t pixel, char* out) {
  const double sx = 1.0 / (static_cast<double>(to.w) / static_cast<double>(s.w));
  const double sy = 1.0 / (static_cast<double>(to.h) / static_cast<double>(s.h));
  std::vector<int64_t> at(static_cast<size_t>(to.w));
  for (int64_t x = 0; x < to.w; ++x)
    at[x] =
        std::min(static_cast<int64_t>(std::floor(static_cast<double>(x) * sx)), s.w - 1) * pixel;
  for (int64_t y = 0; y < to.h; ++y) {
    const auto r = std::min(static_cast<int64_t>(std::floor(static_cast<double>(y) * sy)), s.h - 1);
    const char* row = s.data + r * s.stride;
    for (int64_t x = 0; x < to.w; ++x, out += pixel)
      std::memcpy(out, row + at[x], static_cast<size_t>(pixel));
  }
}

template <typename T>
void filtered(const Source& s, Size to, Filter filter, T* out) {
  constexpr bool kBytes = std::is_same_v<T, uint8_t>;
  const bool shrinks = to.h <= s.h && to.w <= s.w;
  // OpenCV halves an image by averages, whichever of the two was asked for.
  const bool halves = s.h == 2 * to.h && s.w == 2 * to.w;
  std::vector<double> unused;
  if (filter == Filter::kLanczos || filter == Filter::kPilCubic) {
    const auto f = filter == Filter::kLanczos ? lanczos3 : pil_cubic;
    const double support = filter == Filter::kLanczos ? 3 : 2;
    if constexpr (kBytes) return filter_wide(s, to, f, support, out);
    return filter_float<T>(s, wide_taps(s.w, to.w, f, support, &unused),
                           wide_taps(s.h, to.h, f, support, &unused), to, out);
  }
  if (filter == Filter::kCubic)
    return filter_float<T>(s, cubic_taps(s.w, to.w), cubic_taps(s.h, to.h), to, out);
  if (halves || (filter == Filter::kArea && shrinks)) {
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
    return filter_float<T>(s, area_taps(s.w, to.w), area_taps(s.h, to.h), to, out);
  }
  if (filter == Filter::kArea)
    return filter_float<T>(s, seam_taps(s.w, to.w), seam_taps(s.h, to.h), to, out);
  if constexpr (kBytes) return linear_bytes(s, to, out);
  filter_float<T>(s, linear_float_taps(s.w, to.w), linear_float_taps(s.h, to.h), to, out);
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
