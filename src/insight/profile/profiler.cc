#include "insight/profile/profiler.h"

#include "base/error.h"
#include "insight/profile/export.h"
#include "insight/profile/limits.h"
#include "tensor/storage.h"

namespace mycel::insight {

namespace {

// By more than a tenth, in arithmetic or in memory that no cache holds.
bool faster_than_limits(const profile::Profile& p) {
  constexpr int64_t kAboveCaches = int64_t{64} << 20;
  for (const profile::Row& r : profile::analyse(p).rows) {
    const bool cached = r.by_memory && p.recording.whats[r.what].bytes < kAboveCaches;
    if (r.runs >= 3 && r.share_of_limit > 1.1 && !cached) return true;
  }
  return false;
}

}  // namespace

Profiler::Profiler(std::string folder, ProfilerOptions options)
    : folder_(std::move(folder)), options_(options) {
  if (options_.most_megabytes < 1)
    value_error("Profiler: the limit must be at least 1 megabyte, got {}", options_.most_megabytes);
  if (options_.first_step >= 0 && options_.last_step < options_.first_step)
    value_error("Profiler: steps {} to {} are none", options_.first_step, options_.last_step);
  if (options_.start) start();
}

Profiler::~Profiler() {
  if (running_ && timeline::running()) timeline::stop();
}

void Profiler::start() {
  if (running_) fail(ErrorKind::kRuntime, "Profiler: it has started already");
  if (profile_) fail(ErrorKind::kRuntime, "Profiler: it has ended; make another one");
  if (timeline::running()) fail(ErrorKind::kRuntime, "Profiler: another one runs");
  timeline::Options o;
  o.what = timeline::kTimes | (options_.memory ? timeline::kMemory : 0u) |
           (options_.data ? timeline::kData : 0u);
  o.most_slices =
      options_.most_megabytes * (int64_t{1} << 20) / static_cast<int64_t>(sizeof(timeline::Event));
  o.first_step = options_.first_step;
  o.last_step = options_.last_step;
  timeline::start(o, static_cast<int64_t>(allocator_stats().in_use));
  running_ = true;
}

void Profiler::stop() {
  if (!running_) fail(ErrorKind::kRuntime, "Profiler: it has not started");
  running_ = false;
  profile_.emplace();
  profile_->recording = timeline::stop();
}

const profile::Profile& Profiler::profile() const {
  if (!profile_) fail(ErrorKind::kRuntime, "Profiler: nothing is recorded before stop()");
  return *profile_;
}

std::string Profiler::analyse() {
  if (running_) stop();
  if (!profile_) fail(ErrorKind::kRuntime, "Profiler: nothing was recorded; call start() first");
  if (path_.empty()) {
    profile_->machine = profile::this_machine(options_.measure_limits);
    if (options_.measure_limits && faster_than_limits(*profile_))
      profile_->machine.limits = profile::raised(profile_->machine);
    const std::string path = profile::new_path(folder_);
    profile::save(*profile_, path);
    path_ = path;
  }
  return profile::text_of(*profile_);
}

}  // namespace mycel::insight
