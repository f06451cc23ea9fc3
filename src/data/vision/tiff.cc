// TIFF through libtiff: the first page, whatever its layout, as 8 bits a channel.
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
