#include "data/vision/passes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "data/vision/crop.h"
#include "data/vision/numbers.h"
#include "data/vision/pixel.h"

namespace mycel::data::vision {
namespace {

Tensor result(const Frame& f, const Finish& finish) {
  const int64_t h = f.window.h, w = f.window.w;
  return Tensor::empty(finish.floats ? DType::kFloat32 : DType::kUInt8,
                       finish.planes ? Shape{3, h, w} : Shape{h, w, 3});
}

// Rows of pixels to their place in the result.
MYCEL_FOR_EACH_CPU
void split_row(const uint8_t* row, int64_t n, float scale, float shift, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(row[3 * i]) * scale + shift;
}
MYCEL_FOR_EACH_CPU
void split_row(const uint8_t* row, int64_t n, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = row[3 * i];
}

// `count` rows of w pixels, in their final order, at row y of the result.
void put_rows(const uint8_t* rows, int64_t y, int64_t count, const Frame& f, const Finish& finish,
              void* out) {
  const int64_t h = f.window.h, w = f.window.w, n = count * w;
  if (!finish.floats) {
    auto* to = static_cast<uint8_t*>(out);
    if (!finish.planes) {
      std::memcpy(to + y * w * 3, rows, static_cast<size_t>(n * 3));
      return;
    }
    for (int64_t k = 0; k < 3; ++k) split_row(rows + k, n, to + (k * h + y) * w);
    return;
  }
  auto* to = static_cast<float*>(out);
  if (finish.planes) {
    for (int64_t k = 0; k < 3; ++k)
      split_row(rows + k, n, finish.scale[k], finish.shift[k], to + (k * h + y) * w);
    return;
  }
  to += y * w * 3;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < 3; ++k)
      to[3 * i + k] = static_cast<float>(rows[3 * i + k]) * finish.scale[k] + finish.shift[k];
}

void copy_row(const uint8_t* row, int64_t w, bool flip, uint8_t* out) {
  if (!flip) {
    std::memcpy(out, row, static_cast<size_t>(3 * w));
    return;
  }
  const uint8_t* p = row + 3 * (w - 1);
  for (int64_t x = 0; x < w; ++x, p -= 3, out += 3) {
    out[0] = p[0];
    out[1] = p[1];
    out[2] = p[2];
  }
}

// A resized or plain rectangle that is there as a whole: window, flips and numbers. Rows are put
// together so that short ones are worth vector code.
Tensor finished(const Tensor& image, const Frame& f, const Finish& finish) {
  Tensor out = result(f, finish);
  const int64_t h = f.window.h, w = f.window.w;
  const auto* in = static_cast<const uint8_t*>(image.raw());
  const auto at = [&](int64_t y) {
    const int64_t from = f.window.top + (f.flip_y ? h - 1 - y : y);
    return in + (from * image.dim(1) + f.window.left) * 3;
  };
  if (!f.flip_x && !f.flip_y && w == image.dim(1)) {
    put_rows(at(0), 0, h, f, finish, out.mutable_raw());
    return out;
  }
  constexpr int64_t kPixels = 1024;
  const int64_t step = std::clamp<int64_t>(kPixels / w, 1, h);
  std::vector<uint8_t> rows(static_cast<size_t>(step * w * 3));
  for (int64_t y = 0; y < h; y += step) {
    const int64_t count = std::min(step, h - y);
    for (int64_t i = 0; i < count; ++i) copy_row(at(y + i), w, f.flip_x, &rows[i * w * 3]);
    put_rows(rows.data(), y, count, f, finish, out.mutable_raw());
  }
  return out;
}

// The taps of the outputs in a window, and the inputs that they use.
struct Window {
  LinearTaps taps;
  int64_t low = 0, high = 0;  // the inputs used: [low, high)
};
Window window_of(const LinearTaps& all, int64_t begin, int64_t count, bool flip) {
  Window w;
  w.low = all.first[begin];
  LinearTaps& t = w.taps;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t o = begin + (flip ? count - 1 - i : i);
    t.first.push_back(all.first[o]);
    t.second.push_back(all.second[o]);
    t.a.push_back(all.a[o]);
    t.b.push_back(all.b[o]);
    w.low = std::min<int64_t>(w.low, all.first[o]);
    w.high = std::max<int64_t>(w.high, all.second[o] + 1);
  }
  return w;
}

// Linear resizing, row by row. next(r) gives the columns from x.low on of row r of the rectangle;
// r never falls.
template <typename Next>
Tensor resized_rows(const Frame& f, const Finish& finish, Window x, const Window& y, Next&& next) {
  Tensor out = result(f, finish);
  const int64_t h = f.window.h, w = f.window.w;
  for (auto* side : {&x.taps.first, &x.taps.second})
    for (int32_t& i : *side) i -= static_cast<int32_t>(x.low);
  const bool straight = finish.floats && finish.planes;
  thread_local std::vector<int16_t> kept;
  thread_local std::vector<uint8_t> line;
  kept.resize(static_cast<size_t>(6 * w));
  line.resize(static_cast<size_t>(3 * w));
  int16_t* slot[2] = {kept.data(), kept.data() + 3 * w};
  int64_t held[2] = {-1, -1};
  const auto load = [&](int64_t r, int other) {
    for (int k = 0; k < 2; ++k)
      if (held[k] == r) return k;
    const int k = 1 - other;
    const uint8_t* row = next(r);
    resize_row_3(row, x.taps, x.high - x.low, slot[k]);
    held[k] = r;
    return k;
  };
  for (int64_t o = 0; o < h; ++o) {
    const int32_t first = y.taps.first[o], second = y.taps.second[o];
    const int u = load(first, held[0] == second ? 0 : 1);
    const int l = load(second, u);
    const int64_t row = f.flip_y ? h - 1 - o : o;
    const int16_t a = y.taps.a[o], b = y.taps.b[o];
    if (straight) {
      auto* to = static_cast<float*>(out.mutable_raw());
      for (int64_t k = 0; k < 3; ++k)
        blend_rows(slot[u] + k * w, slot[l] + k * w, a, b, w, finish.scale[k], finish.shift[k],
                   to + (k * h + row) * w);
    } else {
      blend_rows_3(slot[u], slot[l], a, b, w, line.data());
      put_rows(line.data(), row, 1, f, finish, out.mutable_raw());
    }
  }
  return out;
}

bool by_rows(const Frame& f) {
  const bool halves = f.source.h == 2 * f.full.h && f.source.w == 2 * f.full.w;
  return f.resized && f.filter == Filter::kLinear && !halves;
}

Span whole_span(int64_t n) { return {0, static_cast<double>(n), n}; }
// Of a rectangle of an image divided by `by`, inputs counted from the image's border.
Span divided_span(int64_t begin, int64_t n, int by, int64_t all) {
  return {static_cast<double>(begin) / by, static_cast<double>(n) / by, all};
}
Window columns(const Frame& f, const Span& s) {
  return window_of(linear_taps(s, f.full.w, false), f.window.left, f.window.w, f.flip_x);
}
Window rows(const Frame& f, const Span& s) {
  return window_of(linear_taps(s, f.full.h, true), f.window.top, f.window.h, false);
}

// The frame in an image divided by `by`, h x w after it, for a rectangle of whole divided pixels.
Frame divided(const Frame& f, int by, int64_t h, int64_t w) {
  Frame d = f;
  Crop& r = d.source;
  const int64_t bottom = std::min(h, (r.top + r.h + by - 1) / by);
  const int64_t right = std::min(w, (r.left + r.w + by - 1) / by);
  r = {r.top / by, r.left / by, bottom - r.top / by, right - r.left / by};
  return d;
}

}  // namespace

Tensor framed(JpegReader* reader, const Frame& frame, int by, const Finish& finish) {
  if (by > 1) reader->divide(by);
  if (by_rows(frame) || (by > 1 && frame.filter == Filter::kLinear)) {
    const Crop& r = frame.source;
    const bool whole = by == 1;
    const Window x =
        columns(frame, whole ? whole_span(r.w) : divided_span(r.left, r.w, by, reader->width()));
    const Window y =
        rows(frame, whole ? whole_span(r.h) : divided_span(r.top, r.h, by, reader->height()));
    const int64_t top = whole ? r.top : 0, left = whole ? r.left : 0;
    reader->begin({top + y.low, left + x.low, y.high - y.low, x.high - x.low}, false);
    int64_t at = y.low - 1;
    const uint8_t* row = nullptr;
    return resized_rows(frame, finish, x, y, [&](int64_t r) {
      for (; at < r; ++at) row = reader->next();
      return row;
    });
  }
  const Frame f = by == 1 ? frame : divided(frame, by, reader->height(), reader->width());
  Tensor t = Tensor::empty(DType::kUInt8, {f.source.h, f.source.w, 3});
  reader->read(f.source, false, static_cast<uint8_t*>(t.mutable_raw()), f.source.w * 3);
  if (f.resized) t = resize(t, f.full, f.filter);
  return finished(t, f, finish);
}

Tensor framed(const Tensor& image, const Frame& f, const Finish& finish) {
  const auto* in = static_cast<const uint8_t*>(image.raw());
  if (by_rows(f)) {
    const Window x = columns(f, whole_span(f.source.w)), y = rows(f, whole_span(f.source.h));
    return resized_rows(f, finish, x, y, [&](int64_t r) {
      return in + ((f.source.top + r) * image.dim(1) + f.source.left + x.low) * 3;
    });
  }
  if (f.resized) return finished(resize(image, f.source, f.full, f.filter), f, finish);
  Frame whole = f;  // the window in the image itself
  whole.window.top += f.source.top;
  whole.window.left += f.source.left;
  return finished(image, whole, finish);
}

}  // namespace mycel::data::vision
