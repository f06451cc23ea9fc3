#include "data/text/bpe.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <queue>

#include <xxhash.h>

#include "base/error.h"
#include "data/text/unicode.h"

namespace mycel::data {
namespace {

constexpr size_t kLongWord = 96;    // bytes; longer words are joined with a heap
constexpr size_t kCachedWord = 48;  // bytes; longer words are not kept
constexpr size_t kCacheSlots = 1 << 16;

inline uint64_t mixed(uint64_t key) {
  key *= 0x9E3779B97F4A7C15u;
  return key ^ (key >> 29);
}
inline uint64_t pair_key(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

}  // namespace

// Words that were seen, with their ids. An entry never changes and stays as long as the tokenizer,
// so that readers need no lock; a word whose places are taken is computed each time. What is found
// is what would be computed: the cache changes nothing but the time.
struct BytePairs::Cache {
  struct Entry {
    uint64_t hash;
    uint8_t length, count;
    char word[kCachedWord];
    int32_t ids[1];  // `count` of them
  };
  std::array<std::atomic<Entry*>, kCacheSlots> slots{};

  ~Cache() {
    for (auto& s : slots) std::free(s.load());
  }
  const Entry* find(std::string_view word, uint64_t hash) const {
    for (const size_t at : {hash % kCacheSlots, (hash + 1) % kCacheSlots}) {
      const Entry* e = slots[at].load(std::memory_order_acquire);
      if (e && e->hash == hash && e->length == word.size() &&
          std::memcmp(e->word, word.data(), word.size()) == 0)
        return e;
    }
    return nullptr;
  }
  void keep(std::string_view word, uint64_t hash, const int32_t* ids, size_t count) {
    for (const size_t at : {hash % kCacheSlots, (hash + 1) % kCacheSlots}) {
      if (slots[at].load(std::memory_order_relaxed)) continue;
      auto* e = static_cast<Entry*>(std::malloc(sizeof(Entry) + count * sizeof(int32_t)));
      if (!e) return;
      e->hash = hash;
      e->length = static_cast<uint8_t>(word.size());
      e->count = static_cast<uint8_t>(count);
      std::memcpy(e->word, word.data(), word.size());
      std::memcpy(e->ids, ids, count * sizeof(int32_t));
      Entry* none = nullptr;
      if (!slots[at].compare_exchange_strong(none, e, std::memory_order_release)) std::free(e);
      return;
    }
  }
};

BytePairs::BytePairs() : cache_(std::make_unique<Cache>()) {}
BytePairs::~BytePairs() = default;

uint64_t BytePairs::pair(int32_t left, int32_t right) const {
  const uint64_t key = pair_key(left, right);
  for (size_t at = mixed(key) & pair_mask_;; at = (at + 1) & pair_mask_) {
    const PairSlot& s = pairs_[at];
    if (s.key == key) return s.value;
    if (s.key == kNoPair) return kNoPair;
  }
}

std::string_view BytePairs::token(int32_t id) const {
  return id < 0 || static_cast<size_t>(id) >= names_.size() ? std::string_view()
                                                            : names_[static_cast<size_t>(id)];
}

namespace {

// Joins the pair of lowest rank, the leftmost of several, until there is none.
template <typename PairOf>
void join_short(std::vector<int32_t>* ids, size_t first, PairOf&& pair_of) {
  constexpr uint64_t kNone = ~uint64_t{0};
  uint64_t ranks[kLongWord + 1];  // of items i and i + 1
  int32_t* id = ids->data() + first;
  size_t n = ids->size() - first;
  for (size_t i = 0; i + 1 < n; ++i) ranks[i] = pair_of(id[i], id[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; ++i) best = ranks[i] < ranks[best] ? i : best;
    if (ranks[best] == kNone) break;
    id[best] = static_cast<int32_t>(ranks[best]);
    std::memmove(id + best + 1, id + best + 2, (n - best - 2) * sizeof(int32_t));
    if (n - best > 2) std::memmove(ranks + best, ranks + best + 1, (n - best - 2) * sizeof *ranks);
    --n;
    if (best > 0) ranks[best - 1] = pair_of(id[best - 1], id[best]);
    if (best + 1 < n) ranks[best] = pair_of(id[best], id[best + 1]);
  }
  ids->resize(first + n);
}

// The same with a heap: n log n for words of any length.
template <typename PairOf>
void join_long(std::vector<int32_t>* ids, size_t first, PairOf&& pair_of) {
  constexpr uint64_t kNone = ~uint64_t{0};
  constexpr size_t kEnd = std::numeric_limits<size_t>::max();
  struct Item {
    int32_t id;
    size_t previous, next;
    bool gone = false;
  };
  struct Join {
    uint64_t rank;
    size_t at;
    int32_t left, right;
    bool operator>(const Join& o) const { return rank != o.rank ? rank > o.rank : at > o.at; }
  };
  const size_t n = ids->size() - first;
  std::vector<Item> items(n);
  std::priority_queue<Join, std::vector<Join>, std::greater<>> joins;
  const auto offer = [&](size_t at) {
    if (at == kEnd || items[at].next == kEnd) return;
    const int32_t left = items[at].id, right = items[items[at].next].id;
    const uint64_t rank = pair_of(left, right);
    if (rank != kNone) joins.push({rank, at, left, right});
  };
  for (size_t i = 0; i < n; ++i)
    items[i] = {(*ids)[first + i], i ? i - 1 : kEnd, i + 1 < n ? i + 1 : kEnd};
  for (size_t i = 0; i < n; ++i) offer(i);
  while (!joins.empty()) {
    const Join j = joins.top();
    joins.pop();
    Item& left = items[j.at];
    if (left.gone || left.id != j.left || left.next == kEnd || items[left.next].id != j.right)
      continue;  // one of the two was joined with another meanwhile
    Item& right = items[left.next];
    left.id = static_cast<int32_t>(j.rank);
    right.gone = true;
    left.next = right.next;
    if (left.next != kEnd) items[left.next].previous = j.at;
    offer(left.previous);
    offer(j.at);
  }
  ids->resize(first);
  for (const Item& i : items) {
    if (!i.gone) ids->push_back(i.id);
  }
}

}  // namespace

void BytePairs::join_pairs(std::string_view word, std::vector<int32_t>* out) const {
  const size_t first = out->size();
  for (const char c : word) {
    const int32_t id = bytes_[static_cast<uint8_t>(c)];
    if (id < 0)
      value_error("the vocabulary has no token for the byte 0x{:02x}", static_cast<uint8_t>(c));
    out->push_back(id);
  }
  const auto pair_of = [this](int32_t left, int32_t right) { return pair(left, right); };
  if (word.size() <= kLongWord) {
    join_short(out, first, pair_of);
  } else {
    join_long(out, first, pair_of);
  }
}

void BytePairs::encode_word(std::string_view word, std::vector<int32_t>* out) const {
  if (word.size() > kCachedWord) {
    if (ignore_merges_) {
      if (const int32_t id = by_bytes_.find(word); id >= 0) return out->push_back(id);
    }
    return join_pairs(word, out);
  }
  const uint64_t hash = XXH3_64bits(word.data(), word.size());
  if (const Cache::Entry* e = cache_->find(word, hash)) {
    out->insert(out->end(), e->ids, e->ids + e->count);
    return;
  }
  const size_t first = out->size();
  const int32_t whole = ignore_merges_ ? by_bytes_.find(word) : Words::kNone;
  if (whole >= 0) {
    out->push_back(whole);
  } else {
    join_pairs(word, out);
  }
  cache_->keep(word, hash, out->data() + first, out->size() - first);
}

void BytePairs::encode_segment(std::string_view text, size_t base, bool offsets,
                               BpePieces* out) const {
  if (text.empty()) return;
  std::string spaced;
  size_t shift = 0;  // bytes put in front
  if (prefix_space_ && text.front() != ' ') {
    spaced = " ";
    spaced += text;
    text = spaced;
    shift = 1;
  }
  std::vector<uint32_t> ends;
  ends.reserve(text.size() / 4 + 4);
  pretokenizer_->cut(text, &ends);
  out->ids.reserve(out->ids.size() + ends.size() + ends.size() / 4);
  size_t from = 0;
  for (const uint32_t to : ends) {
    const size_t first = out->ids.size();
    encode_word(text.substr(from, to - from), &out->ids);
    if (offsets) {
      size_t at = from;
      for (size_t i = first; i < out->ids.size(); ++i) {
        const size_t end = at + raw_[static_cast<size_t>(out->ids[i])].size();
        out->starts.push_back(static_cast<uint32_t>(base + std::max(at, shift) - shift));
        out->limits.push_back(static_cast<uint32_t>(base + std::max(end, shift) - shift));
        at = end;
      }
    }
    from = to;
  }
}

const BytePairs::Special* BytePairs::special_at(std::string_view text, size_t at) const {
  if (!special_first_[static_cast<uint8_t>(text[at])]) return nullptr;
  for (const Special& s : specials_) {
    if (text.substr(at).starts_with(s.text)) return &s;
  }
  return nullptr;
}

void BytePairs::encode(std::string_view given, bool special, bool offsets, BpePieces* out) const {
  std::string form;
  std::string_view text = given;
  check_utf8(text);
  if (form_ != "NONE" && !is_ascii(given)) text = form = normalized(given, form_);
  const auto add = [&](int32_t id, size_t from, size_t to) {
    out->ids.push_back(id);
    if (!offsets) return;
    out->starts.push_back(static_cast<uint32_t>(from));
    out->limits.push_back(static_cast<uint32_t>(to));
  };
  if (special) {
    for (const int32_t id : before_) add(id, 0, 0);
  }
  size_t done = 0;
  for (size_t i = 0; i < text.size() && !specials_.empty();) {
    const Special* s = special_at(text, i);
    if (!s) {
      ++i;
      continue;
    }
    encode_segment(text.substr(done, i - done), done, offsets, out);
    add(s->id, i, i + s->text.size());
    done = i += s->text.size();
  }
  encode_segment(text.substr(done), done, offsets, out);
  if (special) {
    for (const int32_t id : behind_) add(id, text.size(), text.size());
  }
}

std::string BytePairs::decode(const int32_t* ids, size_t n, bool skip_special) const {
  std::string out;
  for (size_t i = 0; i < n; ++i) {
    if (ids[i] < 0 || static_cast<size_t>(ids[i]) >= raw_.size())
      value_error("there is no token {}; the tokenizer has {}", ids[i], raw_.size());
    const bool skip = skip_special && std::any_of(specials_.begin(), specials_.end(), [&](auto& s) {
                        return s.special && s.id == ids[i];
                      });
    if (!skip) out += raw_[static_cast<size_t>(ids[i])];
  }
  return out;
}

}  // namespace mycel::data
