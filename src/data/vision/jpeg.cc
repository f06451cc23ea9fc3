#include "data/vision/jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <jerror.h>
#include <jpeglib.h>

#include "base/error.h"

namespace mycel::data::vision {
namespace {

// libjpeg ends the program on an error unless error_exit jumps away. Between setjmp and a call into
// libjpeg no object with a destructor is made.
struct Failure {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  bool ran_dry = false;  // the decoder wanted bits after the data's end
};

Failure* failure_of(j_common_ptr c) { return reinterpret_cast<Failure*>(c->err); }

void on_error(j_common_ptr c) { std::longjmp(failure_of(c)->jump, 1); }
void on_message(j_common_ptr c, int level) {
  if (level < 0 && c->err->msg_code == JWRN_HIT_MARKER) failure_of(c)->ran_dry = true;
}
void no_output(j_common_ptr) {}

void set_up(Failure* f) {
  jpeg_std_error(&f->manager);
  f->manager.error_exit = on_error;
  f->manager.emit_message = on_message;
  f->manager.output_message = no_output;
}

std::string text_of(j_common_ptr c) {
  char text[JMSG_LENGTH_MAX];
  c->err->format_message(c, text);
  return text;
}

// A decoder that runs out of data gets an end marker; whether that cost pixels, ran_dry tells.
struct Source {
  jpeg_source_mgr manager;
  bool ended = false;
};
const JOCTET kEnd[2] = {0xFF, JPEG_EOI};

boolean refill(j_decompress_ptr c) {
  reinterpret_cast<Source*>(c->src)->ended = true;
  c->src->next_input_byte = kEnd;
  c->src->bytes_in_buffer = 2;
  return TRUE;
}
void skip(j_decompress_ptr c, long n) {  // NOLINT(google-runtime-int): libjpeg's type
  if (n <= 0) return;
  const size_t have = c->src->bytes_in_buffer;
  if (static_cast<size_t>(n) > have) {
    refill(c);
    return;
  }
  c->src->next_input_byte += n;
  c->src->bytes_in_buffer = have - static_cast<size_t>(n);
}
void nothing(j_decompress_ptr) {}

// Ink to light; Adobe writes ink inverted.
void cmyk_to_rgb(const uint8_t* in, int64_t n, bool inverted, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i, in += 4, out += 3) {
    for (int k = 0; k < 3; ++k) {
      const int ink = inverted ? in[k] * in[3] : (255 - in[k]) * (255 - in[3]);
      out[k] = static_cast<uint8_t>(ink / 255);
    }
  }
}

void brightness(uint8_t* rgb, int64_t n) {  // in place, as in resizing a colour image to grey
  for (int64_t i = 0; i < n; ++i)
    rgb[i] = static_cast<uint8_t>(
        (rgb[3 * i] * 19595 + rgb[3 * i + 1] * 38470 + rgb[3 * i + 2] * 7471 + (1 << 15)) >> 16);
}

}  // namespace

struct JpegReader::State {
  jpeg_decompress_struct c{};
  Failure failure;
  Source source;
  std::vector<uint8_t> line;
  bool ink = false, direct_grey = false, grey = false;
  int64_t width = 0, skipped = 0, row = 0;

  void start(std::span<const uint8_t> data) {
    c.err = &failure.manager;
    jpeg_create_decompress(&c);
    source.manager = {};
    source.manager.init_source = nothing;
    source.manager.fill_input_buffer = refill;
    source.manager.skip_input_data = skip;
    source.manager.resync_to_restart = jpeg_resync_to_restart;
    source.manager.term_source = nothing;
    source.manager.next_input_byte = data.data();
    source.manager.bytes_in_buffer = data.size();
    c.src = &source.manager;
    jpeg_read_header(&c, TRUE);
    jpeg_calc_output_dimensions(&c);
  }
  [[noreturn]] void fail() {
    value_error("broken JPEG: {}", text_of(reinterpret_cast<j_common_ptr>(&c)));
  }
  void check_end(int64_t row) {
    if (source.ended && failure.ran_dry)
      value_error("broken JPEG: the data ends early, before row {} of {}", row + 1,
                  static_cast<int64_t>(c.output_height));
  }
};

JpegReader::JpegReader(std::span<const uint8_t> data) : s_(std::make_unique<State>()) {
  State& s = *s_;
  set_up(&s.failure);
  if (setjmp(s.failure.jump)) {
    const std::string text = text_of(reinterpret_cast<j_common_ptr>(&s.c));
    jpeg_destroy_decompress(&s.c);
    s_.reset();
    value_error("broken JPEG: {}", text);
  }
  s.start(data);
  // A header that claims more than its data can hold must not take memory: a block of 64 pixels has
  // a bit at least.
  const uint64_t pixels = uint64_t{s.c.image_height} * s.c.image_width;
  if (pixels > 4096 * (uint64_t{data.size()} + 64)) {
    const JDIMENSION h = s.c.image_height, w = s.c.image_width;
    jpeg_destroy_decompress(&s.c);
    s_.reset();
    value_error("broken JPEG: {} bytes cannot hold {} x {} pixels", data.size(), h, w);
  }
  if (s.c.num_components != 1 && s.c.num_components != 3 && s.c.num_components != 4) {
    const int n = s.c.num_components;
    jpeg_destroy_decompress(&s.c);
    s_.reset();
    value_error("a JPEG with {} channels is not supported; expected 1, 3 or 4", n);
  }
}

JpegReader::~JpegReader() {
  if (s_) jpeg_destroy_decompress(&s_->c);
}

int64_t JpegReader::height() const { return s_->c.output_height; }
int64_t JpegReader::width() const { return s_->c.output_width; }
int JpegReader::channels() const { return s_->c.num_components; }

void JpegReader::divide(int by) {
  State& s = *s_;
  if (setjmp(s.failure.jump)) s.fail();
  s.c.scale_num = 1;
  s.c.scale_denom = static_cast<unsigned>(by);
  jpeg_calc_output_dimensions(&s.c);
}

void JpegReader::begin(const Crop& crop, bool grey) {
  State& s = *s_;
  jpeg_decompress_struct& c = s.c;
  MYCEL_CHECK(crop.top >= 0 && crop.left >= 0 && crop.h > 0 && crop.w > 0 &&
                  crop.top + crop.h <= height() && crop.left + crop.w <= width(),
              "a crop outside of the image");
  s.ink = c.num_components == 4;
  s.direct_grey = grey && (c.jpeg_color_space == JCS_GRAYSCALE || c.jpeg_color_space == JCS_YCbCr);
  s.grey = grey;
  s.width = crop.w;
  s.row = crop.top;
  s.line.resize(static_cast<size_t>(c.output_width) * 4 + 128);
  // Columns: whole blocks around the crop and its neighbours, whose colours blend into it.
  const int64_t left = std::max<int64_t>(0, crop.left - 1);
  const int64_t right = std::min<int64_t>(c.output_width, crop.left + crop.w + 1);
  JDIMENSION first = 0, count = c.output_width;
  if (setjmp(s.failure.jump)) s.fail();
  c.out_color_space = s.ink ? JCS_CMYK : s.direct_grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&c);
  if (right - left < c.output_width) {
    first = static_cast<JDIMENSION>(left);
    count = static_cast<JDIMENSION>(right - left);
    jpeg_crop_scanline(&c, &first, &count);
  }
  if (crop.top > 0) jpeg_skip_scanlines(&c, static_cast<JDIMENSION>(crop.top));
  s.skipped = (crop.left - first) * (s.ink ? 4 : s.direct_grey ? 1 : 3);
}

const uint8_t* JpegReader::next() {
  State& s = *s_;
  // libjpeg-turbo writes pixels past the caches where a row begins at a whole vector; this one is
  // read at once.
  JSAMPROW line = s.line.data();
  line += 64 - reinterpret_cast<uintptr_t>(line) % 64 + 1;
  if (setjmp(s.failure.jump)) s.fail();
  jpeg_read_scanlines(&s.c, &line, 1);
  s.check_end(s.row++);
  uint8_t* row = line + s.skipped;
  if (s.ink) cmyk_to_rgb(row, s.width, s.c.saw_Adobe_marker, row);
  if (s.grey && !s.direct_grey) brightness(row, s.width);
  return row;
}

void JpegReader::read(const Crop& crop, bool grey, uint8_t* out, int64_t stride) {
  begin(crop, grey);
  for (int64_t y = 0; y < crop.h; ++y)
    std::memcpy(out + y * stride, next(), static_cast<size_t>(crop.w * (grey ? 1 : 3)));
}

std::vector<uint8_t> encode_jpeg(const uint8_t* pixels, int64_t h, int64_t w, int channels,
                                 int quality) {
  if (h > JPEG_MAX_DIMENSION || w > JPEG_MAX_DIMENSION)
    value_error("a JPEG has at most {} rows and columns, got {} x {}", JPEG_MAX_DIMENSION, h, w);
  jpeg_compress_struct c{};
  Failure failure;
  unsigned char* memory = nullptr;
  unsigned long bytes = 0;  // NOLINT(google-runtime-int): libjpeg's type
  set_up(&failure);
  c.err = &failure.manager;
  if (setjmp(failure.jump)) {
    const std::string text = text_of(reinterpret_cast<j_common_ptr>(&c));
    jpeg_destroy_compress(&c);
    std::free(memory);
    fail(ErrorKind::kRuntime, "cannot write a JPEG: {}", text);
  }
  jpeg_create_compress(&c);
  jpeg_mem_dest(&c, &memory, &bytes);
  c.image_height = static_cast<JDIMENSION>(h);
  c.image_width = static_cast<JDIMENSION>(w);
  c.input_components = channels;
  c.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, quality, TRUE);
  jpeg_start_compress(&c, TRUE);
  while (c.next_scanline < c.image_height) {
    JSAMPROW row = const_cast<uint8_t*>(pixels) + c.next_scanline * w * channels;
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  std::vector<uint8_t> out(memory, memory + bytes);
  std::free(memory);
  return out;
}

}  // namespace mycel::data::vision
