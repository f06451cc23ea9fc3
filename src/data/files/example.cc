#include "data/files/example.h"

#include <cstring>
#include <utility>

namespace mycel::data {
namespace {

enum Wire { kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5 };

// The fields of a message, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view text) : text_(text) {}
  // False at the end, or when the text is broken (see ok).
  bool next() {
    if (text_.empty()) return false;
    uint64_t key = 0;
    if (!varint(&key) || key >> 3 == 0) return broken();
    field = static_cast<int>(key >> 3);
    wire = static_cast<int>(key & 7);
    uint64_t length = 0;
    switch (wire) {
      case kVarint:
        return varint(&number) || broken();
      case kFixed64:
        length = 8;
        break;
      case kFixed32:
        length = 4;
        break;
      case kDelimited:
        if (!varint(&length)) return broken();
        break;
      default:
        return broken();
    }
    if (length > text_.size()) return broken();
    value = text_.substr(0, length);
    text_.remove_prefix(length);
    return true;
  }
  bool varint(uint64_t* out) {
    *out = 0;
    for (int shift = 0; shift < 64 && !text_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(text_[0]);
      text_.remove_prefix(1);
      *out |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }
  bool empty() const { return text_.empty(); }
  bool ok() const { return ok_; }

  int field = 0, wire = 0;
  uint64_t number = 0;     // of a varint
  std::string_view value;  // of anything else

 private:
  bool broken() {
    ok_ = false;
    return false;
  }
  std::string_view text_;
  bool ok_ = true;
};

bool parse_floats(std::string_view text, std::vector<float>* out) {
  Fields f(text);
  while (f.next()) {
    if (f.field != 1) continue;
    if (f.wire == kVarint || f.wire == kFixed64 || f.value.size() % 4 != 0) return false;
    const size_t had = out->size(), n = f.value.size() / 4;
    out->resize(had + n);
    if (n > 0) std::memcpy(out->data() + had, f.value.data(), 4 * n);
  }
  return f.ok();
}

bool parse_ints(std::string_view text, std::vector<int64_t>* out) {
  Fields f(text);
  while (f.next()) {
    if (f.field != 1) continue;
    if (f.wire == kVarint) {
      out->push_back(static_cast<int64_t>(f.number));
    } else if (f.wire == kDelimited) {
      Fields packed(f.value);
      uint64_t v = 0;
      while (!packed.empty()) {
        if (!packed.varint(&v)) return false;
        out->push_back(static_cast<int64_t>(v));
      }
    } else {
      return false;
    }
  }
  return f.ok();
}

bool parse_bytes(std::string_view text, std::vector<std::string_view>* out) {
  Fields f(text);
  while (f.next()) {
    if (f.field != 1) continue;
    if (f.wire != kDelimited) return false;
    out->push_back(f.value);
  }
  return f.ok();
}

bool parse_feature(std::string_view text, Feature* out) {
  Fields f(text);
  while (f.next()) {
    if (f.field > 3) continue;
    if (f.wire != kDelimited) return false;
    *out = Feature{};
    out->kind = static_cast<Feature::Kind>(f.field);
    const bool sound = f.field == 1   ? parse_bytes(f.value, &out->bytes)
                       : f.field == 2 ? parse_floats(f.value, &out->floats)
                                      : parse_ints(f.value, &out->ints);
    if (!sound) return false;
  }
  return f.ok();
}

void put_varint(uint64_t v, std::string* out) {
  for (; v >= 128; v >>= 7) out->push_back(static_cast<char>(v | 128));
  out->push_back(static_cast<char>(v));
}
void put_field(int field, std::string_view value, std::string* out) {
  put_varint(static_cast<uint64_t>(field) << 3 | kDelimited, out);
  put_varint(value.size(), out);
  out->append(value);
}

}  // namespace

bool parse_example(std::string_view text, std::map<std::string_view, Feature>* out) {
  Fields example(text);
  while (example.next()) {
    if (example.field != 1) continue;
    if (example.wire != kDelimited) return false;
    Fields features(example.value);
    while (features.next()) {
      if (features.field != 1) continue;
      if (features.wire != kDelimited) return false;
      Fields entry(features.value);
      std::string_view key;
      Feature feature;
      while (entry.next()) {
        if (entry.field <= 2 && entry.wire != kDelimited) return false;
        if (entry.field == 1) key = entry.value;
        if (entry.field == 2 && !parse_feature(entry.value, &feature)) return false;
      }
      if (!entry.ok()) return false;
      (*out)[key] = std::move(feature);
    }
    if (!features.ok()) return false;
  }
  return example.ok();
}

std::string write_example(const std::map<std::string, Feature>& features) {
  std::string all;
  for (const auto& [name, f] : features) {
    std::string list;
    if (f.kind == Feature::Kind::kBytes) {
      for (std::string_view b : f.bytes) put_field(1, b, &list);
    } else if (f.kind == Feature::Kind::kFloat) {
      put_field(1, {reinterpret_cast<const char*>(f.floats.data()), 4 * f.floats.size()}, &list);
    } else {
      std::string packed;
      for (int64_t v : f.ints) put_varint(static_cast<uint64_t>(v), &packed);
      put_field(1, packed, &list);
    }
    std::string feature, entry;
    if (f.kind != Feature::Kind::kNone) put_field(static_cast<int>(f.kind), list, &feature);
    put_field(1, name, &entry);
    put_field(2, feature, &entry);
    put_field(1, entry, &all);
  }
  std::string out;
  put_field(1, all, &out);
  return out;
}

}  // namespace mycel::data
