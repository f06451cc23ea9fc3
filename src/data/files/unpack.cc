#include "data/files/unpack.h"

#include <algorithm>
#include <cstring>

#include <bzlib.h>
#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "base/error.h"
#include "data/files/folder.h"

namespace mycel::data {

class Unpacker {
 public:
  enum class State { kGoesOn, kEnded, kBroken };
  virtual ~Unpacker() = default;
  // Reads from `in`, writes to `out`; both become what is left.
  virtual State step(std::string_view* in, char** out, size_t* room) = 0;
  // Another packed part follows.
  virtual void again() = 0;
};

namespace {

constexpr size_t kPiece = 1 << 18;

using State = Unpacker::State;

class Inflate final : public Unpacker {
 public:
  Inflate() {
    if (inflateInit2(&z_, MAX_WBITS + 32) != Z_OK)  // 32: a header of gzip or of zlib
      fail(ErrorKind::kMemory, "zlib: out of memory");
  }
  ~Inflate() override { inflateEnd(&z_); }
  void again() override { inflateReset(&z_); }
  State step(std::string_view* in, char** out, size_t* room) override {
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in->data()));
    z_.avail_in = static_cast<uInt>(in->size());
    z_.next_out = reinterpret_cast<Bytef*>(*out);
    z_.avail_out = static_cast<uInt>(*room);
    const int state = inflate(&z_, Z_NO_FLUSH);
    in->remove_prefix(in->size() - z_.avail_in);
    *out = reinterpret_cast<char*>(z_.next_out);
    *room = z_.avail_out;
    if (state == Z_STREAM_END) return State::kEnded;
    return state == Z_OK || state == Z_BUF_ERROR ? State::kGoesOn : State::kBroken;
  }

 private:
  z_stream z_{};
};

class Bunzip final : public Unpacker {
 public:
  Bunzip() { begin(); }
  ~Bunzip() override { BZ2_bzDecompressEnd(&z_); }
  void again() override {
    BZ2_bzDecompressEnd(&z_);
    z_ = {};
    begin();
  }
  State step(std::string_view* in, char** out, size_t* room) override {
    z_.next_in = const_cast<char*>(in->data());
    z_.avail_in = static_cast<unsigned>(in->size());
    z_.next_out = *out;
    z_.avail_out = static_cast<unsigned>(*room);
    const int state = BZ2_bzDecompress(&z_);
    in->remove_prefix(in->size() - z_.avail_in);
    *out = z_.next_out;
    *room = z_.avail_out;
    if (state == BZ_STREAM_END) return State::kEnded;
    return state == BZ_OK ? State::kGoesOn : State::kBroken;
  }

 private:
  void begin() {
    if (BZ2_bzDecompressInit(&z_, 0, 0) != BZ_OK) fail(ErrorKind::kMemory, "bzip2: out of memory");
  }
  bz_stream z_{};
};

class Unxz final : public Unpacker {
 public:
  Unxz() { again(); }
  ~Unxz() override { lzma_end(&z_); }
  void again() override {
    constexpr uint64_t kMostMemory = uint64_t{1} << 30;
    if (lzma_stream_decoder(&z_, kMostMemory, 0) != LZMA_OK)
      fail(ErrorKind::kMemory, "xz: out of memory");
  }
  State step(std::string_view* in, char** out, size_t* room) override {
    z_.next_in = reinterpret_cast<const uint8_t*>(in->data());
    z_.avail_in = in->size();
    z_.next_out = reinterpret_cast<uint8_t*>(*out);
    z_.avail_out = *room;
    const lzma_ret state = lzma_code(&z_, LZMA_RUN);
    in->remove_prefix(in->size() - z_.avail_in);
    *out = reinterpret_cast<char*>(z_.next_out);
    *room = z_.avail_out;
    if (state == LZMA_STREAM_END) return State::kEnded;
    return state == LZMA_OK || state == LZMA_BUF_ERROR ? State::kGoesOn : State::kBroken;
  }

 private:
  lzma_stream z_ = LZMA_STREAM_INIT;
};

class Unzstd final : public Unpacker {
 public:
  Unzstd() : z_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (!z_) fail(ErrorKind::kMemory, "zstd: out of memory");
  }
  void again() override { ZSTD_DCtx_reset(z_.get(), ZSTD_reset_session_only); }
  State step(std::string_view* in, char** out, size_t* room) override {
    ZSTD_inBuffer from{in->data(), in->size(), 0};
    ZSTD_outBuffer to{*out, *room, 0};
    const size_t left = ZSTD_decompressStream(z_.get(), &to, &from);
    in->remove_prefix(from.pos);
    *out += to.pos;
    *room -= to.pos;
    if (ZSTD_isError(left)) return State::kBroken;
    return left == 0 ? State::kEnded : State::kGoesOn;
  }

 private:
  std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> z_;
};

std::unique_ptr<Unpacker> unpacker_for(std::string_view first) {
  if (first.starts_with("BZh")) return std::make_unique<Bunzip>();
  if (first.starts_with(std::string_view("\xfd\x37zXZ\0", 6))) return std::make_unique<Unxz>();
  if (first.starts_with("\x28\xb5\x2f\xfd")) return std::make_unique<Unzstd>();
  const bool zlib =
      first.size() >= 2 && (first[0] & 0x0f) == 8 &&
      (static_cast<unsigned char>(first[0]) * 256 + static_cast<unsigned char>(first[1])) % 31 == 0;
  if (zlib || first.starts_with("\x1f\x8b")) return std::make_unique<Inflate>();
  return nullptr;
}

}  // namespace

bool packed_name(const std::string& path) {
  return has_extension(path, {".gz", ".tgz", ".bz2", ".tbz2", ".xz", ".txz", ".zst"});
}
bool packed_tar_name(const std::string& path) {
  return has_extension(path,
                       {".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst"});
}

Unpacked::Unpacked(BytesPtr file) : file_(std::move(file)), scan_(file_) {
  unpacker_ = unpacker_for(scan_.peek(8));
  if (!unpacker_)
    fail(ErrorKind::kOs, "'{}' is damaged, or not packed by gzip, zlib, bzip2, xz or zstd", name());
}
Unpacked::~Unpacked() = default;

bool Unpacked::fill() {
  if (piece_at_ < piece_.size()) return true;
  piece_.resize(kPiece);
  piece_at_ = 0;
  char* out = piece_.data();
  size_t room = kPiece;
  while (room == kPiece && !ended_) {
    const std::string_view all = scan_.peek(1 << 16);
    std::string_view in = all;
    const State state = unpacker_->step(&in, &out, &room);
    scan_.skip(all.size() - in.size());
    if (state == State::kBroken)
      fail(ErrorKind::kOs, "'{}' is damaged: it cannot be unpacked behind byte {}", name(),
           scan_.at());
    if (state == State::kEnded) {
      ended_ = scan_.done();
      if (!ended_) unpacker_->again();
    } else if (scan_.done() && in.empty() && room == kPiece) {
      fail(ErrorKind::kOs, "'{}' is truncated: its packed bytes end early", name());
    }
  }
  piece_.resize(kPiece - room);
  return !piece_.empty();
}

bool Unpacked::read(uint64_t n, std::string* out) {
  out->clear();
  while (out->size() < n) {
    if (!fill()) {
      if (out->empty()) return false;
      fail(ErrorKind::kOs, "'{}' is truncated: it ends at unpacked byte {}", name(), at_);
    }
    const size_t some = std::min<uint64_t>(n - out->size(), piece_.size() - piece_at_);
    out->append(piece_, piece_at_, some);
    piece_at_ += some;
    at_ += some;
  }
  return true;
}

bool Unpacked::skip_to(uint64_t at) {
  while (at_ < at) {
    if (!fill()) return false;
    const size_t some = std::min<uint64_t>(at - at_, piece_.size() - piece_at_);
    piece_at_ += some;
    at_ += some;
  }
  return true;
}

bool Unpacked::line(std::string* out) {
  out->clear();
  bool any = false;
  while (fill()) {
    any = true;
    const size_t newline = piece_.find('\n', piece_at_);
    const size_t end = std::min(newline, piece_.size());
    out->append(piece_, piece_at_, end - piece_at_);
    at_ += end - piece_at_ + (newline != std::string::npos);
    piece_at_ = newline == std::string::npos ? end : end + 1;
    if (newline != std::string::npos) return true;
  }
  return any;
}

bool Unpacked::done() { return !fill(); }

namespace {

// Lines of a file, packed or not.
class Lines {
 public:
  explicit Lines(const std::string& path) : file_(open_file(path)) {
    if (packed_name(path)) {
      packed_ = std::make_unique<Unpacked>(file_);
    } else {
      plain_ = std::make_unique<Scanner>(file_);
    }
  }
  const std::string& name() const { return file_->name(); }
  bool next(std::string* line) { return packed_ ? packed_->line(line) : plain_->line(line); }

 private:
  BytesPtr file_;
  std::unique_ptr<Unpacked> packed_;
  std::unique_ptr<Scanner> plain_;
};

class LineStream final : public Dataset {
 public:
  LineStream(std::string owner, std::vector<std::string> columns, std::vector<std::string> paths,
             MakeLineRow make)
      : owner_(std::move(owner)),
        columns_(std::move(columns)),
        paths_(std::move(paths)),
        make_(std::move(make)) {}
  const std::vector<std::string>& columns() const override { return columns_; }
  int64_t size() const override { return kUnknownSize; }
  std::string describe() const override { return fmt::format("{}('{}')", owner_, paths_[0]); }
  RowsPtr iterate(uint64_t) const override { return std::make_unique<Stream>(*this); }

 private:
  class Stream final : public Rows {
   public:
    explicit Stream(const LineStream& of) : of_(of) {}
    bool next(Job* job) override {
      std::string line;
      while (true) {
        if (!lines_) {
          if (file_ == of_.paths_.size()) return false;
          lines_ = std::make_unique<Lines>(of_.paths_[file_++]);
        }
        if (!lines_->next(&line)) {
          lines_.reset();
        } else if (!line.empty()) {
          break;
        }
      }
      *job = timed(of_, [&of = of_, line = std::move(line), file = lines_->name(), i = at_++] {
        try {
          return of.make_(line, file);
        } catch (UserError& e) {
          e.prefix(fmt::format("{}: sample {}: ", of.owner_, i));
          throw;
        }
      });
      return true;
    }

   private:
    const LineStream& of_;
    std::unique_ptr<Lines> lines_;
    size_t file_ = 0;
    int64_t at_ = 0;
  };

  std::string owner_;
  std::vector<std::string> columns_, paths_;
  MakeLineRow make_;
};

}  // namespace

DatasetPtr line_stream(const std::string& owner, std::vector<std::string> columns,
                       std::vector<std::string> paths, MakeLineRow make) {
  return std::make_shared<LineStream>(owner, std::move(columns), std::move(paths), std::move(make));
}

}  // namespace mycel::data
