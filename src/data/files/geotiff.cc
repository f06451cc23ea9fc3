// GeoTiffDataset: windows of images that are too large for memory, through libtiff. A window reads
// only the tiles or strips that it touches.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>

#include <fmt/format.h>
#include <tiffio.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/folder.h"
#include "data/files/records.h"
#include "data/files/rows.h"

namespace mycel::data {
namespace {

struct Close {
  void operator()(TIFF* t) const { TIFFClose(t); }
};
using Handle = std::unique_ptr<TIFF, Close>;

// libtiff's view of Bytes.
struct Stream {
  BytesPtr file;
  uint64_t at = 0;
  std::string error;
};

tsize_t read_stream(thandle_t h, void* out, tsize_t n) {
  auto* s = reinterpret_cast<Stream*>(h);
  const uint64_t left = s->file->size() - std::min(s->at, s->file->size());
  n = static_cast<tsize_t>(std::min<uint64_t>(n, left));
  try {  // no exception may cross the library, which is C
    s->file->read_at(s->at, out, n);
  } catch (const UserError& e) {
    s->error = e.message();
    return 0;
  }
  s->at += n;
  return n;
}
toff_t seek_stream(thandle_t h, toff_t to, int whence) {
  auto* s = reinterpret_cast<Stream*>(h);
  s->at = whence == SEEK_SET ? to : whence == SEEK_CUR ? s->at + to : s->file->size() + to;
  return s->at;
}

// One image, with as many handles of libtiff as threads read at the same time.
class Tiff {
 public:
  explicit Tiff(const std::string& path) : file_(open_file(path)) {
    Open first = open();
    TIFF* t = first->handle.get();
    uint16_t sampled = SAMPLEFORMAT_UINT, bits = 1;
    TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &width_);
    TIFFGetField(t, TIFFTAG_IMAGELENGTH, &height_);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &bands_);
    TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLEFORMAT, &sampled);
    TIFFGetFieldDefaulted(t, TIFFTAG_PLANARCONFIG, &planar_);
    tiled_ = TIFFIsTiled(t) != 0;
    if (tiled_) {
      TIFFGetField(t, TIFFTAG_TILEWIDTH, &block_width_);
      TIFFGetField(t, TIFFTAG_TILELENGTH, &block_height_);
    } else {
      block_width_ = width_;
      TIFFGetFieldDefaulted(t, TIFFTAG_ROWSPERSTRIP, &block_height_);
      block_height_ = std::min(block_height_, height_);
    }
    const std::string name = fmt::format("{}{}",
                                         sampled == SAMPLEFORMAT_INT      ? "int"
                                         : sampled == SAMPLEFORMAT_IEEEFP ? "float"
                                                                          : "uint",
                                         bits);
    if (width_ == 0 || height_ == 0 || bands_ == 0 || block_width_ == 0 || block_height_ == 0 ||
        !parse_dtype(name, &dtype_))
      fail(ErrorKind::kOs, "'{}': samples of {} bits ({}) are not supported", path, bits, name);
    const auto sizes = static_cast<uint64_t>(tiled_ ? TIFFTileSize64(t) : TIFFStripSize64(t));
    const uint64_t per_pixel = size_of(dtype_) * (planar_ == PLANARCONFIG_CONTIG ? bands_ : 1);
    block_bytes_ = uint64_t{block_width_} * block_height_ * per_pixel;
    // What libtiff would give in another layout (subsampled colours, say).
    if (sizes != block_bytes_ || block_bytes_ > (uint64_t{1} << 30))
      fail(ErrorKind::kOs,
           "'{}': blocks of {} bytes, {} were expected; this layout of pixels is not "
           "supported",
           path, sizes, block_bytes_);
    give_back(std::move(first));
  }
  int64_t width() const { return width_; }
  int64_t height() const { return height_; }
  const std::string& name() const { return file_->name(); }

  // float or ints [h, w, bands]; parts outside of the image are 0.
  Tensor window(int64_t top, int64_t left, int64_t h, int64_t w) const {
    Tensor out = Tensor::zeros(dtype_, {h, w, bands_});
    Open in = open();
    std::vector<char> block(block_bytes_);
    const int64_t bottom = std::min<int64_t>(top + h, height_);
    const int64_t right = std::min<int64_t>(left + w, width_);
    const bool contiguous = planar_ == PLANARCONFIG_CONTIG;
    for (int64_t y = top / block_height_ * block_height_; y < bottom; y += block_height_) {
      for (int64_t x = left / block_width_ * block_width_; x < right; x += block_width_) {
        for (int band = 0; band < (contiguous ? 1 : bands_); ++band) {
          read_block(in.get(), x, y, band, &block);
          copy(block, x, y, band, top, left, bottom, right, w, &out);
        }
      }
    }
    give_back(std::move(in));
    return out;
  }

 private:
  struct Opened {
    Stream stream;
    Handle handle;  // closed before the stream goes
  };
  using Open = std::unique_ptr<Opened>;

  Open open() const {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Open o = std::move(idle_.back());
        idle_.pop_back();
        return o;
      }
    }
    auto o = std::make_unique<Opened>();
    o->stream.file = file_;
    // Errors come back as results; libtiff's own messages go nowhere.
    static std::once_flag silent;
    std::call_once(silent, [] {
      TIFFSetErrorHandler(nullptr);
      TIFFSetWarningHandler(nullptr);
    });
    o->handle.reset(TIFFClientOpen(
        file_->name().c_str(), "rm", reinterpret_cast<thandle_t>(&o->stream), read_stream,
        [](thandle_t, void*, tsize_t) -> tsize_t { return 0; }, seek_stream,
        [](thandle_t) { return 0; },
        [](thandle_t h) -> toff_t { return reinterpret_cast<Stream*>(h)->file->size(); },
        [](thandle_t, void**, toff_t*) { return 0; }, [](thandle_t, void*, toff_t) {}));
    if (!o->handle) fail(ErrorKind::kOs, "'{}' is no sound TIFF file", file_->name());
    return o;
  }
  void give_back(Open o) const {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(o));
  }

  void read_block(Opened* in, int64_t x, int64_t y, int band, std::vector<char>* block) const {
    TIFF* t = in->handle.get();
    const auto n = static_cast<tmsize_t>(block->size());
    tmsize_t got = -1;
    if (tiled_) {
      got =
          TIFFReadEncodedTile(t,
                              TIFFComputeTile(t, static_cast<uint32_t>(x), static_cast<uint32_t>(y),
                                              0, static_cast<uint16_t>(band)),
                              block->data(), n);
    } else {
      got = TIFFReadEncodedStrip(
          t, TIFFComputeStrip(t, static_cast<uint32_t>(y), static_cast<uint16_t>(band)),
          block->data(), n);
    }
    if (got < 0)
      fail(ErrorKind::kOs, "'{}' is damaged: the block at row {}, column {} cannot be read{}{}",
           file_->name(), y, x, in->stream.error.empty() ? "" : ": ", in->stream.error);
    std::memset(block->data() + got, 0, n - got);  // the last strip may be shorter
  }

  void copy(const std::vector<char>& block, int64_t x, int64_t y, int band, int64_t top,
            int64_t left, int64_t bottom, int64_t right, int64_t w, Tensor* out) const {
    const bool contiguous = planar_ == PLANARCONFIG_CONTIG;
    const size_t one = size_of(dtype_), pixel = one * bands_;
    const int64_t y0 = std::max(y, top), y1 = std::min<int64_t>(y + block_height_, bottom);
    const int64_t x0 = std::max(x, left), x1 = std::min<int64_t>(x + block_width_, right);
    char* to = static_cast<char*>(out->mutable_raw());
    for (int64_t r = y0; r < y1; ++r) {
      char* row = to + ((r - top) * w + x0 - left) * pixel;
      const int64_t from = (r - y) * block_width_ + x0 - x;
      if (contiguous) {
        std::memcpy(row, block.data() + from * pixel, (x1 - x0) * pixel);
        continue;
      }
      for (int64_t c = 0; c < x1 - x0; ++c)
        std::memcpy(row + c * pixel + band * one, block.data() + (from + c) * one, one);
    }
  }

  BytesPtr file_;
  uint32_t width_ = 0, height_ = 0, block_width_ = 0, block_height_ = 0;
  uint16_t bands_ = 1, planar_ = PLANARCONFIG_CONTIG;
  uint64_t block_bytes_ = 0;
  bool tiled_ = false;
  DType dtype_ = DType::kUInt8;
  mutable std::mutex mutex_;
  mutable std::vector<Open> idle_;
};

// Where windows begin along one side: every `step`, the last one moved back so that it ends with
// the image.
std::vector<int64_t> begins(int64_t size, int64_t window, int64_t step) {
  std::vector<int64_t> out;
  for (int64_t at = 0;; at += step) {
    if (at + window >= size) {
      out.push_back(std::max<int64_t>(size - window, 0));
      return out;
    }
    out.push_back(at);
  }
}

std::pair<int64_t, int64_t> two(const Options& o, const char* name, int64_t least) {
  const std::vector<int64_t> v = o.ints(name);
  if (v.empty() || v.size() > 2 || *std::min_element(v.begin(), v.end()) < least)
    o.fail(name, "must be one or two ints >= {}, got {}", least, o[name].str());
  return {v[0], v.back()};
}

DatasetPtr open(const Options& o) {
  struct Images {
    std::vector<std::unique_ptr<Tiff>> all;
    std::vector<std::vector<int64_t>> tops, lefts;  // of windows, by image
    std::vector<int64_t> ends;                      // windows up to the end of each image
  };
  const auto [h, w] = two(o, "window", 1);
  const auto [over_h, over_w] = two(o, "overlap", 0);
  if (over_h >= h || over_w >= w)
    o.fail("overlap", "must be smaller than the window {} x {}, got {}", h, w, o["overlap"].str());
  const auto paths = find_files(o.strings("dataset_files"), o.owner());
  auto images = std::make_shared<Images>();
  int64_t size = 0;
  for (const std::string& path : paths) {
    auto t = std::make_unique<Tiff>(path);
    images->tops.push_back(begins(t->height(), h, h - over_h));
    images->lefts.push_back(begins(t->width(), w, w - over_w));
    size += static_cast<int64_t>(images->tops.back().size() * images->lefts.back().size());
    images->ends.push_back(size);
    images->all.push_back(std::move(t));
  }
  return file_rows(
      o.owner(), {"image", "row", "col", "file"}, size,
      [images, h = h, w = w](int64_t i) -> Row {
        const size_t f =
            std::upper_bound(images->ends.begin(), images->ends.end(), i) - images->ends.begin();
        if (f > 0) i -= images->ends[f - 1];
        const auto across = static_cast<int64_t>(images->lefts[f].size());
        const int64_t top = images->tops[f][i / across], left = images->lefts[f][i % across];
        const Tiff& t = *images->all[f];
        return {t.window(top, left, h, w), scalar(top), scalar(left), Value(t.name())};
      },
      paths[0]);
}

const SourceDef kGeoTiff{
    .name = "GeoTiffDataset",
    .doc =
        "Windows of TIFF, BigTIFF and GeoTIFF images of any size, tiled or in strips: only the "
        "blocks that a window touches are read. `window`: rows and columns (one int: a square); "
        "`overlap`: by which neighbours share rows and columns; the last windows of a row or "
        "column are moved back to end with the image (a smaller image is filled up with 0). "
        "Windows are numbered row by row, image by image, so that shards and samplers divide "
        "them. Columns: image, the file's dtype [h, w, bands]; row and col int64 [], its first "
        "pixel; file, string [].",
    .args = with({"dataset_files: strings", "window: ints = 512", "overlap: ints = 0"}, kRowArgs),
    .open = open,
};

}  // namespace

SourceDefs geotiff_sources() { return {&kGeoTiff}; }

}  // namespace mycel::data
