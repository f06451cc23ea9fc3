// Hue, saturation and value; orders of channels.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/error.h"
#include "data/cast.h"
#include "data/vision/codec.h"
#include "data/vision/colour.h"
#include "data/vision/pixel.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {
namespace {

// Bytes, hue in 256 steps: quotients through tables of 12 bits.
struct Quotients {
  std::array<int, 256> saturation{}, hue{};
  Quotients() {
    for (int i = 1; i < 256; ++i) {
      saturation[i] = static_cast<int>(std::nearbyint((255 << 12) / (1.0 * i)));
      hue[i] = static_cast<int>(std::nearbyint((256 << 12) / (6.0 * i)));
    }
  }
};

// To hue, saturation and value, the hue turned by `step`, and back: channel n is v - v s w, where w
// is the distance of hue and channel on the circle of six, cut to [0, 1].
MYCEL_FOR_EACH_CPU
void turn_hue(const uint8_t* __restrict in, int64_t pixels, int step,
              const int* __restrict saturation, const int* __restrict hue,
              uint8_t* __restrict out) {
  for (int64_t i = 0; i < pixels; ++i) {
    const int r = in[3 * i], g = in[3 * i + 1], b = in[3 * i + 2];
    const int v = std::max(std::max(r, g), b), span = v - std::min(std::min(r, g), b);
    const int of_red = g - b, of_green = b - r + 2 * span, of_blue = r - g + 4 * span;
    const int turn = v == r ? of_red : v == g ? of_green : of_blue;
    int h = (turn * hue[span] + (1 << 11)) >> 12;
    h = std::min(h < 0 ? h + 256 : h, 255);
    const int s = (span * saturation[v] + (1 << 11)) >> 12;
    const float sixth = static_cast<float>((h + step) & 255) * (6.F / 255.F);
    const float value = static_cast<float>(v), part = value * static_cast<float>(s) * (1.F / 255.F);
    const auto channel = [&](float n) {
      float k = sixth + n;
      k = k >= 6 ? k - 6 : k;
      return byte_of(value - part * std::max(0.F, std::min(std::min(k, 4 - k), 1.F)));
    };
    out[3 * i] = channel(5);
    out[3 * i + 1] = channel(3);
    out[3 * i + 2] = channel(1);
  }
}

}  // namespace

Tensor adjust_hue(const Tensor& image, double turn) {
  static const Quotients kQuotients;
  const Extent e = colour_extent(image);
  // Cut towards zero, then modulo 256.
  const int step = static_cast<int>(static_cast<float>(turn) * 255.F);
  Tensor out = Tensor::empty(DType::kUInt8, image.shape());
  turn_hue(bytes_of(image), e.h * e.w, step, kQuotients.saturation.data(), kQuotients.hue.data(),
           static_cast<uint8_t*>(out.mutable_raw()));
  return out;
}

namespace {

// The formulas of A. R. Smith, "Color gamut transform pairs", 1978, all in [0, 1].
void rgb_to_hsv(const double* in, double* out) {
  const double r = in[0], g = in[1], b = in[2];
  const double high = std::max({r, g, b}), low = std::min({r, g, b}), span = high - low;
  out[2] = high;
  if (span == 0) {
    out[0] = out[1] = 0;
    return;
  }
  out[1] = span / high;
  const double rc = (high - r) / span, gc = (high - g) / span, bc = (high - b) / span;
  const double h = (r == high ? bc - gc : g == high ? 2 + rc - bc : 4 + gc - rc) / 6;
  out[0] = h - std::floor(h);
}

void hsv_to_rgb(const double* in, double* out) {
  const double h = in[0], s = in[1], v = in[2];
  if (s == 0) {
    out[0] = out[1] = out[2] = v;
    return;
  }
  const double sixth = std::trunc(h * 6), f = h * 6 - sixth;
  const double t[4] = {v, v * (1 - s), v * (1 - s * f), v * (1 - s * (1 - f))};
  constexpr int kOrder[6][3] = {{0, 3, 1}, {2, 0, 1}, {1, 0, 3}, {1, 2, 0}, {3, 1, 0}, {0, 1, 2}};
  const auto sector = static_cast<int>(sixth - 6 * std::floor(sixth / 6));
  for (int k = 0; k < 3; ++k) out[k] = t[kOrder[sector][k]];
}

std::shared_ptr<Transform> by_pixel(const Options& o, void (*f)(const double*, double*)) {
  return each_value([hwc = o.boolean("is_hwc"), f](const Value& v) -> Value {
    const Tensor t = cast(v.tensor(), DType::kFloat64);
    const int axis = hwc ? t.rank() - 1 : t.rank() - 3;
    if (t.rank() < 3 || t.rank() > 4 || t.dim(axis) != 3)
      value_error("expected {}, got {}",
                  hwc ? "[h, w, 3] or [n, h, w, 3]" : "[3, h, w] or [n, 3, h, w]",
                  v.tensor().describe());
    Tensor out = Tensor::empty(DType::kFloat64, t.shape());
    const auto* in = static_cast<const double*>(t.raw());
    auto* to = static_cast<double*>(out.mutable_raw());
    const int64_t step = hwc ? 1 : t.dim(-1) * t.dim(-2), images = hwc ? 1 : t.size() / 3 / step;
    const int64_t pixels = hwc ? t.size() / 3 : step, next = hwc ? 3 : 1;
    for (int64_t n = 0; n < images; ++n, in += 3 * step, to += 3 * step) {
      for (int64_t i = 0; i < pixels; ++i) {
        const double* p = in + i * next;
        const double pixel[3] = {p[0], p[step], p[2 * step]};
        double made[3];
        f(pixel, made);
        for (int k = 0; k < 3; ++k) to[i * next + k * step] = made[k];
      }
    }
    return out;
  });
}

const TransformDef kRgbToHsv{
    .name = "vision.RgbToHsv",
    .doc =
        "Red, green, blue in [0, 1] to hue, saturation, value in [0, 1], as float64. [3, h, w] or "
        "[n, 3, h, w]; channels last with is_hwc=True.",
    .args = {"is_hwc: bool = False"},
    .make = [](const Options& o) { return by_pixel(o, rgb_to_hsv); },
};

const TransformDef kHsvToRgb{
    .name = "vision.HsvToRgb",
    .doc =
        "Hue, saturation, value in [0, 1] to red, green, blue in [0, 1], as float64. [3, h, w] or "
        "[n, 3, h, w]; channels last with is_hwc=True.",
    .args = {"is_hwc: bool = False"},
    .make = [](const Options& o) { return by_pixel(o, hsv_to_rgb); },
};

// COLOR_BGR2RGBA: the places of red, green, blue and alpha before and after; one place: grey.
struct Order {
  std::string from, to;
};
Order order_of(const std::string& member) {
  const size_t two = member.find('2');
  return {member.substr(6, two - 6), member.substr(two + 1)};
}

template <typename T>
T grey_number(double r, double g, double b) {
  if constexpr (std::is_same_v<T, uint8_t>)
    return grey_of(static_cast<int>(r), static_cast<int>(g), static_cast<int>(b));
  if constexpr (std::is_same_v<T, uint16_t>)
    return static_cast<T>((static_cast<int64_t>(r) * 4899 + static_cast<int64_t>(g) * 9617 +
                           static_cast<int64_t>(b) * 1868 + (1 << 13)) >>
                          14);
  return static_cast<T>(static_cast<float>(r) * 0.299F + static_cast<float>(g) * 0.587F +
                        static_cast<float>(b) * 0.114F);
}

template <typename T>
void reorder(const T* in, int64_t pixels, const Order& o, T opaque, T* out) {
  const bool from_grey = o.from == "GRAY", to_grey = o.to == "GRAY";
  const auto from = static_cast<int64_t>(from_grey ? 1 : o.from.size());
  const auto to = static_cast<int64_t>(to_grey ? 1 : o.to.size());
  const auto place = [&](char c) { return from_grey ? size_t{0} : o.from.find(c); };
  const size_t r = place('R'), g = place('G'), b = place('B');
  for (int64_t i = 0; i < pixels; ++i, in += from, out += to) {
    if (to_grey) {
      *out = grey_number<T>(in[r], in[g], in[b]);
      continue;
    }
    for (int64_t k = 0; k < to; ++k) {
      const char c = o.to[static_cast<size_t>(k)];
      if (c == 'A') {
        out[k] = from == 4 ? in[3] : opaque;
      } else {
        out[k] = in[place(c)];
      }
    }
  }
}

const TransformDef kConvertColor{
    .name = "vision.ConvertColor",
    .doc =
        "Another order or number of channels: RGB, BGR, RGBA, BGRA and GRAY into each other. "
        "Brightness is 0.299 r + 0.587 g + 0.114 b; alpha that was not there is opaque (255, "
        "65535 or 1). uint8, uint16 or float32. ValueError: other channels than the mode's.",
    .args = {"convert_mode: ConvertMode"},
    .make =
        [](const Options& o) {
          return image_transform([order = order_of(o.choice("convert_mode"))](const Tensor& t) {
            const Extent e = extent_of(t);
            const bool grey = order.from == "GRAY";
            if (e.c != static_cast<int64_t>(grey ? 1 : order.from.size()) || (!grey && e.flat))
              value_error("expected an image with the channels {}, got {}", order.from,
                          t.describe());
            Tensor out =
                order.to == "GRAY"
                    ? Tensor::empty(t.dtype(), {e.h, e.w})
                    : Tensor::empty(t.dtype(), {e.h, e.w, static_cast<int64_t>(order.to.size())});
            const int64_t n = e.h * e.w;
            if (t.dtype() == DType::kUInt8)
              reorder<uint8_t>(bytes_of(t), n, order, 255,
                               static_cast<uint8_t*>(out.mutable_raw()));
            else if (t.dtype() == DType::kUInt16)
              reorder<uint16_t>(t.data<uint16_t>().data(), n, order, 65535,
                                out.mutable_data<uint16_t>().data());
            else if (t.dtype() == DType::kFloat32)
              reorder<float>(t.data<float>().data(), n, order, 1.F,
                             out.mutable_data<float>().data());
            else
              type_error("expected an image of uint8, uint16 or float32, got {}", t.describe());
            return out;
          });
        },
};

}  // namespace

TransformDefs hsv_transforms() { return {&kRgbToHsv, &kHsvToRgb, &kConvertColor}; }

}  // namespace mycel::data::vision
