#include "lite/serve/http/metrics.h"

#include <algorithm>

#include <fmt/format.h>

namespace mycel::lite {

void Metrics::answered(int status, double seconds) {
  std::lock_guard lock(mutex_);
  ++by_status_[status];
  const auto at = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  ++by_time_[static_cast<size_t>(at)];
  seconds_ += seconds;
}

std::string Metrics::text(const std::string& model, const BatchStats& b) const {
  std::string out, label = fmt::format("model=\"{}\"", model);
  auto about = [&](const char* name, const char* type, const char* help) {
    out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
  };
  std::lock_guard lock(mutex_);
  about("mycel_requests_total", "counter", "Answered inference requests by HTTP status.");
  for (auto [status, n] : by_status_) {
    out += fmt::format("mycel_requests_total{{{},status=\"{}\"}} {}\n", label, status, n);
  }
  about("mycel_request_seconds", "histogram", "From the whole request to its answer.");
  int64_t sum = 0;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    sum += by_time_[i];
    out += fmt::format("mycel_request_seconds_bucket{{{},le=\"{}\"}} {}\n", label, kBounds[i], sum);
  }
  sum += by_time_.back();
  out += fmt::format(
      "mycel_request_seconds_bucket{{{0},le=\"+Inf\"}} {1}\n"
      "mycel_request_seconds_sum{{{0}}} {2}\nmycel_request_seconds_count{{{0}}} {1}\n",
      label, sum, seconds_);
  auto number = [&](const char* name, const char* type, const char* help, auto value) {
    about(name, type, help);
    out += fmt::format("{}{{{}}} {}\n", name, label, value);
  };
  number("mycel_rows_total", "counter", "Rows computed.", b.rows);
  number("mycel_runs_total", "counter", "Runs of the network.", b.runs);
  number("mycel_run_seconds_total", "counter", "Time of these runs.", b.run_seconds);
  number("mycel_refused_total", "counter", "Requests refused because too many were waiting.",
         b.refused);
  number("mycel_waiting", "gauge", "Requests that wait to be computed.", b.waiting);
  return out;
}

}  // namespace mycel::lite
