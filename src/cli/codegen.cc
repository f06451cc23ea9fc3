#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "lite/codegen/generate.h"
#include "lite/convert.h"

namespace mycel::cli {

void add_codegen(CLI::App& app) {
  struct Options {
    std::string model, input, folder, target = "x86", name = "network";
    double tolerance = 1e-4;
  };
  auto o = std::make_shared<Options>();
  CLI::App* c =
      app.add_subcommand("codegen", "Write an exported network as C99 with no allocation");
  c->add_option("MODEL", o->model, "A network in a format that `mycel convert` reads")->required();
  c->add_option("--out", o->folder, "The folder to write")->required();
  c->add_option("--target", o->target, "x86, arm64, arm32a or cortex-m")->capture_default_str();
  c->add_option("--name", o->name, "Of the files and functions")->capture_default_str();
  c->add_option("--input", o->input,
                "safetensors file with example inputs: their shapes are compiled in, their results "
                "checked");
  c->add_option("--tolerance", o->tolerance, "Of the check, relative to the largest result")
      ->capture_default_str();
  c->callback([o] {
    auto model = runtime::Model::of(lite::read_network(o->model), o->model);
    Tensors inputs;
    if (!o->input.empty()) inputs = inputs_from(o->input, model.input_names());
    lite::CProject project;
    project.name = o->name;
    project.target = lite::target_named(o->target);
    project.tolerance = o->tolerance;
    const lite::CSizes s = lite::generate_c(model, inputs, project, o->folder);
    fmt::print("{}: {} steps, {} kernels, {} bytes of constants, {} bytes of memory\n", o->folder,
               s.steps, s.functions, s.constant_bytes, s.arena_bytes);
  });
}

}  // namespace mycel::cli
