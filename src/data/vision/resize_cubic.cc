// The cubic filter on bytes: source rows are filtered across when the first output needs them, and
// four of them are blended. Pixels of three channels are kept as four, so that vectors hold whole
// pixels.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "data/vision/filter.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mycel::data::vision {
namespace {

constexpr int kBits = 11;                // of a weight
constexpr int kCut = 5;                  // bits dropped behind the first pass
constexpr int kRest = 2 * kBits - kCut;  // to be dropped behind the second

std::vector<int16_t> fixed(const Taps& t) {
  std::vector<int16_t> f;
  for (const float w : t.weight) f.push_back(static_cast<int16_t>(std::lrint(w * (1 << kBits))));
  return f;
}

struct Across {
  const Taps& x;
  std::vector<int16_t> weight;
  int64_t w, c, kept;  // width of the source, channels of it and of a kept row
};

// Output o, inputs beyond the border being the border's.
void across_one(const uint8_t* row, const Across& f, int64_t o, int16_t* out) {
  for (int64_t k = 0; k < f.c; ++k) {
    int sum = 1 << (kCut - 1);
    for (int64_t i = 0; i < 4; ++i)
      sum += row[std::clamp<int64_t>(f.x.first[o] + i, 0, f.w - 1) * f.c + k] * f.weight[4 * o + i];
    out[o * f.kept + k] = static_cast<int16_t>(sum >> kCut);
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
const bool kHasAvx2 = __builtin_cpu_supports("avx2");

// Outputs [begin, end) of pixels of three channels, four at a time, each from sixteen bytes that
// lie inside of the row; gives where it stopped.
__attribute__((target("avx2"))) int64_t across_3_avx2(const uint8_t* row, const Across& f,
                                                      int64_t begin, int64_t end, int16_t* out) {
  const __m256i red_green =
      _mm256_setr_epi8(0, -1, 3, -1, 6, -1, 9, -1, 1, -1, 4, -1, 7, -1, 10, -1,  //
                       0, -1, 3, -1, 6, -1, 9, -1, 1, -1, 4, -1, 7, -1, 10, -1);
  const __m256i blue =
      _mm256_setr_epi8(2, -1, 5, -1, 8, -1, 11, -1, -1, -1, -1, -1, -1, -1, -1, -1,  //
                       2, -1, 5, -1, 8, -1, 11, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i half = _mm256_set1_epi32(1 << (kCut - 1));
  const int64_t* first = f.x.first.data();
  int64_t o = begin;
  for (; o + 4 <= end; o += 4) {
    __m256i two[2];
    for (int64_t k = 0; k < 2; ++k) {
      const int64_t p = o + 2 * k;
      const __m256i pixels = _mm256_inserti128_si256(
          _mm256_castsi128_si256(
              _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + 3 * first[p]))),
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + 3 * first[p + 1])), 1);
      const __m256i w = _mm256_permute4x64_epi64(
          _mm256_castsi128_si256(
              _mm_loadu_si128(reinterpret_cast<const __m128i*>(&f.weight[4 * p]))),
          0x50);
      const __m256i sum =
          _mm256_hadd_epi32(_mm256_madd_epi16(_mm256_shuffle_epi8(pixels, red_green), w),
                            _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, blue), w));
      two[k] = _mm256_srai_epi32(_mm256_add_epi32(sum, half), kCut);
    }
    const __m256i four = _mm256_permute4x64_epi64(_mm256_packs_epi32(two[0], two[1]), 0xD8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 4 * o), four);
  }
  return o;
}
#endif

void across(const uint8_t* row, const Across& f, int16_t* out) {
  const auto n = static_cast<int64_t>(f.x.first.size());
  int64_t o = 0;
#if defined(__x86_64__) && defined(__GNUC__)
  if (kHasAvx2 && f.c == 3) {
    const std::vector<int64_t>& first = f.x.first;  // it rises
    const auto begin = std::lower_bound(first.begin(), first.end(), 0) - first.begin();
    const auto end = std::upper_bound(first.begin(), first.end(), f.w - 6) - first.begin();
    for (; o < begin; ++o) across_one(row, f, o, out);
    o = across_3_avx2(row, f, o, end, out);
  }
#endif
  for (; o < n; ++o) across_one(row, f, o, out);
}

#if defined(__x86_64__) && defined(__GNUC__)
// 32 elements at a time: two rows are multiplied in pairs.
__attribute__((target("avx2"))) int64_t blend_avx2(const int16_t* const* rows, const int16_t* w,
                                                   int64_t n, uint8_t* out) {
  const auto pair = [](int16_t a, int16_t b) {
    return static_cast<int>(static_cast<uint16_t>(a) | uint32_t{static_cast<uint16_t>(b)} << 16);
  };
  const __m256i upper = _mm256_set1_epi32(pair(w[0], w[1]));
  const __m256i lower = _mm256_set1_epi32(pair(w[2], w[3]));
  const __m256i half = _mm256_set1_epi32(1 << (kRest - 1));
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    __m256i words[2];
    for (int64_t k = 0; k < 2; ++k) {
      __m256i in[4], sum[2];
      for (int64_t r = 0; r < 4; ++r)
        in[r] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[r] + i + 16 * k));
      sum[0] = _mm256_add_epi32(_mm256_madd_epi16(_mm256_unpacklo_epi16(in[0], in[1]), upper),
                                _mm256_madd_epi16(_mm256_unpacklo_epi16(in[2], in[3]), lower));
      sum[1] = _mm256_add_epi32(_mm256_madd_epi16(_mm256_unpackhi_epi16(in[0], in[1]), upper),
                                _mm256_madd_epi16(_mm256_unpackhi_epi16(in[2], in[3]), lower));
      for (__m256i& v : sum) v = _mm256_srai_epi32(_mm256_add_epi32(v, half), kRest);
      words[k] = _mm256_packs_epi32(sum[0], sum[1]);
    }
    const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(words[0], words[1]), 0xD8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), bytes);
  }
  return i;
}
#endif

void blend(const int16_t* const* rows, const int16_t* w, int64_t n, uint8_t* out) {
  int64_t i = 0;
#if defined(__x86_64__) && defined(__GNUC__)
  if (kHasAvx2) i = blend_avx2(rows, w, n, out);
#endif
  const int16_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  const int wa = w[0], wb = w[1], wc = w[2], wd = w[3];
  for (; i < n; ++i) {
    const int sum = a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd + (1 << (kRest - 1));
    out[i] = static_cast<uint8_t>(std::clamp(sum >> kRest, 0, 255));
  }
}

}  // namespace

void cubic_bytes(const Source& s, const Taps& x, const Taps& y, Size to, uint8_t* out) {
  const Across f{x, fixed(x), s.w, s.c, s.c == 3 ? 4 : s.c};
  const std::vector<int16_t> weight = fixed(y);
  const int64_t n = to.w * f.kept;
  std::vector<int16_t> kept(static_cast<size_t>(4 * n));  // row r lies at r % 4
  int64_t held[4] = {-1, -1, -1, -1};
  std::vector<uint8_t> line(static_cast<size_t>(n));
  for (int64_t o = 0; o < to.h; ++o, out += to.w * s.c) {
    const int16_t* rows[4];
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t r = std::clamp<int64_t>(y.first[o] + i, 0, s.h - 1);
      int16_t* row = &kept[r % 4 * n];
      if (held[r % 4] != r) {
        across(reinterpret_cast<const uint8_t*>(s.data) + r * s.stride, f, row);
        held[r % 4] = r;
      }
      rows[i] = row;
    }
    if (s.c != 3) {
      blend(rows, &weight[4 * o], n, out);
      continue;
    }
    blend(rows, &weight[4 * o], n, line.data());
    for (int64_t i = 0; i + 1 < to.w; ++i) std::memcpy(out + 3 * i, &line[4 * i], 4);
    std::memcpy(out + 3 * (to.w - 1), &line[4 * (to.w - 1)], 3);
  }
}

}  // namespace mycel::data::vision
