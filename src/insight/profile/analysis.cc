#include "insight/profile/analysis.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "insight/profile/memory.h"

namespace mycel::insight::profile {

using timeline::Event;
using timeline::Kind;
using timeline::Recording;
using timeline::Track;
using timeline::What;

const char* name_of(Part p) {
  static constexpr const char* kNames[kPartCount] = {"data",    "forward",   "backward", "update",
                                                     "compile", "callbacks", "host",     "other"};
  return kNames[static_cast<int>(p)];
}

timeline::Phase phase_of(const What& what, const Event& event) {
  if (what.phase != timeline::Phase::kForward || event.number >= timeline::kPhaseCount)
    return what.phase;
  return static_cast<timeline::Phase>(event.number);
}

std::vector<Nested> nest(const Recording& r, const Track& track, bool all) {
  std::vector<size_t> order;
  for (size_t i = 0; i < track.events.size(); ++i) {
    const Kind k = r.whats[track.events[i].what].kind;
    if (k != Kind::kQueue && (all || k != Kind::kShare)) order.push_back(i);
  }
  const auto& e = track.events;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (e[a].start != e[b].start) return e[a].start < e[b].start;
    return e[a].end != e[b].end ? e[a].end > e[b].end : a > b;  // inner ones ended first
  });
  std::vector<Nested> out;
  out.reserve(order.size());
  std::vector<int64_t> open;
  for (size_t i : order) {
    while (!open.empty() && e[out[open.back()].event].end <= e[i].start) open.pop_back();
    Nested n{i, static_cast<int>(open.size()), e[i].end - e[i].start,
             open.empty() ? -1 : open.back()};
    if (n.parent >= 0) {
      // What reaches beyond its parent, which only a broken file holds, takes no more than there
      // is.
      const int64_t inside = std::min(e[i].end, e[out[n.parent].event].end) - e[i].start;
      out[n.parent].own = std::max<int64_t>(out[n.parent].own - std::max<int64_t>(inside, 0), 0);
    }
    open.push_back(static_cast<int64_t>(out.size()));
    out.push_back(n);
  }
  return out;
}

namespace {

Part part_of(const What& w, const Event& e) {
  switch (w.kind) {
    case Kind::kData:
    case Kind::kWait:
      return Part::kData;
    case Kind::kKernel:
    case Kind::kEager:
      return static_cast<Part>(static_cast<int>(Part::kForward) + static_cast<int>(phase_of(w, e)));
    case Kind::kCompile:
      return Part::kCompile;
    case Kind::kCallback:
      return Part::kCallbacks;
    case Kind::kProgram:
      return Part::kHost;
    default:
      return Part::kOther;
  }
}

// The thread that trains: the one with steps, else with programs and ops.
size_t main_track_of(const Recording& r) {
  size_t best = 0;
  std::pair<int64_t, int64_t> most{-1, -1};
  for (size_t i = 0; i < r.tracks.size(); ++i) {
    std::pair<int64_t, int64_t> found{0, 0};
    for (const Event& e : r.tracks[i].events) {
      const Kind k = r.whats[e.what].kind;
      if (k == Kind::kStep) found.first += e.end - e.start;
      if (k == Kind::kProgram || k == Kind::kEager || k == Kind::kKernel)
        found.second += e.end - e.start;
    }
    if (found > most) {
      most = found;
      best = i;
    }
  }
  return best;
}

// Where no loop has told its steps: from each end of the program that takes most time, or of the
// optimizer's update, to the next.
void guess_steps(const Recording& r, const Track& track, const std::vector<Nested>& nested,
                 Analysis* a) {
  std::map<timeline::Id, std::pair<int64_t, std::vector<int64_t>>> programs;
  for (const Nested& n : nested) {
    const Event& e = track.events[n.event];
    const What& w = r.whats[e.what];
    if (w.kind != Kind::kProgram || n.depth != 0) continue;
    auto& [time, ends] = programs[e.what];
    const bool update = phase_of(w, e) == timeline::Phase::kUpdate;
    time += (e.end - e.start) + (update ? (int64_t{1} << 60) / 1000 : 0);  // an update tells more
    ends.push_back(e.end);
  }
  const std::vector<int64_t>* ends = nullptr;
  int64_t most = -1;
  for (const auto& [what, found] : programs) {
    if (found.first > most) {
      most = found.first;
      ends = &found.second;
    }
  }
  if (!ends || nested.empty()) return;
  int64_t start = track.events[nested[0].event].start, number = 1;
  for (int64_t end : *ends) {
    a->steps.push_back({number++, start, end - start, {}});
    start = end;
  }
  a->steps_guessed = true;
}

void find_steps(const Recording& r, const Track& track, const std::vector<Nested>& nested,
                Analysis* a) {
  bool training = false;
  for (const Event& e : track.events)
    training |= r.whats[e.what].kind == Kind::kStep && r.whats[e.what].name == "training step";
  for (const Nested& n : nested) {
    const Event& e = track.events[n.event];
    const What& w = r.whats[e.what];
    if (w.kind == Kind::kStep && (!training || w.name == "training step"))
      a->steps.push_back({e.number, e.start, e.end - e.start, {}});
  }
  if (a->steps.empty()) guess_steps(r, track, nested, a);
  size_t at = 0;
  for (const Nested& n : nested) {
    const Event& e = track.events[n.event];
    const What& w = r.whats[e.what];
    if (w.kind == Kind::kStep) continue;
    while (at < a->steps.size() && a->steps[at].start + a->steps[at].length <= e.start) ++at;
    if (at == a->steps.size()) break;
    if (e.start >= a->steps[at].start)
      a->steps[at].parts[static_cast<size_t>(part_of(w, e))] += n.own;
  }
  for (StepRow& s : a->steps) {
    int64_t known = 0;
    for (int64_t p : s.parts) known += p;
    s.parts[static_cast<size_t>(Part::kOther)] += std::max<int64_t>(s.length - known, 0);
  }
}

// For each thing the first that is the same but for its line.
std::vector<timeline::Id> alike(const Recording& r) {
  using Key = std::tuple<Kind, timeline::Phase, std::string, std::string, std::string>;
  std::map<Key, timeline::Id> found;
  std::vector<timeline::Id> out;
  for (const What& w : r.whats) {
    const auto id = static_cast<timeline::Id>(out.size());
    out.push_back(
        found.try_emplace({w.kind, w.phase, w.name, w.types, w.implementation}, id).first->second);
  }
  return out;
}

void find_rows(const Profile& p, const Track& track, const std::vector<Nested>& nested,
               Analysis* a) {
  const Recording& r = p.recording;
  std::unordered_map<timeline::Id, Row> rows;
  const std::vector<timeline::Id> first = alike(r);
  std::map<timeline::Id, std::set<std::string>> lines;
  int64_t attributed = 0;
  for (const Nested& n : nested) {
    const Event& e = track.events[n.event];
    if (r.whats[e.what].kind == Kind::kStep) continue;
    Row& row = rows[first[e.what]];
    row.what = first[e.what];
    lines[row.what].insert(r.whats[e.what].where);
    row.least = row.runs == 0 ? n.own : std::min(row.least, n.own);
    row.most = std::max(row.most, n.own);
    ++row.runs;
    row.ns += n.own;
    attributed += n.own;
  }
  a->unattributed = std::max<int64_t>(a->wall - attributed, 0);
  std::map<std::pair<std::string, Kind>, OpRow> ops;
  const Limits& limits = p.machine.limits;
  for (auto& [id, row] : rows) {
    const What& w = r.whats[id];
    row.lines = static_cast<int64_t>(lines[id].size());
    const double ns = static_cast<double>(std::max<int64_t>(row.ns, 1)),
                 runs = static_cast<double>(row.runs);
    if (w.flops > 0) row.gflops = static_cast<double>(w.flops) * runs / ns;
    if (w.bytes > 0 && (w.kind == Kind::kKernel || w.kind == Kind::kEager))
      row.gbytes = static_cast<double>(w.bytes) * runs / ns;
    const double fma = limits.gflops > 0 ? row.gflops / limits.gflops : 0,
                 memory = limits.gbytes > 0 ? row.gbytes / limits.gbytes : 0;
    row.share_of_limit = std::max(fma, memory);
    row.by_memory = memory > fma;
    a->rows.push_back(row);
    OpRow& op = ops[{w.name, w.kind}];
    op.name = w.name;
    op.kind = w.kind;
    op.runs += row.runs;
    op.ns += row.ns;
  }
  for (auto& [key, op] : ops) a->ops.push_back(op);
  std::sort(a->rows.begin(), a->rows.end(), [](const Row& x, const Row& y) {
    return x.ns != y.ns ? x.ns > y.ns : x.what < y.what;
  });
  std::stable_sort(a->ops.begin(), a->ops.end(),
                   [](const OpRow& x, const OpRow& y) { return x.ns > y.ns; });
}

void find_compiles(const Recording& r, const Track& track, const std::vector<Nested>& nested,
                   Analysis* a) {
  const int64_t first_ends = a->steps.empty() ? 0 : a->steps[0].start + a->steps[0].length;
  for (const Nested& n : nested) {
    const Event& e = track.events[n.event];
    const What& w = r.whats[e.what];
    if (w.kind != Kind::kCompile || !w.name.starts_with("compile ")) continue;
    const bool inner =
        n.parent >= 0 && r.whats[track.events[nested[n.parent].event].what].kind == Kind::kCompile;
    if (inner) continue;
    ++a->compiles;
    if (e.start < first_ends || a->steps.empty()) continue;
    ++a->late_compiles;
    a->late_compile_ns += e.end - e.start;
  }
}

std::string name_of_track(const Recording& r, const Track& t, bool trains, int* workers,
                          int* pool) {
  if (t.main) return "main";
  if (trains) return t.thread + " (trains)";
  bool data = false, share = false;
  for (const Event& e : t.events) {
    const Kind k = r.whats[e.what].kind;
    data |= k == Kind::kData || k == Kind::kWait;
    share |= k == Kind::kShare;
  }
  if (data) return fmt::format("data worker {}", ++*workers);
  if (share) return fmt::format("pool thread {}", ++*pool);
  return t.thread;
}

void find_threads(const Recording& r, Analysis* a) {
  std::map<std::string, DataRow> data;
  std::map<std::string, WaitRow> waits;
  int64_t asked = 0, empty = 0, ready = 0;
  int workers = 0, pool = 0;
  struct Loop {
    int64_t most = 0, sum = 0, threads = 0;
  };
  std::unordered_map<uint32_t, Loop> loops;
  for (size_t i = 0; i < r.tracks.size(); ++i) {
    const Track& t = r.tracks[i];
    ThreadRow row{name_of_track(r, t, i == a->main_track, &workers, &pool),
                  static_cast<int64_t>(t.events.size()), t.dropped, 0, 0};
    for (const Nested& n : nest(r, t, true)) {
      const Event& e = t.events[n.event];
      const What& w = r.whats[e.what];
      const int64_t all = e.end - e.start;
      if (w.kind == Kind::kWait) {
        WaitRow& found = waits[w.name];
        found.name = w.name;
        ++found.count;
        found.ns += all;
        row.waiting += n.own;
      } else if (w.kind != Kind::kStep) {
        row.busy += n.own;
      }
      if (w.kind == Kind::kData) {
        DataRow& found = data[w.name];
        found.name = w.name;
        ++found.rows;
        found.ns += all;
        found.own_ns += n.own;
      }
      if (w.kind == Kind::kShare) {
        Loop& l = loops[e.number];
        l.most = std::max(l.most, all);
        l.sum += all;
        ++l.threads;
      }
    }
    for (const Event& e : t.events) {
      if (r.whats[e.what].kind != Kind::kQueue) continue;
      ++asked;
      empty += e.number == 0;
      ready += e.number;
    }
    a->threads.push_back(std::move(row));
  }
  for (const auto& [number, l] : loops) {
    if (l.threads < 2) continue;
    a->loops_ns += l.most;
    a->imbalance_ns += l.most - l.sum / l.threads;
  }
  for (auto& [name, row] : data) a->data.push_back(row);
  for (auto& [name, row] : waits) a->waits.push_back(row);
  const auto slower = [](const auto& x, const auto& y) { return x.ns > y.ns; };
  std::stable_sort(a->data.begin(), a->data.end(), slower);
  std::stable_sort(a->waits.begin(), a->waits.end(), slower);
  if (asked) {
    a->queue_empty = static_cast<double>(empty) / static_cast<double>(asked);
    a->queue_mean = static_cast<double>(ready) / static_cast<double>(asked);
  }
}

}  // namespace

StepRow Analysis::typical() const {
  StepRow out;
  const size_t skipped = steps.size() > 1 ? 1 : 0;
  const auto n = static_cast<int64_t>(steps.size() - skipped);
  if (n <= 0) return out;
  for (size_t i = skipped; i < steps.size(); ++i) {
    out.length += steps[i].length;
    for (size_t p = 0; p < kPartCount; ++p) out.parts[p] += steps[i].parts[p];
  }
  out.length /= n;
  for (int64_t& p : out.parts) p /= n;
  return out;
}

Analysis analyse(const Profile& p) {
  Analysis a;
  const Recording& r = p.recording;
  a.wall = r.active;
  a.main_track = main_track_of(r);
  if (!r.tracks.empty()) {
    const Track& track = r.tracks[a.main_track];
    const std::vector<Nested> nested = nest(r, track, false);
    find_steps(r, track, nested, &a);
    find_rows(p, track, nested, &a);
    find_compiles(r, track, nested, &a);
  }
  find_threads(r, &a);
  a.memory = memory_of(r);
  return a;
}

}  // namespace mycel::insight::profile
