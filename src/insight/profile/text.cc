// The summary for a terminal.
#include <algorithm>

#include <fmt/format.h>

#include "base/memory_limit.h"
#include "insight/profile/advice.h"
#include "insight/profile/export.h"

namespace mycel::insight::profile {
namespace {

using timeline::Kind;
using timeline::What;

constexpr size_t kOps = 10, kKernels = 12, kAlive = 8;

double ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }

// Names from files must not steer the terminal.
std::string plain(std::string s, size_t most) {
  std::erase_if(s, [](unsigned char c) { return c < 32 || c == 127; });
  return s.size() <= most ? s : s.substr(0, most - 3) + "...";
}

std::string steps_of(const Analysis& a) {
  if (a.steps.empty()) return "no steps were recorded\n";
  std::vector<int64_t> lengths;
  for (size_t i = a.steps.size() > 1 ? 1 : 0; i < a.steps.size(); ++i)
    lengths.push_back(a.steps[i].length);
  std::sort(lengths.begin(), lengths.end());
  const StepRow typical = a.typical();
  std::string out = fmt::format(
      "{} steps{}: {:.3f} ms each ({:.3f} to {:.3f}){}\n", a.steps.size(),
      a.steps_guessed ? " (runs of a program)" : "", ms(typical.length), ms(lengths.front()),
      ms(lengths.back()),
      a.steps.size() > 1 ? fmt::format("; the first {:.3f} ms", ms(a.steps[0].length)) : "");
  for (int p = 0; p < kPartCount; ++p) {
    const int64_t ns = typical.parts[static_cast<size_t>(p)];
    if (ns == 0) continue;
    const double share =
        static_cast<double>(ns) / static_cast<double>(std::max<int64_t>(typical.length, 1));
    out +=
        fmt::format("  {:<10} {:>10.3f} ms {:>5.1f} %  {}\n", name_of(static_cast<Part>(p)), ms(ns),
                    100 * share, std::string(static_cast<size_t>(share * 40 + 0.5), '#'));
  }
  return out;
}

std::string more_lines(const Row& r) {
  return r.lines > 1 ? fmt::format(" and {} more lines", r.lines - 1) : "";
}

std::string tables_of(const Profile& p, const Analysis& a) {
  const double wall = static_cast<double>(std::max<int64_t>(a.wall, 1));
  std::string out = fmt::format("\n{:<44} {:>9} {:>11} {:>7}\n", "op", "runs", "ms", "share");
  for (size_t i = 0; i < std::min(kOps, a.ops.size()); ++i) {
    const OpRow& o = a.ops[i];
    const bool computes = o.kind == Kind::kKernel || o.kind == Kind::kEager;
    out +=
        fmt::format("{:<44} {:>9} {:>11.3f} {:>5.1f} %\n",
                    plain(computes ? o.name : fmt::format("{}: {}", name_of(o.kind), o.name), 44),
                    o.runs, ms(o.ns), 100 * static_cast<double>(o.ns) / wall);
  }
  out += fmt::format("{:<44} {:>9} {:>11.3f} {:>5.1f} %\n", "not attributed", "",
                     ms(a.unattributed), 100 * static_cast<double>(a.unattributed) / wall);
  out += fmt::format("\n{:>7} {:>7} {:>10} {:>8} {:>7} {:>9}  {}\n", "share", "runs", "us/run",
                     "GFLOP/s", "GB/s", "of limit", "kernel");
  size_t shown = 0;
  for (const Row& r : a.rows) {
    const What& w = p.recording.whats[r.what];
    if (w.kind != Kind::kKernel && w.kind != Kind::kEager) continue;
    if (shown++ == kKernels) break;
    const std::string limit =
        r.share_of_limit > 0
            ? fmt::format("{:.0f} % {}", 100 * r.share_of_limit, r.by_memory ? "mem" : "fma")
            : "-";
    out += fmt::format("{:>5.1f} % {:>7} {:>10.1f} {:>8} {:>7.1f} {:>9}  {} [{}] {}{}\n",
                       100 * static_cast<double>(r.ns) / wall, r.runs,
                       static_cast<double>(r.ns) / 1e3 / static_cast<double>(r.runs),
                       r.gflops > 0 ? fmt::format("{:.1f}", r.gflops) : "-", r.gbytes, limit,
                       plain(w.name, 40), plain(w.implementation, 24), plain(w.types, 70),
                       w.where.empty() ? "" : " @ " + plain(w.where, 60) + more_lines(r));
  }
  return out;
}

std::string data_of(const Analysis& a) {
  std::string out;
  for (size_t i = 0; i < std::min<size_t>(a.data.size(), 6); ++i) {
    const DataRow& d = a.data[i];
    out += fmt::format("  {:<44} {:>9} rows {:>11.3f} ms, {:.3f} of its own\n", plain(d.name, 44),
                       d.rows, ms(d.ns), ms(d.own_ns));
  }
  for (const WaitRow& w : a.waits)
    out += fmt::format("  waited: {:<36} {:>9} times {:>10.3f} ms\n", plain(w.name, 36), w.count,
                       ms(w.ns));
  if (a.queue_empty >= 0)
    out += fmt::format("  queue: {:.1f} rows ready on average, none {:.0f} % of the time\n",
                       a.queue_mean, 100 * a.queue_empty);
  return out.empty() ? "" : "\ndata\n" + out;
}

std::string threads_of(const Analysis& a) {
  std::string out = "\nthreads\n";
  const double wall = static_cast<double>(std::max<int64_t>(a.wall, 1));
  for (const ThreadRow& t : a.threads)
    out += fmt::format("  {:<24} busy {:>5.1f} %, waits {:>5.1f} %, {} slices{}\n",
                       plain(t.name, 24), 100 * static_cast<double>(t.busy) / wall,
                       100 * static_cast<double>(t.waiting) / wall, t.slices,
                       t.dropped ? fmt::format(", {} had no room", t.dropped) : "");
  return out;
}

std::string memory_of(const Memory& m) {
  if (!m.recorded) return "";
  std::string out = fmt::format("\nmemory: {} at the peak, {:.3f} s after the start\n",
                                human_bytes(static_cast<double>(m.peak)), ms(m.peak_when) / 1e3);
  for (size_t i = 0; i < std::min(kAlive, m.alive.size()); ++i) {
    const AliveRow& r = m.alive[i];
    out += fmt::format("  {:>10}  {}{}{}\n", human_bytes(static_cast<double>(r.bytes)),
                       plain(r.name, 50), r.place.empty() ? "" : ", " + plain(r.place, 40),
                       r.where.empty() ? "" : " @ " + plain(r.where, 60));
  }
  return out;
}

}  // namespace

std::string text_of(const Profile& p) {
  const Analysis a = analyse(p);
  std::string out = fmt::format("{:.3f} s were recorded on {} threads of {}\n", ms(a.wall) / 1e3,
                                p.machine.threads, plain(p.machine.processor, 60));
  if (p.machine.limits.gflops > 0)
    out += fmt::format("the machine's limits: {:.0f} GFLOP/s in float32, {:.1f} GB/s\n",
                       p.machine.limits.gflops, p.machine.limits.gbytes);
  for (const std::string& problem : p.problems) out += "the file is damaged: " + problem + "\n";
  out += steps_of(a) + tables_of(p, a) + data_of(a) + threads_of(a) + memory_of(a.memory);
  out += "\nadvice\n";
  for (const Advice& advice : advice_of(p, a))
    out += fmt::format("  {}: {}\n", advice.rule, plain(advice.text, 2000));
  return out;
}

}  // namespace mycel::insight::profile
