// Recorded runs in the terminal.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "insight/index.h"
#include "train/terminal.h"

namespace mycel::cli {
namespace {

using insight::Index;
using insight::Kind;
using insight::RunInfo;
using insight::SeriesInfo;

struct Options {
  std::string folder, tag;
  std::vector<std::string> names;
  int height = 8;
  bool json = false;
};

// Everything that the commands ask for at once.
struct Known {
  std::unique_ptr<Index> index;
  std::vector<RunInfo> runs;
  std::map<int64_t, std::map<std::string, SeriesInfo>> scalars;
  std::map<int64_t, std::map<std::string, std::string>> facts;
};

std::string text_of(const insight::HParam& v) {
  if (const auto* number = std::get_if<double>(&v)) return fmt::format("{:.6g}", *number);
  if (const auto* text = std::get_if<std::string>(&v)) return *text;
  return std::get<bool>(v) ? "true" : "false";
}

Known look(const std::string& folder) {
  Known k;
  k.index = insight::open_index(folder);
  k.index->update();
  k.runs = k.index->runs();
  for (const SeriesInfo& s : k.index->series()) {
    if (s.kind == Kind::kScalar) k.scalars[s.run][s.tag] = s;
  }
  for (const insight::Fact& f : k.index->facts()) k.facts[f.run][f.key] = text_of(f.value);
  for (const insight::Problem& p : k.index->problems())
    fmt::print(stderr, "mycel: {}: {}\n", p.file, p.text);
  return k;
}

const RunInfo& run_named(const Known& k, const std::string& name) {
  std::vector<const char*> names;
  for (const RunInfo& r : k.runs) {
    if (r.name == name) return r;
    names.push_back(r.name.c_str());
  }
  const std::string meant = did_you_mean(name, names.data(), names.size());
  fail(ErrorKind::kKey, "there is no run '{}'.{} `mycel runs ls` lists {}", name,
       meant.empty() ? "" : fmt::format(" Did you mean '{}'?", meant), k.runs.size());
}

// The runs that are named, or all.
std::vector<RunInfo> chosen(const Known& k, const std::vector<std::string>& names) {
  if (names.empty()) return k.runs;
  std::vector<RunInfo> out;
  for (const std::string& n : names) out.push_back(run_named(k, n));
  return out;
}

// Cells that a terminal shows a text in: characters beyond Latin and Greek as two, which holds for
// Chinese.
size_t cells_of(const std::string& s) {
  size_t n = 0;
  for (unsigned char c : s) n += (c & 0xC0) == 0x80 ? 0 : c >= 0xE0 ? 2 : 1;
  return n;
}

// Names from files must not steer the terminal.
std::string harmless(std::string s) {
  std::erase_if(s, [](unsigned char c) { return c < 32 || c == 127; });
  return s;
}

void print_table(std::vector<std::vector<std::string>> rows) {
  std::vector<size_t> widths;
  for (auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = harmless(row[i]);
      widths[i] = std::max(widths[i], cells_of(row[i]));
    }
  }
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(widths[i] - cells_of(row[i]) + 2, ' ');
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

std::string moment(double when) {
  const auto t = static_cast<time_t>(when);
  tm local{};
  char text[32] = "";
  if (localtime_r(&t, &local)) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
  return text;
}

std::string last_of(const Known& k, int64_t run, const std::string& tag) {
  auto of_run = k.scalars.find(run);
  if (of_run == k.scalars.end() || !of_run->second.count(tag)) return "";
  return fmt::format("{:.5g}", of_run->second.at(tag).last_value);
}

std::string fact_of(const Known& k, int64_t run, const std::string& key) {
  auto of_run = k.facts.find(run);
  return of_run == k.facts.end() || !of_run->second.count(key) ? "" : of_run->second.at(key);
}

void list(const Options& o) {
  Known k = look(o.folder);
  if (o.json) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const RunInfo& r : k.runs) {
      nlohmann::ordered_json scalars = nlohmann::ordered_json::object();
      for (const auto& [tag, s] : k.scalars[r.id]) {
        scalars[tag] = std::isfinite(s.last_value) ? nlohmann::ordered_json(s.last_value)
                                                   : nlohmann::ordered_json(nullptr);
      }
      out.push_back({{"name", r.name},
                     {"step", r.step},
                     {"first", r.first},
                     {"last", r.last},
                     {"facts", k.facts[r.id]},
                     {"scalars", scalars}});
    }
    fmt::print("{}\n", out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  if (k.runs.empty()) {
    fmt::print("no event files in '{}' or below\n", o.folder);
    return;
  }
  std::vector<std::vector<std::string>> rows = {
      {"run", "begun", "minutes", "step", "state", "loss"}};
  for (const RunInfo& r : k.runs) {
    rows.push_back({r.name, moment(r.first), fmt::format("{:.1f}", (r.last - r.first) / 60),
                    std::to_string(r.step), fact_of(k, r.id, "state"),
                    last_of(k, r.id, "loss/auto")});
  }
  print_table(std::move(rows));
}

void show(const Options& o) {
  Known k = look(o.folder);
  const RunInfo& r = run_named(k, o.names.at(0));
  std::vector<std::vector<std::string>> rows = {{"run", r.name},
                                                {"begun", moment(r.first)},
                                                {"last", moment(r.last)},
                                                {"step", std::to_string(r.step)}};
  for (const auto& [key, value] : k.facts[r.id]) rows.push_back({key, value});
  print_table(std::move(rows));
  fmt::print("\n");
  rows = {{"tag", "kind", "values", "last step", "last value"}};
  for (const SeriesInfo& s : k.index->series()) {
    if (s.run != r.id) continue;
    rows.push_back({s.tag, insight::name_of(s.kind), std::to_string(s.count),
                    std::to_string(s.last_step),
                    s.kind == Kind::kScalar ? fmt::format("{:.6g}", s.last_value) : ""});
  }
  print_table(std::move(rows));
}

// Facts that differ and last values, a column a run.
void compare(const Options& o) {
  Known k = look(o.folder);
  const std::vector<RunInfo> runs = chosen(k, o.names);
  std::vector<std::vector<std::string>> rows = {{""}};
  std::set<std::string> facts, tags;
  for (const RunInfo& r : runs) {
    rows[0].push_back(r.name);
    for (const auto& [key, value] : k.facts[r.id]) facts.insert(key);
    for (const auto& [tag, s] : k.scalars[r.id]) tags.insert(tag);
  }
  for (const std::string& key : facts) {
    std::vector<std::string> row = {key};
    for (const RunInfo& r : runs) row.push_back(fact_of(k, r.id, key));
    if (std::adjacent_find(row.begin() + 1, row.end(), std::not_equal_to<>()) != row.end())
      rows.push_back(row);
  }
  for (const std::string& tag : tags) {
    std::vector<std::string> row = {tag};
    for (const RunInfo& r : runs) row.push_back(last_of(k, r.id, tag));
    rows.push_back(row);
  }
  print_table(std::move(rows));
}

void plot(const Options& o) {
  Known k = look(o.folder);
  std::vector<train::Series> series;
  const int width = train::terminal_width(stdout);
  for (const RunInfo& r : chosen(k, o.names)) {
    auto found = k.scalars[r.id].find(o.tag);
    if (found == k.scalars[r.id].end()) continue;
    const SeriesInfo& s = found->second;
    train::Series line{harmless(fmt::format("{} ({} to {})", r.name, s.first_step, s.last_step)),
                       {}};
    for (const insight::CurvePoint& p : k.index->curve(s.id, {.columns = std::max(width - 14, 20)}))
      line.values.push_back(p.mean);
    series.push_back(std::move(line));
  }
  if (series.empty()) {
    std::set<std::string> tags;
    for (const auto& [run, of_run] : k.scalars)
      for (const auto& [tag, s] : of_run) tags.insert(tag);
    std::string known;
    for (const std::string& t : tags) known += (known.empty() ? "" : ", ") + harmless(t);
    fail(ErrorKind::kKey, "no run has the scalar '{}'; there are: {}", o.tag, known);
  }
  fmt::print("{}\n{}", harmless(o.tag), train::curve(series, std::max(width, 20), o.height));
}

}  // namespace

void add_runs(CLI::App& app) {
  CLI::App* runs = app.add_subcommand("runs", "Recorded runs in the terminal");
  runs->require_subcommand(1);
  auto o = std::make_shared<Options>();
  const auto command = [&](const char* name, const char* about, void (*f)(const Options&)) {
    CLI::App* c = runs->add_subcommand(name, about);
    c->add_option("DIR", o->folder, "Folder with event files, in it or below")->required();
    c->callback([o, f] { f(*o); });
    return c;
  };
  CLI::App* c = command("ls", "List them", list);
  c->add_flag("--json", o->json, "As JSON");
  c = command("show", "What one was made with, and what it recorded", show);
  c->add_option("RUN", o->names, "Its name")->required()->expected(1);
  c = command("compare", "What differs between some, or all", compare);
  c->add_option("RUN", o->names, "Their names");
  c = command("plot", "Draw the curves of a scalar", plot);
  c->add_option("TAG", o->tag, "Its name, such as loss/auto")->required();
  c->add_option("RUN", o->names, "Names of runs; all by default");
  c->add_option("--height", o->height, "Lines a curve takes")->check(CLI::Range(1, 100));
  add_runs_profile(*runs);
}

}  // namespace mycel::cli
