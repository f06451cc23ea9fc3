#include "data/vision/codec.h"

#include <string_view>

#include "base/error.h"
#include "data/vision/jpeg.h"

namespace mycel::data::vision {
namespace {

std::string_view text_of(std::span<const uint8_t> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

ImageInfo read_jpeg(std::span<const uint8_t> data, Channels channels, Tensor* out) {
  JpegReader reader(data);
  const bool grey =
      channels == Channels::kGrey || (channels == Channels::kUnchanged && reader.channels() == 1);
  const ImageInfo info{reader.height(), reader.width(), grey ? 1 : 3};
  check_size(info.h, info.w, "JPEG");
  if (!out) return info;
  *out = Tensor::empty(DType::kUInt8, {info.h, info.w, info.channels});
  reader.read({0, 0, info.h, info.w}, grey, static_cast<uint8_t*>(out->mutable_raw()),
              info.w * info.channels);
  return info;
}

ImageInfo read(std::span<const uint8_t> data, Channels channels, Tensor* out) {
  switch (format_of(data)) {
    case Format::kJpeg:
      return read_jpeg(data, channels, out);
    case Format::kPng:
      return read_png(data, channels, out);
    case Format::kWebp:
      return read_webp(data, channels, out);
    case Format::kTiff:
      return read_tiff(data, channels, out);
    case Format::kBmp:
      break;
  }
  return read_bmp(data, channels, out);
}

}  // namespace

Format format_of(std::span<const uint8_t> data) {
  using std::literals::operator""sv;
  const std::string_view t = text_of(data);
  if (t.empty()) value_error("there are no bytes to decode");
  if (t.starts_with("\xFF\xD8\xFF")) return Format::kJpeg;
  if (t.starts_with("\x89PNG\r\n\x1A\n")) return Format::kPng;
  if (t.starts_with("RIFF") && t.size() >= 12 && t.substr(8, 4) == "WEBP") return Format::kWebp;
  if (t.starts_with("II*\0"sv) || t.starts_with("MM\0*"sv) || t.starts_with("II+\0"sv) ||
      t.starts_with("MM\0+"sv))
    return Format::kTiff;
  if (t.starts_with("BM")) return Format::kBmp;
  const char* known = t.starts_with("GIF8")                        ? "GIF"
                      : t.size() >= 12 && t.substr(4, 4) == "ftyp" ? "HEIF or AVIF"
                      : t.starts_with("\xFF\x0A") || t.starts_with("\0\0\0\x0CJXL"sv) ? "JPEG XL"
                                                                                      : nullptr;
  if (known) value_error("{} images are not read; expected JPEG, PNG, WebP, TIFF or BMP", known);
  std::string start;
  for (size_t i = 0; i < std::min<size_t>(4, data.size()); ++i)
    start += fmt::format("{}{:02x}", i ? " " : "", data[i]);
  value_error("{} bytes that start with {} are no image; expected JPEG, PNG, WebP, TIFF or BMP",
              data.size(), start);
}

ImageInfo inspect(std::span<const uint8_t> data) {
  return read(data, Channels::kUnchanged, nullptr);
}

Tensor decode(std::span<const uint8_t> data, Channels channels) {
  Tensor out;
  read(data, channels, &out);
  return out;
}

void check_size(int64_t h, int64_t w, const char* format) {
  if (h <= 0 || w <= 0 || h > (int64_t{1} << 30) / w)
    value_error("a {} of {} x {} pixels is not read: at most 2^30 pixels", format, h, w);
}

Tensor taken(const uint8_t* pixels, int from, int64_t h, int64_t w, int to) {
  Tensor out = Tensor::empty(DType::kUInt8, {h, w, to});
  auto* p = static_cast<uint8_t*>(out.mutable_raw());
  for (int64_t i = 0; i < h * w; ++i, pixels += from, p += to) {
    if (to == 1) {
      *p = grey_of(pixels[0], pixels[1], pixels[2]);
    } else {
      p[0] = pixels[0], p[1] = pixels[1], p[2] = pixels[2];
    }
  }
  return out;
}

}  // namespace mycel::data::vision
