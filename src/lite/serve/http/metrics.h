// Counters and times of requests in Prometheus' text format.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <string>

#include "lite/serve/batcher.h"

namespace mycel::lite {

class Metrics {
 public:
  void answered(int status, double seconds);
  std::string text(const std::string& model, const BatchStats& batches) const;

 private:
  static constexpr std::array kBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                         0.1,    0.25,  0.5,    1.0,   2.5,  5.0,   10.0};
  mutable std::mutex mutex_;
  std::map<int, int64_t> by_status_;
  std::array<int64_t, kBounds.size() + 1> by_time_{};
  double seconds_ = 0;
};

}  // namespace mycel::lite
