// PNG through libspng.
#include <cstdlib>
#include <cstring>
#include <memory>

#include <spng.h>

#include "base/error.h"
#include "data/vision/codec.h"

namespace mycel::data::vision {
namespace {

using Context = std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)>;

void check(int code, const char* what) {
  if (code) value_error("broken PNG: {}: {}", what, spng_strerror(code));
}

// 16 bits a channel, as they are: libspng gives them as RGBA alone.
Tensor deep(spng_ctx* context, const ImageInfo& info) {
  std::vector<uint16_t> rgba(static_cast<size_t>(info.h * info.w * 4));
  check(spng_decode_image(context, rgba.data(), rgba.size() * 2, SPNG_FMT_RGBA16, 0), "its pixels");
  Tensor out = Tensor::empty(DType::kUInt16, {info.h, info.w, info.channels});
  auto* to = out.mutable_data<uint16_t>().data();
  for (size_t i = 0; i < rgba.size(); i += 4)
    for (int k = 0; k < info.channels; ++k) *to++ = rgba[i + static_cast<size_t>(k)];
  return out;
}

}  // namespace

ImageInfo read_png(std::span<const uint8_t> data, Channels channels, Tensor* out) {
  Context context(spng_ctx_new(0), &spng_ctx_free);
  MYCEL_CHECK(context, "libspng gives no context");
  check(spng_set_png_buffer(context.get(), data.data(), data.size()), "its bytes");
  spng_ihdr head{};
  check(spng_get_ihdr(context.get(), &head), "its header");
  check_size(head.height, head.width, "PNG");
  // Deflate packs 1032 bytes to one at most.
  const uint64_t row = (uint64_t{head.width} * head.bit_depth + 7) / 8;
  if (row * head.height > 1040 * uint64_t{data.size()})
    value_error("broken PNG: {} bytes cannot hold {} x {} pixels", data.size(), head.height,
                head.width);
  const bool grey = head.color_type == SPNG_COLOR_TYPE_GRAYSCALE;
  const int kept = channels == Channels::kColour ? 3 : channels == Channels::kGrey || grey ? 1 : 3;
  const ImageInfo info{head.height, head.width, kept};
  if (!out) return info;
  if (head.bit_depth == 16 && channels == Channels::kUnchanged) {
    *out = deep(context.get(), info);
    return info;
  }
  // libspng gives one channel only to files of up to 8 bits without colour.
  const bool direct = kept == 1 && grey && head.bit_depth <= 8;
  Tensor pixels = Tensor::empty(DType::kUInt8, {info.h, info.w, direct ? 1 : 3});
  check(spng_decode_image(context.get(), pixels.mutable_raw(), pixels.bytes(),
                          direct ? SPNG_FMT_G8 : SPNG_FMT_RGB8, 0),
        "its pixels");
  *out = kept == 1 && !direct
             ? taken(static_cast<const uint8_t*>(pixels.raw()), 3, info.h, info.w, 1)
             : pixels;
  return info;
}

std::vector<uint8_t> encode_png(const uint8_t* pixels, int64_t h, int64_t w, int channels,
                                int level) {
  Context context(spng_ctx_new(SPNG_CTX_ENCODER), &spng_ctx_free);
  MYCEL_CHECK(context, "libspng gives no context");
  spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1);
  spng_set_option(context.get(), SPNG_IMG_COMPRESSION_LEVEL, level);
  // The search for the best filter of a row takes longer than fast compression itself.
  if (level <= 1) spng_set_option(context.get(), SPNG_FILTER_CHOICE, SPNG_DISABLE_FILTERING);
  spng_ihdr head{};
  head.width = static_cast<uint32_t>(w);
  head.height = static_cast<uint32_t>(h);
  head.bit_depth = 8;
  head.color_type = channels == 1 ? SPNG_COLOR_TYPE_GRAYSCALE : SPNG_COLOR_TYPE_TRUECOLOR;
  int code = spng_set_ihdr(context.get(), &head);
  if (!code)
    code = spng_encode_image(context.get(), pixels, static_cast<size_t>(h * w * channels),
                             SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
  size_t bytes = 0;
  void* memory = code ? nullptr : spng_get_png_buffer(context.get(), &bytes, &code);
  if (code || !memory) fail(ErrorKind::kRuntime, "cannot write a PNG: {}", spng_strerror(code));
  const auto* first = static_cast<const uint8_t*>(memory);
  std::vector<uint8_t> out(first, first + bytes);
  std::free(memory);
  return out;
}

}  // namespace mycel::data::vision
