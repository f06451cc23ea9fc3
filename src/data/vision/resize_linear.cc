// The linear filter on bytes, in fixed point: weights of 11 bits, rows kept at 15 bits, so that a
// blend of two rows is two 16-bit multiplications that keep the upper half.
#include <algorithm>
#include <cmath>
#include <cstring>

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

#if defined(__x86_64__) && defined(__GNUC__)
// Eight outputs at a time: the two pixels of each are fetched as four bytes, of which the fourth
// belongs to a neighbour; where there is none, at the end of a row, this returns.
__attribute__((target("avx2"))) int64_t resize_row_3_avx2(const uint8_t* row,
                                                          const LinearTaps& taps, int64_t from,
                                                          int16_t* out) {
  const auto n = static_cast<int64_t>(taps.first.size());
  const auto* base = reinterpret_cast<const int*>(row);
  const __m256i byte = _mm256_set1_epi32(0xFF), upper = _mm256_set1_epi32(0xFF0000);
  const __m256i three = _mm256_set1_epi32(3);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    if (std::max(taps.second[i], taps.second[i + 7]) >= from - 1) break;
    const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&taps.first[i]));
    const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&taps.second[i]));
    const __m256i p = _mm256_i32gather_epi32(base, _mm256_mullo_epi32(first, three), 1);
    const __m256i q = _mm256_i32gather_epi32(base, _mm256_mullo_epi32(second, three), 1);
    const __m256i weights = _mm256_or_si256(
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&taps.a[i]))),
        _mm256_slli_epi32(
            _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&taps.b[i]))),
            16));
    const __m256i pairs[3] = {_mm256_or_si256(_mm256_and_si256(p, byte),
                                              _mm256_slli_epi32(_mm256_and_si256(q, byte), 16)),
                              _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi32(p, 8), byte),
                                              _mm256_and_si256(_mm256_slli_epi32(q, 8), upper)),
                              _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi32(p, 16), byte),
                                              _mm256_and_si256(q, upper))};
    for (int k = 0; k < 3; ++k) {
      const __m256i sum = _mm256_srai_epi32(_mm256_madd_epi16(pairs[k], weights), 4);
      const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(sum, sum), 0x08);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + k * n + i), _mm256_castsi256_si128(packed));
    }
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
  for (; i < n; ++i) {
    const uint8_t *p = row + 3 * taps.first[i], *q = row + 3 * taps.second[i];
    for (int k = 0; k < 3; ++k)
      out[k * n + i] = static_cast<int16_t>((p[k] * taps.a[i] + q[k] * taps.b[i]) >> 4);
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

}  // namespace mycel::data::vision
