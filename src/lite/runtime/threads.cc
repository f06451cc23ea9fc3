#include "lite/runtime/threads.h"

#include <algorithm>

namespace mycel::lite {

Threads::Threads(int count) {
  for (int i = 1; i < count; ++i) workers_.emplace_back([this, i] { work(i); });
}

Threads::~Threads() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& t : workers_) t.join();
}

void Threads::take(int worker) {
  for (;;) {
    int64_t from = 0, to = 0;
    {
      std::lock_guard lock(mutex_);
      if (next_ >= extent_) return;
      from = next_;
      next_ = to = std::min(extent_, from + grain_);
    }
    (*body_)(worker, from, to);
  }
}

void Threads::work(int worker) {
  uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    take(worker);
    std::lock_guard lock(mutex_);
    if (--busy_ == 0) end_.notify_one();
  }
}

void Threads::run(int64_t extent, int64_t grain, const Body& body) {
  grain = std::max<int64_t>(grain, 1);
  if (workers_.empty() || extent <= grain) {
    if (extent > 0) body(0, 0, extent);
    return;
  }
  // A few pieces a thread even out what the threads do beside.
  grain = std::max(grain, (extent - 1) / (4 * int64_t{count()}) + 1);
  {
    std::lock_guard lock(mutex_);
    body_ = &body;
    extent_ = extent;
    grain_ = grain;
    next_ = 0;
    busy_ = static_cast<int>(workers_.size());
    ++round_;
  }
  begin_.notify_all();
  take(0);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [&] { return busy_ == 0; });
}

}  // namespace mycel::lite
