#include "data/index_progress.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace mycel::data {
namespace {

std::mutex mutex;
IndexProgress progress;

constexpr auto kPause = std::chrono::milliseconds(100), kBeforeBar = std::chrono::milliseconds(500);

void draw(const std::string& what, int64_t done, int64_t total) {
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  fmt::print(stderr, "\r\033[K{}", progress_bar(what, done, total, known ? size.ws_col - 1u : 79u));
  std::fflush(stderr);
}

}  // namespace

std::string progress_bar(const std::string& what, int64_t done, int64_t total, size_t width) {
  std::string end;
  if (total > 0) {
    const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0., 1.);
    constexpr size_t kCells = 24;
    const auto full = static_cast<size_t>(share * kCells);
    end = fmt::format(" [{}{}] {:3.0f} %", std::string(full, '#'), std::string(kCells - full, '.'),
                      share * 100);
  } else {
    end = fmt::format(": {}", done);
  }
  std::string name = "indexing " + what;
  // The end of a path says more than its begin.
  const size_t room = width > end.size() ? width - end.size() : 0;
  if (name.size() > room) name = "..." + name.substr(name.size() - (room > 3 ? room - 3 : 0));
  return (name + end).substr(0, width);
}

void on_index_progress(IndexProgress f) {
  std::lock_guard lock(mutex);
  progress = std::move(f);
}

IndexBuild::IndexBuild(std::string what, int64_t total)
    : what_(std::move(what)), total_(total), next_(std::chrono::steady_clock::now() + kPause) {
  std::lock_guard lock(mutex);
  report_ = progress;
  if (report_ || !isatty(STDERR_FILENO)) return;
  bar_ = true;
  report_ = draw;
  next_ += kBeforeBar - kPause;
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
  if (!reported_) return;
  if (!bar_) return report_(what_, done, total_ < 0 ? done : total_);
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace mycel::data
