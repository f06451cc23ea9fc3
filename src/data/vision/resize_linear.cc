// The linear filter on bytes, in fixed point: weights of 11 bits, rows kept at 15 bits, so that a
// blend of two rows is two 16-bit multiplications that keep the upper half.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "data/vision/resize.h"

#define MYCEL_FOR_EACH_CPU \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#if !defined(__x86_64__) || defined(__clang__) || defined(__SANITIZE_ADDRESS__) || \
    defined(__SANITIZE_THREAD__)
#undef MYCEL_FOR_EACH_CPU
#define MYCEL_FOR_EACH_CPU
#endif

namespace mycel::data::vision {

LinearTaps linear_taps(int64_t from, int64_t to, bool rows, bool flip) {
  LinearTaps t;
  t.first.resize(to), t.second.resize(to), t.a.resize(to), t.b.resize(to);
  const double scale = 1.0 / (static_cast<double>(to) / static_cast<double>(from));
  for (int64_t o = 0; o < to; ++o) {
    auto x = static_cast<float>((static_cast<double>(o) + 0.5) * scale - 0.5);
    auto i = static_cast<int64_t>(std::floor(x));
    x -= static_cast<float>(i);
    if (!rows && (i < 0 || i >= from - 1)) {  // a column at the border is that column alone
      i = i < 0 ? 0 : from - 1;
      x = 0;
    }
    const int64_t at = flip ? to - 1 - o : o;
    t.first[at] = static_cast<int32_t>(std::clamp<int64_t>(i, 0, from - 1));
    t.second[at] = static_cast<int32_t>(std::clamp<int64_t>(i + 1, 0, from - 1));
    t.a[at] = static_cast<int16_t>(std::lrint((1.F - x) * 2048.F));
    t.b[at] = static_cast<int16_t>(std::lrint(x * 2048.F));
  }
  return t;
}

MYCEL_FOR_EACH_CPU
void resize_row_3(const uint8_t* row, const LinearTaps& taps, int64_t from, int16_t* out) {
  const auto n = static_cast<int64_t>(taps.first.size());
  const int32_t *first = taps.first.data(), *second = taps.second.data();
  const int16_t *a = taps.a.data(), *b = taps.b.data();
  (void)from;
  int16_t *r = out, *g = out + n, *bl = out + 2 * n;
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t *p = row + 3 * first[i], *q = row + 3 * second[i];
    r[i] = static_cast<int16_t>((p[0] * a[i] + q[0] * b[i]) >> 4);
    g[i] = static_cast<int16_t>((p[1] * a[i] + q[1] * b[i]) >> 4);
    bl[i] = static_cast<int16_t>((p[2] * a[i] + q[2] * b[i]) >> 4);
  }
}

void resize_row(const uint8_t* row, const LinearTaps& taps, int64_t c, int16_t* out) {
  const auto n = static_cast<int64_t>(taps.first.size());
  const auto run = [&](auto channels) {
    const int64_t k = channels ? int64_t{channels} : c;
    for (int64_t i = 0; i < n; ++i) {
      const uint8_t *p = row + k * taps.first[i], *q = row + k * taps.second[i];
      const int a = taps.a[i], b = taps.b[i];
      for (int64_t j = 0; j < k; ++j)
        out[i * k + j] = static_cast<int16_t>((p[j] * a + q[j] * b) >> 4);
    }
  };
  if (c == 1) return run(std::integral_constant<int, 1>{});
  if (c == 3) return run(std::integral_constant<int, 3>{});
  if (c == 4) return run(std::integral_constant<int, 4>{});
  run(std::integral_constant<int, 0>{});
}

MYCEL_FOR_EACH_CPU
void blend_rows(const int16_t* upper, const int16_t* lower, int16_t a, int16_t b, int64_t n,
                uint8_t* out) {
  for (int64_t i = 0; i < n; ++i) {
    const auto u = static_cast<int16_t>((upper[i] * a) >> 16);
    const auto l = static_cast<int16_t>((lower[i] * b) >> 16);
    const auto v = static_cast<int16_t>((u + l + 2) >> 2);
    out[i] = static_cast<uint8_t>(std::clamp<int16_t>(v, 0, 255));
  }
}

MYCEL_FOR_EACH_CPU
void blend_rows(const int16_t* upper, const int16_t* lower, int16_t a, int16_t b, int64_t n,
                float scale, float shift, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    const auto u = static_cast<int16_t>((upper[i] * a) >> 16);
    const auto l = static_cast<int16_t>((lower[i] * b) >> 16);
    const auto v = static_cast<int16_t>((u + l + 2) >> 2);
    out[i] = static_cast<float>(std::clamp<int16_t>(v, 0, 255)) * scale + shift;
  }
}

}  // namespace mycel::data::vision
