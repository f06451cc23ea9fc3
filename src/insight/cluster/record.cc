#include "insight/cluster/record.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"

namespace mycel::insight {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kStepsTogether = 64;
constexpr auto kLongest = std::chrono::milliseconds(500);  // that a step waits for others

RecorderOptions options_of(int64_t rank, int64_t ranks) {
  if (ranks < 1 || rank < 0 || rank >= ranks)
    value_error("ClusterRecorder: rank must be 0 to {}, got {}", ranks - 1, rank);
  RecorderOptions o;
  o.prefix = "cluster";
  o.suffix = fmt::format(".rank{}", rank);
  return o;
}

void check(const char* name, double v) {
  if (!std::isfinite(v) || v < 0)
    value_error("ClusterRecorder: '{}' must be finite and not negative, got {}", name, v);
}

}  // namespace

ClusterRecorder::ClusterRecorder(const std::string& folder, int64_t rank, int64_t ranks,
                                 std::string host)
    : recorder_(folder, options_of(rank, ranks)),
      rank_(rank),
      ranks_(ranks),
      host_(std::move(host)),
      written_(std::chrono::steady_clock::now()) {
  if (!host_.empty()) return;
  char name[256] = "";
  host_ = gethostname(name, sizeof name - 1) == 0 && *name ? name : "host";
}

ClusterRecorder::~ClusterRecorder() {
  try {
    close();
  } catch (const UserError&) {
    // The recorder has logged why.
  }
}

void ClusterRecorder::step(const ClusterStep& s) {
  check("seconds", s.seconds);
  check("compute", s.compute);
  check("wait", s.wait);
  check("memory", static_cast<double>(s.memory));
  check("peak_memory", static_cast<double>(s.peak));
  Json links = Json::array();
  for (const ClusterLink& l : s.links) {
    check("seconds of a link", l.seconds);
    check("bytes of a link", static_cast<double>(l.bytes));
    if (l.peer < -1 || l.peer >= ranks_)
      value_error("ClusterRecorder: peer {} is none of {} ranks", l.peer, ranks_);
    links.push_back({l.collective, l.peer, l.seconds, l.bytes});
  }
  const Json step = {{"step", s.step}, {"seconds", s.seconds}, {"compute", s.compute},
                     {"wait", s.wait}, {"memory", s.memory},   {"peak", s.peak},
                     {"links", links}};
  waiting_ += waiting_.empty() ? "" : ",";
  waiting_ += step.dump(-1, ' ', false, Json::error_handler_t::replace);
  last_step_ = s.step;
  if (++waiting_count_ >= kStepsTogether || std::chrono::steady_clock::now() - written_ >= kLongest)
    write();
}

void ClusterRecorder::write() {
  if (waiting_.empty()) return;
  recorder_.record(
      "cluster/steps",
      fmt::format(R"({{"rank":{},"ranks":{},"host":{},"steps":[{}]}})", rank_, ranks_,
                  Json(host_).dump(-1, ' ', false, Json::error_handler_t::replace), waiting_),
      last_step_);
  waiting_.clear();
  waiting_count_ = 0;
  written_ = std::chrono::steady_clock::now();
}

void ClusterRecorder::close() {
  write();
  recorder_.close();
}

}  // namespace mycel::insight
