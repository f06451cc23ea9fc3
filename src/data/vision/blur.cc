// Records: smoothing.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/vision/crop.h"
#include "data/vision/pixel.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {
namespace {

// The weights of a Gaussian over `n` (odd) pixels; sigma 0: from n.
std::vector<float> gaussian(int64_t n, double sigma) {
  if (sigma <= 0) sigma = (static_cast<double>(n - 1) * 0.5 - 1) * 0.3 + 0.8;
  std::vector<double> w(static_cast<size_t>(n));
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) - static_cast<double>(n - 1) / 2;
    sum += w[i] = std::exp(-x * x / (2 * sigma * sigma));
  }
  std::vector<float> out;
  for (const double v : w) out.push_back(static_cast<float>(v / sum));
  return out;
}

// sum of n inputs, `step` apart, each times a weight.
template <typename T>
__attribute__((always_inline)) inline void weigh(const T* in, int64_t step, const float* weight,
                                                 int64_t taps, int64_t n, float* out) {
  const auto all = [&](auto count) __attribute__((always_inline)) {
    const int64_t k = count ? int64_t{count} : taps;
    for (int64_t x = 0; x < n; ++x) {
      float sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += static_cast<float>(in[x + i * step]) * weight[i];
      out[x] = sum;
    }
  };
  if (taps == 3) return all(std::integral_constant<int, 3>{});
  if (taps == 5) return all(std::integral_constant<int, 5>{});
  if (taps == 7) return all(std::integral_constant<int, 7>{});
  std::fill_n(out, n, 0.F);
  for (int64_t i = 0; i < taps; ++i)
    for (int64_t x = 0; x < n; ++x) out[x] += static_cast<float>(in[x + i * step]) * weight[i];
}
MYCEL_FOR_EACH_CPU
void weigh_columns(const uint8_t* in, int64_t step, const float* weight, int64_t taps, int64_t n,
                   float* out) {
  weigh(in, step, weight, taps, n, out);
}
MYCEL_FOR_EACH_CPU
void weigh_columns(const float* in, int64_t step, const float* weight, int64_t taps, int64_t n,
                   float* out) {
  weigh(in, step, weight, taps, n, out);
}
MYCEL_FOR_EACH_CPU
void round_up_halves(const float* in, int64_t n, uint8_t* out) {
  for (int64_t x = 0; x < n; ++x)
    out[x] = static_cast<uint8_t>(static_cast<int>(std::min(in[x], 254.75F) + 0.5F));
}

template <typename T>
void blur(const T* in, const Extent& e, const std::vector<float>& wx, const std::vector<float>& wy,
          T* out) {
  // `in` has margins of half a window on all sides. A block holds rows that are done across, each
  // once; a window moves down it.
  const auto nx = static_cast<int64_t>(wx.size()), ny = static_cast<int64_t>(wy.size());
  const int64_t wide = (e.w + nx - 1) * e.c, n = e.row();
  const int64_t block = std::min(e.h, 2 * ny + 8);
  std::vector<float> rows(static_cast<size_t>((block + ny - 1) * n)), line(static_cast<size_t>(n));
  for (int64_t top = 0; top < e.h; top += block) {
    const int64_t count = std::min(block, e.h - top);
    for (int64_t y = 0; y < count + ny - 1; ++y)
      weigh_columns(in + (top + y) * wide, e.c, wx.data(), nx, n, &rows[y * n]);
    for (int64_t y = 0; y < count; ++y) {
      if constexpr (std::is_same_v<T, uint8_t>) {
        weigh_columns(&rows[y * n], n, wy.data(), ny, n, line.data());
        round_up_halves(line.data(), n, out + (top + y) * n);
      } else {
        weigh_columns(&rows[y * n], n, wy.data(), ny, n, out + (top + y) * n);
      }
    }
  }
}

const TransformDef kGaussianBlur{
    .name = "vision.GaussianBlur",
    .doc =
        "Smoothed by a Gaussian over kernel_size pixels (width, height), odd numbers, of the "
        "deviation sigma (width, height), by default 0.3 ((n - 1) / 2 - 1) + 0.8; the border is "
        "mirrored. uint8 or float32.",
    .args = {"kernel_size: ints", "sigma: numbers? = None"},
    .make =
        [](const Options& o) {
          const std::vector<int64_t> n = o.ints("kernel_size");
          const std::vector<double> s = o.none("sigma") ? std::vector<double>{0} : o.reals("sigma");
          if (n.empty() || n.size() > 2 || std::any_of(n.begin(), n.end(), [](int64_t v) {
                return v < 1 || v % 2 == 0 || v > 4095;
              }))
            o.fail("kernel_size", "must be one or two odd ints in [1, 4095], got {}",
                   o["kernel_size"].str());
          if (s.empty() || s.size() > 2 ||
              std::any_of(s.begin(), s.end(), [](double v) { return !(v >= 0 && v < 1e6); }))
            o.fail("sigma", "must be one or two numbers that are not negative, got {}",
                   o["sigma"].str());
          return image_transform(
              [wx = gaussian(n[0], s[0]), wy = gaussian(n.back(), s.back())](const Tensor& t) {
                const Extent e = extent_of(t);
                const auto x = static_cast<int64_t>(wx.size() / 2),
                           y = static_cast<int64_t>(wy.size() / 2);
                const Tensor wide = pad(t, {x, y, x, y}, Border::kReflect, {});
                Tensor out = Tensor::empty(t.dtype(), t.shape());
                if (t.dtype() == DType::kUInt8) {
                  blur(bytes_of(wide), e, wx, wy, static_cast<uint8_t*>(out.mutable_raw()));
                } else if (t.dtype() == DType::kFloat32) {
                  blur(wide.data<float>().data(), e, wx, wy, out.mutable_data<float>().data());
                } else {
                  type_error("expected an image of uint8 or float32, got {}", t.describe());
                }
                return out;
              });
        },
};

}  // namespace

TransformDefs blur_transforms() { return {&kGaussianBlur}; }

}  // namespace mycel::data::vision
