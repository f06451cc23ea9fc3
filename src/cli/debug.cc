// What debuggers have found, in the terminal: hits of watchpoints, recorded or checked anew on a
// dump.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "insight/debug/control.h"
#include "insight/debug/dump.h"
#include "insight/debug/watch.h"
#include "insight/index.h"

namespace mycel::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string folder;
  std::vector<std::string> check;
  bool json = false, conditions = false;
};

// Names from files must not steer the terminal.
std::string harmless(std::string s) {
  std::erase_if(s, [](unsigned char c) { return c < 32 || c == 127; });
  return s;
}

std::string text(const Json& hit, const char* name) {
  return hit.contains(name) && hit[name].is_string() ? harmless(hit[name].get<std::string>()) : "";
}

void print_hit(const Json& hit) {
  const int64_t step =
      hit.contains("step") && hit["step"].is_number_integer() ? hit["step"].get<int64_t>() : 0;
  std::string measured;
  if (hit.contains("findings") && hit["findings"].is_array()) {
    for (const Json& f : hit["findings"])
      measured += fmt::format("  {} {}", text(f, "parameter"),
                              f.contains("measured") ? harmless(f["measured"].dump()) : "");
  }
  fmt::print("  step {:<6} {:<24} {}  {}{}\n", step, text(hit, "condition"), text(hit, "name"),
             text(hit, "at"), measured);
}

std::vector<Json> recorded(insight::Index& index, int64_t run) {
  std::vector<Json> hits;
  for (const insight::SeriesInfo& s : index.series()) {
    if (s.run != run || s.kind != insight::Kind::kRecord || s.tag != "debug/hit") continue;
    for (int64_t n = 0; n < s.count; ++n) {
      index.read(index.item(s.id, n), [&](const insight::Recorded& r) {
        Json j = Json::parse(r.content, nullptr, false);
        if (j.is_object()) hits.push_back(std::move(j));
      });
    }
  }
  return hits;
}

std::vector<Json> checked(insight::Index& index, const std::string& run,
                          const std::vector<std::string>& conditions) {
  auto shelf = insight::debug::DumpShelf::open(index.folder(), run + "/debug/dump");
  if (!shelf) return {};
  insight::debug::Watches watches;
  for (const std::string& name : conditions) watches.add({.condition = name});
  std::vector<Json> hits;
  for (const insight::debug::Hit& h : insight::debug::recheck(*shelf, watches, 10000))
    hits.push_back(insight::debug::to_json(h));
  for (const std::string& p : shelf->problems()) fmt::print(stderr, "mycel: {}\n", harmless(p));
  return hits;
}

void show(const Options& o) {
  if (o.conditions) {
    fmt::print("{}", insight::debug::conditions_markdown());
    return;
  }
  auto index = insight::open_index(o.folder);
  index->update();
  Json out = Json::array();
  bool any = false;
  for (const insight::RunInfo& run : index->runs()) {
    const std::vector<Json> hits =
        o.check.empty() ? recorded(*index, run.id) : checked(*index, run.name, o.check);
    const std::string live =
        insight::debug::ask_process(index->folder(), run.name + "/debug", R"({"ask":"state"})");
    if (hits.empty() && live.empty()) continue;
    any = true;
    if (o.json) {
      out.push_back({{"run", run.name}, {"live", !live.empty()}, {"hits", hits}});
      continue;
    }
    const Json state = Json::parse(live, nullptr, false);
    const bool waits = state.is_object() && state.value("paused", false);
    fmt::print("{}{}\n", harmless(run.name), live.empty() ? "" : waits ? " (waits)" : " (runs)");
    for (const Json& h : hits) print_hit(h);
  }
  if (o.json) fmt::print("{}\n", out.dump(1, ' ', false, Json::error_handler_t::replace));
  if (!o.json && !any) fmt::print("no watchpoint has found anything in '{}' or below\n", o.folder);
}

}  // namespace

void add_debug(CLI::App& app) {
  CLI::App* c = app.add_subcommand("debug", "What watchpoints of debugged runs have found");
  auto o = std::make_shared<Options>();
  c->add_option("DIR", o->folder, "Folder with runs, in it or below");
  c->add_option("--check", o->check, "Conditions to check on the dumps instead");
  c->add_flag("--json", o->json, "As JSON");
  c->add_flag("--conditions", o->conditions, "List the conditions of watchpoints");
  c->callback([o] {
    if (o->folder.empty() && !o->conditions) value_error("debug: give a folder with runs");
    show(*o);
  });
}

}  // namespace mycel::cli
