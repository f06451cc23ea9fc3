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
  const int kept = channels == Channels::kGrey     ? 1
                   : channels == Channels::kColour ? 3
                   : f.has_alpha                   ? 4
                                                   : 3;
  const ImageInfo info{f.height, f.width, kept};
  if (!out) return info;
  const int c = kept == 4 ? 4 : 3;
  Tensor pixels = Tensor::empty(DType::kUInt8, {info.h, info.w, c});
  auto* to = static_cast<uint8_t*>(pixels.mutable_raw());
  const auto stride = static_cast<int>(info.w * c);
  const auto* done = c == 4
                         ? WebPDecodeRGBAInto(data.data(), data.size(), to, pixels.bytes(), stride)
                         : WebPDecodeRGBInto(data.data(), data.size(), to, pixels.bytes(), stride);
  if (!done) value_error("broken WebP: its pixels");
  if (kept != 1) {
    *out = pixels;
    return info;
  }
  *out = Tensor::empty(DType::kUInt8, {info.h, info.w, 1});
  auto* grey = static_cast<uint8_t*>(out->mutable_raw());
  for (int64_t i = 0; i < info.h * info.w; ++i, to += 3) grey[i] = grey_of(to[0], to[1], to[2]);
  return info;
}

}  // namespace mycel::data::vision
