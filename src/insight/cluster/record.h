// ClusterRecorder: what one rank of many did in each step. Records go to event files as JSON under
// the tag "cluster/steps": {"rank", "ranks", "host", "steps": [{"step", "seconds", "compute",
// "wait", "memory", "peak", "links": [[collective, peer, seconds, bytes]…]}…]}; seconds of a step,
// of computing, of waiting for data; bytes in use and at the peak; peer -1: all take part. Several
// steps share a record where they come fast.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "insight/recorder.h"

namespace mycel::insight {

struct ClusterLink {
  std::string collective;  // "allreduce", "send", …
  int64_t peer = -1;
  double seconds = 0;
  int64_t bytes = 0;
};

struct ClusterStep {
  int64_t step = 0;
  double seconds = 0, compute = 0, wait = 0;
  int64_t memory = 0, peak = 0;
  std::vector<ClusterLink> links;
};

class ClusterRecorder {
 public:
  // host "": this machine's name. ValueError for ranks that do not fit.
  ClusterRecorder(const std::string& folder, int64_t rank, int64_t ranks, std::string host = "");
  ~ClusterRecorder();
  // ValueError for negative or not-finite times and sizes.
  void step(const ClusterStep& s);
  void close();

 private:
  void write();
  Recorder recorder_;
  const int64_t rank_, ranks_;
  std::string host_, waiting_;  // steps that are not written yet
  int64_t waiting_count_ = 0, last_step_ = 0;
  std::chrono::steady_clock::time_point written_;
};

}  // namespace mycel::insight
