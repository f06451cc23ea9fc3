// Profiles that tests make up: slices at known times.
#pragma once

#include <string>

#include "insight/profile/profile.h"

namespace mycel::insight::profile::made_up {

using timeline::Kind;

class Maker {
 public:
  Maker() {
    p.machine = {.processor = "made up", .threads = 2, .cores = 2, .memory = int64_t{1} << 30};
    p.machine.limits = {100, 10};
    p.recording.whats.resize(1);
    thread("main", true);
  }
  // Slices that follow go to this thread.
  void thread(const std::string& name, bool main = false) {
    p.recording.tracks.push_back({name, main, {}, {}, 0});
  }
  timeline::Id what(Kind kind, const std::string& name, int64_t flops = -1, int64_t bytes = 0,
                    const std::string& types = "", timeline::Phase phase = {}) {
    p.recording.whats.push_back({.kind = kind,
                                 .phase = phase,
                                 .name = name,
                                 .types = types,
                                 .where = "net.py:7 in construct",
                                 .flops = flops,
                                 .bytes = bytes});
    return static_cast<timeline::Id>(p.recording.whats.size() - 1);
  }
  // From `start` for `length`, in microseconds.
  void slice(timeline::Id what, int64_t start, int64_t length, uint32_t number = 0) {
    p.recording.tracks.back().events.push_back(
        {start * 1000, (start + length) * 1000, what, number});
    p.recording.active = p.recording.length = std::max(p.recording.length, (start + length) * 1000);
  }
  void memory(timeline::Id what, int64_t when, uint64_t block, int64_t bytes) {
    p.recording.tracks.back().memory.push_back({when * 1000, block, bytes, what});
  }

  Profile p;
};

// Steps of `length` microseconds in which `fill(start, number)` puts slices.
template <typename Fill>
void steps(Maker& m, int count, int64_t length, Fill fill) {
  const timeline::Id step = m.what(Kind::kStep, "training step");
  for (int i = 0; i < count; ++i) {
    fill(i * length, i);
    m.slice(step, i * length, length, static_cast<uint32_t>(i + 1));
  }
}

}  // namespace mycel::insight::profile::made_up
