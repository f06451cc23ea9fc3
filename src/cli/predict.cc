#include <memory>

#include "cli/command.h"
#include "runtime/model_file.h"

namespace mycel::cli {

void add_predict(CLI::App& app) {
  struct Options {
    std::string model, input, output;
  };
  auto o = std::make_shared<Options>();
  CLI::App* p = app.add_subcommand("predict", "Run an exported network on inputs from a file");
  p->add_option("MODEL", o->model, "What mycel.export wrote")->required();
  p->add_option("--input", o->input,
                "safetensors file with the inputs by name (one input: any name)")
      ->required();
  p->add_option("--output", o->output,
                "Write the results to this safetensors file instead of printing them");
  p->callback([o] {
    auto model = runtime::Model::load(o->model);
    deliver(model(inputs_from(o->input, model.input_names())), o->output);
  });
}

}  // namespace mycel::cli
