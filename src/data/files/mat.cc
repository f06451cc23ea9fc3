#include "data/files/mat.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <zlib.h>

#include "base/error.h"
#include "data/files/folder.h"

namespace mycel::data {
namespace {

enum Type : uint32_t {
  kInt8 = 1,
  kUInt8 = 2,
  kInt16 = 3,
  kUInt16 = 4,
  kInt32 = 5,
  kUInt32 = 6,
  kSingle = 7,
  kDouble = 9,
  kInt64 = 12,
  kUInt64 = 13,
  kMatrix = 14,
  kCompressed = 15
};

constexpr uint64_t kMostBytes = uint64_t{1} << 33;

[[noreturn]] void broken(const Bytes& file, const std::string& why) {
  fail(ErrorKind::kOs, "'{}' cannot be read as a MATLAB file of version 5: {}", file.name(), why);
}

bool find_dtype(uint32_t type, DType* out) {
  switch (type) {
    case kInt8:
      *out = DType::kInt8;
      return true;
    case kUInt8:
      *out = DType::kUInt8;
      return true;
    case kInt16:
      *out = DType::kInt16;
      return true;
    case kUInt16:
      *out = DType::kUInt16;
      return true;
    case kInt32:
      *out = DType::kInt32;
      return true;
    case kUInt32:
      *out = DType::kUInt32;
      return true;
    case kSingle:
      *out = DType::kFloat32;
      return true;
    case kDouble:
      *out = DType::kFloat64;
      return true;
    case kInt64:
      *out = DType::kInt64;
      return true;
    case kUInt64:
      *out = DType::kUInt64;
      return true;
    default:
      return false;
  }
}

// Elements of (type, bytes), one after the other, each filled up to 8 bytes.
class Elements {
 public:
  Elements(const Bytes& file, std::string_view text) : file_(file), text_(text) {}
  bool next(uint32_t* type, std::string_view* content) {
    if (text_.size() < 8) return false;
    uint32_t size = 0, skip = 8;
    std::memcpy(type, text_.data(), 4);
    std::memcpy(&size, text_.data() + 4, 4);
    if (*type >> 16) {  // the small form: type, size and up to 4 bytes in 8
      size = *type >> 16;
      *type &= 0xffff;
      skip = 4;
      if (size > 4) broken(file_, "a small element has more than 4 bytes");
    }
    if (size > text_.size() - skip) broken(file_, "it is truncated");
    *content = text_.substr(skip, size);
    uint64_t used = skip + uint64_t{size};
    if (skip == 4) used = 8;
    if (*type != kCompressed) used = (used + 7) / 8 * 8;
    text_.remove_prefix(std::min<uint64_t>(used, text_.size()));
    return true;
  }

 private:
  const Bytes& file_;
  std::string_view text_;
};

std::string inflated(const Bytes& file, std::string_view in) {
  z_stream z{};
  if (inflateInit(&z) != Z_OK) fail(ErrorKind::kMemory, "zlib: out of memory");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&z, inflateEnd);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z.avail_in = static_cast<uInt>(in.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK) {
    const size_t had = out.size();
    if (had > kMostBytes) broken(file, "a variable unpacks to more than 8 GiB");
    out.resize(std::max<size_t>(2 * had, 1 << 16));
    z.next_out = reinterpret_cast<Bytef*>(out.data() + had);
    z.avail_out = static_cast<uInt>(std::min<size_t>(out.size() - had, 1 << 30));
    const uInt asked = z.avail_out;
    state = inflate(&z, Z_NO_FLUSH);
    out.resize(had + asked - z.avail_out);
  }
  if (state != Z_STREAM_END) broken(file, "packed bytes are damaged");
  return out;
}

// The name of a matrix; `out` gets it when it is wanted.
void read_matrix(const Bytes& file, std::string_view content,
                 const std::vector<std::string>& wanted, std::map<std::string, MatArray>* out) {
  Elements parts(file, content);
  uint32_t type = 0;
  std::string_view flags, dims, name, data;
  if (!parts.next(&type, &flags) || flags.size() < 4 || !parts.next(&type, &dims) ||
      !parts.next(&type, &name))
    broken(file, "a variable has no head");
  if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) return;
  uint32_t head = 0;
  std::memcpy(&head, flags.data(), 4);
  MatArray a;
  const bool complex = head & 0x800;
  if (complex || (head & 0xff) < 6 || (head & 0xff) > 15 || !parts.next(&type, &data) ||
      !find_dtype(type, &a.dtype))
    broken(file, fmt::format("'{}' is no real array of numbers", name));
  uint64_t count = 1;
  for (size_t d = 0; d + 4 <= dims.size(); d += 4) {
    int32_t v = 0;
    std::memcpy(&v, dims.data() + d, 4);
    if (v < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(v), &count))
      broken(file, fmt::format("the dims of '{}' are out of range", name));
    a.dims.push_back(v);
  }
  if (count > data.size() || data.size() != count * size_of(a.dtype))
    broken(file, fmt::format("'{}' has {} numbers in {} bytes", name, count, data.size()));
  a.bytes = data;
  (*out)[std::string(name)] = std::move(a);
}

}  // namespace

std::map<std::string, MatArray> read_mat(const Bytes& file,
                                         const std::vector<std::string>& wanted) {
  const std::string text = file.text();
  if (text.size() < 128 || text.compare(126, 2, "IM") != 0)
    broken(file, text.starts_with("MATLAB 7.3") ? "it is of version 7.3; save it with -v7"
                                                : "it does not begin as one, little-endian");
  std::map<std::string, MatArray> out;
  Elements all(file, std::string_view(text).substr(128));
  uint32_t type = 0;
  std::string_view content;
  while (all.next(&type, &content)) {
    if (type == kCompressed) {
      const std::string inside = inflated(file, content);
      Elements one(file, inside);
      if (one.next(&type, &content) && type == kMatrix) read_matrix(file, content, wanted, &out);
    } else if (type == kMatrix) {
      read_matrix(file, content, wanted, &out);
    }
  }
  for (const std::string& w : wanted) {
    if (!out.contains(w)) broken(file, fmt::format("there is no array '{}'", w));
  }
  return out;
}

}  // namespace mycel::data
