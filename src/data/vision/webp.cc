// WebP through libwebp; of an animation nothing is read.
#include <webp/decode.h>

#include "base/error.h"
#include "data/vision/codec.h"

namespace mycel::data::vision {

ImageInfo read_webp(std::span<const uint8_t> data, Channels channels, Tensor* out) {
  WebPBitstreamFeatures f{};
  if (WebPGetFeatures(data.data(), data.size(), &f) != VP8_STATUS_OK)
    value_error("broken WebP: its header");
  if (f.has_animation) value_error("an animated WebP is not read; expected a still image");
  check_size(f.height, f.width, "WebP");
  const ImageInfo info{f.height, f.width, channels == Channels::kGrey ? 1 : 3};
  if (!out) return info;
  Tensor pixels = Tensor::empty(DType::kUInt8, {info.h, info.w, 3});
  auto* to = static_cast<uint8_t*>(pixels.mutable_raw());
  if (!WebPDecodeRGBInto(data.data(), data.size(), to, pixels.bytes(),
                         static_cast<int>(info.w * 3)))
    value_error("broken WebP: its pixels");
  *out = info.channels == 1 ? taken(to, 3, info.h, info.w, 1) : pixels;
  return info;
}

}  // namespace mycel::data::vision
