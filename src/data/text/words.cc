#include "data/text/words.h"

#include <algorithm>

#include <xxhash.h>

namespace mycel::data {

size_t Words::slot_of(std::string_view word, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at]) {
    const Entry& e = entries_[slots_[at] - 1];
    if (e.hash == hash && std::string_view(text_.data() + e.start, e.length) == word) break;
    at = (at + 1) & mask;
  }
  return at;
}

void Words::grow() {
  slots_.assign(std::max<size_t>(64, slots_.size() * 2), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t at = entries_[i].hash & mask;
    while (slots_[at]) at = (at + 1) & mask;
    slots_[at] = static_cast<uint32_t>(i + 1);
  }
}

bool Words::add(std::string_view word, int32_t value) {
  if (entries_.size() * 2 >= slots_.size()) grow();
  const uint64_t hash = XXH3_64bits(word.data(), word.size());
  const size_t at = slot_of(word, hash);
  if (slots_[at]) return false;
  entries_.push_back({hash, text_.size(), word.size(), value});
  slots_[at] = static_cast<uint32_t>(entries_.size());
  text_ += word;
  longest_ = std::max(longest_, word.size());
  return true;
}

int32_t Words::find(std::string_view word) const {
  if (slots_.empty()) return kNone;
  const uint32_t entry = slots_[slot_of(word, XXH3_64bits(word.data(), word.size()))];
  return entry ? entries_[entry - 1].value : kNone;
}

}  // namespace mycel::data
