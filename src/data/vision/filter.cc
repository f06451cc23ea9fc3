#include "data/vision/filter.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "data/vision/pixel.h"

namespace mycel::data::vision {
namespace {

// A pixel of up to four channels; of three, the fourth is the next pixel's first and is not used.
// Rows that are read or written so have room for one pixel more.
using Quad = float __attribute__((vector_size(16)));
constexpr int64_t kRoom = 4;

// sum = (or +=) elements of four rows, each row times its weight.
template <typename T>
__attribute__((always_inline)) inline void add_4(const T* const* rows, const float* w, bool first,
                                                 int64_t n, float* __restrict sum) {
  const T *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  const float wa = w[0], wb = w[1], wc = w[2], wd = w[3];
  const auto f = [](T v) { return static_cast<float>(v); };
  if (first) {
    for (int64_t i = 0; i < n; ++i)
      sum[i] = f(a[i]) * wa + f(b[i]) * wb + f(c[i]) * wc + f(d[i]) * wd;
  } else {
    for (int64_t i = 0; i < n; ++i)
      sum[i] = sum[i] + f(a[i]) * wa + f(b[i]) * wb + f(c[i]) * wc + f(d[i]) * wd;
  }
}
template <typename T>
__attribute__((always_inline)) inline void add_1(const T* row, float w, bool first, int64_t n,
                                                 float* __restrict sum) {
  if (first) {
    for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<float>(row[i]) * w;
  } else {
    for (int64_t i = 0; i < n; ++i) sum[i] += static_cast<float>(row[i]) * w;
  }
}
template <typename T>
__attribute__((always_inline)) inline void add_rows(const T* const* rows, const float* w, int count,
                                                    int64_t n, float* sum) {
  int i = 0;
  for (; i + 4 <= count; i += 4) add_4(rows + i, w + i, i == 0, n, sum);
  for (; i < count; ++i) add_1(rows[i], w[i], i == 0, n, sum);
}
MYCEL_FOR_EACH_CPU
void down(const uint8_t* const* rows, const float* w, int count, int64_t n, float* sum) {
  add_rows(rows, w, count, n, sum);
}
MYCEL_FOR_EACH_CPU
void down(const float* const* rows, const float* w, int count, int64_t n, float* sum) {
  add_rows(rows, w, count, n, sum);
}
template <typename T>
void down(const T* const* rows, const float* w, int count, int64_t n, float* sum) {
  add_rows(rows, w, count, n, sum);
}

MYCEL_FOR_EACH_CPU
void widen(const uint8_t* row, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(row[i]);
}
template <typename T>
void widen(const T* row, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(row[i]);
}

MYCEL_FOR_EACH_CPU
void store(const float* row, int64_t n, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = byte_of(row[i]);
}
template <typename T>
void store(const float* row, int64_t n, T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = element_of<T>(row[i]);
}

// A row, filtered across; at[o * width + i]: the element where the pixel of tap i of output o
// begins. kTaps: every count, or 0.
template <int kTaps, int kChannels>
void across_quads(const float* row, const Taps& x, const int32_t* at, float* out) {
  const auto n = static_cast<int64_t>(x.first.size());
  const float* w = x.weight.data();
  for (int64_t o = 0; o < n; ++o, at += x.width, w += x.width, out += kChannels) {
    Quad sum{};
    for (int i = 0; i < (kTaps ? kTaps : x.count[o]); ++i) {
      Quad pixel;
      std::memcpy(&pixel, row + at[i], sizeof pixel);
      sum += pixel * w[i];
    }
    std::memcpy(out, &sum, sizeof sum);
  }
}

void across(const float* row, const Taps& x, const std::vector<int32_t>& at, int64_t c,
            float* out) {
  if (c == 3 || c == 4) {
    // Filters of two and four taps have that many everywhere.
    const auto run = [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      c == 3 ? across_quads<kTaps, 3>(row, x, at.data(), out)
             : across_quads<kTaps, 4>(row, x, at.data(), out);
    };
    const bool even =
        std::all_of(x.count.begin(), x.count.end(), [&](int n) { return n == x.width; });
    if (even && x.width == 2) return run(std::integral_constant<int, 2>{});
    if (even && x.width == 4) return run(std::integral_constant<int, 4>{});
    return run(std::integral_constant<int, 0>{});
  }
  const auto n = static_cast<int64_t>(x.first.size());
  for (int64_t o = 0; o < n; ++o) {
    const int32_t* p = &at[o * x.width];
    const float* w = &x.weight[o * x.width];
    for (int64_t k = 0; k < c; ++k) {
      float sum = 0;
      for (int i = 0; i < x.count[o]; ++i) sum += row[p[i] + k] * w[i];
      out[o * c + k] = sum;
    }
  }
}

}  // namespace

// Whichever of the two directions leaves less to the other comes first; floats between them.
template <typename T>
void filter(const Source& s, const Taps& x, const Taps& y, Size to, T* out) {
  std::vector<int32_t> at(x.weight.size());
  for (int64_t o = 0; o < to.w; ++o)
    for (int i = 0; i < x.count[o]; ++i)
      at[o * x.width + i] =
          static_cast<int32_t>(std::clamp<int64_t>(x.first[o] + i, 0, s.w - 1) * s.c);
  const int64_t n = to.w * s.c, wide = s.w * s.c;
  std::vector<float> line(static_cast<size_t>(std::max(n, wide) + kRoom));
  const auto row_of = [&](int64_t r) { return reinterpret_cast<const T*>(s.data + r * s.stride); };
  const auto input = [&](int64_t o, int i) {
    return std::clamp<int64_t>(y.first[o] + i, 0, s.h - 1);
  };
  if (to.h <= s.h) {
    std::vector<const T*> rows(static_cast<size_t>(y.width));
    std::vector<float> made(static_cast<size_t>(n + kRoom));
    for (int64_t o = 0; o < to.h; ++o) {
      for (int i = 0; i < y.count[o]; ++i) rows[i] = row_of(input(o, i));
      down(rows.data(), &y.weight[o * y.width], y.count[o], wide, line.data());
      across(line.data(), x, at, s.c, made.data());
      store(made.data(), n, out + o * n);
    }
    return;
  }
  // Filtered rows are kept while outputs need them, row r in slot r % slots.
  const int64_t slots = y.width + 1, step = n + kRoom;
  std::vector<float> kept(static_cast<size_t>(slots * step));
  std::vector<const float*> rows(static_cast<size_t>(y.width));
  int64_t there = 0;  // rows filtered so far
  for (int64_t o = 0; o < to.h; ++o) {
    for (int i = 0; i < y.count[o]; ++i) {
      const int64_t r = input(o, i);
      for (; there <= r; ++there) {
        widen(row_of(there), wide, line.data());
        across(line.data(), x, at, s.c, &kept[there % slots * step]);
      }
      rows[i] = &kept[r % slots * step];
    }
    down(rows.data(), &y.weight[o * y.width], y.count[o], n, line.data());
    store(line.data(), n, out + o * n);
  }
}

template void filter(const Source&, const Taps&, const Taps&, Size, uint8_t*);
template void filter(const Source&, const Taps&, const Taps&, Size, int16_t*);
template void filter(const Source&, const Taps&, const Taps&, Size, uint16_t*);
template void filter(const Source&, const Taps&, const Taps&, Size, float*);
template void filter(const Source&, const Taps&, const Taps&, Size, double*);

namespace {

constexpr int kBits = 22;
constexpr int32_t kHalf = 1 << (kBits - 1);

std::vector<int32_t> fixed(const std::vector<double>& w) {
  std::vector<int32_t> f(w.size());
  for (size_t i = 0; i < w.size(); ++i)
    f[i] = static_cast<int32_t>((w[i] < 0 ? -0.5 : 0.5) + w[i] * (1 << kBits));
  return f;
}
uint8_t fixed_byte(int32_t v) { return static_cast<uint8_t>(std::clamp(v >> kBits, 0, 255)); }

MYCEL_FOR_EACH_CPU
void widen(const uint8_t* row, int64_t n, int32_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = row[i];
}
MYCEL_FOR_EACH_CPU
void store_fixed(const int32_t* row, int64_t n, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = fixed_byte(row[i]);
}

// Across, pixels of c = 3 or 4 channels.
MYCEL_FOR_EACH_CPU
void across_exact(const int32_t* row, const Taps& x, const int32_t* w, int64_t c, int32_t* out) {
  using Ints = int32_t __attribute__((vector_size(16)));
  const auto n = static_cast<int64_t>(x.first.size());
  for (int64_t o = 0; o < n; ++o, w += x.width, out += c) {
    const int32_t* p = row + x.first[o] * c;
    Ints sum = {kHalf, kHalf, kHalf, kHalf};
    for (int i = 0; i < x.count[o]; ++i, p += c) {
      Ints pixel;
      std::memcpy(&pixel, p, sizeof pixel);
      sum += pixel * w[i];
    }
    std::memcpy(out, &sum, sizeof sum);
  }
}

// Down, four rows at a time.
MYCEL_FOR_EACH_CPU
void down_exact(const uint8_t* rows, int64_t stride, const int32_t* w, int count, int64_t n,
                int32_t* __restrict sum) {
  std::fill(sum, sum + n, kHalf);
  int i = 0;
  for (; i + 4 <= count; i += 4, rows += 4 * stride, w += 4) {
    const uint8_t *a = rows, *b = a + stride, *c = b + stride, *d = c + stride;
    const int32_t wa = w[0], wb = w[1], wc = w[2], wd = w[3];
    for (int64_t j = 0; j < n; ++j) sum[j] += a[j] * wa + b[j] * wb + c[j] * wc + d[j] * wd;
  }
  for (; i < count; ++i, rows += stride, ++w) {
    const int32_t v = *w;
    for (int64_t j = 0; j < n; ++j) sum[j] += rows[j] * v;
  }
}

}  // namespace

void filter_exact(const Source& s, const Taps& x, const std::vector<double>& wx, const Taps& y,
                  const std::vector<double>& wy, Size to, uint8_t* out) {
  const std::vector<int32_t> fx = fixed(wx), fy = fixed(wy);
  const int64_t n = to.w * s.c;
  std::vector<uint8_t> middle(static_cast<size_t>(s.h * n));
  std::vector<int32_t> line(static_cast<size_t>(s.w * s.c + kRoom));
  std::vector<int32_t> made(static_cast<size_t>(n + kRoom));
  for (int64_t r = 0; r < s.h; ++r) {
    uint8_t* m = &middle[static_cast<size_t>(r * n)];
    const auto* row = reinterpret_cast<const uint8_t*>(s.data) + r * s.stride;
    if (s.w == to.w) {  // nothing to do across
      std::memcpy(m, row, static_cast<size_t>(n));
    } else if (s.c == 3 || s.c == 4) {
      widen(row, s.w * s.c, line.data());
      across_exact(line.data(), x, fx.data(), s.c, made.data());
      store_fixed(made.data(), n, m);
    } else {
      for (int64_t o = 0; o < to.w; ++o) {
        for (int64_t k = 0; k < s.c; ++k) {
          int32_t sum = kHalf;
          for (int i = 0; i < x.count[o]; ++i)
            sum += row[(x.first[o] + i) * s.c + k] * fx[o * x.width + i];
          m[o * s.c + k] = fixed_byte(sum);
        }
      }
    }
  }
  if (s.h == to.h) {
    std::memcpy(out, middle.data(), middle.size());
    return;
  }
  for (int64_t o = 0; o < to.h; ++o) {
    down_exact(&middle[y.first[o] * n], n, &fy[o * y.width], y.count[o], n, made.data());
    store_fixed(made.data(), n, out + o * n);
  }
}

namespace {

// at[x]: the byte where the pixel of output x begins. `safe` outputs may be copied as kRead bytes,
// of which the next output overwrites what is too much.
template <int kSize>
void pick(const char* row, const std::vector<int64_t>& at, int64_t safe, char* out) {
  constexpr int kRead = kSize == 3 ? 4 : kSize == 6 ? 8 : kSize == 12 ? 16 : kSize;
  const auto n = static_cast<int64_t>(at.size());
  int64_t x = 0;
  for (; x < safe; ++x, out += kSize) std::memcpy(out, row + at[x], kRead);
  for (; x < n; ++x, out += kSize) std::memcpy(out, row + at[x], kSize);
}

}  // namespace

void nearest(const Source& s, Size to, int64_t size, char* out) {
  const double sx = 1.0 / (static_cast<double>(to.w) / static_cast<double>(s.w));
  const double sy = 1.0 / (static_cast<double>(to.h) / static_cast<double>(s.h));
  std::vector<int64_t> at(static_cast<size_t>(to.w));
  for (int64_t x = 0; x < to.w; ++x)
    at[x] = std::min(static_cast<int64_t>(std::floor(static_cast<double>(x) * sx)), s.w - 1) * size;
  int64_t safe = to.w;  // outputs with a whole pixel behind them, in the row and in the result
  while (safe > 0 && (at[safe - 1] > (s.w - 2) * size || safe == to.w)) --safe;
  const int64_t n = to.w * size;
  int64_t last = -1;
  for (int64_t y = 0; y < to.h; ++y, out += n) {
    const auto r = std::min(static_cast<int64_t>(std::floor(static_cast<double>(y) * sy)), s.h - 1);
    if (r == last) {  // an enlarged image repeats its rows
      std::memcpy(out, out - n, static_cast<size_t>(n));
      continue;
    }
    last = r;
    const char* row = s.data + r * s.stride;
    switch (size) {
      case 1:
        pick<1>(row, at, safe, out);
        break;
      case 2:
        pick<2>(row, at, safe, out);
        break;
      case 3:
        pick<3>(row, at, safe, out);
        break;
      case 4:
        pick<4>(row, at, safe, out);
        break;
      case 6:
        pick<6>(row, at, safe, out);
        break;
      case 8:
        pick<8>(row, at, safe, out);
        break;
      case 12:
        pick<12>(row, at, safe, out);
        break;
      case 16:
        pick<16>(row, at, safe, out);
        break;
      default:
        for (int64_t x = 0; x < to.w; ++x)
          std::memcpy(out + x * size, row + at[x], static_cast<size_t>(size));
    }
  }
}

}  // namespace mycel::data::vision
