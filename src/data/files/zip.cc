// Zip archives, through libzip: it reads the directory and the packed bytes, one thread at a time;
// they are inflated outside of its lock, so that workers do not wait for one another.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>

#include <fmt/format.h>
#include <zip.h>
#include <zlib.h>

#include "base/error.h"
#include "data/files/archive.h"
#include "data/index_progress.h"

namespace mycel::data {
namespace {

constexpr uint64_t kLargestMember = (uint64_t{1} << 32) - 1;

class ZipTree final : public ArchiveTree {
 public:
  explicit ZipTree(const std::string& path) : ArchiveTree(path) {
    int error = 0;
    zip_.reset(::zip_open(path.c_str(), ZIP_RDONLY, &error));
    if (!zip_) {
      zip_error_t e;
      zip_error_init_with_code(&e, error);
      const std::string why = zip_error_strerror(&e);
      zip_error_fini(&e);
      fail(ErrorKind::kOs, "cannot read the zip archive '{}': {}", path, why);
    }
    const zip_int64_t n = zip_get_num_entries(zip_.get(), 0);
    IndexBuild progress(path, n);
    std::vector<Member> members;
    for (zip_int64_t i = 0; i < n; ++i) {
      zip_stat_t s;
      if (zip_stat_index(zip_.get(), i, ZIP_FL_ENC_RAW, &s) != 0 || !(s.valid & ZIP_STAT_NAME))
        broken(fmt::format("member {}", i));
      std::string name = member_path(s.name);
      if (!name.empty())
        members.push_back(
            {std::move(name), static_cast<uint64_t>(i), s.valid & ZIP_STAT_SIZE ? s.size : 0});
      progress.at(i);
    }
    progress.finish(n);
    set_members(std::move(members));
  }
  BytesPtr open(const std::string& path) const override {
    return memory_bytes(join_path(root(), path), content(path));
  }

 private:
  struct Close {
    void operator()(zip_t* z) const { zip_discard(z); }
    void operator()(zip_file_t* f) const { zip_fclose(f); }
  };
  [[noreturn]] void broken(const std::string& what) const {
    fail(ErrorKind::kOs, "cannot read {} of '{}': {}", what, root(), zip_strerror(zip_.get()));
  }
  [[noreturn]] void wrong(const std::string& path, const std::string& why) const {
    fail(ErrorKind::kOs, "'{}' {}", join_path(root(), path), why);
  }

  std::string packed(const std::string& path, zip_stat_t* s) const {
    const Member& m = member(path);
    std::lock_guard lock(mutex_);
    if (zip_stat_index(zip_.get(), m.offset, 0, s) != 0) broken("'" + path + "'");
    if (s->encryption_method != ZIP_EM_NONE) wrong(path, "is encrypted");
    if (s->comp_method != ZIP_CM_STORE && s->comp_method != ZIP_CM_DEFLATE)
      wrong(path,
            fmt::format("is packed by method {}; store and deflate are read", s->comp_method));
    if (s->size > kLargestMember || s->comp_size > kLargestMember)
      wrong(path, "is larger than 4 GiB; unpack the archive");
    std::unique_ptr<zip_file_t, Close> f(zip_fopen_index(zip_.get(), m.offset, ZIP_FL_COMPRESSED));
    if (!f) broken("'" + path + "'");
    std::string out;
    // Piece by piece: the size that a broken directory claims is not believed.
    while (out.size() < s->comp_size) {
      const size_t had = out.size();
      out.resize(std::min<uint64_t>(s->comp_size, had + (1 << 20)));
      const zip_int64_t n = zip_fread(f.get(), out.data() + had, out.size() - had);
      if (n <= 0) wrong(path, "is truncated");
      out.resize(had + static_cast<size_t>(n));
    }
    return out;
  }

  std::string content(const std::string& path) const {
    zip_stat_t s;
    std::string out = packed(path, &s);
    if (s.comp_method == ZIP_CM_DEFLATE) out = inflated(path, out, s.size);
    if (out.size() != s.size) wrong(path, fmt::format("has {} bytes, not {}", out.size(), s.size));
    const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(out.data()), out.size());
    if ((s.valid & ZIP_STAT_CRC) && sum != s.crc) wrong(path, "is damaged: its checksum is wrong");
    return out;
  }

  std::string inflated(const std::string& path, const std::string& in, uint64_t size) const {
    z_stream z{};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) fail(ErrorKind::kMemory, "zlib: out of memory");
    std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&z, inflateEnd);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    z.avail_in = static_cast<uInt>(in.size());
    std::string out;
    int state = Z_OK;
    while (state == Z_OK) {
      if (out.size() > size) wrong(path, "unpacks to more bytes than the archive says");
      const size_t had = out.size();
      out.resize(had + std::clamp<uint64_t>(size - had, 1, 1 << 22));
      z.next_out = reinterpret_cast<Bytef*>(out.data() + had);
      z.avail_out = static_cast<uInt>(out.size() - had);
      state = inflate(&z, Z_NO_FLUSH);
      out.resize(out.size() - z.avail_out);
    }
    if (state != Z_STREAM_END) wrong(path, "is damaged: its packed bytes do not parse");
    return out;
  }

  std::unique_ptr<zip_t, Close> zip_;
  mutable std::mutex mutex_;
};

}  // namespace

TreePtr open_zip(const std::string& path) { return std::make_shared<ZipTree>(path); }

}  // namespace mycel::data
