// TIFF through libtiff: the first page, whatever its layout, as 8 bits a channel, or with 16 bits
// as they are.
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <tiffio.h>

#include "base/error.h"
#include "data/vision/codec.h"

namespace mycel::data::vision {
namespace {

// A file in memory, as libtiff's callbacks see it.
struct Memory {
  std::span<const uint8_t> data;
  uint64_t place = 0;
};

tmsize_t read(thandle_t h, void* to, tmsize_t n) {
  auto* m = static_cast<Memory*>(h);
  if (m->place >= m->data.size() || n <= 0) return 0;
  const auto count = std::min<uint64_t>(static_cast<uint64_t>(n), m->data.size() - m->place);
  std::memcpy(to, m->data.data() + m->place, count);
  m->place += count;
  return static_cast<tmsize_t>(count);
}
tmsize_t no_write(thandle_t, void*, tmsize_t) { return 0; }
toff_t seek(thandle_t h, toff_t offset, int from) {
  auto* m = static_cast<Memory*>(h);
  m->place = (from == SEEK_CUR ? m->place : from == SEEK_END ? m->data.size() : 0) + offset;
  return m->place;
}
int close(thandle_t) { return 0; }
toff_t size(thandle_t h) { return static_cast<Memory*>(h)->data.size(); }
int map(thandle_t h, void** base, toff_t* n) {
  auto* m = static_cast<Memory*>(h);
  *base = const_cast<uint8_t*>(m->data.data());
  *n = m->data.size();
  return 1;
}
void unmap(thandle_t, void*, toff_t) {}

// libtiff reports through two global handlers; texts of this thread's read are kept, the rest is
// silent.
thread_local std::string* kept_text = nullptr;
void on_error(const char*, const char* format, va_list arguments) {
  if (!kept_text || !kept_text->empty()) return;
  char text[300];
  std::vsnprintf(text, sizeof text, format, arguments);
  *kept_text = text;
}
void set_handlers() {
  static const bool done = [] {
    TIFFSetErrorHandler(on_error);
    TIFFSetWarningHandler(nullptr);
    return true;
  }();
  (void)done;
}

uint16_t field(TIFF* t, uint32_t tag, uint16_t otherwise) {
  uint16_t v = otherwise;
  return TIFFGetFieldDefaulted(t, tag, &v) ? v : otherwise;
}

// Brightness or red, green and blue of 16 bits a channel, as they are; further channels, alpha, are
// left out. False: libtiff could not read a block.
bool read_deep(TIFF* t, const ImageInfo& info, size_t file_bytes, Tensor* out) {
  const uint16_t samples = field(t, TIFFTAG_SAMPLESPERPIXEL, 1);
  const bool planar = field(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  const uint16_t photometric = field(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  if (photometric != PHOTOMETRIC_MINISBLACK && photometric != PHOTOMETRIC_RGB)
    value_error(
        "a TIFF with 16 bits a channel is read unchanged as grey or RGB alone; photometric "
        "interpretation {}",
        photometric);
  if (field(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT) != SAMPLEFORMAT_UINT)
    value_error("a TIFF with 16 bits a channel is read unchanged where they are unsigned integers");
  if (field(t, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT) != ORIENTATION_TOPLEFT)
    value_error("a TIFF with 16 bits a channel that is turned is not read unchanged");
  if (samples < info.channels) value_error("broken TIFF: {} samples a pixel", samples);
  if (info.h * info.w > 20000 * static_cast<int64_t>(file_bytes + 1))
    value_error("broken TIFF: more pixels than its bytes can hold");
  const bool tiled = TIFFIsTiled(t);
  uint32_t bw = static_cast<uint32_t>(info.w), bh = 0;
  if (tiled) {
    TIFFGetField(t, TIFFTAG_TILEWIDTH, &bw);
    TIFFGetField(t, TIFFTAG_TILELENGTH, &bh);
  } else {
    TIFFGetFieldDefaulted(t, TIFFTAG_ROWSPERSTRIP, &bh);
    bh = std::min(bh, static_cast<uint32_t>(info.h));
  }
  const int64_t each = planar ? 1 : samples;  // samples a pixel of a block
  const tmsize_t bytes = tiled ? TIFFTileSize(t) : TIFFStripSize(t);
  if (bw == 0 || bh == 0 || bytes < static_cast<tmsize_t>(2 * each) * bw * bh)
    value_error("broken TIFF: blocks of {} x {} pixels in {} bytes", bh, bw, bytes);
  // As above, of the block itself.
  if (static_cast<uint64_t>(bytes) > 20000 * 16 * (uint64_t{file_bytes} + 1))
    value_error("broken TIFF: a block of {} bytes", bytes);
  std::vector<uint16_t> block(static_cast<size_t>(bytes + 1) / 2);
  *out = Tensor::zeros(DType::kUInt16, {info.h, info.w, info.channels});
  uint16_t* to = out->mutable_data<uint16_t>().data();
  for (int64_t plane = 0; plane < (planar ? info.channels : 1); ++plane) {
    for (int64_t y = 0; y < info.h; y += bh) {
      for (int64_t x = 0; x < info.w; x += bw) {
        const auto at_x = static_cast<uint32_t>(x), at_y = static_cast<uint32_t>(y);
        const auto p = static_cast<uint16_t>(plane);
        const tmsize_t n =
            tiled
                ? TIFFReadEncodedTile(t, TIFFComputeTile(t, at_x, at_y, 0, p), block.data(), bytes)
                : TIFFReadEncodedStrip(t, TIFFComputeStrip(t, at_y, p), block.data(), bytes);
        const int64_t rows = std::min<int64_t>(bh, info.h - y);
        const int64_t columns = std::min<int64_t>(bw, info.w - x);
        if (n < static_cast<tmsize_t>(2 * each * bw) * rows) return false;
        for (int64_t r = 0; r < rows; ++r) {
          const uint16_t* from = block.data() + r * bw * each;
          uint16_t* line = to + ((y + r) * info.w + x) * info.channels;
          for (int64_t c = 0; c < columns; ++c) {
            if (planar) {
              line[c * info.channels + plane] = from[c];
            } else {
              for (int k = 0; k < info.channels; ++k)
                line[c * info.channels + k] = from[c * each + k];
            }
          }
        }
      }
    }
  }
  return true;
}

}  // namespace

ImageInfo read_tiff(std::span<const uint8_t> data, Channels channels, Tensor* out) {
  set_handlers();
  std::string text;
  kept_text = &text;
  struct Reset {
    ~Reset() { kept_text = nullptr; }
  } reset;
  const auto broken = [&](const char* what) {
    value_error("broken TIFF: {}{}{}", what, text.empty() ? "" : ": ", text);
  };
  Memory memory{data};
  std::unique_ptr<TIFF, decltype(&TIFFClose)> tiff(
      TIFFClientOpen("memory", "r", &memory, read, no_write, seek, close, size, map, unmap),
      &TIFFClose);
  if (!tiff) broken("its header");
  uint32_t w = 0, h = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &w);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &h);
  check_size(h, w, "TIFF");
  uint16_t bits = 8, photometric = PHOTOMETRIC_MINISBLACK;
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetField(tiff.get(), TIFFTAG_PHOTOMETRIC, &photometric);
  const bool grey = photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
  const bool one = channels == Channels::kGrey || (channels == Channels::kUnchanged && grey);
  const ImageInfo info{h, w, one ? 1 : 3};
  if (!out) return info;
  if (bits == 16 && channels == Channels::kUnchanged) {
    if (!read_deep(tiff.get(), info, data.size(), out)) broken("its pixels");
    return info;
  }
  if (bits > 8 && channels == Channels::kUnchanged)
    value_error("a TIFF with {} bits a channel is not read unchanged; read it as colour or grey",
                bits);
  char why[1024] = "";
  if (!TIFFRGBAImageOK(tiff.get(), why)) value_error("this TIFF is not read: {}", why);
  // A header may claim far more pixels than there are bytes: no format here packs 20000 to one.
  if (uint64_t{w} * h > 20000 * (data.size() + 1)) broken("more pixels than its bytes can hold");
  std::vector<uint32_t> pixels(static_cast<size_t>(w) * h);
  if (!TIFFReadRGBAImageOriented(tiff.get(), w, h, pixels.data(), ORIENTATION_TOPLEFT, 1))
    broken("its pixels");
  std::vector<uint8_t> rgb(pixels.size() * 3);
  for (size_t i = 0; i < pixels.size(); ++i) {
    rgb[3 * i] = TIFFGetR(pixels[i]);
    rgb[3 * i + 1] = TIFFGetG(pixels[i]);
    rgb[3 * i + 2] = TIFFGetB(pixels[i]);
  }
  *out = taken(rgb.data(), 3, h, w, info.channels);
  return info;
}

}  // namespace mycel::data::vision
