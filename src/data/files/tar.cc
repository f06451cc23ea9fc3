// Tar archives (POSIX.1-2017 pax, ustar, and the long names and sizes of GNU): one pass over the
// headers gives the place of every file; contents are read by position, or as they come.
#include "data/files/tar.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "data/files/archive.h"
#include "data/index_progress.h"

namespace mycel::data {
namespace {

constexpr uint64_t kBlock = 512;
constexpr uint64_t kLongestName = 1 << 20;
constexpr uint64_t kNone = ~uint64_t{0};

[[noreturn]] void broken(const std::string& file, uint64_t at, const std::string& why) {
  fail(ErrorKind::kOs, "'{}' is not a sound tar archive: at byte {} {}", file, at, why);
}

class Header {
 public:
  explicit Header(const char* block) { std::memcpy(b_, block, kBlock); }
  bool zero() const {
    for (char c : b_) {
      if (c != 0) return false;
    }
    return true;
  }
  // Octal text, or (first bit set) a number in base 256; false when it is neither.
  bool number(size_t at, size_t n, uint64_t* out) const {
    const auto* p = reinterpret_cast<const unsigned char*>(b_ + at);
    uint64_t v = 0;
    if (p[0] & 0x80) {
      v = p[0] & 0x7f;
      for (size_t i = 1; i < n; ++i) {
        if (v >> 55) return false;
        v = v << 8 | p[i];
      }
      *out = v;
      return true;
    }
    size_t i = 0;
    while (i < n && p[i] == ' ') ++i;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; ++i) v = v << 3 | (p[i] - '0');
    if (i < n && p[i] != 0 && p[i] != ' ') return false;
    *out = v;
    return true;
  }
  bool sum_is_right() const {
    uint64_t stored = 0;
    if (!number(148, 8, &stored)) return false;
    uint64_t sum = 8 * ' ';  // the field itself counts as spaces
    for (size_t i = 0; i < kBlock; ++i) {
      if (i < 148 || i >= 156) sum += static_cast<unsigned char>(b_[i]);
    }
    return sum == stored;
  }
  char type() const { return b_[156]; }
  std::string name() const {
    std::string n = field(0, 100);
    // GNU's own format keeps other things in the place of the prefix.
    if (std::memcmp(b_ + 257, "ustar\0", 6) == 0 && b_[345] != 0) n = field(345, 155) + "/" + n;
    return n;
  }

 private:
  std::string field(size_t at, size_t n) const { return {b_ + at, strnlen(b_ + at, n)}; }
  char b_[kBlock];
};

// The lines "LENGTH key=value\n" of a pax header; false when they are not that.
bool read_pax(std::string_view text, std::string* path, uint64_t* size, bool* sparse) {
  while (!text.empty() && text[0] != '\0') {
    uint64_t length = 0;
    size_t i = 0;
    for (; i < text.size() && i < 9 && text[i] >= '0' && text[i] <= '9'; ++i)
      length = length * 10 + (text[i] - '0');
    if (i == 0 || i >= text.size() || text[i] != ' ' || length < i + 4 || length > text.size() ||
        text[length - 1] != '\n')
      return false;
    const std::string_view line = text.substr(i + 1, length - i - 2);
    const size_t equal = line.find('=');
    if (equal == line.npos) return false;
    const std::string_view key = line.substr(0, equal), value = line.substr(equal + 1);
    if (key == "path") *path = value;
    if (key.starts_with("GNU.sparse.")) *sparse = true;
    if (key == "size") {
      *size = 0;
      for (char c : value) {
        if (c < '0' || c > '9' || *size > (uint64_t{1} << 58)) return false;
        *size = *size * 10 + (c - '0');
      }
    }
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

bool TarReader::next(TarMember* member) {
  std::string long_name;  // of the member that follows
  uint64_t long_size = kNone;
  bool sparse = false;
  while (!in_.ends(at_)) {
    const std::string block = in_.text(at_, kBlock);
    const Header h(block.data());
    if (h.zero()) return false;
    if (!h.sum_is_right()) broken(in_.name(), at_, "the checksum of a header is wrong");
    uint64_t size = 0;
    if (!h.number(124, 12, &size)) broken(in_.name(), at_, "the size of a member is no number");
    const char type = h.type();
    const bool regular = type == '0' || type == 0 || type == '7';
    const bool extension = type == 'x' || type == 'L' || type == 'g' || type == 'K';
    if (!extension && long_size != kNone) size = long_size;
    const uint64_t begin = at_ + kBlock;
    if (size > in_.most() - std::min(in_.most(), begin))
      broken(in_.name(), at_, fmt::format("a member has {} bytes, but the archive ends", size));
    const uint64_t header = at_;
    at_ = begin + (size + kBlock - 1) / kBlock * kBlock;
    if (type == 'x' || type == 'L') {
      if (size > kLongestName) broken(in_.name(), header, "a header of extensions is too long");
      const std::string text = in_.text(begin, size);
      if (type == 'L') {
        long_name = text.c_str();
      } else if (!read_pax(text, &long_name, &long_size, &sparse)) {
        broken(in_.name(), header, "a header of extensions does not parse");
      }
    } else if (!extension) {
      std::string path = member_path(long_name.empty() ? h.name() : long_name);
      if (type == 'S' || (regular && sparse))
        broken(in_.name(), header,
               fmt::format("'{}' is a sparse file, which is not supported", path));
      if (type == '5' && !path.empty() && !path.ends_with('/')) path += '/';
      if ((regular || type == '5') && !path.empty()) {
        *member = {std::move(path), begin, size};
        return true;
      }
      long_name.clear();
      long_size = kNone;
      sparse = false;
    }
  }
  return false;
}

namespace {

// A tar that is read by position.
class TarFile final : public TarInput {
 public:
  explicit TarFile(BytesPtr file) : file_(std::move(file)) {}
  const std::string& name() const override { return file_->name(); }
  bool ends(uint64_t at) override { return at >= file_->size(); }
  uint64_t most() const override { return file_->size(); }
  std::string text(uint64_t at, uint64_t n) override {
    if (n > file_->size() - at) {
      broken(name(), at,
             n == kBlock ? "it ends in the middle of a header" : "it ends in the middle");
    }
    std::string text = file_->text(at, n);
    if (at == 0 && (text.starts_with("\x1f\x8b") || text.starts_with("BZh") ||
                    text.starts_with("\xfd\x37zXZ")))
      broken(
          name(), at,
          "it is packed, and packed files cannot be read by position; unpack it to a plain .tar, "
          "or read it with WebDataset, which goes from begin to end (.tar.gz, .tar.bz2, .tar.xz, "
          ".tar.zst)");
    return text;
  }

 private:
  BytesPtr file_;
};

class TarTree final : public ArchiveTree {
 public:
  explicit TarTree(const std::string& path) : ArchiveTree(path), file_(disk_bytes(path)) {
    IndexBuild progress(file_->name(), static_cast<int64_t>(file_->size()));
    TarFile in(file_);
    TarReader reader(&in);
    std::vector<Member> all;
    for (TarMember m; reader.next(&m);) {
      progress.at(static_cast<int64_t>(m.offset));
      all.push_back({std::move(m.path), m.offset, m.size});
    }
    progress.finish(static_cast<int64_t>(file_->size()));
    set_members(std::move(all));
  }
  BytesPtr open(const std::string& path) const override {
    const Member& m = member(path);
    return span_of(file_, join_path(root(), path), m.offset, m.size);
  }
  Tensor read(const std::string& path) const override {
    const Member& m = member(path);
    return file_->tensor(m.offset, m.size);
  }

 private:
  BytesPtr file_;
};

}  // namespace

TreePtr open_tar(const std::string& path) { return std::make_shared<TarTree>(path); }

}  // namespace mycel::data
