// Recorded profiles in the terminal, and as trace events for Perfetto.
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/command.h"
#include "insight/profile/export.h"

namespace mycel::cli {
namespace {

namespace profile = insight::profile;

struct Options {
  std::string folder, file, out;
};

// The file that is meant: a profile itself, the one that is named, or the newest in the folder.
std::string path_of(const Options& o) {
  if (o.folder.ends_with(profile::kFileEnd)) return o.folder;
  const std::vector<std::string> all = profile::profiles_below(o.folder);
  if (all.empty())
    fail(ErrorKind::kKey, "there is no profile in '{}' or below; mycel.Profiler writes one",
         o.folder);
  if (o.file.empty()) return o.folder + "/" + all.back();
  std::string known;
  for (const std::string& name : all) {
    if (name == o.file) return o.folder + "/" + name;
    known += "\n  " + name;
  }
  fail(ErrorKind::kKey, "there is no profile '{}'; there are:{}", o.file, known);
}

void print(const Options& o) {
  const std::string path = path_of(o);
  fmt::print("{}\n{}", path, profile::text_of(profile::load(path)));
}

void write_trace(const Options& o) {
  const std::string text = profile::trace_of(profile::load(path_of(o)));
  if (o.out == "-") {
    fmt::print("{}", text);
    return;
  }
  std::ofstream file(o.out, std::ios::binary);
  file << text;
  file.close();
  if (!file) fail(ErrorKind::kOs, "'{}' cannot be written", o.out);
  fmt::print("{}: open it at ui.perfetto.dev\n", o.out);
}

}  // namespace

void add_runs_profile(CLI::App& runs) {
  auto o = std::make_shared<Options>();
  const auto command = [&](const char* name, const char* about, void (*f)(const Options&)) {
    CLI::App* c = runs.add_subcommand(name, about);
    c->add_option("DIR", o->folder, "Folder with profiles, in it or below, or a profile")
        ->required();
    c->add_option("PROFILE", o->file, "One of several; the newest by default");
    c->callback([o, f] { f(*o); });
    return c;
  };
  command("profile", "What a profile says: steps, ops, kernels, memory, advice", print);
  CLI::App* c = command("trace", "Write a profile for Perfetto (Chrome trace events)", write_trace);
  c->add_option("-o,--output", o->out, "The file; - for standard output")->required();
}

}  // namespace mycel::cli
