#include "data/vision/crop.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace mycel::data::vision {
namespace {

// Where position i of an axis of n elements reads from; -1: the fill.
int64_t reflected(int64_t i, int64_t n, Border border) {
  if (i >= 0 && i < n) return i;
  switch (border) {
    case Border::kConstant:
      return -1;
    case Border::kEdge:
      return i < 0 ? 0 : n - 1;
    case Border::kReflect: {
      if (n == 1) return 0;
      const int64_t period = 2 * (n - 1), k = ((i % period) + period) % period;
      return k < n ? k : period - k;
    }
    case Border::kSymmetric:
      break;
  }
  const int64_t period = 2 * n, k = ((i % period) + period) % period;
  return k < n ? k : period - 1 - k;
}

}  // namespace

Tensor crop(const Tensor& image, const Crop& r) {
  const Extent e = extent_of(image);
  if (r.top < 0 || r.left < 0 || r.h <= 0 || r.w <= 0 || r.top > e.h - r.h || r.left > e.w - r.w)
    value_error("the crop of {} x {} pixels at row {}, column {} leaves the image of {} x {}", r.h,
                r.w, r.top, r.left, e.h, e.w);
  Tensor out = image_like(e, image.dtype(), r.h, r.w);
  const auto pixel = static_cast<int64_t>(size_of(image.dtype())) * e.c;
  const auto* in = static_cast<const char*>(image.raw()) + (r.top * e.w + r.left) * pixel;
  auto* to = static_cast<char*>(out.mutable_raw());
  for (int64_t y = 0; y < r.h; ++y)
    std::memcpy(to + y * r.w * pixel, in + y * e.w * pixel, static_cast<size_t>(r.w * pixel));
  return out;
}

Border border_of(const std::string& member) {
  return member == "CONSTANT"  ? Border::kConstant
         : member == "EDGE"    ? Border::kEdge
         : member == "REFLECT" ? Border::kReflect
                               : Border::kSymmetric;
}

// The rectangle `r` of an image that goes on beyond its border.
Tensor window(const Tensor& image, const Crop& r, Border border, const Fill& fill) {
  const Extent e = extent_of(image);
  if (e.c > 4 && border == Border::kConstant)
    value_error("expected an image with at most 4 channels to pad with a constant, got {}",
                image.describe());
  Tensor out = image_like(e, image.dtype(), r.h, r.w);
  const auto pixel = static_cast<int64_t>(size_of(image.dtype())) * e.c;
  std::vector<char> around(static_cast<size_t>(pixel));
  for (int64_t k = 0; k < std::min<int64_t>(e.c, 4); ++k)
    set_element(around.data(), image.dtype(), k, static_cast<int64_t>(k < 3 ? fill.value[k] : 0));
  const auto* in = static_cast<const char*>(image.raw());
  auto* to = static_cast<char*>(out.mutable_raw());
  // Columns [begin, end) of the result come from the image itself.
  const int64_t begin = std::clamp<int64_t>(-r.left, 0, r.w);
  const int64_t end = std::clamp<int64_t>(e.w - r.left, begin, r.w);
  for (int64_t y = 0; y < r.h; ++y) {
    const int64_t from = reflected(r.top + y, e.h, border);
    char* row = to + y * r.w * pixel;
    const auto put = [&](int64_t x) {
      const int64_t column = from < 0 ? -1 : reflected(r.left + x, e.w, border);
      std::memcpy(row + x * pixel, column < 0 ? around.data() : in + (from * e.w + column) * pixel,
                  static_cast<size_t>(pixel));
    };
    for (int64_t x = 0; x < (from < 0 ? r.w : begin); ++x) put(x);
    if (from < 0) continue;
    std::memcpy(row + begin * pixel, in + (from * e.w + r.left + begin) * pixel,
                static_cast<size_t>((end - begin) * pixel));
    for (int64_t x = end; x < r.w; ++x) put(x);
  }
  return out;
}

Tensor pad(const Tensor& image, const Margins& m, Border border, const Fill& fill) {
  const Extent e = extent_of(image);
  return window(image, {-m.top, -m.left, e.h + m.top + m.bottom, e.w + m.left + m.right}, border,
                fill);
}

Crop rectangle_option(const Options& o) {
  const Crop r{o.integer("top"), o.integer("left"), o.positive("height"), o.positive("width")};
  if (r.top < 0) o.fail("top", "must not be negative, got {}", r.top);
  if (r.left < 0) o.fail("left", "must not be negative, got {}", r.left);
  return r;
}

Margins margins_option(const Options& o, std::string_view name) {
  if (o.none(name)) return {};
  const std::vector<int64_t> v = o.ints(name);
  for (const int64_t n : v) {
    if (n < 0 || n > 1 << 24) o.fail(name, "must be in [0, {}], got {}", 1 << 24, o[name].str());
  }
  if (v.size() == 1) return {v[0], v[0], v[0], v[0]};
  if (v.size() == 2) return {v[0], v[1], v[0], v[1]};
  if (v.size() == 4) return {v[0], v[1], v[2], v[3]};
  o.fail(name, "must be one int, two or four, got {}", o[name].str());
}

std::vector<const char*> RandomArea::resized_args() {
  return {"size: ints", "scale: numbers = (0.08, 1.0)",
          "ratio: numbers = (0.75, 1.3333333333333333)", "interpolation: Inter = BILINEAR",
          "max_attempts: int = 10"};
}

RandomArea::RandomArea(const Options& o)
    : scale(o.range("scale", 0, 1 << 24)),
      ratio(o.range("ratio", 0, 1 << 24)),
      attempts(o.positive("max_attempts")) {
  if (scale.second <= 0) o.fail("scale", "must end above 0, got {}", o["scale"].str());
  if (ratio.first <= 0) o.fail("ratio", "must be above 0, got {}", o["ratio"].str());
}

Crop RandomArea::choose(int64_t h, int64_t w, Philox& draw) const {
  const double area = static_cast<double>(h) * static_cast<double>(w);
  const double low = std::log(ratio.first), high = std::log(ratio.second);
  Crop r;
  for (int64_t i = 0; i < attempts; ++i) {
    const double part = between(draw, scale.first, scale.second) * area;
    const double sides = std::exp(between(draw, low, high));
    r.w = std::lround(std::sqrt(part * sides));
    r.h = std::lround(static_cast<double>(r.w) / sides);
    if (r.w < 1 || r.h < 1 || r.w > w || r.h > h) continue;
    r.top = whole_between(draw, 0, h - r.h);
    r.left = whole_between(draw, 0, w - r.w);
    return r;
  }
  const double sides = static_cast<double>(w) / static_cast<double>(h);
  Size size{h, w};
  if (sides < ratio.first) size.h = std::lround(static_cast<double>(w) / ratio.first);
  if (sides > ratio.second) size.w = std::lround(static_cast<double>(h) * ratio.second);
  size.h = std::clamp<int64_t>(size.h, 1, h);
  size.w = std::clamp<int64_t>(size.w, 1, w);
  return middle(h, w, size);
}

RandomPlace::RandomPlace(const Options& o)
    : size(size_option(o, "size")),
      margins(margins_option(o, "padding")),
      if_needed(o.boolean("pad_if_needed")),
      fill(fill_option(o, "fill_value")),
      border(border_of(o.choice("padding_mode"))) {}

Margins RandomPlace::margins_of(int64_t h, int64_t w) const {
  Margins m = margins;
  if (!if_needed) return m;
  const int64_t down = std::max<int64_t>(0, size.h - (h + m.top + m.bottom));
  const int64_t across = std::max<int64_t>(0, size.w - (w + m.left + m.right));
  m.top += down, m.bottom += down;
  m.left += across, m.right += across;
  return m;
}

Crop RandomPlace::choose(int64_t h, int64_t w, Philox& draw) const {
  const Margins m = margins_of(h, w);
  h += m.top + m.bottom;
  w += m.left + m.right;
  if (size.h > h || size.w > w)
    value_error("a crop of {} x {} pixels of an image of {} x {}, margins included", size.h, size.w,
                h, w);
  const int64_t top = whole_between(draw, 0, h - size.h);
  return {top, whole_between(draw, 0, w - size.w), size.h, size.w};
}

Tensor RandomPlace::run(const Tensor& image, Philox& draw) const {
  const Extent e = extent_of(image);
  const Margins m = margins_of(e.h, e.w);
  const Crop r = choose(e.h, e.w, draw);
  return window(image, {r.top - m.top, r.left - m.left, r.h, r.w}, border, fill);
}

Tensor mirrored(const Tensor& image, bool upside_down) {
  const Extent e = extent_of(image);
  Tensor out = Tensor::empty(image.dtype(), image.shape());
  const auto pixel = static_cast<int64_t>(size_of(image.dtype())) * e.c;
  const int64_t row = pixel * e.w;
  const auto* in = static_cast<const char*>(image.raw());
  auto* to = static_cast<char*>(out.mutable_raw());
  if (upside_down) {
    for (int64_t y = 0; y < e.h; ++y)
      std::memcpy(to + y * row, in + (e.h - 1 - y) * row, static_cast<size_t>(row));
    return out;
  }
  const auto turn = [&](auto bytes) {
    const int64_t n = bytes ? int64_t{bytes} : pixel;
    for (int64_t y = 0; y < e.h; ++y, in += row, to += row)
      for (int64_t x = 0; x < e.w; ++x)
        std::memcpy(to + x * n, in + (e.w - 1 - x) * n, static_cast<size_t>(n));
  };
  if (pixel == 1)
    turn(std::integral_constant<int, 1>{});
  else if (pixel == 3)
    turn(std::integral_constant<int, 3>{});
  else if (pixel == 4)
    turn(std::integral_constant<int, 4>{});
  else if (pixel == 12)
    turn(std::integral_constant<int, 12>{});
  else
    turn(std::integral_constant<int, 0>{});
  return out;
}

Crop middle(int64_t h, int64_t w, Size size) {
  const auto half = [](int64_t n) {  // rounded to even, away from the sign
    return static_cast<int64_t>(std::nearbyint(static_cast<double>(n) / 2));
  };
  return {half(h - size.h), half(w - size.w), size.h, size.w};
}

}  // namespace mycel::data::vision
