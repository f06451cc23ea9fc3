// Long index builds (a folder of a million images, a tar of a hundred gigabytes) say how far they
// are: on a terminal by a bar on stderr, which comes after half a second and goes with the build. A
// program may set a function instead, which gets what is indexed, how much is done and of how much
// (-1: not known), at most about ten times a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace mycel::data {

using IndexProgress = std::function<void(const std::string& what, int64_t done, int64_t total)>;
// For all datasets that are opened from now on, on any thread; an empty one goes back to the bar.
// What it throws ends the build.
void on_index_progress(IndexProgress f);
// The bar: one line of at most `width` columns.
std::string progress_bar(const std::string& what, int64_t done, int64_t total, size_t width);

// One build, on one thread.
class IndexBuild {
 public:
  IndexBuild(std::string what, int64_t total = -1);
  void at(int64_t done);
  // The last report, when any was made.
  void finish(int64_t done);

 private:
  std::string what_;
  int64_t total_;
  IndexProgress report_;
  std::chrono::steady_clock::time_point next_;
  uint32_t calls_ = 0;
  bool reported_ = false, bar_ = false;
};

}  // namespace mycel::data
