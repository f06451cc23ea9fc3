#include "insight/events/framing.h"

#include <cstring>

#include "base/crc32c.h"

namespace mycel::insight {
namespace {

constexpr size_t kHeader = 12, kFooter = 4;
constexpr uint64_t kLongest = uint64_t{1} << 30;

template <typename T>
T load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <typename T>
void store(T v, std::string* out) {
  out->append(reinterpret_cast<const char*>(&v), sizeof v);
}

}  // namespace

void append_record(std::string_view record, std::string* out) {
  const size_t start = out->size();
  store<uint64_t>(record.size(), out);
  store<uint32_t>(masked_crc(crc32c(out->data() + start, 8)), out);
  out->append(record);
  store<uint32_t>(masked_crc(crc32c(record.data(), record.size())), out);
}

void RecordSplitter::add(std::string_view bytes) {
  buffer_.erase(0, at_);
  at_ = 0;
  buffer_.append(bytes);
}

std::optional<std::string_view> RecordSplitter::next() {
  while (!lost_) {
    const char* p = buffer_.data() + at_;
    const size_t left = buffer_.size() - at_;
    if (left < kHeader) break;
    const auto n = load<uint64_t>(p);
    if (load<uint32_t>(p + 8) != masked_crc(crc32c(p, 8)) || n > kLongest) {
      lost_ = true;
      break;
    }
    if (left < kHeader + n + kFooter) break;
    at_ += kHeader + n + kFooter;
    position_ += kHeader + n + kFooter;
    const std::string_view record(p + kHeader, n);
    if (load<uint32_t>(p + kHeader + n) == masked_crc(crc32c(record.data(), n))) return record;
    ++damaged_;
  }
  return std::nullopt;
}

}  // namespace mycel::insight
