#include "insight/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "data/transform.h"
#include "tensor/element.h"

namespace mycel::insight {
namespace {

// The elements as floats, or doubles where floats would not hold them, a block at a time:
// f(numbers, how many).
template <typename F>
void blocks(const Tensor& t, F&& f) {
  constexpr int64_t kBlock = 2048;
  with_real_element(t.dtype(), [&](auto e) {
    using E = decltype(e);
    using Number = std::conditional_t<std::is_same_v<typename E::Number, float>, float, double>;
    const auto* p = static_cast<const typename E::Stored*>(t.raw());
    if constexpr (std::is_same_v<typename E::Stored, Number>) {
      f(p, t.size());
    } else {
      Number block[kBlock];
      for (int64_t at = 0; at < t.size(); at += kBlock) {
        const int64_t n = std::min(kBlock, t.size() - at);
        for (int64_t i = 0; i < n; ++i) block[i] = static_cast<Number>(E::load(p[at + i]));
        f(block, n);
      }
    }
  });
}

// Adds to what is known of the finite numbers; without branches, so that it becomes vector code.
template <typename T>
void measure(const T* v, int64_t n, Measured* m) {
  constexpr T kMost = std::numeric_limits<T>::max();
  T low = kMost, high = -kMost;
  double sum = 0, squares = 0;
  int64_t finite = 0, nan = 0;
#pragma omp simd reduction(min : low) reduction(max : high) reduction(+ : sum, squares, finite, nan)
  for (int64_t i = 0; i < n; ++i) {
    const bool ok = std::abs(v[i]) <= kMost;
    const T x = ok ? v[i] : 0;
    low = std::min(low, ok ? v[i] : kMost);
    high = std::max(high, ok ? v[i] : -kMost);
    sum += static_cast<double>(x);
    squares += static_cast<double>(x) * static_cast<double>(x);
    finite += ok;
    nan += v[i] != v[i];
  }
  Distribution& d = m->distribution;
  if (finite > 0) {
    d.min = std::min(d.min, static_cast<double>(low));
    d.max = std::max(d.max, static_cast<double>(high));
  }
  d.sum += sum;
  d.sum_squares += squares;
  d.count += static_cast<double>(finite);
  m->nan += nan;
  m->inf += n - finite - nan;
}

Measured measured(const Tensor& t) {
  Measured m;
  m.distribution.min = std::numeric_limits<double>::infinity();
  m.distribution.max = -m.distribution.min;
  blocks(t, [&](const auto* v, int64_t n) { measure(v, n, &m); });
  if (m.distribution.count == 0) m.distribution.min = m.distribution.max = 0;
  return m;
}

struct Canvas {
  int64_t channels, rows, columns, h, w;
};

// The range of grey values: what is black and what is white.
std::pair<double, double> range_of(const Tensor& t) {
  if (t.dtype() == DType::kUInt8) return {0, 255};
  const Measured m = measured(t);
  const double low = m.distribution.min, high = m.distribution.max;
  if (m.distribution.count == 0 || (low >= 0 && high <= 1)) return {0, 1};
  if (low == high) return {low - 1, high};
  return {low, high};
}

Tensor canvas_of(const Tensor& t, const Canvas& c) {
  Tensor out = Tensor::zeros(DType::kUInt8, {c.rows * c.h, c.columns * c.w, c.channels});
  uint8_t* pixels = out.mutable_data<uint8_t>().data();
  const auto [low, high] = range_of(t);
  const auto black = static_cast<float>(low), scale = static_cast<float>(255 / (high - low));
  int64_t row = 0, x = 0;  // of all rows of all channels of all images
  uint8_t* to = pixels;
  blocks(t, [&](const auto* v, int64_t n) {
    for (int64_t i = 0; i < n;) {
      if (x == 0) {
        const int64_t image = row / (c.h * c.channels), channel = row / c.h % c.channels;
        const int64_t y = row % c.h + image / c.columns * c.h;
        to = pixels + (y * c.columns * c.w + image % c.columns * c.w) * c.channels + channel;
      }
      const int64_t count = std::min(n - i, c.w - x);
      for (int64_t k = 0; k < count; ++k) {
        const float grey = (static_cast<float>(v[i + k]) - black) * scale;
        // Written so that a NaN becomes 0.
        to[(x + k) * c.channels] =
            static_cast<uint8_t>(grey > 0 ? std::min(grey, 255.0F) + 0.5F : 0);
      }
      i += count;
      x += count;
      if (x == c.w) {
        x = 0;
        ++row;
      }
    }
  });
  return out;
}

}  // namespace

Measured distribution_of(const Tensor& t, int buckets) {
  if (is_complex(t.dtype())) type_error("a distribution is of real numbers, got {}", t.describe());
  MYCEL_CHECK(buckets > 0, "a distribution has buckets");
  Measured m = measured(t);
  Distribution& d = m.distribution;
  if (d.count == 0) return m;
  const double width = d.max / buckets - d.min / buckets;
  if (width <= 0 || !std::isfinite(1 / width)) {
    d.limits = {std::nextafter(d.max, std::numeric_limits<double>::max())};
    d.buckets = {d.count};
    return m;
  }
  for (int i = 1; i < buckets; ++i) d.limits.push_back(d.min + width * i);
  d.limits.push_back(d.max);
  // Four tables: neighbours are often in one bucket, and would wait for each other. The last
  // place is for what is not finite.
  std::vector<int64_t> counts(static_cast<size_t>(buckets + 1) * 4, 0);
  blocks(t, [&](const auto* v, int64_t n) {
    using T = std::remove_cvref_t<decltype(*v)>;
    const T low = static_cast<T>(d.min), scale = static_cast<T>(1 / width);
    const T last = static_cast<T>(buckets) - 1, most = std::numeric_limits<T>::max();
    for (int64_t i = 0; i < n; ++i) {
      const T at = std::clamp((v[i] - low) * scale, T(0), last);
      const int64_t place = std::abs(v[i]) <= most ? static_cast<int64_t>(at) : buckets;
      ++counts[static_cast<size_t>(place * 4 + (i & 3))];
    }
  });
  for (size_t b = 0; b < static_cast<size_t>(buckets); ++b) {
    d.buckets.push_back(static_cast<double>(counts[4 * b] + counts[4 * b + 1] + counts[4 * b + 2] +
                                            counts[4 * b + 3]));
  }
  return m;
}

Picture picture_of(const Tensor& images) {
  if (images.rank() != 4 || (images.dim(1) != 1 && images.dim(1) != 3) || images.size() == 0 ||
      is_complex(images.dtype())) {
    value_error("an image has the shape [n, c, h, w] with c = 1 or 3, got {}", images.describe());
  }
  const int64_t n = images.dim(0), columns = std::min<int64_t>(n, 8);
  const Canvas c{images.dim(1), (n + columns - 1) / columns, columns, images.dim(2), images.dim(3)};
  static const data::TransformPtr kEncode =
      data::make_transform("vision.encode_png", {{"compression_level", int64_t{1}}});
  data::Row row = {canvas_of(images, c)};
  Philox draw(0, 0);
  kEncode->run(&row, draw);
  auto bytes = row[0].tensor().data<uint8_t>();
  return {c.rows * c.h, c.columns * c.w, static_cast<int>(c.channels),
          std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
}

}  // namespace mycel::insight
