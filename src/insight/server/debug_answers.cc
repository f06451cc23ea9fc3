// The debugger's questions: to the process that runs, where one listens in the run's folder, else
// to what it has dumped and recorded.
#include <map>
#include <memory>
#include <mutex>

#include "insight/debug/conditions.h"
#include "insight/debug/control.h"
#include "insight/debug/desk.h"
#include "insight/debug/dump.h"
#include "insight/server/arguments.h"

namespace mycel::insight::server {

RunInfo run_of(Index& index, const Arguments& a) {
  const auto id = number<int64_t>(text(a, "run"), "run");
  for (const RunInfo& r : index.runs()) {
    if (r.id == id) return r;
  }
  fail(ErrorKind::kKey, "there is no run {}", id);
}

namespace {

constexpr int64_t kMostHits = 500;

// Answers of a process are another program's text: checked like a file.
Json ask_live(Index& index, const RunInfo& run, const Json& question) {
  const std::string text =
      debug::ask_process(index.folder(), run.name + "/debug",
                         question.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (text.empty()) return nullptr;
  Json out = Json::parse(text, nullptr, false);
  if (!out.is_object()) return nullptr;
  if (out.contains("error") && out["error"].is_string()) {
    const auto why = out["error"].get<std::string>();
    if (out.value("absent", false)) fail(ErrorKind::kKey, "{}", why);
    value_error("{}", why);
  }
  return out;
}

// The dump of a run, opened anew when it has been away.
std::shared_ptr<debug::DumpShelf> shelf_of(Index& index, const RunInfo& run) {
  return debug::DumpShelf::open(index.folder(), run.name + "/debug/dump");
}

// What a recorder wrote under a tag, oldest first, the last `most`.
std::vector<Json> records_of(Index& index, int64_t run, const std::string& tag, int64_t most) {
  std::vector<Json> out;
  SeriesInfo s;
  try {
    s = index.find(run, Kind::kRecord, tag);
  } catch (const UserError& e) {
    if (e.kind() != ErrorKind::kKey) throw;
    return out;
  }
  for (int64_t n = std::max<int64_t>(0, s.count - most); n < s.count; ++n) {
    index.read(index.item(s.id, n), [&](const Recorded& r) {
      Json j = Json::parse(r.content, nullptr, false);
      if (j.is_object()) out.push_back(std::move(j));
    });
  }
  return out;
}

// {"live", "steps", "watchpoints", "hits", …} of a run that was debugged; "none": it was not.
Answer state(Index& index, const Arguments& a) {
  const RunInfo run = run_of(index, a);
  if (Json live = ask_live(index, run, {{"ask", "state"}}); !live.is_null()) return answer(live);
  Json out = {{"live", false}, {"steps", Json::array()}, {"watchpoints", Json::array()}};
  const auto sessions = records_of(index, run.id, "debug/session", 1);
  const auto shelf = shelf_of(index, run);
  if (sessions.empty() && !shelf) return answer({{"none", true}});
  if (!sessions.empty() && sessions[0].contains("watchpoints"))
    out["watchpoints"] = sessions[0]["watchpoints"];
  if (shelf) out["steps"] = shelf->steps();
  out["dumped"] = shelf != nullptr;
  out["hits"] = records_of(index, run.id, "debug/hit", kMostHits);
  return answer(out);
}

Json desk(Index& index, const RunInfo& run, const Json& question) {
  if (Json live = ask_live(index, run, question); !live.is_null()) return live;
  const auto shelf = shelf_of(index, run);
  if (!shelf) fail(ErrorKind::kKey, "the run has ended and has dumped no tensors");
  Json out = debug::answer_of(*shelf, question);
  const auto problems = shelf->problems();
  if (!problems.empty()) out["problems"] = problems;
  return out;
}

void copy_number(const Arguments& a, const char* name, Json* to) {
  if (const std::string* found = find(a, name)) (*to)[name] = number<int64_t>(*found, name);
}
void copy_text(const Arguments& a, const char* name, Json* to) {
  if (const std::string* found = find(a, name)) (*to)[name] = *found;
}

Answer tree(Index& index, const Arguments& a) {
  Json q = {{"ask", find(a, "text") || find(a, "role") ? "search" : "tree"}};
  copy_number(a, "step", &q);
  for (const char* name : {"scope", "text", "role"}) copy_text(a, name, &q);
  return answer(desk(index, run_of(index, a), q));
}

Answer tensor(Index& index, const Arguments& a) {
  Json q = {{"ask", "tensor"}, {"name", text(a, "name")}};
  for (const char* name : {"step", "row", "column"}) copy_number(a, name, &q);
  copy_text(a, "slice", &q);
  return answer(desk(index, run_of(index, a), q));
}

// The lines around one line of a source file that the run recorded: nothing else is ever read.
Answer source(Index& index, const Arguments& a) {
  const RunInfo run = run_of(index, a);
  const std::string& path = text(a, "path");
  auto found = records_of(index, run.id, "debug/source/" + path, 1);
  if (found.empty()) {  // recorded a moment ago
    Json live = ask_live(index, run, {{"ask", "source"}, {"path", path}});
    if (!live.is_null() && live.value("text", "") != "") found.push_back(std::move(live));
  }
  if (found.empty() || !found[0].contains("text") || !found[0]["text"].is_string())
    fail(ErrorKind::kKey, "the run has not recorded '{}'", path.substr(0, 200));
  constexpr int64_t kAround = 12;
  const int64_t line = number_or<int64_t>(a, "line", 1);
  const auto& all = found[0]["text"].get_ref<const std::string&>();
  Json lines = Json::array();
  int64_t at = 1, first = 0;
  for (size_t begin = 0; begin < all.size(); ++at) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    if (at >= line - kAround && at <= line + kAround) {
      if (!first) first = at;
      lines.push_back(all.substr(begin, std::min<size_t>(end - begin, 1000)));
    }
    begin = end + 1;
  }
  return answer({{"path", path}, {"line", line}, {"first", first}, {"lines", lines}});
}

}  // namespace

Questions debug_questions() {
  return {{"conditions", [](Index&, const Arguments&) { return Answer{debug::conditions_json()}; }},
          {"debug", state},
          {"debugtree", tree},
          {"debugtensor", tensor},
          {"debugsource", source}};
}

Answer debug_command(Index& index, const std::string& body) {
  Json q = Json::parse(body, nullptr, false);
  if (!q.is_object() || !q.contains("run") || !q["run"].is_number_integer() || !q.contains("ask") ||
      !q["ask"].is_string())
    value_error("a command is an object with 'run' and 'ask'");
  const RunInfo run = run_of(index, {{"run", std::to_string(q["run"].get<int64_t>())}});
  q.erase("run");
  const auto ask = q["ask"].get<std::string>();
  if (ask == "check") return answer(desk(index, run, q));
  if (ask != "go" && ask != "pause" && ask != "watch" && ask != "unwatch")
    value_error("there is no command '{}'", ask.substr(0, 40));
  Json done = ask_live(index, run, q);
  if (done.is_null()) fail(ErrorKind::kKey, "the run does not listen: it has ended");
  return answer(done);
}

}  // namespace mycel::insight::server
