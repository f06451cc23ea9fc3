#include "data/vision/warp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "base/error.h"
#include "data/vision/pixel.h"

namespace mycel::data::vision {
namespace {

constexpr int kSteps = 32;  // parts of a pixel

// Rounded to the nearest even int, clipped.
int whole(double v) {
  constexpr double kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::nearbyint(std::clamp(v, -kMost, kMost)));
}

// The weights of 1/32 steps: four of the cubic, or two of the linear filter.
struct Weights {
  float cubic[kSteps][4];
  Weights() {
    constexpr float kA = -0.75F;
    for (int i = 0; i < kSteps; ++i) {
      const float x = static_cast<float>(i) / kSteps;
      float* w = cubic[i];
      w[0] = ((kA * (x + 1) - 5 * kA) * (x + 1) + 8 * kA) * (x + 1) - 4 * kA;
      w[1] = ((kA + 2) * x - (kA + 3)) * x * x + 1;
      w[2] = ((kA + 2) * (1 - x) - (kA + 3)) * (1 - x) * (1 - x) + 1;
      w[3] = 1.F - w[0] - w[1] - w[2];
    }
  }
};
const Weights& weights() {
  static const Weights w;
  return w;
}

// C: the channels, 0 when they are known only at run time.
template <typename T, int C>
struct Sampler {
  const T* data;
  int64_t h, w, channels;
  const uint8_t* fill;

  int64_t c() const { return C ? C : channels; }
  bool inside(int64_t x, int64_t y) const { return x >= 0 && y >= 0 && x < w && y < h; }
  const T* pixel(int64_t x, int64_t y) const { return data + (y * w + x) * c(); }
  T at(int64_t x, int64_t y, int64_t k) const {
    return inside(x, y) ? pixel(x, y)[k] : static_cast<T>(fill[k]);
  }
  void nearest(int64_t x, int64_t y, T* out) const {
    if (inside(x, y)) {
      const T* p = pixel(x, y);
      for (int64_t k = 0; k < c(); ++k) out[k] = p[k];
    } else {
      for (int64_t k = 0; k < c(); ++k) out[k] = static_cast<T>(fill[k]);
    }
  }
  // x, y in 1/32 of a pixel.
  void linear(int64_t x, int64_t y, T* out) const {
    const int64_t ix = x >> 5, iy = y >> 5;
    const auto fx = static_cast<int>(x & 31), fy = static_cast<int>(y & 31);
    if (ix >= 0 && iy >= 0 && ix + 1 < w && iy + 1 < h) {
      const T *p = pixel(ix, iy), *q = p + w * c();
      for (int64_t k = 0; k < c(); ++k) out[k] = mixed(p[k], p[c() + k], q[k], q[c() + k], fx, fy);
      return;
    }
    for (int64_t k = 0; k < c(); ++k)
      out[k] =
          mixed(at(ix, iy, k), at(ix + 1, iy, k), at(ix, iy + 1, k), at(ix + 1, iy + 1, k), fx, fy);
  }
  static T mixed(T a, T b, T c, T d, int fx, int fy) {
    if constexpr (std::is_same_v<T, uint8_t>) {
      const int upper = a * (kSteps - fx) + b * fx, lower = c * (kSteps - fx) + d * fx;
      return static_cast<uint8_t>((upper * (kSteps - fy) + lower * fy + 512) >> 10);
    } else {
      const float ax = static_cast<float>(fx) / kSteps, ay = static_cast<float>(fy) / kSteps;
      return element_of<T>(
          static_cast<float>(a) * ((1 - ay) * (1 - ax)) + static_cast<float>(b) * ((1 - ay) * ax) +
          static_cast<float>(c) * (ay * (1 - ax)) + static_cast<float>(d) * (ay * ax));
    }
  }
  void cubic(int64_t x, int64_t y, T* out) const {
    const int64_t ix = (x >> 5) - 1, iy = (y >> 5) - 1;
    const float *wx = weights().cubic[x & 31], *wy = weights().cubic[y & 31];
    const bool within = ix >= 0 && iy >= 0 && ix + 3 < w && iy + 3 < h;
    float sum[4] = {};  // at most four channels
    for (int j = 0; j < 4; ++j) {
      float row[4] = {};
      for (int i = 0; i < 4; ++i) {
        if (within) {
          const T* p = pixel(ix + i, iy + j);
          for (int64_t k = 0; k < c(); ++k) row[k] += static_cast<float>(p[k]) * wx[i];
        } else {
          for (int64_t k = 0; k < c(); ++k)
            row[k] += static_cast<float>(at(ix + i, iy + j, k)) * wx[i];
        }
      }
      for (int64_t k = 0; k < c(); ++k) sum[k] += row[k] * wy[j];
    }
    for (int64_t k = 0; k < c(); ++k) out[k] = element_of<T>(sum[k]);
  }
};

enum class Kind : uint8_t { kNearest, kLinear, kCubic };
Kind kind_of(Filter f) {
  if (f == Filter::kNearest) return Kind::kNearest;
  return f == Filter::kLinear || f == Filter::kArea ? Kind::kLinear : Kind::kCubic;
}

// `row(y)` gives place(x): where output (x, y) is read, in pixels for nearest, in 1/32 for the
// others.
template <typename Sampler, typename T, typename RowOf>
void sample(const Sampler& s, Size to, Kind kind, RowOf&& row, T* out) {
  const int64_t c = s.c();
  for (int64_t y = 0; y < to.h; ++y) {
    const auto place = row(y);
    const auto run = [&](auto&& put) {
      for (int64_t x = 0; x < to.w; ++x, out += c) {
        const auto [px, py] = place(x);
        put(px, py);
      }
    };
    if (kind == Kind::kNearest) {
      run([&](int64_t px, int64_t py) { s.nearest(px, py, out); });
    } else if (kind == Kind::kLinear) {
      run([&](int64_t px, int64_t py) { s.linear(px, py, out); });
    } else {
      run([&](int64_t px, int64_t py) { s.cubic(px, py, out); });
    }
  }
}

template <typename RowOf>
Tensor moved(const Tensor& image, Size to, Kind kind, const Fill& fill, RowOf&& row) {
  const Extent e = extent_of(image);
  if (e.c > 4) value_error("expected an image with at most 4 channels, got {}", image.describe());
  Tensor out = image_like(e, image.dtype(), to.h, to.w);
  const auto run = [&](auto number) {
    using T = decltype(number);
    const auto with = [&](auto channels) {
      const Sampler<T, decltype(channels)::value> s{static_cast<const T*>(image.raw()), e.h, e.w,
                                                    e.c, fill.value};
      sample(s, to, kind, row, static_cast<T*>(out.mutable_raw()));
    };
    if (e.c == 3 && std::is_same_v<T, uint8_t>) return with(std::integral_constant<int, 3>{});
    with(std::integral_constant<int, 0>{});
  };
  switch (image.dtype()) {
    case DType::kUInt8:
      run(uint8_t{});
      break;
    case DType::kInt16:
      run(int16_t{});
      break;
    case DType::kUInt16:
      run(uint16_t{});
      break;
    case DType::kFloat32:
      run(float{});
      break;
    case DType::kFloat64:
      run(double{});
      break;
    default:
      type_error("expected an image of uint8, int16, uint16, float32 or float64, got {}",
                 image.describe());
  }
  return out;
}

struct Place {
  int64_t x, y;
};

LinearMap inverse(const LinearMap& m) {
  double d = m[0] * m[4] - m[1] * m[3];
  d = d != 0 ? 1 / d : 0;
  LinearMap i{m[4] * d, -m[1] * d, 0, -m[3] * d, m[0] * d, 0};
  i[2] = -i[0] * m[2] - i[1] * m[5];
  i[5] = -i[3] * m[2] - i[4] * m[5];
  return i;
}

Projection inverse(const Projection& m) {
  Projection i{m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
               m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
               m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
  const double d = m[0] * i[0] + m[1] * i[3] + m[2] * i[6];
  for (double& v : i) v /= d;
  return i;
}

}  // namespace

Tensor warp(const Tensor& image, const LinearMap& map, Size to, Filter filter, const Fill& fill) {
  // Places along a row and down the columns are rounded to 1/1024 each, then added.
  const LinearMap m = inverse(map);
  const Kind kind = kind_of(filter);
  std::vector<int64_t> ax(static_cast<size_t>(to.w)), ay(static_cast<size_t>(to.w));
  for (int64_t x = 0; x < to.w; ++x) {
    ax[x] = whole(m[0] * static_cast<double>(x) * 1024);
    ay[x] = whole(m[3] * static_cast<double>(x) * 1024);
  }
  const int shift = kind == Kind::kNearest ? 10 : 5, half = 1 << (shift - 1);
  return moved(image, to, kind, fill, [&](int64_t y) {
    const auto v = static_cast<double>(y);
    const int64_t bx = whole((m[1] * v + m[2]) * 1024) + half;
    const int64_t by = whole((m[4] * v + m[5]) * 1024) + half;
    return [&ax, &ay, bx, by, shift](int64_t x) {
      return Place{(bx + ax[x]) >> shift, (by + ay[x]) >> shift};
    };
  });
}

Tensor warp(const Tensor& image, const Projection& map, Size to, Filter filter, const Fill& fill) {
  const Projection m = inverse(map);
  const Kind kind = kind_of(filter);
  const double steps = kind == Kind::kNearest ? 1 : kSteps;
  return moved(image, to, kind, fill, [&](int64_t y) {
    const auto v = static_cast<double>(y);
    return [&m, v, steps](int64_t x) {
      const auto u = static_cast<double>(x);
      double w = m[6] * u + m[7] * v + m[8];
      w = w != 0 ? steps / w : 0;
      return Place{whole((m[0] * u + m[1] * v + m[2]) * w),
                   whole((m[3] * u + m[4] * v + m[5]) * w)};
    };
  });
}

LinearMap affine_map(int64_t h, int64_t w, double degrees, double shift_x, double shift_y,
                     double scale, double shear_x, double shear_y) {
  constexpr double kRadians = std::numbers::pi / 180;
  const double turn = degrees * kRadians, sx = shear_x * kRadians, sy = shear_y * kRadians;
  const double cx = static_cast<double>(w - 1) / 2, cy = static_cast<double>(h - 1) / 2;
  LinearMap m{scale * (std::cos(turn - sy) / std::cos(sy)),
              scale * (-std::cos(turn - sy) * std::tan(sx) / std::cos(sy) - std::sin(turn)),
              0,
              scale * (std::sin(turn - sy) / std::cos(sy)),
              scale * (-std::sin(turn - sy) * std::tan(sx) / std::cos(sy) + std::cos(turn)),
              0};
  m[2] = (1 - m[0]) * cx - m[1] * cy + shift_x;
  m[5] = (1 - m[4]) * cy - m[3] * cx + shift_y;
  return m;
}

Tensor rotate(const Tensor& image, const Rotation& r, Filter filter, const Fill& fill) {
  const Extent e = extent_of(image);
  const bool given = !r.center.empty();
  const auto cx = static_cast<float>(given ? r.center[0] : static_cast<double>(e.w - 1) / 2);
  const auto cy = static_cast<float>(given ? r.center[1] : static_cast<double>(e.h - 1) / 2);
  const double angle = static_cast<float>(r.degrees) * (std::numbers::pi / 180);
  const double c = std::cos(angle), s = std::sin(angle);
  LinearMap m{c, s, (1 - c) * cx - s * cy, -s, c, s * cx + (1 - c) * cy};
  if (!r.expand) return warp(image, m, {e.h, e.w}, filter, fill);
  const auto hw = static_cast<double>(e.w), hh = static_cast<double>(e.h);
  const double w = std::abs(c) * hw + std::abs(s) * hh, h = std::abs(s) * hw + std::abs(c) * hh;
  m[2] += w / 2 - hw / 2;
  m[5] += h / 2 - hh / 2;
  const auto side = [](double v) {
    return std::max<int64_t>(1, static_cast<int64_t>(std::nearbyint(static_cast<float>(v))));
  };
  return warp(image, m, {side(h), side(w)}, filter, fill);
}

Projection projection(const Quad& from, const Quad& to) {
  // Eight equations for eight coefficients, the ninth is 1; elimination with pivots.
  double a[8][9];
  for (int i = 0; i < 4; ++i) {
    const double x = from[i][0], y = from[i][1], u = to[i][0], v = to[i][1];
    const double first[9] = {x, y, 1, 0, 0, 0, -x * u, -y * u, u};
    const double second[9] = {0, 0, 0, x, y, 1, -x * v, -y * v, v};
    std::copy_n(first, 9, a[i]);
    std::copy_n(second, 9, a[i + 4]);
  }
  for (int k = 0; k < 8; ++k) {
    int pivot = k;
    for (int i = k + 1; i < 8; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    if (std::abs(a[pivot][k]) < 1e-12)
      value_error("no projection takes the four points to the others: three lie on a line");
    std::swap(a[k], a[pivot]);
    for (int i = 0; i < 8; ++i) {
      if (i == k) continue;
      const double f = a[i][k] / a[k][k];
      for (int j = k; j < 9; ++j) a[i][j] -= f * a[k][j];
    }
  }
  Projection m;
  for (int k = 0; k < 8; ++k) m[k] = a[k][8] / a[k][k];
  m[8] = 1;
  return m;
}

}  // namespace mycel::data::vision
