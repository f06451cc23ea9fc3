#include "data/vision/numbers.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "data/cast.h"
#include "data/vision/step.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {

Affine normalizing(const Options& o) {
  const std::vector<double> mean = o.reals("mean"), std = o.reals("std");
  if (mean.empty() || mean.size() != std.size())
    o.fail("std", "must have as many values as 'mean', {}, got {}", mean.size(), std.size());
  Affine a;
  for (size_t k = 0; k < mean.size(); ++k) {
    if (!(mean[k] >= 0 && mean[k] <= 255))
      o.fail("mean", "must be in [0, 255], got {}", o["mean"].str());
    if (!(std[k] > 0 && std[k] <= 255))
      o.fail("std", "must be in (0, 255], got {}", o["std"].str());
    a.scale.push_back(static_cast<float>(1.0 / std[k]));
    a.shift.push_back(static_cast<float>(-mean[k] / std[k]));
  }
  return a;
}

namespace {

template <typename T>
void transpose(const T* in, int64_t pixels, int64_t c, T* out) {
  if (c == 3) {
    T *r = out, *g = out + pixels, *b = out + 2 * pixels;
    for (int64_t i = 0; i < pixels; ++i) {
      r[i] = in[3 * i];
      g[i] = in[3 * i + 1];
      b[i] = in[3 * i + 2];
    }
    return;
  }
  for (int64_t k = 0; k < c; ++k)
    for (int64_t i = 0; i < pixels; ++i) out[k * pixels + i] = in[i * c + k];
}

}  // namespace

Tensor channels_first(const Tensor& image) {
  const Extent e = extent_of(image);
  if (e.flat) return image;
  Tensor out = Tensor::empty(image.dtype(), {e.c, e.h, e.w});
  const int64_t n = e.h * e.w;
  switch (size_of(image.dtype())) {
    case 1:
      transpose(static_cast<const uint8_t*>(image.raw()), n, e.c,
                static_cast<uint8_t*>(out.mutable_raw()));
      break;
    case 2:
      transpose(static_cast<const uint16_t*>(image.raw()), n, e.c,
                static_cast<uint16_t*>(out.mutable_raw()));
      break;
    case 4:
      transpose(static_cast<const uint32_t*>(image.raw()), n, e.c,
                static_cast<uint32_t*>(out.mutable_raw()));
      break;
    default:
      transpose(static_cast<const uint64_t*>(image.raw()), n, e.c,
                static_cast<uint64_t*>(out.mutable_raw()));
  }
  return out;
}

Tensor to_float(const Tensor& t) { return cast(t, DType::kFloat32); }

namespace {

// One image; `hwc`: channels last.
template <typename T>
void apply(const T* in, int64_t pixels, int64_t c, bool hwc, const Affine& a, float* out) {
  const auto at = [&](const std::vector<float>& v, int64_t k) {
    return v.size() == 1 ? v[0] : v[static_cast<size_t>(k)];
  };
  if (!hwc || c == 1 || a.scale.size() == 1) {
    for (int64_t k = 0; k < c; ++k) {
      const float scale = at(a.scale, k), shift = at(a.shift, k);
      for (int64_t i = 0; i < pixels; ++i, ++in, ++out)
        *out = static_cast<float>(*in) * scale + shift;
    }
  } else if (c == 3) {
    const float s0 = a.scale[0], s1 = a.scale[1], s2 = a.scale[2];
    const float d0 = a.shift[0], d1 = a.shift[1], d2 = a.shift[2];
    for (int64_t i = 0; i < pixels; ++i) {
      out[3 * i] = static_cast<float>(in[3 * i]) * s0 + d0;
      out[3 * i + 1] = static_cast<float>(in[3 * i + 1]) * s1 + d1;
      out[3 * i + 2] = static_cast<float>(in[3 * i + 2]) * s2 + d2;
    }
  } else {
    for (int64_t i = 0; i < pixels; ++i)
      for (int64_t k = 0; k < c; ++k, ++in, ++out)
        *out = static_cast<float>(*in) * a.scale[k] + a.shift[k];
  }
}

Tensor normalized(const Tensor& t, const Affine& a, bool hwc) {
  const Extent e = extent_of(t);
  const int64_t c = hwc || e.flat ? e.c : e.h, pixels = t.size() / c;
  if (a.scale.size() != 1 && static_cast<int64_t>(a.scale.size()) != c)
    value_error("'mean' and 'std' have {} values, the image has {} channels", a.scale.size(), c);
  Tensor out = Tensor::empty(DType::kFloat32, t.shape());
  auto* to = static_cast<float*>(out.mutable_raw());
  if (t.dtype() == DType::kUInt8) {
    apply(static_cast<const uint8_t*>(t.raw()), pixels, c, hwc, a, to);
  } else {
    apply(static_cast<const float*>(to_float(t).raw()), pixels, c, hwc, a, to);
  }
  return out;
}

const TransformDef kNormalize{
    .name = "vision.Normalize",
    .doc =
        "(image - mean) / std, channel by channel, as float32. One value stands for all "
        "channels. [..., h, w, c], or [..., c, h, w] with is_hwc=False, of any real dtype. "
        "ValueError: another number of values than channels, a mean outside [0, 255], a std "
        "outside (0, 255].",
    .args = {"mean: numbers", "std: numbers", "is_hwc: bool = True"},
    .make =
        [](const Options& o) {
          const Affine a = normalizing(o);
          const bool hwc = o.boolean("is_hwc");
          return with_steps(
              image_transform([a, hwc](const Tensor& t) { return normalized(t, a, hwc); }),
              {AffineStep{a, hwc}});
        },
};

const TransformDef kNormalizePad{
    .name = "vision.NormalizePad",
    .doc = "Normalize, and a further channel of zeros. float32, or float16 with dtype='float16'.",
    .args = {"mean: numbers", "std: numbers", "dtype: string = 'float32'", "is_hwc: bool = True"},
    .make =
        [](const Options& o) {
          const std::string& name = o.string("dtype");
          if (name != "float32" && name != "float16")
            o.fail("dtype", "must be 'float32' or 'float16', got '{}'", name);
          const DType dtype = name == "float32" ? DType::kFloat32 : DType::kFloat16;
          return image_transform(
              [a = normalizing(o), dtype, hwc = o.boolean("is_hwc")](const Tensor& t) {
                const Extent e = extent_of(t);
                if (e.flat) value_error("expected an image with channels, got {}", t.describe());
                const Tensor n = normalized(t, a, hwc);
                const Shape shape = hwc ? Shape{e.h, e.w, e.c + 1} : Shape{e.h + 1, e.w, e.c};
                Tensor out = Tensor::zeros(DType::kFloat32, shape);
                const auto* in = static_cast<const float*>(n.raw());
                auto* to = static_cast<float*>(out.mutable_raw());
                if (!hwc) {
                  std::memcpy(to, in, n.bytes());
                } else {
                  for (int64_t i = 0; i < e.h * e.w; ++i)
                    std::copy_n(in + i * e.c, e.c, to + i * (e.c + 1));
                }
                return cast(out, dtype);
              });
        },
};

const TransformDef kRescale{
    .name = "vision.Rescale",
    .doc = "image * rescale + shift, as float32. Any shape and real dtype.",
    .args = {"rescale: number", "shift: number"},
    .make =
        [](const Options& o) {
          const Affine a{{static_cast<float>(o.real("rescale"))},
                         {static_cast<float>(o.real("shift"))}};
          const auto run = [a](const Value& v) -> Value {
            const Tensor& t = v.tensor();
            Tensor out = Tensor::empty(DType::kFloat32, t.shape());
            auto* to = static_cast<float*>(out.mutable_raw());
            if (t.dtype() == DType::kUInt8) {
              apply(static_cast<const uint8_t*>(t.raw()), t.size(), 1, true, a, to);
            } else {
              apply(static_cast<const float*>(to_float(t).raw()), t.size(), 1, true, a, to);
            }
            return out;
          };
          return with_steps(each_value(run), {AffineStep{a, true}});
        },
};

const TransformDef kHwcToChw{
    .name = "vision.HWC2CHW",
    .doc = "[..., h, w, c] to [..., c, h, w]; [h, w] stays. Any dtype.",
    .make =
        [](const Options&) { return with_steps(image_transform(channels_first), {PlanesStep{}}); },
};

const TransformDef kToTensor{
    .name = "vision.ToTensor",
    .doc =
        "[h, w, c] in [0, 255] to [c, h, w] in [0, 1]: every number times 1/255, as "
        "`output_type`; [h, w] becomes [1, h, w].",
    .args = {"output_type: dtype = float32"},
    .make =
        [](const Options& o) {
          const DType to = o.dtype("output_type");
          const Affine a{{1.F / 255.F}, {0.F}};
          auto alone = image_transform([to, a](const Tensor& t) {
            const Extent e = extent_of(t);
            const Tensor planes = e.flat ? t.view({1, e.h, e.w}) : channels_first(t);
            Tensor out = Tensor::empty(DType::kFloat32, planes.shape());
            auto* p = static_cast<float*>(out.mutable_raw());
            if (t.dtype() == DType::kUInt8) {
              apply(static_cast<const uint8_t*>(planes.raw()), planes.size(), 1, true, a, p);
            } else {
              apply(static_cast<const float*>(to_float(planes).raw()), planes.size(), 1, true, a,
                    p);
            }
            return cast(out, to);
          });
          if (to != DType::kFloat32) return alone;
          return with_steps(alone, {PlanesStep{}, AffineStep{a, false}});
        },
};

const TransformDef kToType{
    .name = "vision.ToType",
    .doc = "The same numbers in another dtype, as transforms.TypeCast.",
    .args = {"data_type: dtype"},
    .make =
        [](const Options& o) {
          const DType to = o.dtype("data_type");
          return each_value([to](const Value& v) -> Value { return cast(v.tensor(), to); });
        },
};

const TransformDef kToNumpy{
    .name = "vision.ToNumpy",
    .doc = "The image as an array, which it is in a pipeline: the values stay.",
    .make =
        [](const Options&) {
          return each_value([](const Value& v) -> Value { return v.tensor(); });
        },
};

const TransformDef kToPil{
    .name = "vision.ToPIL",
    .doc =
        "Checks that the image can be one of Pillow's and leaves it: [h, w] or [h, w, 1] of "
        "bool, an int of up to 32 bits, float32 or float64, or [h, w, 2 to 4] of uint8; [h, w, "
        "1] becomes [h, w].",
    .make =
        [](const Options&) {
          return each_value([](const Value& v) -> Value {
            const Tensor& t = v.tensor();
            const Extent e = extent_of(t);
            if (e.c > 4) value_error("expected at most 4 channels, got {}", t.describe());
            if (e.c > 1) {
              bytes_of(t);
              return t;
            }
            const bool wide = size_of(t.dtype()) == 8 && t.dtype() != DType::kFloat64;
            if (wide || t.dtype() == DType::kFloat16 || t.dtype() == DType::kBFloat16)
              type_error("Pillow has no image of {}", t.describe());
            return t.view({e.h, e.w});
          });
        },
};

const TransformDef kLinearTransformation{
    .name = "vision.LinearTransformation",
    .doc =
        "(image - mean_vector) @ transformation_matrix of the image as one row of n numbers, in "
        "the image's shape, as float64: for whitening. transformation_matrix [n, n], "
        "mean_vector [n]. ValueError for other sizes.",
    .args = {"transformation_matrix: tensor", "mean_vector: tensor"},
    .make =
        [](const Options& o) {
          const Tensor m = cast(o.tensor("transformation_matrix"), DType::kFloat64);
          const Tensor mean = cast(o.tensor("mean_vector"), DType::kFloat64);
          if (m.rank() != 2 || m.dim(0) != m.dim(1))
            o.fail("transformation_matrix", "must be square, got {}", m.describe());
          if (mean.rank() != 1 || mean.dim(0) != m.dim(0))
            o.fail("mean_vector", "must have {} numbers, got {}", m.dim(0), mean.describe());
          return each_value([m, mean](const Value& v) -> Value {
            const Tensor& t = v.tensor();
            const int64_t n = m.dim(0);
            if (t.size() != n)
              value_error("the matrix is for {} numbers, the image has {}: {}", n, t.size(),
                          t.describe());
            const Tensor x = cast(t, DType::kFloat64);
            Tensor out = Tensor::zeros(DType::kFloat64, t.shape());
            const auto in = x.data<double>(), matrix = m.data<double>(),
                       middle = mean.data<double>();
            const auto to = out.mutable_data<double>();
            for (int64_t i = 0; i < n; ++i) {
              const double centred = in[i] - middle[i];
              for (int64_t j = 0; j < n; ++j) to[j] += centred * matrix[i * n + j];
            }
            return out;
          });
        },
};

}  // namespace

TransformDefs number_transforms() {
  return {&kNormalize, &kNormalizePad, &kRescale,
          &kHwcToChw,  &kToTensor,     &kToType,
          &kToNumpy,   &kToPil,        &kLinearTransformation};
}

}  // namespace mycel::data::vision
