// Graphs as text: checking and printing one, and running it through a plan.
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file_io.h"
#include "cli/command.h"
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
  std::string file, input, output;
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

}  // namespace

void add_ir(CLI::App& app) {
  CLI::App* ir = app.add_subcommand("ir", "Graphs in text form");
  ir->require_subcommand(1);
  auto o = std::make_shared<Options>();
  CLI::App* s = ir->add_subcommand("show", "Check a graph's text, or a model file's, and print it");
  s->add_option("FILE", o->file, "Text of a graph, or a .mindir file")->required();
  s->add_flag("--plan", o->plan, "Print the steps that it runs as instead");
  s->callback([o] { show(*o); });
  CLI::App* r = ir->add_subcommand("run", "Run a graph");
  r->add_option("FILE", o->file, "Text of a graph, or a .mindir file")->required();
  r->add_option("--input", o->input, "safetensors file with the graph's parameters by name");
  r->add_option("--output", o->output,
                "Write the results to this safetensors file instead of printing them");
  r->callback([o] { run(*o); });
}

}  // namespace mycel::cli
