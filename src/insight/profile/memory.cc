#include "insight/profile/memory.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace mycel::insight::profile {
namespace {

using timeline::Life;
using timeline::MemoryEvent;
using timeline::Recording;
using timeline::What;

constexpr int64_t kColumns = 1000;

std::vector<MemoryEvent> all_events(const Recording& r) {
  std::vector<MemoryEvent> out;
  for (const timeline::Track& t : r.tracks) out.insert(out.end(), t.memory.begin(), t.memory.end());
  std::stable_sort(out.begin(), out.end(),
                   [](const MemoryEvent& a, const MemoryEvent& b) { return a.when < b.when; });
  return out;
}

// The places of what lives at the fullest step of an arena.
std::vector<size_t> fullest(const std::vector<Life>& lives) {
  int32_t last = 0;
  for (const Life& l : lives) last = std::max(last, l.last);
  std::vector<int64_t> change(static_cast<size_t>(last) + 2, 0);
  for (const Life& l : lives) {
    change[static_cast<size_t>(l.first)] += static_cast<int64_t>(l.bytes);
    change[static_cast<size_t>(l.last) + 1] -= static_cast<int64_t>(l.bytes);
  }
  int64_t now = 0, most = -1;
  int32_t at = 0;
  for (int32_t i = 0; i <= last; ++i) {
    now += change[static_cast<size_t>(i)];
    if (now > most) {
      most = now;
      at = i;
    }
  }
  std::vector<size_t> out;
  for (size_t i = 0; i < lives.size(); ++i) {
    if (lives[i].first <= at && at <= lives[i].last) out.push_back(i);
  }
  return out;
}

class Alive {
 public:
  explicit Alive(const Recording& r) : recording_(r) {}

  void add(timeline::Id id, const std::string& place, int64_t bytes) {
    AliveRow& row = rows_[{id, place}];
    if (row.blocks++ == 0) {
      const What& w = recording_.whats[id];
      row.name = id ? w.name : "made outside of ops";
      row.types = w.types;
      row.where = w.where;
      row.place = place;
    }
    row.bytes += bytes;
  }
  void add_arena(timeline::Id id, int64_t bytes) {
    const What& w = recording_.whats[id];
    const std::string place = "arena of " + w.name;
    int64_t used = 0;
    for (size_t i : fullest(w.lives)) {
      add(w.lives[i].what, place, static_cast<int64_t>(w.lives[i].bytes));
      used += static_cast<int64_t>(w.lives[i].bytes);
    }
    named("not in use at that step", place, bytes - used);
  }
  void named(const std::string& name, const std::string& place, int64_t bytes) {
    if (bytes > 0) others_.push_back({name, "", "", place, bytes, 1});
  }
  std::vector<AliveRow> rows() {
    std::vector<AliveRow> out = others_;
    for (auto& [key, row] : rows_) out.push_back(row);
    std::stable_sort(out.begin(), out.end(),
                     [](const AliveRow& a, const AliveRow& b) { return a.bytes > b.bytes; });
    return out;
  }

 private:
  const Recording& recording_;
  std::map<std::pair<timeline::Id, std::string>, AliveRow> rows_;
  std::vector<AliveRow> others_;
};

}  // namespace

Memory memory_of(const Recording& r) {
  Memory m;
  const std::vector<MemoryEvent> events = all_events(r);
  m.recorded = !events.empty();
  if (!m.recorded) return m;
  int64_t now = r.memory_before;
  m.peak = now;
  const int64_t column = std::max<int64_t>(r.length / kColumns, 1);
  size_t until = 0;  // events up to the peak
  int64_t before = now;
  for (size_t i = 0; i < events.size(); ++i) {
    now += events[i].bytes;
    const int64_t c = events[i].when / column * column;
    if (m.when.empty() || m.when.back() != c) {
      m.when.push_back(c);
      m.bytes.push_back(std::max(before, now));
    } else {
      m.bytes.back() = std::max(m.bytes.back(), now);
    }
    before = now;
    if (now > m.peak) {
      m.peak = now;
      m.peak_when = events[i].when;
      until = i + 1;
    }
  }
  m.when.push_back(r.length);
  m.bytes.push_back(now);

  struct Block {
    int64_t bytes;
    timeline::Id what;
  };
  std::unordered_map<uint64_t, Block> blocks;
  int64_t older = r.memory_before;
  for (size_t i = 0; i < until; ++i) {
    const MemoryEvent& e = events[i];
    if (e.bytes >= 0) {
      blocks[e.block] = {e.bytes, e.what};
    } else if (blocks.erase(e.block) == 0) {
      older += e.bytes;
    }
  }
  Alive alive(r);
  alive.named("there before the recording began", "", older);
  for (const auto& [address, block] : blocks) {
    if (r.whats[block.what].kind == timeline::Kind::kArena) {
      alive.add_arena(block.what, block.bytes);
    } else {
      alive.add(block.what, "", block.bytes);
    }
  }
  m.alive = alive.rows();
  return m;
}

}  // namespace mycel::insight::profile
