#include "data/index_progress.h"

#include <mutex>
#include <utility>

namespace mycel::data {
namespace {

std::mutex mutex;
IndexProgress progress;

constexpr auto kPause = std::chrono::milliseconds(100);

}  // namespace

void on_index_progress(IndexProgress f) {
  std::lock_guard lock(mutex);
  progress = std::move(f);
}

IndexBuild::IndexBuild(std::string what, int64_t total)
    : what_(std::move(what)), total_(total), next_(std::chrono::steady_clock::now() + kPause) {
  std::lock_guard lock(mutex);
  report_ = progress;
}

void IndexBuild::at(int64_t done) {
  if (!report_ || ++calls_ % 64 != 0) return;  // looking at the clock costs more than most steps
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kPause;
  reported_ = true;
  report_(what_, done, total_);
}

void IndexBuild::finish(int64_t done) {
  if (reported_) report_(what_, done, total_ < 0 ? done : total_);
}

}  // namespace mycel::data
