// Records of a tag that are read once, in order, however often a page asks: what they add up to is
// kept with the number of the next one. A question reads for some tenths of a second at most.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "insight/index.h"

namespace mycel::insight::server {

struct Reading {
  int64_t done = 0, all = 0;
};

// f(content) for each record from `from` on that is there and can be read in time.
template <typename F>
Reading read_records(Index& index, int64_t run, const std::string& tag, int64_t from, F&& f) {
  SeriesInfo s;
  try {
    s = index.find(run, Kind::kRecord, tag);
  } catch (const UserError& e) {
    if (e.kind() != ErrorKind::kKey) throw;
    return {from, from};
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
  for (; from < s.count && std::chrono::steady_clock::now() < end; ++from)
    index.read(index.item(s.id, from), [&](const Recorded& r) { f(std::string(r.content)); });
  return {from, std::max(from, s.count)};
}

// One T for each run of each index.
template <typename T>
class PerRun {
 public:
  template <typename F>
  auto with(Index& index, int64_t run, F&& f) {
    std::lock_guard lock(mutex_);
    return f(all_[{&index, run}]);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const Index*, int64_t>, T> all_;
};

}  // namespace mycel::insight::server
