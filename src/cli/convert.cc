#include "lite/convert.h"

#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/command.h"

namespace mycel::cli {
namespace {

// "x=1,3,224,224", or "1,3,224,224" for the only input.
void add_shape(const std::string& text, std::map<std::string, Shape>& shapes) {
  const size_t equals = text.rfind('=');
  std::vector<int64_t> dims;
  std::string rest = equals == std::string::npos ? text : text.substr(equals + 1);
  for (size_t at = 0; at < rest.size();) {
    size_t used = 0;
    try {
      dims.push_back(std::stoll(rest.substr(at), &used));
    } catch (const std::exception&) {
      used = 0;
    }
    const size_t end = at + used;
    if (used == 0 || dims.back() < 0 || (end < rest.size() && rest[end] != ',')) {
      value_error("--shape: '{}' is no list of dims; write NAME=1,3,224,224", text);
    }
    at = end + 1;
  }
  shapes[equals == std::string::npos ? "" : text.substr(0, equals)] = Shape(dims);
}

std::string listing(auto formats) {
  std::string all;
  for (const auto& f : formats)
    all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", f.name, f.doc);
  return all;
}

}  // namespace

void add_convert(CLI::App& app) {
  struct Options : lite::ConvertOptions {
    std::string model, out, observer = "minmax";
    std::vector<std::string> shape;
  };
  auto o = std::make_shared<Options>();
  CLI::App* c = app.add_subcommand("convert", "Write a network in another format");
  c->add_option("MODEL", o->model, listing(lite::readers()))->required();
  c->add_option("--to", o->to, listing(lite::writers()))->required();
  c->add_option("-o,--out", o->out, "The file or folder to write")->required();
  c->add_option("--from", o->from, "The format of MODEL, where its name or content do not tell");
  c->add_option("--shape", o->shape,
                "NAME=1,3,224,224: dims of an input, in the place of those that are open");
  c->add_option(
      "--quantize", o->quantize,
      "int8: compute on 8-bit integers (needs --calibrate); fp16: weights of .lite files");
  c->add_option("--calibrate", o->calibrate,
                "Safetensors file with samples of the inputs, one after the other");
  c->add_option("--observer", o->observer,
                "How ranges are chosen: minmax, moving_average, percentile, entropy");
  c->add_option("--percentile", o->quantizing.percentile, "What the percentile observer keeps");
  c->add_option("--skip", o->quantizing.skip, "Layers that stay floats, by the start of a name");
  c->add_flag("!--asymmetric", o->quantizing.symmetric, "Zero points other than 0");
  c->add_flag("!--per-tensor", o->quantizing.per_channel, "One scale for each weight");
  c->add_flag("!--no-bias-correction", o->quantizing.bias_correction,
              "Keep the mean error of rounded weights");
  c->callback([o] {
    o->quantizing.observer = lite::observer_named(o->observer);
    for (const std::string& s : o->shape) add_shape(s, o->shapes);
    for (const std::string& line : lite::convert(o->model, o->out, *o)) fmt::print("{}\n", line);
    fmt::print("{}: written\n", o->out);
  });
}

}  // namespace mycel::cli
