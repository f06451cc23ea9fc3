// Image files in memory: what they are, how large, their pixels. JPEG, PNG, WebP, TIFF and BMP; any
// other format, and broken data, is a ValueError that says what came. The orientation in EXIF is
// not applied, as in the published API.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::data::vision {

enum class Format : uint8_t { kJpeg, kPng, kWebp, kTiff, kBmp };
// By the first bytes. ValueError naming formats that are known but not read (GIF, HEIF, …).
Format format_of(std::span<const uint8_t> data);

// What is made of the channels of the file. kUnchanged: 1 where the file has brightness alone, else
// 3. Alpha is always dropped.
enum class Channels : uint8_t { kUnchanged, kGrey, kColour };

struct ImageInfo {
  int64_t h = 0, w = 0;
  int channels = 0;  // as kUnchanged gives them
};
ImageInfo inspect(std::span<const uint8_t> data);
// uint8 [h, w, channels]. 16 bits are cut to 8; kUnchanged keeps them in uint16 for PNG and refuses
// them for TIFF.
Tensor decode(std::span<const uint8_t> data, Channels channels);
// Refuses sizes beyond 2^30 pixels, which broken headers claim.
void check_size(int64_t h, int64_t w, const char* format);

// Each format: read when `out` is null only as far as the size.
ImageInfo read_png(std::span<const uint8_t> data, Channels channels, Tensor* out);
ImageInfo read_webp(std::span<const uint8_t> data, Channels channels, Tensor* out);
ImageInfo read_tiff(std::span<const uint8_t> data, Channels channels, Tensor* out);
ImageInfo read_bmp(std::span<const uint8_t> data, Channels channels, Tensor* out);

// [h, w, 1 or 3] uint8 to the bytes of a file. level: 0 (fast) to 9 (small).
std::vector<uint8_t> encode_png(const uint8_t* pixels, int64_t h, int64_t w, int channels,
                                int level);

// Pixels of `from` bytes (red, green, blue, ...) to [h, w, to], to = 1 or 3.
Tensor taken(const uint8_t* pixels, int from, int64_t h, int64_t w, int to);
// The weights 0.299, 0.587, 0.114 in 15 bits.
inline uint8_t grey_of(int r, int g, int b) {
  return static_cast<uint8_t>((r * 9798 + g * 19235 + b * 3735 + (1 << 14)) >> 15);
}

}  // namespace mycel::data::vision
