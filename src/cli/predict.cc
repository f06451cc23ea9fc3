#include <memory>

#include "cli/command.h"
#include "lite/convert.h"
#include "lite/convert/lite_file.h"
#include "runtime/model_file.h"

namespace mycel::cli {

void add_predict(CLI::App& app) {
  struct Options {
    std::string model, input, output;
    int threads = 2;
  };
  auto o = std::make_shared<Options>();
  CLI::App* p = app.add_subcommand("predict", "Run an exported network on inputs from a file");
  p->add_option("MODEL", o->model,
                "A .mindir or .onnx file, or a .lite file, which the Lite runtime runs")
      ->required();
  p->add_option("--input", o->input,
                "safetensors file with the inputs by name (one input: any name)")
      ->required();
  p->add_option("--output", o->output,
                "Write the results to this safetensors file instead of printing them");
  p->add_option("--threads", o->threads, "Of the Lite runtime")->capture_default_str();
  p->callback([o] {
    if (lite::reader_name(o->model) == "lite") {
      auto model = lite::open_lite(o->model, o->threads);
      std::vector<std::string> names;
      for (const lite::Port& p : model->inputs()) names.push_back(p.name);
      deliver(lite::run_lite(*model, inputs_from(o->input, names)), o->output);
      return;
    }
    auto model = runtime::Model::of(lite::read_network(o->model), o->model);
    deliver(model(inputs_from(o->input, model.input_names())), o->output);
  });
}

}  // namespace mycel::cli
