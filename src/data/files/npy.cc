#include "data/files/npy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "data/files/rows.h"

namespace mycel::data {
namespace {

constexpr uint64_t kLongestHeader = 1 << 20;

[[noreturn]] void broken(const Bytes& file, const std::string& why) {
  fail(ErrorKind::kOs, "'{}' cannot be read as a NumPy array: {}", file.name(), why);
}

// The text behind 'key': in the header's dict, up to `end`.
std::string_view entry(const Bytes& file, std::string_view header, std::string_view key, char end) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == header.npos) broken(file, fmt::format("its header has no '{}'", key));
  header.remove_prefix(at + key.size() + 3);
  const size_t stop = header.find(end);
  if (stop == header.npos) broken(file, "its header does not parse");
  return trim(header.substr(0, stop));
}

// A code point as UTF-8.
void put_utf8(uint32_t c, std::string* out) {
  if (c < 0x80) {
    *out += static_cast<char>(c);
  } else if (c < 0x800) {
    *out += static_cast<char>(0xC0 | c >> 6);
    *out += static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    *out += static_cast<char>(0xE0 | c >> 12);
    *out += static_cast<char>(0x80 | (c >> 6 & 63));
    *out += static_cast<char>(0x80 | (c & 63));
  } else {
    *out += static_cast<char>(0xF0 | (c >> 18 & 7));
    *out += static_cast<char>(0x80 | (c >> 12 & 63));
    *out += static_cast<char>(0x80 | (c >> 6 & 63));
    *out += static_cast<char>(0x80 | (c & 63));
  }
}

bool find_dtype(char kind, uint64_t bytes, DType* out) {
  const std::string name = kind == 'b'   ? "bool"
                           : kind == 'i' ? fmt::format("int{}", 8 * bytes)
                           : kind == 'u' ? fmt::format("uint{}", 8 * bytes)
                           : kind == 'f' ? fmt::format("float{}", 8 * bytes)
                           : kind == 'c' ? fmt::format("complex{}", 8 * bytes)
                                         : "";
  return parse_dtype(name, out);
}

// A view of memory that lives as long as the reads.
class View final : public Bytes {
 public:
  explicit View(const Bytes& b) : b_(b) {}
  const std::string& name() const override { return b_.name(); }
  uint64_t size() const override { return b_.size(); }
  void read_at(uint64_t offset, void* out, size_t n) const override { b_.read_at(offset, out, n); }

 private:
  const Bytes& b_;
};

}  // namespace

NpyFile::NpyFile(BytesPtr file) : file_(std::move(file)) {
  const Bytes& f = *file_;
  if (f.size() < 10 || f.text(0, 6) != "\x93NUMPY") broken(f, "it does not begin as one");
  const std::string head = f.text(0, std::min<uint64_t>(12, f.size()));
  const auto byte = [&](int i) {
    return static_cast<uint64_t>(static_cast<unsigned char>(head[i]));
  };
  uint64_t length = byte(8) | byte(9) << 8;
  uint64_t at = 10;
  if (head[6] >= 2) {
    if (head.size() < 12) broken(f, "it is truncated");
    length |= byte(10) << 16 | byte(11) << 24;
    at = 12;
  }
  if (length > kLongestHeader || length > f.size() - at) broken(f, "its header is truncated");
  const std::string header = f.text(at, length);
  begin_ = at + length;

  std::string_view descr = entry(f, header, "descr", ',');
  if (descr.size() < 5 || descr[0] != '\'' || descr.back() != '\'')
    broken(f, fmt::format("the dtype {} is not supported", descr));
  descr = descr.substr(1, descr.size() - 2);
  int64_t size = 0;
  kind_ = descr[1];
  if (!parse_int(descr.substr(2), &size) || size <= 0 || size > (1 << 20))
    broken(f, fmt::format("the dtype '{}' is not supported", descr));
  item_ = static_cast<uint64_t>(size) * (kind_ == 'U' ? 4 : 1);
  swapped_ = descr[0] == '>';
  if (kind_ != 'U' && kind_ != 'S' && !find_dtype(kind_, item_, &dtype_))
    broken(f, fmt::format("the dtype '{}' is not supported", descr));
  if (entry(f, header, "fortran_order", ',') != "False")
    broken(f, "it is in Fortran's order; save it with numpy.ascontiguousarray");
  std::string_view dims = entry(f, header, "shape", ')');
  if (!dims.starts_with('(')) broken(f, "its header does not parse");
  for (const std::string& d : split(dims.substr(1), ',')) {
    int64_t v = 0;
    if (trim(d).empty()) continue;
    if (!parse_int(trim(d), &v) || v < 0 || shape_.rank() == kMaxRank)
      broken(f, fmt::format("the shape ({}) is not supported", dims.substr(1)));
    shape_.push_back(v);
  }
  uint64_t want = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(shape_.size()), item_, &want) ||
      want > f.size() - begin_)
    broken(f, fmt::format("it is truncated: shape {} of {} bytes each, but {} bytes", shape_.str(),
                          item_, f.size() - begin_));
}

Value NpyFile::read(int64_t first_item, const Shape& shape) const {
  const uint64_t at = begin_ + static_cast<uint64_t>(first_item) * item_;
  const uint64_t bytes = static_cast<uint64_t>(shape.size()) * item_;
  if (kind_ == 'U' || kind_ == 'S') {
    const std::string raw = file_->text(at, bytes);
    StringArray s{{}, shape};
    for (uint64_t i = 0; i < bytes; i += item_) {
      std::string text;
      if (kind_ == 'S') {
        text = raw.substr(i, item_);
        text.resize(text.find_last_not_of('\0') + 1);
      } else {
        for (uint64_t k = 0; k < item_; k += 4) {
          uint32_t c = 0;
          std::memcpy(&c, raw.data() + i + k, 4);
          if (swapped_) c = __builtin_bswap32(c);
          if (c != 0) put_utf8(c, &text);
        }
      }
      s.values.push_back(std::move(text));
    }
    return s;
  }
  Tensor t = Tensor::empty(dtype_, shape);
  if (bytes == 0) return t;
  auto* out = static_cast<char*>(t.mutable_raw());
  file_->read_at(at, out, bytes);
  const uint64_t unit = is_complex(dtype_) ? item_ / 2 : item_;
  if (swapped_ && unit > 1) {
    for (uint64_t i = 0; i < bytes; i += unit) std::reverse(out + i, out + i + unit);
  }
  if (is_bool(dtype_)) {  // a byte may hold anything
    for (uint64_t i = 0; i < bytes; ++i) out[i] = out[i] != 0;
  }
  return t;
}

Value NpyFile::rows(int64_t first, int64_t count) const {
  Shape shape = shape_;
  shape.set(0, count);
  return read(first * shape_.size(1, shape_.rank()), shape);
}
Value NpyFile::row(int64_t i) const {
  Shape shape = shape_;
  shape.erase(0);
  return read(i * shape.size(), shape);
}
Value NpyFile::all() const { return read(0, shape_); }

Value read_npy(const Bytes& file) { return NpyFile(std::make_shared<View>(file)).all(); }

}  // namespace mycel::data
