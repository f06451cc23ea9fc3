// The linear filter on bytes, in fixed point: weights of 11 bits, rows kept at 15 bits, so that a
// blend of two rows is two 16-bit multiplications that keep the upper half.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "data/vision/filter.h"
#include "data/vision/pixel.h"
#include "data/vision/resize.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mycel::data::vision {

LinearTaps linear_taps(int64_t from, int64_t to, bool rows) {
  return linear_taps(Span{0, static_cast<double>(from), from}, to, rows);
}

LinearTaps linear_taps(const Span& span, int64_t to, bool rows) {
  const int64_t from = span.there;
  LinearTaps t;
  t.first.resize(to), t.second.resize(to), t.a.resize(to), t.b.resize(to);
  const double scale = 1.0 / (static_cast<double>(to) / span.extent);
  for (int64_t o = 0; o < to; ++o) {
    auto x = static_cast<float>((static_cast<double>(o) + 0.5) * scale - 0.5 + span.begin);
    auto i = static_cast<int64_t>(std::floor(x));
    x -= static_cast<float>(i);
    if (!rows && (i < 0 || i >= from - 1)) {  // a column at the border is that column alone
      i = i < 0 ? 0 : from - 1;
      x = 0;
    }
    t.first[o] = static_cast<int32_t>(std::clamp<int64_t>(i, 0, from - 1));
    t.second[o] = static_cast<int32_t>(std::clamp<int64_t>(i + 1, 0, from - 1));
    t.a[o] = static_cast<int16_t>(std::lrint((1.F - x) * 2048.F));
    t.b[o] = static_cast<int16_t>(std::lrint(x * 2048.F));
  }
  return t;
}

namespace {

// One output.
void resize_pixel_3(const uint8_t* row, const LinearTaps& taps, int64_t i, int64_t n,
                    int16_t* out) {
  const uint8_t *p = row + 3 * taps.first[i], *q = row + 3 * taps.second[i];
  for (int64_t k = 0; k < 3; ++k)
    out[k * n + i] = static_cast<int16_t>((p[k] * taps.a[i] + q[k] * taps.b[i]) >> 4);
}

#if defined(__x86_64__) && defined(__GNUC__)
// Eight outputs at a time, each from eight bytes of which six count: its two pixels. Outputs of one
// pixel, at the border, have a second weight of 0. Loads of their own are several times as fast as
// a gather on processors that guard it. Where eight bytes would leave the row, one by one.
__attribute__((target("avx2"))) int64_t resize_row_3_avx2(const uint8_t* row,
                                                          const LinearTaps& taps, int64_t from,
                                                          int16_t* out) {
  const auto n = static_cast<int64_t>(taps.first.size());
  const __m256i red_green =
      _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 8, -1, 11, -1, 9, -1, 12, -1,  //
                       0, -1, 3, -1, 1, -1, 4, -1, 8, -1, 11, -1, 9, -1, 12, -1);
  const __m256i blue =
      _mm256_setr_epi8(2, -1, 5, -1, -1, -1, -1, -1, 10, -1, 13, -1, -1, -1, -1, -1,  //
                       2, -1, 5, -1, -1, -1, -1, -1, 10, -1, 13, -1, -1, -1, -1, -1);
  const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
  const __m256i in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    if (std::max(taps.first[i], taps.first[i + 7]) > from - 3) {
      for (int64_t j = i; j < i + 8; ++j) resize_pixel_3(row, taps, j, n, out);
      continue;
    }
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&taps.a[i]));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&taps.b[i]));
    const __m128i weights[2] = {_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)};
    __m256 rg[2], bb[2];
    for (int64_t k = 0; k < 2; ++k) {
      int64_t at[4];
      for (int64_t j = 0; j < 4; ++j)
        std::memcpy(&at[j], row + 3 * taps.first[i + 4 * k + j], sizeof at[j]);
      const __m256i pixels = _mm256_setr_epi64x(at[0], at[1], at[2], at[3]);
      const __m256i w = _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(weights[k]), twice);
      rg[k] = _mm256_castsi256_ps(_mm256_madd_epi16(_mm256_shuffle_epi8(pixels, red_green), w));
      bb[k] = _mm256_castsi256_ps(_mm256_madd_epi16(_mm256_shuffle_epi8(pixels, blue), w));
    }
    // Colours together: red, green, blue of 0 1 4 5 | 2 3 6 7.
    __m256i sums[3] = {_mm256_castps_si256(_mm256_shuffle_ps(rg[0], rg[1], 0x88)),
                       _mm256_castps_si256(_mm256_shuffle_ps(rg[0], rg[1], 0xDD)),
                       _mm256_castps_si256(_mm256_shuffle_ps(bb[0], bb[1], 0x88))};
    for (__m256i& sum : sums) sum = _mm256_srai_epi32(sum, 4);
    const __m256i two = _mm256_permutevar8x32_epi32(_mm256_packs_epi32(sums[0], sums[1]), in_order);
    const __m256i third =
        _mm256_permutevar8x32_epi32(_mm256_packs_epi32(sums[2], sums[2]), in_order);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_castsi256_si128(two));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + n + i), _mm256_extracti128_si256(two, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * n + i), _mm256_castsi256_si128(third));
  }
  return i;
}
const bool kHasAvx2 = __builtin_cpu_supports("avx2");
#endif

}  // namespace

void resize_row_3(const uint8_t* row, const LinearTaps& taps, int64_t from, int16_t* out) {
  const auto n = static_cast<int64_t>(taps.first.size());
  int64_t i = 0;
#if defined(__x86_64__) && defined(__GNUC__)
  if (kHasAvx2) i = resize_row_3_avx2(row, taps, from, out);
#endif
  for (; i < n; ++i) resize_pixel_3(row, taps, i, n, out);
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
void blend_rows_3(const int16_t* __restrict upper, const int16_t* __restrict lower, int16_t a,
                  int16_t b, int64_t n, uint8_t* __restrict out) {
  const auto blended = [&](int64_t i) {
    const auto u = static_cast<int16_t>((upper[i] * a) >> 16);
    const auto l = static_cast<int16_t>((lower[i] * b) >> 16);
    const auto v = static_cast<int16_t>((u + l + 2) >> 2);
    return static_cast<uint8_t>(std::clamp<int16_t>(v, 0, 255));
  };
  for (int64_t i = 0; i < n; ++i) {
    out[3 * i] = blended(i);
    out[3 * i + 1] = blended(n + i);
    out[3 * i + 2] = blended(2 * n + i);
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

}  // namespace mycel::data::vision
