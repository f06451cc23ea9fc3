#include "data/vision/colour.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "data/vision/codec.h"
#include "data/vision/pixel.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {
namespace {

template <typename F>
Table table_of(F&& f) {
  Table t;
  for (int i = 0; i < 256; ++i) t[i] = f(i);
  return t;
}

// TypeError unless uint8 or float32.
bool is_bytes(const Tensor& t) {
  if (t.dtype() == DType::kUInt8) return true;
  if (t.dtype() != DType::kFloat32)
    type_error("expected an image of uint8 or float32, got {}", t.describe());
  return false;
}

template <typename F>
Tensor mapped(const Tensor& t, F&& f) {  // of floats
  Tensor out = Tensor::empty(DType::kFloat32, t.shape());
  const auto in = t.data<float>();
  const auto to = out.mutable_data<float>();
  for (size_t i = 0; i < in.size(); ++i) to[i] = f(in[i]);
  return out;
}

Extent with_three(const Tensor& t) {
  const Extent e = extent_of(t);
  if (e.flat || e.c != 3) value_error("expected an image [height, width, 3], got {}", t.describe());
  return e;
}

}  // namespace

Tensor looked_up(const Tensor& image, const Table& table) {
  const uint8_t* in = bytes_of(image);
  Tensor out = Tensor::empty(DType::kUInt8, image.shape());
  auto* to = static_cast<uint8_t*>(out.mutable_raw());
  for (int64_t i = 0, n = image.size(); i < n; ++i) to[i] = table[in[i]];
  return out;
}

namespace {

MYCEL_FOR_EACH_CPU
void blend(const uint8_t* p, const uint8_t* q, int64_t n, float a, float b, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = byte_of(static_cast<float>(p[i]) * a + static_cast<float>(q[i]) * b);
}

MYCEL_FOR_EACH_CPU
void scale_bytes(const uint8_t* in, int64_t n, float scale, float shift, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = byte_of(static_cast<float>(in[i]) * scale + shift);
}
Tensor scaled(const Tensor& image, float scale, float shift) {
  Tensor out = Tensor::empty(DType::kUInt8, image.shape());
  scale_bytes(bytes_of(image), image.size(), scale, shift,
              static_cast<uint8_t*>(out.mutable_raw()));
  return out;
}

// A pixel's brightness times a, plus the pixel times b.
MYCEL_FOR_EACH_CPU
void saturate(const uint8_t* in, int64_t pixels, float a, float b, uint8_t* out) {
  for (int64_t i = 0; i < pixels; ++i) {
    const uint8_t r = in[3 * i], g = in[3 * i + 1], bl = in[3 * i + 2];
    const float grey = static_cast<float>((r * 9798 + g * 19235 + bl * 3735 + (1 << 14)) >> 15) * a;
    out[3 * i] = byte_of(grey + static_cast<float>(r) * b);
    out[3 * i + 1] = byte_of(grey + static_cast<float>(g) * b);
    out[3 * i + 2] = byte_of(grey + static_cast<float>(bl) * b);
  }
}

// The mean of n pixels' neighbourhoods in a row, `up` and `down` a row away, `step` a pixel.
MYCEL_FOR_EACH_CPU
void smooth_row(const uint8_t* p, int64_t row, int64_t step, int64_t n, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t* q = p + i;
    const int sum = q[-row - step] + q[-row] + q[-row + step] + q[-step] + q[step] + q[row - step] +
                    q[row] + q[row + step] + 5 * q[0];
    out[i] = byte_of(static_cast<float>(sum) / 13.F);
  }
}

}  // namespace

Tensor blended(const Tensor& first, const Tensor& second, double part) {
  const auto b = static_cast<float>(part), a = static_cast<float>(1 - part);
  Tensor out = Tensor::empty(first.dtype(), first.shape());
  if (is_bytes(first)) {
    blend(bytes_of(first), bytes_of(second), first.size(), a, b,
          static_cast<uint8_t*>(out.mutable_raw()));
    return out;
  }
  const auto p = first.data<float>(), q = second.data<float>();
  const auto to = out.mutable_data<float>();
  for (size_t i = 0; i < p.size(); ++i) to[i] = p[i] * a + q[i] * b;
  return out;
}

Tensor greyed(const Tensor& image, bool three) {
  const Extent e = with_three(image);
  const int64_t n = e.h * e.w, c = three ? 3 : 1;
  Tensor out = Tensor::empty(image.dtype(), three ? image.shape() : Shape{e.h, e.w});
  if (is_bytes(image)) {
    const uint8_t* p = bytes_of(image);
    auto* to = static_cast<uint8_t*>(out.mutable_raw());
    for (int64_t i = 0; i < n; ++i, p += 3, to += c) std::fill_n(to, c, grey_of(p[0], p[1], p[2]));
    return out;
  }
  const auto* p = static_cast<const float*>(image.raw());
  auto* to = static_cast<float*>(out.mutable_raw());
  for (int64_t i = 0; i < n; ++i, p += 3, to += c)
    std::fill_n(to, c, p[0] * 0.299F + p[1] * 0.587F + p[2] * 0.114F);
  return out;
}

Tensor adjust_brightness(const Tensor& image, double factor) {
  const auto f = static_cast<float>(factor);
  if (!is_bytes(image)) return mapped(image, [f](float v) { return v * f; });
  return scaled(image, f, 0);
}

Tensor adjust_contrast(const Tensor& image, double factor) {
  const Tensor grey = greyed(image, false);
  double sum = 0;
  const bool bytes = is_bytes(image);
  for (int64_t i = 0, n = grey.size(); i < n; ++i)
    sum +=
        bytes ? static_cast<double>(bytes_of(grey)[i]) : static_cast<double>(grey.data<float>()[i]);
  const double exact = sum / static_cast<double>(grey.size());
  const auto mean = static_cast<float>(bytes ? std::floor(exact + 0.5) : exact);
  const auto b = static_cast<float>(factor), a = static_cast<float>(1 - factor);
  if (!bytes) return mapped(image, [=](float v) { return mean * a + v * b; });
  return scaled(image, b, mean * a);
}

Tensor adjust_saturation(const Tensor& image, double factor) {
  if (!is_bytes(image)) return blended(greyed(image, true), image, factor);
  const Extent e = colour_extent(image);
  Tensor out = Tensor::empty(DType::kUInt8, image.shape());
  saturate(bytes_of(image), e.h * e.w, static_cast<float>(1 - factor), static_cast<float>(factor),
           static_cast<uint8_t*>(out.mutable_raw()));
  return out;
}

Tensor adjust_sharpness(const Tensor& image, double factor) {
  const Extent e = extent_of(image);
  const bool bytes = is_bytes(image);
  // The mean of a pixel (weight 5) and its neighbours (1); the border stays.
  Tensor smooth = Tensor::empty(image.dtype(), image.shape());
  std::memcpy(smooth.mutable_raw(), image.raw(), image.bytes());
  const int64_t n = e.row();
  for (int64_t y = 1; y + 1 < e.h && e.w > 2; ++y) {
    const int64_t at = y * n + e.c;
    if (bytes) {
      smooth_row(bytes_of(image) + at, n, e.c, n - 2 * e.c,
                 static_cast<uint8_t*>(smooth.mutable_raw()) + at);
      continue;
    }
    const float* p = image.data<float>().data() + at;
    float* to = smooth.mutable_data<float>().data() + at;
    for (int64_t x = 0; x < n - 2 * e.c; ++x, ++p)
      to[x] = (p[-n - e.c] + p[-n] + p[-n + e.c] + p[-e.c] + p[e.c] + p[n - e.c] + p[n] +
               p[n + e.c] + 5 * p[0]) /
              13.F;
  }
  return blended(smooth, image, factor);
}

Tensor invert(const Tensor& image) {
  if (!is_bytes(image)) return mapped(image, [](float v) { return 255.F - v; });
  return looked_up(image, table_of([](int v) { return static_cast<uint8_t>(255 - v); }));
}

Tensor posterize(const Tensor& image, int bits) {
  const int mask = 256 - (1 << (8 - bits));
  return looked_up(image, table_of([mask](int v) { return static_cast<uint8_t>(v & mask); }));
}

Tensor solarize(const Tensor& image, double low, double high) {
  const bool open = low == high;
  const auto turned = [=](double v) { return v >= low && (open || v <= high); };
  if (!is_bytes(image)) return mapped(image, [&](float v) { return turned(v) ? 255.F - v : v; });
  return looked_up(image,
                   table_of([&](int v) { return static_cast<uint8_t>(turned(v) ? 255 - v : v); }));
}

namespace {

double at_least_zero(const Options& o, const char* name) { return o.within(name, 0, 1 << 24); }

const TransformDef kAdjustBrightness{
    .name = "vision.AdjustBrightness",
    .doc = "image * brightness_factor: 0 is black, 1 the image. uint8 or float32.",
    .args = {"brightness_factor: number"},
    .make =
        [](const Options& o) {
          return image_transform([f = at_least_zero(o, "brightness_factor")](const Tensor& t) {
            extent_of(t);
            return adjust_brightness(t, f);
          });
        },
};

const TransformDef kAdjustContrast{
    .name = "vision.AdjustContrast",
    .doc =
        "image * f + mean * (1 - f), where mean is the image's mean brightness (of "
        "bytes as a whole number): 0 is even grey, 1 the image. [..., h, w, 3], uint8 or float32.",
    .args = {"contrast_factor: number"},
    .make =
        [](const Options& o) {
          return image_transform([f = at_least_zero(o, "contrast_factor")](const Tensor& t) {
            return adjust_contrast(t, f);
          });
        },
};

const TransformDef kAdjustSaturation{
    .name = "vision.AdjustSaturation",
    .doc =
        "image * f + grey * (1 - f), where grey is the brightness 0.299 r + 0.587 g + 0.114 b of "
        "a pixel: 0 is grey, 1 the image. [..., h, w, 3], uint8 or float32.",
    .args = {"saturation_factor: number"},
    .make =
        [](const Options& o) {
          return image_transform([f = at_least_zero(o, "saturation_factor")](const Tensor& t) {
            return adjust_saturation(t, f);
          });
        },
};

const TransformDef kAdjustHue{
    .name = "vision.AdjustHue",
    .doc = "The hue turned by `hue_factor` of a circle, in [-0.5, 0.5]. uint8 [..., h, w, 3].",
    .args = {"hue_factor: number"},
    .make =
        [](const Options& o) {
          return image_transform([f = o.within("hue_factor", -0.5, 0.5)](const Tensor& t) {
            return adjust_hue(t, f);
          });
        },
};

const TransformDef kAdjustSharpness{
    .name = "vision.AdjustSharpness",
    .doc =
        "image * f + smooth * (1 - f), where smooth is the mean over 3 x 3 pixels, the middle "
        "one five times; the border stays. 0 is smooth, 1 the image. uint8 or float32.",
    .args = {"sharpness_factor: number"},
    .make =
        [](const Options& o) {
          return image_transform([f = at_least_zero(o, "sharpness_factor")](const Tensor& t) {
            return adjust_sharpness(t, f);
          });
        },
};

const TransformDef kAdjustGamma{
    .name = "vision.AdjustGamma",
    .doc =
        "Bytes: floor(min(255.999 * gain * (v / 255)^gamma, 255)). float32 in [0, 1]: "
        "(v * gain)^gamma, clipped to [0, 1]. 1 or 3 channels.",
    .args = {"gamma: number", "gain: number = 1"},
    .make =
        [](const Options& o) {
          const auto gamma = static_cast<float>(at_least_zero(o, "gamma"));
          const auto gain = static_cast<float>(o.within("gain", -(1 << 24), 1 << 24));
          return image_transform([=](const Tensor& t) {
            const Extent e = extent_of(t);
            if (e.c != 1 && e.c != 3)
              value_error("expected an image with 1 or 3 channels, got {}", t.describe());
            if (!is_bytes(t))
              return mapped(
                  t, [=](float v) { return std::clamp(std::pow(v * gain, gamma), 0.F, 1.F); });
            return looked_up(t, table_of([=](int v) {
                               const float f = std::pow(static_cast<float>(v / 255.0), gamma);
                               const double scaled =
                                   std::min(static_cast<double>(f) * (256.0 - 1e-3) * gain, 255.0);
                               return static_cast<uint8_t>(std::max(0.0, std::floor(scaled)));
                             }));
          });
        },
};

const TransformDef kInvert{
    .name = "vision.Invert",
    .doc = "255 - image. uint8 or float32.",
    .make =
        [](const Options&) {
          return image_transform([](const Tensor& t) {
            extent_of(t);
            return invert(t);
          });
        },
};

const TransformDef kPosterize{
    .name = "vision.Posterize",
    .doc = "Only the upper `bits` (0 to 8) of each byte are kept. uint8.",
    .args = {"bits: int"},
    .make =
        [](const Options& o) {
          const auto bits = static_cast<int>(o.within("bits", 0, 8));
          return image_transform([bits](const Tensor& t) {
            extent_of(t);
            return posterize(t, bits);
          });
        },
};

const TransformDef kSolarize{
    .name = "vision.Solarize",
    .doc =
        "Values v in [low, high], the two of `threshold`, become 255 - v; with one threshold all "
        "from it on. uint8 or float32.",
    .args = {"threshold: numbers"},
    .make =
        [](const Options& o) {
          const std::vector<double> v = o.reals("threshold");
          const auto [low, high] =
              v.size() == 1 ? std::pair(v[0], v[0]) : o.range("threshold", 0, 255);
          if (!(low >= 0 && high <= 255))
            o.fail("threshold", "must be in [0, 255], got {}", o["threshold"].str());
          return image_transform([low = low, high = high](const Tensor& t) {
            extent_of(t);
            return solarize(t, low, high);
          });
        },
};

const TransformDef kGrayscale{
    .name = "vision.Grayscale",
    .doc =
        "The brightness 0.299 r + 0.587 g + 0.114 b: [h, w], or [h, w, 3] with "
        "num_output_channels=3. [..., h, w, 3], uint8 or float32.",
    .args = {"num_output_channels: int = 1"},
    .make =
        [](const Options& o) {
          const int64_t n = o.integer("num_output_channels");
          if (n != 1 && n != 3) o.fail("num_output_channels", "must be 1 or 3, got {}", n);
          return image_transform([n](const Tensor& t) { return greyed(t, n == 3); });
        },
};

}  // namespace

TransformDefs colour_transforms() {
  return {&kAdjustBrightness, &kAdjustContrast, &kAdjustSaturation, &kAdjustHue, &kAdjustSharpness,
          &kAdjustGamma,      &kInvert,         &kPosterize,        &kSolarize,  &kGrayscale};
}

}  // namespace mycel::data::vision
