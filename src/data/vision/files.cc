// Records behind the functions read_file, read_image, write_file, write_jpeg, write_png,
// encode_jpeg, encode_png, get_image_size and get_image_num_channels: their names are the
// functions' with small letters, so that no class is made of them.
#include <array>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/file_io.h"
#include "data/vision/codec.h"
#include "data/vision/decode.h"
#include "data/vision/image.h"
#include "data/vision/jpeg.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {
namespace {

Tensor read_whole(const std::string& path) {
  const InputFile file(path);
  Tensor out = Tensor::empty(DType::kUInt8, {static_cast<int64_t>(file.size())});
  if (file.size() > 0) file.read_at(0, out.mutable_raw(), file.size());
  return out;
}

void write_whole(const std::string& path, const void* data, size_t bytes) {
  AtomicFile file(path);
  file.write(data, bytes);
  file.commit();
}

Tensor as_tensor(const std::vector<uint8_t>& bytes) {
  return Tensor::from(bytes, {static_cast<int64_t>(bytes.size())});
}

int64_t quality(const Options& o) { return static_cast<int64_t>(o.within("quality", 1, 100)); }
int64_t level(const Options& o) {
  return static_cast<int64_t>(o.within("compression_level", 0, 9));
}

std::vector<uint8_t> jpeg(const Tensor& t, int64_t quality) {
  const Extent e = one_or_three(t);
  return encode_jpeg(bytes_of(t), e.h, e.w, static_cast<int>(e.c), static_cast<int>(quality));
}
std::vector<uint8_t> png(const Tensor& t, int64_t level) {
  const Extent e = one_or_three(t);
  return encode_png(bytes_of(t), e.h, e.w, static_cast<int>(e.c), static_cast<int>(level));
}

// The value of a call: the path, then what is written.
struct Write {
  std::string path;
  Tensor tensor;
};
Write write_of(const Row& row, const char* what) {
  if (row.size() != 2) value_error("takes a file name and {}, got {} values", what, row.size());
  return {row[0].string(), row[1].tensor()};
}

const TransformDef kEncodeJpeg{
    .name = "vision.encode_jpeg",
    .doc = "An image, uint8 [h, w], [h, w, 1] or [h, w, 3], as the bytes of a JPEG file.",
    .args = {"quality: int = 75"},
    .make =
        [](const Options& o) {
          return each_value(
              [q = quality(o)](const Value& v) -> Value { return as_tensor(jpeg(v.tensor(), q)); });
        },
};

const TransformDef kEncodePng{
    .name = "vision.encode_png",
    .doc = "An image, uint8 [h, w], [h, w, 1] or [h, w, 3], as the bytes of a PNG file.",
    .args = {"compression_level: int = 6"},
    .make =
        [](const Options& o) {
          return each_value(
              [n = level(o)](const Value& v) -> Value { return as_tensor(png(v.tensor(), n)); });
        },
};

const TransformDef kReadFile{
    .name = "vision.read_file",
    .doc = "The bytes of the file of a name, uint8 [n]. OSError when it cannot be read.",
    .make =
        [](const Options&) {
          return each_value([](const Value& v) -> Value { return read_whole(v.string()); });
        },
};

const TransformDef kReadImage{
    .name = "vision.read_image",
    .doc =
        "The image in the file of a name, [h, w, 1] or [h, w, 3]: as many channels as the file "
        "has without alpha (UNCHANGED; PNG and TIFF of 16 bits as uint16), brightness (GRAYSCALE) "
        "or "
        "red, green and blue (COLOR). Formats as vision.Decode.",
    .args = {"mode: ImageReadMode = UNCHANGED"},
    .make =
        [](const Options& o) {
          const std::string& mode = o.choice("mode");
          const Channels c = mode == "COLOR"       ? Channels::kColour
                             : mode == "GRAYSCALE" ? Channels::kGrey
                                                   : Channels::kUnchanged;
          return each_value([c](const Value& v) -> Value {
            try {
              return decode(encoded(read_whole(v.string())), c);
            } catch (UserError& e) {
              e.prefix(v.string() + ": ");
              throw;
            }
          });
        },
};

const TransformDef kWriteFile{
    .name = "vision.write_file",
    .doc =
        "Values file name, bytes (uint8 [n]): the file is written whole or not at all. Gives "
        "nothing.",
    .make =
        [](const Options&) {
          return of_row(
              [](Row* row, Philox&) {
                const Write w = write_of(*row, "bytes");
                if (w.tensor.rank() != 1)
                  value_error("expected bytes, uint8 [n], got {}", w.tensor.describe());
                write_whole(w.path, bytes_of(w.tensor), w.tensor.bytes());
                row->clear();
              },
              false);
        },
};

const TransformDef kWriteJpeg{
    .name = "vision.write_jpeg",
    .doc = "Values file name, image: encode_jpeg into the file. Gives nothing.",
    .args = {"quality: int = 75"},
    .make =
        [](const Options& o) {
          return of_row(
              [q = quality(o)](Row* row, Philox&) {
                const Write w = write_of(*row, "an image");
                const std::vector<uint8_t> bytes = jpeg(w.tensor, q);
                write_whole(w.path, bytes.data(), bytes.size());
                row->clear();
              },
              false);
        },
};

const TransformDef kWritePng{
    .name = "vision.write_png",
    .doc = "Values file name, image: encode_png into the file. Gives nothing.",
    .args = {"compression_level: int = 6"},
    .make =
        [](const Options& o) {
          return of_row(
              [n = level(o)](Row* row, Philox&) {
                const Write w = write_of(*row, "an image");
                const std::vector<uint8_t> bytes = png(w.tensor, n);
                write_whole(w.path, bytes.data(), bytes.size());
                row->clear();
              },
              false);
        },
};

// Height, width and channels: of an image, or of encoded bytes without decoding them.
std::array<int64_t, 3> sizes_of(const Value& v) {
  if (v.is_tensor() && v.tensor().rank() >= 2) {
    const Tensor& t = v.tensor();
    if (t.rank() == 2) return {t.dim(0), t.dim(1), 1};
    return {t.dim(-3), t.dim(-2), t.dim(-1)};
  }
  const ImageInfo i = inspect(encoded(v));
  return {i.h, i.w, i.channels};
}

const TransformDef kGetImageSize{
    .name = "vision.get_image_size",
    .doc =
        "(height, width) of an image, [..., h, w, c] or [h, w], or of the bytes of an image file, "
        "of which only the header is read: int64 [2].",
    .make =
        [](const Options&) {
          return each_value([](const Value& v) -> Value {
            const auto s = sizes_of(v);
            return Tensor::from(std::vector<int64_t>{s[0], s[1]}, {2});
          });
        },
};

const TransformDef kGetImageNumChannels{
    .name = "vision.get_image_num_channels",
    .doc = "How many channels an image or the bytes of an image file have: an int64.",
    .make =
        [](const Options&) {
          return each_value([](const Value& v) -> Value {
            return Tensor::scalar(DType::kInt64, sizes_of(v)[2]);
          });
        },
};

}  // namespace

TransformDefs file_transforms() {
  return {&kEncodeJpeg, &kEncodePng, &kReadFile,     &kReadImage,          &kWriteFile,
          &kWriteJpeg,  &kWritePng,  &kGetImageSize, &kGetImageNumChannels};
}

}  // namespace mycel::data::vision
