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

enum Class : uint32_t { kCell = 1, kStruct = 2, kSparse = 5, kFirstNumber = 6, kLastNumber = 15 };

// A matrix of any class, its parts one by one.
class Matrix {
 public:
  Matrix(const Bytes& file, std::string_view content) : file_(file), parts_(file, content) {
    std::string_view flags, dims, name;
    uint32_t type = 0;
    if (!parts_.next(&type, &flags) || flags.size() < 4 || !parts_.next(&type, &dims) ||
        !parts_.next(&type, &name))
      broken(file, "a variable has no head");
    std::memcpy(&head_, flags.data(), 4);
    name_ = name;
    for (size_t d = 0; d + 4 <= dims.size(); d += 4) {
      int32_t v = 0;
      std::memcpy(&v, dims.data() + d, 4);
      if (v < 0 || __builtin_mul_overflow(count_, static_cast<uint64_t>(v), &count_))
        broken(file, fmt::format("the dims of '{}' are out of range", name));
      dims_.push_back(v);
    }
  }
  const std::string& name() const { return name_; }
  uint32_t kind() const { return head_ & 0xff; }

  // Its value; `path` for messages.
  MatArray array(const std::string& path) {
    if (kind() == kCell) return cells(path);
    if (kind() == kSparse) return sparse(path);
    MatArray a{dims_};
    const std::string_view data = numbers(path, &a.dtype);
    if (count_ > data.size() || data.size() != count_ * size_of(a.dtype))
      broken(file_, fmt::format("'{}' has {} numbers in {} bytes", path, count_, data.size()));
    a.bytes = data;
    return a;
  }
  // The fields of a struct that is no array: f(name, content of the matrix).
  template <typename F>
  void fields(F&& f) {
    uint32_t type = 0, width = 0;
    std::string_view size, names;
    if (count_ != 1 || !parts_.next(&type, &size) || size.size() < 4 || !parts_.next(&type, &names))
      broken(file_, fmt::format("'{}' is no single struct", name_));
    std::memcpy(&width, size.data(), 4);
    if (width == 0 || names.size() % width != 0)
      broken(file_, fmt::format("the names in '{}' are damaged", name_));
    for (; !names.empty(); names.remove_prefix(width)) {
      const std::string_view name = names.substr(0, width);
      f(std::string(name.substr(0, name.find('\0'))), inner());
    }
  }

 private:
  // The content of a matrix in this one.
  std::string_view inner() {
    uint32_t type = 0;
    std::string_view content;
    if (!parts_.next(&type, &content) || type != kMatrix)
      broken(file_, fmt::format("'{}' ends too early", name_));
    return content;
  }
  std::string_view numbers(const std::string& path, DType* dtype) {
    uint32_t type = 0;
    std::string_view data;
    const bool complex = head_ & 0x800;
    const bool is_array = (kind() >= kFirstNumber && kind() <= kLastNumber) || kind() == kSparse;
    if (complex || !is_array || !parts_.next(&type, &data) || !find_dtype(type, dtype))
      broken(file_, fmt::format("'{}' is no real array of numbers", path));
    return data;
  }
  MatArray cells(const std::string& path) {
    MatArray a{dims_};
    for (uint64_t k = 0; k < count_; ++k) {
      Matrix one(file_, inner());
      if (one.kind() == kCell || one.kind() == kStruct)
        broken(file_, fmt::format("a cell of '{}' holds more than an array", path));
      a.cells.push_back(one.array(path));
    }
    return a;
  }
  // Rows of what is not zero, where each column begins, and the numbers; made dense.
  MatArray sparse(const std::string& path) {
    MatArray a{dims_};
    DType index = DType::kInt32;
    const std::string_view rows = numbers(path, &index);
    const std::string_view begins = index == DType::kInt32 ? numbers(path, &index) : "";
    if (index != DType::kInt32 || dims_.size() != 2 ||
        begins.size() != 4 * (static_cast<size_t>(dims_[1]) + 1))
      broken(file_, fmt::format("the places in the sparse array '{}' are damaged", path));
    const std::string_view values = numbers(path, &a.dtype);
    const size_t width = size_of(a.dtype);
    if (count_ > kMostBytes / width)
      broken(file_, fmt::format("the sparse array '{}' is too large", path));
    a.bytes.resize(count_ * width);
    const auto at = [](std::string_view text, int64_t i) {
      int32_t v = 0;
      std::memcpy(&v, text.data() + 4 * i, 4);
      return v;
    };
    for (int64_t c = 0; c < dims_[1]; ++c) {
      for (int64_t k = at(begins, c); k < at(begins, c + 1); ++k) {
        const bool inside = k >= 0 && 4 * k + 4 <= static_cast<int64_t>(rows.size()) &&
                            (k + 1) * width <= values.size();
        const int64_t row = inside ? at(rows, k) : -1;
        if (row < 0 || row >= dims_[0])
          broken(file_, fmt::format("the sparse array '{}' has numbers outside of it", path));
        std::memcpy(a.bytes.data() + (c * dims_[0] + row) * width, values.data() + k * width,
                    width);
      }
    }
    return a;
  }

  const Bytes& file_;
  Elements parts_;
  uint32_t head_ = 0;
  std::string name_;
  std::vector<int64_t> dims_;
  uint64_t count_ = 1;
};

// `out` gets the matrix, or those of its fields, that are wanted.
void read_matrix(const Bytes& file, std::string_view content, const std::string& front,
                 const std::vector<std::string>& wanted, std::map<std::string, MatArray>* out) {
  Matrix m(file, content);
  const std::string path = front.empty() ? m.name() : front;
  if (std::find(wanted.begin(), wanted.end(), path) != wanted.end()) {
    (*out)[path] = m.array(path);
    return;
  }
  const bool inside = std::any_of(wanted.begin(), wanted.end(),
                                  [&](const std::string& w) { return w.starts_with(path + "."); });
  if (m.kind() != kStruct || !inside) return;
  m.fields([&](const std::string& name, std::string_view field) {
    read_matrix(file, field, path + "." + name, wanted, out);
  });
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
      if (one.next(&type, &content) && type == kMatrix)
        read_matrix(file, content, "", wanted, &out);
    } else if (type == kMatrix) {
      read_matrix(file, content, "", wanted, &out);
    }
  }
  for (const std::string& w : wanted) {
    if (!out.contains(w)) broken(file, fmt::format("there is no array '{}'", w));
  }
  return out;
}

}  // namespace mycel::data
