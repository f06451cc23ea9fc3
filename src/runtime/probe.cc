#include "runtime/probe.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "base/threads.h"
#include "runtime/node_facts.h"

namespace mycel::runtime {
namespace {

struct Count {
  std::shared_ptr<const ir::Graph> graph;  // keeps the node alive
  std::string implementation;              // copied: a plan may be gone when the report is written
  int64_t runs = 0, ns = 0;

  // The first run does not count once there is a second.
  void add(int64_t took) {
    if (runs == 1 && !warm) {
      warm = true;
      ns = took;
    } else {
      ++runs;
      ns += took;
    }
  }
  bool warm = false;
};

struct Table {
  std::mutex mutex;
  std::unordered_map<const ir::Node*, Count> steps;
  std::unordered_map<const ir::Graph*, Count> plans, between;  // plans: outermost ones
};

Table& table() {
  static auto* t = new Table;
  return *t;
}

thread_local probe::Span* g_span = nullptr;

ProbeRow row_of(const ir::Node& n, const Count& c) {
  return {name_of(n), types_of(n), c.implementation, ir::loc_text(n.loc),
          c.runs,     c.ns,        flops_of(n),      bytes_of(n)};
}

std::string shortened(const std::string& s, size_t most) {
  return s.size() <= most ? s : s.substr(0, most - 1) + "…";
}

// MYCEL_PROFILE: counting from the first look to the end of the program.
class FromEnvironment {
 public:
  FromEnvironment() {
    const char* to = std::getenv("MYCEL_PROFILE");
    if (!to || !*to || std::string(to) == "0") return;
    to_ = to;
    probe::on = true;
  }
  ~FromEnvironment() {
    if (to_.empty() || !probe::on) return;
    MachineLimits limits;
    if (const char* given = std::getenv("MYCEL_PROFILE_LIMITS")) {
      if (std::sscanf(given, "%lf,%lf", &limits.gflops, &limits.gbytes) != 2) limits = {};
    }
    std::string text = probe_stop().str(200, limits);
    if (to_ == "1") {
      std::fputs(text.c_str(), stderr);
    } else if (std::ofstream file(to_); !(file << text)) {
      std::fprintf(stderr, "MYCEL_PROFILE: cannot write %s\n", to_.c_str());
    }
  }

 private:
  std::string to_;
};

}  // namespace

namespace probe {

std::atomic<bool> on{false};

namespace {
FromEnvironment from_environment;  // after `on`, which it sets
}

Span::Span() : start_(clock_ns()), outer_(g_span) { g_span = this; }
Span::~Span() {
  g_span = outer_;
  if (outer_) outer_->inside_ += ns();
}
int64_t Span::ns() const { return clock_ns() - start_; }
int64_t Span::own_ns() const { return ns() - inside_; }

void note_step(const std::shared_ptr<const ir::Graph>& graph, const ir::Node& node,
               const char* implementation, const Span& span) {
  const int64_t took = span.own_ns();
  std::lock_guard lock(table().mutex);
  Count& c = table().steps[&node];
  c.graph = graph;
  if (c.implementation.empty()) c.implementation = implementation;
  c.add(took);
}

void note_plan(const std::shared_ptr<const ir::Graph>& graph, const Span& span) {
  const int64_t own = span.own_ns(), all = span.ns();
  std::lock_guard lock(table().mutex);
  Count& between = table().between[graph.get()];
  between.graph = graph;
  between.add(own);
  if (span.outermost()) table().plans[graph.get()].add(all);
}

}  // namespace probe

void probe_start() {
  probe_stop();
  probe::on = true;
}

ProbeReport probe_stop() {
  probe::on = false;
  Table& t = table();
  std::lock_guard lock(t.mutex);
  ProbeReport report;
  std::map<std::pair<std::string, std::string>, size_t> index;
  for (const auto& [node, count] : t.steps) {
    ProbeRow row = row_of(*node, count);
    auto [it, fresh] = index.try_emplace({row.op + row.types, row.implementation}, index.size());
    if (fresh) {
      report.rows.push_back(std::move(row));
    } else {
      report.rows[it->second].runs += row.runs;
      report.rows[it->second].ns += row.ns;
    }
  }
  std::sort(report.rows.begin(), report.rows.end(), [](const ProbeRow& a, const ProbeRow& b) {
    return a.ns != b.ns ? a.ns > b.ns : a.op + a.types < b.op + b.types;
  });
  for (const auto& [graph, count] : t.plans) {
    report.plan_runs += count.runs;
    report.plan_ns += count.ns;
  }
  for (const auto& [graph, count] : t.between) report.between_ns += count.ns;
  t.steps.clear();
  t.plans.clear();
  t.between.clear();
  return report;
}

// The least time of one run in ns, and what bounds it.
std::pair<double, const char*> bound_of(const ProbeRow& r, MachineLimits limits) {
  double fma = limits.gflops > 0 ? static_cast<double>(r.flops) / limits.gflops : 0;
  double memory = limits.gbytes > 0 ? static_cast<double>(r.bytes) / limits.gbytes : 0;
  return fma > memory ? std::pair(fma, "fma") : std::pair(memory, "mem");
}

std::string ProbeReport::str(size_t most, MachineLimits limits) const {
  const double all = std::max<double>(static_cast<double>(plan_ns), 1);
  const double programs = std::max<double>(static_cast<double>(plan_runs), 1);
  std::string text =
      fmt::format("{} runs of compiled programs, {:.3f} ms each; between their steps {:.1f} %\n",
                  plan_runs, all / programs / 1e6, 100 * static_cast<double>(between_ns) / all);
  text += fmt::format("{:>6} {:>9} {:>7} {:>9} {:>8} {:>7} {:>9}  {:<26} {}\n", "share", "ms/run",
                      "steps", "us/step", "GFLOP/s", "GB/s", "of bound", "implementation",
                      "op and operands");
  double rest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const ProbeRow& r = rows[i];
    const double ns = static_cast<double>(r.ns), each = ns / static_cast<double>(r.runs);
    if (i >= most) {
      rest += ns;
      continue;
    }
    auto [least, by] = bound_of(r, limits);
    std::string share = least > 0 ? fmt::format("{:.0f}% {}", 100 * least / each, by) : "-";
    std::string speed =
        r.flops > 0 ? fmt::format("{:.1f}", static_cast<double>(r.flops) / each) : "-";
    text +=
        fmt::format("{:>5.1f}% {:>9.3f} {:>7.4g} {:>9.1f} {:>8} {:>7.1f} {:>9}  {:<26} {}: {}\n",
                    100 * ns / all, ns / programs / 1e6, static_cast<double>(r.runs) / programs,
                    each / 1e3, speed, static_cast<double>(r.bytes) / each, share,
                    shortened(r.implementation, 26), shortened(r.op, 120), shortened(r.types, 160));
  }
  if (rest > 0)
    text += fmt::format("{:>5.1f}% {:>9.3f} in others\n", 100 * rest / all, rest / programs / 1e6);
  return text;
}

}  // namespace mycel::runtime
