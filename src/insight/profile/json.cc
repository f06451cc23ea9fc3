// The data of the Profiler page.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "insight/profile/advice.h"
#include "insight/profile/export.h"

namespace mycel::insight::profile {
namespace {

using Json = nlohmann::ordered_json;
using timeline::Event;
using timeline::Kind;
using timeline::What;

constexpr size_t kMostSteps = 2000, kMostRows = 1000, kMostAlive = 200, kMostSlices = 40000;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// At most `most` steps, spread evenly.
Json steps_of(const Analysis& a) {
  Json out = Json::array();
  const size_t n = a.steps.size(), shown = std::min(n, kMostSteps);
  for (size_t i = 0; i < shown; ++i) {
    const StepRow& s = a.steps[shown > 1 ? i * (n - 1) / (shown - 1) : 0];
    out.push_back(
        {{"number", s.number}, {"start", s.start}, {"length", s.length}, {"parts", s.parts}});
  }
  return out;
}

Json rows_of(const Profile& p, const Analysis& a) {
  Json out = Json::array();
  for (size_t i = 0; i < std::min(kMostRows, a.rows.size()); ++i) {
    const Row& r = a.rows[i];
    const What& w = p.recording.whats[r.what];
    out.push_back({{"name", w.name},
                   {"kind", name_of(w.kind)},
                   {"phase", name_of(w.phase)},
                   {"types", w.types},
                   {"implementation", w.implementation},
                   {"where", w.where},
                   {"lines", r.lines},
                   {"runs", r.runs},
                   {"ns", r.ns},
                   {"least", r.least},
                   {"most", r.most},
                   {"flops", w.flops},
                   {"bytes", w.bytes},
                   {"gflops", r.gflops},
                   {"gbytes", r.gbytes},
                   {"of_limit", r.share_of_limit},
                   {"by_memory", r.by_memory}});
  }
  return out;
}

Json memory_of(const Memory& m) {
  Json alive = Json::array();
  for (size_t i = 0; i < std::min(kMostAlive, m.alive.size()); ++i) {
    const AliveRow& r = m.alive[i];
    alive.push_back({{"name", r.name},
                     {"types", r.types},
                     {"where", r.where},
                     {"place", r.place},
                     {"bytes", r.bytes},
                     {"blocks", r.blocks}});
  }
  return {{"recorded", m.recorded}, {"peak", m.peak},   {"peak_when", m.peak_when},
          {"when", m.when},         {"bytes", m.bytes}, {"alive", alive}};
}

bool holds(const std::string& text, const std::string& lower) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(), same) != text.end();
}

// Slices of one row of a thread, in order, joined while they share a pixel.
struct Joined {
  int64_t start = 0, end = 0;
  timeline::Id what = 0;
  uint32_t number = 0, count = 0;
  int64_t longest = 0;  // of those joined: which one names them
};

}  // namespace

Opened::Opened(Profile p) : profile(std::move(p)), analysis(analyse(profile)) {
  for (const timeline::Track& t : profile.recording.tracks)
    nested.push_back(nest(profile.recording, t, true));
}

std::string summary_json(const Opened& opened) {
  const Profile& p = opened.profile;
  const Analysis& a = opened.analysis;
  Json ops = Json::array(), threads = Json::array(), data = Json::array(), waits = Json::array(),
       advice = Json::array();
  for (const OpRow& o : a.ops)
    ops.push_back({{"name", o.name}, {"kind", name_of(o.kind)}, {"runs", o.runs}, {"ns", o.ns}});
  for (const ThreadRow& t : a.threads)
    threads.push_back({{"name", t.name},
                       {"slices", t.slices},
                       {"dropped", t.dropped},
                       {"busy", t.busy},
                       {"waiting", t.waiting}});
  for (const DataRow& d : a.data)
    data.push_back({{"name", d.name}, {"rows", d.rows}, {"ns", d.ns}, {"own_ns", d.own_ns}});
  for (const WaitRow& w : a.waits)
    waits.push_back({{"name", w.name}, {"count", w.count}, {"ns", w.ns}});
  for (const Advice& x : advice_of(p, a))
    advice.push_back({{"rule", x.rule}, {"share", x.share}, {"en", x.text}, {"zh", x.chinese}});
  Json parts = Json::array();
  for (int i = 0; i < kPartCount; ++i) parts.push_back(name_of(static_cast<Part>(i)));
  const StepRow typical = a.typical();
  const Machine& m = p.machine;
  return dump({{"machine",
                {{"processor", m.processor},
                 {"host", m.host},
                 {"command", m.command},
                 {"version", m.version},
                 {"threads", m.threads},
                 {"cores", m.cores},
                 {"memory", m.memory},
                 {"gflops", m.limits.gflops},
                 {"gbytes", m.limits.gbytes}}},
               {"began", p.recording.began},
               {"length", p.recording.length},
               {"wall", a.wall},
               {"unattributed", a.unattributed},
               {"dropped", p.recording.dropped()},
               {"parts", parts},
               {"step_count", a.steps.size()},
               {"steps_guessed", a.steps_guessed},
               {"steps", steps_of(a)},
               {"typical", {{"length", typical.length}, {"parts", typical.parts}}},
               {"rows", rows_of(p, a)},
               {"ops", ops},
               {"threads", threads},
               {"data", data},
               {"waits", waits},
               {"queue", {{"empty", a.queue_empty}, {"mean", a.queue_mean}}},
               {"loops", {{"ns", a.loops_ns}, {"imbalance", a.imbalance_ns}}},
               {"compiles", {{"all", a.compiles}, {"late", a.late_compiles}}},
               {"memory", memory_of(a.memory)},
               {"advice", advice},
               {"problems", p.problems}});
}

std::string slices_json(const Opened& opened, const TimelineQuery& q) {
  const timeline::Recording& r = opened.profile.recording;
  const Analysis& a = opened.analysis;
  const int64_t from = std::max<int64_t>(q.from, 0),
                to = q.to > from ? std::min(q.to, r.length) : r.length;
  if (q.columns < 1 || q.columns > 100000)
    value_error("'columns' must be 1 to 100000, got {}", q.columns);
  const int64_t pixel = std::max<int64_t>((to - from) / q.columns, 1);
  std::string find = q.find;
  for (char& c : find) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::vector<char> marked(r.whats.size(), 0);
  for (size_t i = 0; i < r.whats.size(); ++i)
    marked[i] = !find.empty() && holds(r.whats[i].name, find);

  std::vector<int64_t> places(r.whats.size(), -1);
  Json whats = Json::array(), tracks = Json::array();
  size_t shown = 0;
  int64_t hits = 0, first_hit = -1;
  for (size_t t = 0; t < r.tracks.size(); ++t) {
    const timeline::Track& track = r.tracks[t];
    if (track.events.empty()) continue;  // it only held memory
    std::vector<std::vector<Joined>> rows;
    for (const Nested& n : opened.nested[t]) {
      const Event& e = track.events[n.event];
      if (marked[e.what]) {
        ++hits;
        if (first_hit < 0 || e.start < first_hit) first_hit = e.start;
      }
      if (e.end < from || e.start > to || n.depth >= 64) continue;
      if (rows.size() <= static_cast<size_t>(n.depth))
        rows.resize(static_cast<size_t>(n.depth) + 1);
      std::vector<Joined>& row = rows[static_cast<size_t>(n.depth)];
      const int64_t length = e.end - e.start;
      if (!row.empty() && length < pixel && row.back().end - row.back().start < pixel &&
          e.end - row.back().start <= pixel && marked[row.back().what] == marked[e.what]) {
        Joined& j = row.back();
        j.end = std::max(j.end, e.end);
        ++j.count;
        if (length > j.longest) {
          j.longest = length;
          j.what = e.what;
          j.number = e.number;
        }
        continue;
      }
      if (shown++ >= kMostSlices) continue;
      row.push_back({e.start, e.end, e.what, e.number, 1, length});
    }
    Json json_rows = Json::array();
    for (const std::vector<Joined>& row : rows) {
      Json flat = Json::array();  // start, length, what, how many, number, …
      for (const Joined& j : row) {
        if (places[j.what] < 0) {
          const What& w = r.whats[j.what];
          places[j.what] = static_cast<int64_t>(whats.size());
          whats.push_back({{"name", w.name},
                           {"kind", name_of(w.kind)},
                           {"phase", name_of(w.phase)},
                           {"types", w.types},
                           {"implementation", w.implementation},
                           {"where", w.where},
                           {"found", marked[j.what] != 0}});
        }
        for (int64_t v :
             {j.start, j.end - j.start, places[j.what], int64_t{j.count}, int64_t{j.number}})
          flat.push_back(v);
      }
      json_rows.push_back(std::move(flat));
    }
    tracks.push_back(
        {{"name", a.threads[t].name}, {"main", t == a.main_track}, {"rows", json_rows}});
  }
  return dump({{"from", from},
               {"to", to},
               {"whats", whats},
               {"tracks", tracks},
               {"hits", hits},
               {"first_hit", first_hit},
               {"cut", shown > kMostSlices}});
}

}  // namespace mycel::insight::profile
