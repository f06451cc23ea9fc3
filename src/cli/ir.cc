// Graphs as text: checking and printing one, comparing two, running one through a plan.
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file_io.h"
#include "cli/command.h"
#include "ir/diff.h"
#include "ir/text.h"
#include "runtime/model_file.h"
#include "runtime/plan.h"

namespace mycel::cli {
namespace {

// A graph's text, or the graph inside a model file.
std::shared_ptr<const ir::Graph> read_graph(const std::string& path) {
  if (path.ends_with(".mindir")) return ir::parse(runtime::Model::load(path).graph().str());
  InputFile file(path);
  std::string text(file.size(), '\0');
  file.read_at(0, text.data(), text.size());
  try {
    return ir::parse(text);
  } catch (UserError& e) {
    e.prefix(fmt::format("'{}': ", path));
    throw;
  }
}

struct Options {
  std::string file, other, input, output;
  bool plan = false;
};

void show(const Options& o) {
  auto g = read_graph(o.file);
  fmt::print("{}", o.plan ? runtime::Plan::build(*g)->str() : g->str());
}

void run(const Options& o) {
  auto g = read_graph(o.file);
  std::vector<std::string> names;
  for (const ir::Value& p : g->params()) {
    names.push_back(p.node->name.empty() ? fmt::format("input{}", names.size()) : p.node->name);
  }
  deliver(runtime::Plan::build(*g)->run(inputs_from(o.input, names)), o.output);
}

bool coloured() {
  const char* no = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && !(no && *no);
}

// As diff(1): 0 when they are the same, 1 when not, 2 when one cannot be read.
void compare(const Options& o) {
  std::vector<ir::DiffLine> lines;
  try {
    auto a = read_graph(o.file), b = read_graph(o.other);
    lines = ir::diff(*a, *b);
  } catch (const std::exception& e) {
    fmt::print(stderr, "mycel: {}\n", e.what());
    throw ExitStatus{2};
  }
  if (lines.empty()) return;
  const bool colour = coloured();
  int removed = 0, added = 0, changed = 0;
  for (const ir::DiffLine& l : lines) {
    removed += l.mark == '-';
    added += l.mark == '+';
    changed += l.mark == '~';
    const char* code = l.mark == '-' ? "\033[31m" : l.mark == '+' ? "\033[32m" : "\033[33m";
    bool paint = colour && l.mark != ' ';
    fmt::print("{}{} {}{}\n", paint ? code : "", l.mark, l.text, paint ? "\033[0m" : "");
  }
  fmt::print("{} removed, {} added, {} changed\n", removed, added, changed);
  throw ExitStatus{1};
}

}  // namespace

void add_ir(CLI::App& app) {
  CLI::App* ir = app.add_subcommand("ir", "Graphs in text form");
  ir->require_subcommand(1);
  auto o = std::make_shared<Options>();
  CLI::App* s = ir->add_subcommand("show", "Check a graph's text, or a model file's, and print it");
  s->add_option("FILE", o->file, "Text of a graph, or a .mindir file")->required();
  s->add_flag("--plan", o->plan, "Print the steps that it runs as instead");
  s->callback([o] { show(*o); });
  CLI::App* d = ir->add_subcommand("diff", "Say what differs between two graphs");
  d->add_option("A", o->file, "Text of a graph, or a .mindir file")->required();
  d->add_option("B", o->other, "Another one")->required();
  d->callback([o] { compare(*o); });
  CLI::App* r = ir->add_subcommand("run", "Run a graph");
  r->add_option("FILE", o->file, "Text of a graph, or a .mindir file")->required();
  r->add_option("--input", o->input, "safetensors file with the graph's parameters by name");
  r->add_option("--output", o->output,
                "Write the results to this safetensors file instead of printing them");
  r->callback([o] { run(*o); });
}

}  // namespace mycel::cli
