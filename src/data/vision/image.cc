#include "data/vision/image.h"

#include <cstring>

#include "base/error.h"

namespace mycel::data::vision {

Extent extent_of(const Tensor& image) {
  if (image.rank() != 2 && image.rank() != 3)
    throw UserError(ErrorKind::kValue,
                    fmt::format("expected an image [height, width] or [height, width, channels], "
                                "got {}",
                                image.describe()),
                    image.rank() == 1 ? "Encoded bytes are decoded first: vision.Decode()." : "");
  Extent e{image.dim(0), image.dim(1), image.rank() == 3 ? image.dim(2) : 1, image.rank() == 2};
  if (image.size() == 0) value_error("the image is empty: {}", image.describe());
  return e;
}

Tensor image_like(const Extent& like, DType dtype, int64_t h, int64_t w) {
  return Tensor::empty(dtype, like.flat ? Shape{h, w} : Shape{h, w, like.c});
}

const uint8_t* bytes_of(const Tensor& image) {
  if (image.dtype() != DType::kUInt8)
    type_error("expected an image of uint8, got {}", image.describe());
  return static_cast<const uint8_t*>(image.raw());
}

Extent colour_extent(const Tensor& image) {
  const Extent e = extent_of(image);
  if (e.flat || e.c != 3)
    value_error("expected an image [height, width, 3], got {}", image.describe());
  bytes_of(image);
  return e;
}

Extent one_or_three(const Tensor& image) {
  const Extent e = extent_of(image);
  if (e.c != 1 && e.c != 3)
    value_error("expected an image with 1 or 3 channels, got {}", image.describe());
  bytes_of(image);
  return e;
}

Tensor each_image(const Tensor& t, const std::function<Tensor(const Tensor&)>& f) {
  if (t.rank() <= 3) return f(t);
  const int lead = t.rank() - 3;
  const Shape one{t.dim(lead), t.dim(lead + 1), t.dim(lead + 2)};
  const int64_t count = t.shape().size(0, lead);
  Tensor out;
  for (int64_t i = 0; i < count; ++i) {
    const Tensor made = f(t.view(one, i * one.size()));
    if (!out) {
      Shape shape;
      for (int d = 0; d < lead; ++d) shape.push_back(t.dim(d));
      for (const int64_t d : made.shape().dims()) shape.push_back(d);
      out = Tensor::empty(made.dtype(), shape);
    }
    std::memcpy(static_cast<char*>(out.mutable_raw()) + i * made.bytes(), made.raw(), made.bytes());
  }
  if (!out) value_error("the stack of images is empty: {}", t.describe());
  return out;
}

std::shared_ptr<Transform> image_transform(std::function<Tensor(const Tensor&)> f) {
  return each_value(
      [f = std::move(f)](const Value& v) -> Value { return each_image(v.tensor(), f); });
}

std::shared_ptr<Transform> random_image_transform(std::function<Tensor(const Tensor&, Philox&)> f) {
  return each_value_randomly([f = std::move(f)](const Value& v, Philox& draw) -> Value {
    const Philox start = draw;
    return each_image(v.tensor(), [&](const Tensor& t) {
      draw = start;
      return f(t, draw);
    });
  });
}

Size size_option(const Options& o, std::string_view name) {
  const std::vector<int64_t> v = o.ints(name);
  if (v.empty() || v.size() > 2)
    o.fail(name, "must be one int or (height, width), got {}", o[name].str());
  for (const int64_t n : v) {
    if (n <= 0 || n > 1 << 24) o.fail(name, "must be in [1, {}], got {}", 1 << 24, o[name].str());
  }
  return {v[0], v.back()};
}

Fill fill_option(const Options& o, std::string_view name) {
  const std::vector<int64_t> v = o.ints(name);
  if (v.size() != 1 && v.size() != 3)
    o.fail(name, "must be one int or three, got {}", o[name].str());
  Fill f;
  for (size_t i = 0; i < 4; ++i) {
    const int64_t n = i < v.size() ? v[i] : v.size() == 1 ? v[0] : 0;
    if (n < 0 || n > 255) o.fail(name, "must be in [0, 255], got {}", o[name].str());
    f.value[i] = static_cast<uint8_t>(n);
  }
  return f;
}

double probability(const Options& o, std::string_view name) { return o.within(name, 0, 1); }

}  // namespace mycel::data::vision
