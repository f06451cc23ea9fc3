// Records: smoothing.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/vision/crop.h"
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

template <typename T>
void blur(const T* in, const Extent& e, const std::vector<float>& wx, const std::vector<float>& wy,
          T* out) {
  // `in` has margins of half a window on all sides.
  const auto nx = static_cast<int64_t>(wx.size()), ny = static_cast<int64_t>(wy.size());
  const int64_t wide = (e.w + nx - 1) * e.c, n = e.row();
  std::vector<float> rows(static_cast<size_t>((e.h + ny - 1) * n), 0.F),
      line(static_cast<size_t>(n));
  for (int64_t y = 0; y < e.h + ny - 1; ++y) {
    float* r = &rows[static_cast<size_t>(y * n)];
    for (int64_t i = 0; i < nx; ++i) {
      const T* p = in + y * wide + i * e.c;
      for (int64_t x = 0; x < n; ++x) r[x] += static_cast<float>(p[x]) * wx[i];
    }
  }
  for (int64_t y = 0; y < e.h; ++y) {
    std::fill(line.begin(), line.end(), 0.F);
    for (int64_t i = 0; i < ny; ++i) {
      const float* r = &rows[static_cast<size_t>((y + i) * n)];
      for (int64_t x = 0; x < n; ++x) line[x] += r[x] * wy[i];
    }
    for (int64_t x = 0; x < n; ++x) {
      if constexpr (std::is_same_v<T, uint8_t>) {
        out[y * n + x] = static_cast<uint8_t>(std::clamp(std::floor(line[x] + 0.5F), 0.F, 255.F));
      } else {
        out[y * n + x] = line[x];
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
