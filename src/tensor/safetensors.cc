#include "tensor/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/file_io.h"
#include "tensor/safetensors_header.h"

namespace mycel {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");

constexpr const char* kChecksumKey = "mycel.checksum";
constexpr const char* kComplexKey = "mycel.complex";
constexpr size_t kPrefix = 8;                     // the header's length
constexpr uint64_t kLongestHeader = 100'000'000;  // the limit of the format's own reader

struct Word {
  const char* word;
  DType dtype;
};
constexpr Word kWords[] = {
    {"BOOL", DType::kBool},   {"U8", DType::kUInt8},      {"I8", DType::kInt8},
    {"U16", DType::kUInt16},  {"I16", DType::kInt16},     {"U32", DType::kUInt32},
    {"I32", DType::kInt32},   {"U64", DType::kUInt64},    {"I64", DType::kInt64},
    {"F16", DType::kFloat16}, {"BF16", DType::kBFloat16}, {"F32", DType::kFloat32},
    {"F64", DType::kFloat64}, {"C64", DType::kComplex64}};

const char* word_of(DType t) {
  for (const Word& w : kWords) {
    if (w.dtype == t) return w.word;
  }
  MYCEL_CHECK(false, "safetensors has no word for {}", name_of(t));
  return "";
}

std::string checksum_text(const XXH3_state_t& state) {
  return fmt::format("{:016x}", XXH3_64bits_digest(&state));
}

// ---- Writing ----

void check_names(const Checkpoint& c) {
  std::set<std::string> seen;
  for (const auto& [name, tensor] : c.tensors) {
    if (!seen.insert(name).second)
      value_error("save_safetensors: name {} comes twice", shown(name));
    if (name == "__metadata__")
      value_error("save_safetensors: the name '__metadata__' is reserved");
    if (!tensor || !tensor.concrete()) {
      value_error("save_safetensors: {} has no values (it is {})", shown(name), tensor.describe());
    }
  }
  for (const char* key : {kChecksumKey, kComplexKey}) {
    if (c.metadata.contains(key)) value_error("save_safetensors: metadata '{}' is reserved", key);
  }
}

// Tensors in the order of their data: wide elements first, so that each starts at a multiple of its
// element's size for readers that map the file.
std::vector<size_t> data_order(const Checkpoint& c) {
  std::vector<size_t> order(c.tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return size_of(c.tensors[a].second.dtype()) > size_of(c.tensors[b].second.dtype());
  });
  return order;
}

HeaderEntry entry_for(const std::string& name, const Tensor& t) {
  HeaderEntry e;
  e.name = name;
  e.dtype = word_of(real_part_of(t.dtype()));
  e.shape.assign(t.shape().begin(), t.shape().end());
  if (is_complex(t.dtype())) e.shape.push_back(2);
  return e;
}

SafetensorsHeader header_for(const Checkpoint& c, const std::vector<size_t>& order) {
  SafetensorsHeader header;
  header.metadata = c.metadata;
  std::vector<std::string> complex_names;
  for (const auto& [name, tensor] : c.tensors) {
    header.entries.push_back(entry_for(name, tensor));
    if (is_complex(tensor.dtype())) complex_names.push_back(name);
  }
  if (!complex_names.empty()) header.metadata[kComplexKey] = format_name_list(complex_names);
  XXH3_state_t sum;
  XXH3_64bits_reset(&sum);
  uint64_t at = 0;
  for (size_t i : order) {
    const Tensor& t = c.tensors[i].second;
    header.entries[i].begin = at;
    header.entries[i].end = at += t.bytes();
    XXH3_64bits_update(&sum, t.raw(), t.bytes());
  }
  header.metadata[kChecksumKey] = checksum_text(sum);
  return header;
}

// ---- Reading ----

// Copies `n` bytes at `offset` of the file to `to`.
using ReadAt = std::function<void(uint64_t offset, void* to, size_t n)>;

class Reader {
 public:
  Reader(std::string file, uint64_t size, ReadAt read)
      : file_(std::move(file)), size_(size), read_(std::move(read)) {}

  Checkpoint load() {
    SafetensorsHeader header = parse_header(header_text(), file_);
    Checkpoint c;
    c.tensors.resize(header.entries.size());
    const std::vector<size_t> order = check_layout(header.entries);
    find_complex(&header);
    XXH3_state_t sum;
    XXH3_64bits_reset(&sum);
    for (size_t i : order) {
      c.tensors[i] = {header.entries[i].name, read_tensor(header.entries[i])};
      const Tensor& t = c.tensors[i].second;
      XXH3_64bits_update(&sum, t.raw(), t.bytes());
    }
    c.metadata = std::move(header.metadata);
    verify_checksum(&c, checksum_text(sum));
    return c;
  }

 private:
  std::string header_text() {
    if (size_ < kPrefix) {
      value_error("{}: {} bytes are too few for a safetensors file", file_, size_);
    }
    uint64_t length = 0;
    read_(0, &length, sizeof length);
    if (length > kLongestHeader) {
      value_error(
          "{}: not a safetensors file (its first 8 bytes say that the header has {} bytes; at "
          "most {} are allowed)",
          file_, length, kLongestHeader);
    }
    if (length > size_ - kPrefix) {
      value_error(
          "{}: the header should have {} bytes, but the file ends after {}: it is truncated or "
          "not a safetensors file",
          file_, length, size_ - kPrefix);
    }
    std::string text(length, '\0');
    read_(kPrefix, text.data(), text.size());
    data_begin_ = kPrefix + length;
    return text;
  }

  DType dtype_of_entry(const HeaderEntry& e) {
    std::string known;
    for (const Word& w : kWords) {
      if (e.dtype == w.word) return w.dtype;
      known += (known.empty() ? "" : ", ") + std::string(w.word);
    }
    value_error("{}: entry {}: dtype {} is not supported; supported are {}", file_, shown(e.name),
                shown(e.dtype), known);
  }

  // The entry's length by dtype and shape, which must be what its offsets say.
  void check_size(const HeaderEntry& e) {
    const std::string shape = fmt::format("({})", fmt::join(e.shape, ", "));
    uint64_t bytes = size_of(dtype_of_entry(e));
    const bool empty = std::find(e.shape.begin(), e.shape.end(), 0) != e.shape.end();
    bool overflow = false;
    for (int64_t n : e.shape) overflow |= __builtin_mul_overflow(bytes, n, &bytes);
    if (empty) {
      bytes = 0;
    } else if (overflow) {
      value_error("{}: entry {}: shape {} overflows", file_, shown(e.name), shape);
    }
    if (e.end < e.begin || e.end - e.begin != bytes) {
      value_error("{}: entry {}: {} of shape {} needs {} bytes, but data_offsets are [{}, {}]",
                  file_, shown(e.name), e.dtype, shape, bytes, e.begin, e.end);
    }
  }

  // The entries in the order of their data, which has to cover the rest of the file exactly once.
  std::vector<size_t> check_layout(const std::vector<HeaderEntry>& entries) {
    const uint64_t data_size = size_ - data_begin_;
    for (const HeaderEntry& e : entries) {
      check_size(e);
      if (e.end > data_size) {
        value_error(
            "{}: entry {}: data_offsets [{}, {}] reach beyond the {} bytes of data: the file is "
            "truncated or damaged",
            file_, shown(e.name), e.begin, e.end, data_size);
      }
    }
    std::vector<size_t> order(entries.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(entries[a].begin, entries[a].end) <
             std::pair(entries[b].begin, entries[b].end);
    });
    uint64_t at = 0;
    for (size_t i : order) {
      const HeaderEntry& e = entries[i];
      if (e.begin != at) {
        value_error(
            "{}: entry {}: data_offsets [{}, {}] {} byte {}", file_, shown(e.name), e.begin, e.end,
            e.begin < at ? "overlap another entry, which ends at" : "leave a gap after", at);
      }
      at = e.end;
    }
    if (at != data_size) {
      value_error("{}: {} bytes of data belong to no entry", file_, data_size - at);
    }
    return order;
  }

  Tensor read_tensor(const HeaderEntry& e) {
    try {
      DType dtype = dtype_of_entry(e);
      std::span<const int64_t> dims(e.shape);
      if (complex_names_.contains(e.name)) {
        dtype = dtype == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
        dims = dims.first(dims.size() - 1);
      }
      const Tensor t = Tensor::empty(dtype, Shape(dims));
      if (t.bytes() > 0) read_(data_begin_ + e.begin, t.mutable_raw(), t.bytes());
      if (is_bool(dtype)) check_bools(t);
      return t;
    } catch (UserError& error) {
      if (error.kind() != ErrorKind::kOs) {  // that one names the file already
        error.prefix(fmt::format("{}: entry {}: ", file_, shown(e.name)));
      }
      throw;
    }
  }

  // Any other byte would be neither true nor false to a kernel.
  static void check_bools(const Tensor& t) {
    const auto* bytes = static_cast<const uint8_t*>(t.raw());
    for (int64_t i = 0; i < t.size(); ++i) {
      if (bytes[i] > 1) value_error("BOOL holds the byte {} at element {}", bytes[i], i);
    }
  }

  void verify_checksum(Checkpoint* c, const std::string& found) {
    const auto stored = c->metadata.find(kChecksumKey);
    if (stored == c->metadata.end()) return;  // written by another program
    if (stored->second != found) {
      value_error("{}: the data is damaged (checksum {}, expected {})", file_, found,
                  shown(stored->second));
    }
    c->metadata.erase(stored);
  }

  // Takes the note off the header: which entries are complex.
  void find_complex(SafetensorsHeader* header) {
    const auto note = header->metadata.find(kComplexKey);
    if (note == header->metadata.end()) return;
    for (const std::string& name : parse_name_list(note->second, file_)) {
      const auto it = std::find_if(header->entries.begin(), header->entries.end(),
                                   [&](const HeaderEntry& e) { return e.name == name; });
      if (it == header->entries.end()) {
        value_error("{}: metadata '{}' names {}, which is no entry", file_, kComplexKey,
                    shown(name));
      }
      if ((it->dtype != "F32" && it->dtype != "F64") || it->shape.empty() ||
          it->shape.back() != 2) {
        value_error("{}: entry {} should be complex, but is {} of shape ({})", file_, shown(name),
                    it->dtype, fmt::join(it->shape, ", "));
      }
      complex_names_.insert(name);
    }
    header->metadata.erase(note);
  }

  std::string file_;
  uint64_t size_;
  ReadAt read_;
  uint64_t data_begin_ = 0;
  std::set<std::string> complex_names_;
};

}  // namespace

void save_safetensors(const std::string& path, const Checkpoint& checkpoint) {
  check_names(checkpoint);
  const std::vector<size_t> order = data_order(checkpoint);
  std::string text = format_header(header_for(checkpoint, order));
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data starts aligned
  const uint64_t length = text.size();
  if (length > kLongestHeader) {
    value_error("save_safetensors: names and metadata of '{}' take {} bytes; the format allows {}",
                path, length, kLongestHeader);
  }
  AtomicFile file(path);
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  for (size_t i : order) {
    const Tensor& t = checkpoint.tensors[i].second;
    file.write(t.raw(), t.bytes());
  }
  file.commit();
}

Checkpoint load_safetensors(const std::string& path) {
  const InputFile file(path);
  const auto read = [&](uint64_t at, void* to, size_t n) { file.read_at(at, to, n); };
  return Reader(path, file.size(), read).load();
}

Checkpoint parse_safetensors(std::span<const std::byte> bytes, const std::string& name) {
  const auto read = [&](uint64_t at, void* to, size_t n) {
    if (n > 0) std::memcpy(to, bytes.data() + at, n);
  };
  return Reader(name, bytes.size(), read).load();
}

}  // namespace mycel
