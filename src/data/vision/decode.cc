// Records: bytes of image files to pixels and back.
#include "data/vision/decode.h"

#include <algorithm>

#include "base/error.h"
#include "data/vision/codec.h"
#include "data/vision/crop.h"
#include "data/vision/resize.h"
#include "data/vision/step.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {

std::span<const uint8_t> encoded(const Value& v) {
  if (v.is_strings()) {
    const std::string& s = v.string();
    return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
  }
  const Tensor& t = v.tensor();
  if (t.rank() > 1)
    throw UserError(ErrorKind::kValue,
                    fmt::format("expected the bytes of a file, uint8 [n], got {}", t.describe()),
                    "An image that is decoded already needs no Decode.");
  if (t.dtype() != DType::kUInt8 && t.dtype() != DType::kInt8)
    type_error("expected the bytes of a file, uint8 [n], got {}", t.describe());
  return {static_cast<const uint8_t*>(t.raw()), t.bytes()};
}

Tensor decode_crop(std::span<const uint8_t> data,
                   const std::function<Crop(int64_t, int64_t)>& choose) {
  if (format_of(data) != Format::kJpeg) {
    const Tensor t = decode(data, Channels::kColour);
    return crop(t, choose(t.dim(0), t.dim(1)));
  }
  JpegReader reader(data);
  check_size(reader.height(), reader.width(), "JPEG");
  const Crop r = choose(reader.height(), reader.width());
  Tensor out = Tensor::empty(DType::kUInt8, {r.h, r.w, 3});
  reader.read(r, false, static_cast<uint8_t*>(out.mutable_raw()), r.w * 3);
  return out;
}

namespace {

const TransformDef kDecode{
    .name = "vision.Decode",
    .doc =
        "The pixels of an image file, uint8 [h, w, 3] in the order red, green, blue, from its "
        "bytes, uint8 [n] or a string: JPEG, PNG, WebP, TIFF or BMP. Grey is repeated, alpha is "
        "dropped, 16 bits are cut to 8, the orientation in EXIF is not applied. ValueError for "
        "broken or truncated data, naming what is wrong. `to_pil` changes no pixel.",
    .args = {"to_pil: bool = False"},
    .make =
        [](const Options&) {
          return with_steps(each_value([](const Value& v) -> Value {
                              return decode(encoded(v), Channels::kColour);
                            }),
                            {DecodeStep{}});
        },
};

const TransformDef kRandomCropDecodeResize{
    .name = "vision.RandomCropDecodeResize",
    .doc =
        "Decode and RandomResizedCrop in one: of a JPEG only the rows and columns of the "
        "rectangle are decoded. The same pixels as the two in a row give.",
    .args = RandomArea::resized_args(),
    .make =
        [](const Options& o) {
          const RandomArea area(o);
          const Size to = size_option(o, "size");
          const Filter f = filter_of(o.choice("interpolation"));
          Steps steps = area_steps(area, to, f);
          steps.insert(steps.begin(), DecodeStep{});
          return with_steps(each_value_randomly([=](const Value& v, Philox& draw) -> Value {
                              const Tensor t = decode_crop(encoded(v), [&](int64_t h, int64_t w) {
                                return area.choose(h, w, draw);
                              });
                              return resize(t, to, f);
                            }),
                            steps);
        },
};

}  // namespace

TransformDefs decode_transforms() { return {&kDecode, &kRandomCropDecodeResize}; }

}  // namespace mycel::data::vision
