// BMP without compression, 8 bits with a palette, 24 or 32 bits a pixel (32: the fourth byte is
// ignored).
#include <cstring>

#include "base/error.h"
#include "data/vision/codec.h"

namespace mycel::data::vision {
namespace {

uint32_t number(std::span<const uint8_t> d, size_t at, int bytes) {
  uint32_t v = 0;
  for (int i = 0; i < bytes; ++i) v |= static_cast<uint32_t>(d[at + i]) << (8 * i);
  return v;
}

}  // namespace

ImageInfo read_bmp(std::span<const uint8_t> data, Channels channels, Tensor* out) {
  constexpr size_t kHead = 54;
  if (data.size() < kHead) value_error("broken BMP: {} bytes are no header", data.size());
  const uint32_t first = number(data, 10, 4), head = number(data, 14, 4),
                 bits = number(data, 28, 2), packed = number(data, 30, 4);
  const int64_t w = static_cast<int32_t>(number(data, 18, 4));
  int64_t h = static_cast<int32_t>(number(data, 22, 4));
  const bool downwards = h < 0;
  if (downwards) h = -h;
  if (head < 40 || packed != 0 || (bits != 8 && bits != 24 && bits != 32))
    value_error(
        "this BMP is not read: {} bits a pixel, compression {}; expected 8, 24 or 32 bits "
        "without compression",
        bits, packed);
  check_size(h, w, "BMP");
  const int64_t stride = (w * bits / 8 + 3) / 4 * 4;
  const size_t palette = 14 + size_t{head};
  const bool fits = first <= data.size() &&
                    stride * h <= static_cast<int64_t>(data.size() - first) &&
                    (bits != 8 || palette <= first);
  if (!fits) value_error("broken BMP: {} bytes do not hold {} x {} pixels", data.size(), h, w);
  const size_t colours = bits == 8 ? std::min<size_t>(256, (first - palette) / 4) : 0;
  bool grey = bits == 8;  // a palette of greys
  for (size_t i = 0; i < colours; ++i) {
    const uint8_t* p = data.data() + palette + 4 * i;
    grey = grey && p[0] == p[1] && p[1] == p[2];
  }
  const bool one = channels == Channels::kGrey || (channels == Channels::kUnchanged && grey);
  const ImageInfo info{h, w, one ? 1 : 3};
  if (!out) return info;
  *out = Tensor::empty(DType::kUInt8, {h, w, info.channels});
  auto* to = static_cast<uint8_t*>(out->mutable_raw());
  for (int64_t y = 0; y < h; ++y) {
    const uint8_t* row = data.data() + first + (downwards ? y : h - 1 - y) * stride;
    for (int64_t x = 0; x < w; ++x, to += info.channels) {
      const uint8_t* p = row + x * bits / 8;
      if (bits == 8) {
        if (*p >= colours) value_error("broken BMP: colour {} of {}", int{*p}, colours);
        p = data.data() + palette + size_t{4} * *p;
      }
      if (info.channels == 1) {
        *to = grey_of(p[2], p[1], p[0]);
      } else {
        to[0] = p[2], to[1] = p[1], to[2] = p[0];
      }
    }
  }
  return info;
}

}  // namespace mycel::data::vision
