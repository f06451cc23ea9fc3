// Reads JPEG through libjpeg-turbo: the whole image, or only the rows and columns of a crop, or at
// a half, a quarter, an eighth of its size straight from the frequencies. Memory bounded by what is
// asked for. One crop a reader. Broken data is a ValueError that says what is wrong; a file that
// ends early too.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mycel::data::vision {

struct Crop {
  int64_t top = 0, left = 0, h = 0, w = 0;
};

class JpegReader {
 public:
  // Reads the header; `data` must outlive the reader.
  explicit JpegReader(std::span<const uint8_t> data);
  ~JpegReader();
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  int64_t height() const;
  int64_t width() const;
  int channels() const;  // of the file: 1, 3 or 4

  // Size when every side is divided by 1, 2, 4 or 8 (rounded up); before read().
  void divide(int by);
  // The crop (in divided pixels) as RGB, or as one channel of brightness, with `stride` bytes a
  // row. One crop a reader.
  void read(const Crop& crop, bool grey, uint8_t* out, int64_t stride);
  // The same row by row: next() gives the rows of the crop in order, each until the next call.
  void begin(const Crop& crop, bool grey);
  const uint8_t* next();

 private:
  struct State;
  std::unique_ptr<State> s_;
};

std::vector<uint8_t> encode_jpeg(const uint8_t* pixels, int64_t h, int64_t w, int channels,
                                 int quality);

}  // namespace mycel::data::vision
