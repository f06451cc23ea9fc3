// Profiler: records what a program does from start to stop, writes the profile beside the event
// files of the run, and says in a few lines what it found.
//   insight::Profiler p("runs/first");
//   model.train(…);
//   std::puts(p.analyse().c_str());
#pragma once

#include <optional>
#include <string>

#include "insight/profile/profile.h"

namespace mycel::insight {

struct ProfilerOptions {
  bool memory = false;           // also blocks of memory: which ops hold what is alive
  bool data = true;              // also the pipeline of data
  bool start = true;             // at once; else with start()
  bool measure_limits = true;    // once for a machine: half a second in analyse()
  int64_t most_megabytes = 500;  // of slices; what does not fit is counted
  // Training steps that are recorded, both included; -1: all between start and stop.
  int64_t first_step = -1, last_step = INT64_MAX;
};

class Profiler {
 public:
  explicit Profiler(std::string folder, ProfilerOptions options = {});
  ~Profiler();  // without analyse(), what was recorded is dropped
  Profiler(const Profiler&) = delete;

  // RuntimeError when it runs or has run, or another profiler runs.
  void start();
  // RuntimeError unless it runs.
  void stop();
  // Stops if it runs, writes the file and gives the summary. RuntimeError when nothing was
  // recorded.
  std::string analyse();
  bool running() const { return running_; }
  const std::string& path() const { return path_; }  // of the file; empty before analyse()
  const profile::Profile& profile() const;           // RuntimeError before stop()

 private:
  std::string folder_, path_;
  ProfilerOptions options_;
  bool running_ = false;
  std::optional<profile::Profile> profile_;
};

}  // namespace mycel::insight
