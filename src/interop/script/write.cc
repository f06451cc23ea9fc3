#include <cctype>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file_io.h"
#include "interop/script.h"
#include "interop/script/classes.h"
#include "interop/script/match.h"
#include "interop/script/python_text.h"
#include "interop/script/recover_onnx.h"
#include "interop/script/report.h"
#include "tensor/safetensors.h"

namespace mycel::interop {
namespace {

using namespace script;  // NOLINT

void write_text(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

std::string stem_of(const std::string& path) {
  std::string s = std::filesystem::path(path).stem().string();
  s = identifier(s);
  return s.empty() ? "network" : s;
}

// "ResNet50" of resnet50.
std::string class_of(const std::string& stem) {
  std::string s = camel(stem);
  return s.starts_with("Block") && std::isdigit(static_cast<unsigned char>(s.back())) ? "Network"
                                                                                      : s;
}

std::string with_extents(const std::string& type, const Recovered& r, const ir::Value& v) {
  size_t open = type.find('[');
  if (open == type.npos || r.extents.empty()) return type;
  std::string s = type.substr(0, open + 1);
  for (int d = 0; d < v.rank(); ++d) {
    auto it = r.dims.find({v.node->id, v.index, d});
    s += (d ? ", " : "") + (it == r.dims.end() ? std::to_string(v.shape()[d])
                                               : r.extents[static_cast<size_t>(it->second)].name);
  }
  return s + "]";
}

std::string doc_of(const Network& n, const std::string& source) {
  std::string s = fmt::format("The network of {}: ", source);
  for (size_t i = 0; i < n.inputs.size(); ++i)
    s += fmt::format("{}{} {}", i ? ", " : "", n.inputs[i].name, n.inputs[i].type);
  s += " -> ";
  for (size_t i = 0; i < n.outputs.size(); ++i) s += (i ? ", " : "") + n.outputs[i].type;
  std::string text = paragraph("\"\"\"" + s + ".", 4);
  text.pop_back();
  size_t last = text.rfind('\n');
  bool one = last == text.npos || text.size() - last - 1 + 3 <= kLineWidth;
  return text + (one ? "\"\"\"\n" : "\n    \"\"\"\n");
}

std::string module_text(const Script& s, const std::string& source, const std::string& stem) {
  std::string out =
      fmt::format("\"\"\"{}, written by `mycel convert` from {}.\n\n", s.network, source);
  out += paragraph(fmt::format("load() gives the network with the weights of {}.safetensors, which "
                               "lies beside this file; it runs, trains and compiles like any other "
                               "cell.",
                               stem),
                   0);
  out += "\"\"\"\n\nimport os\n\nimport mycel\n";
  bool parameter = s.classes.find("Parameter(") != std::string::npos;
  bool ops = s.classes.find("ops.") != std::string::npos;
  out +=
      fmt::format("from mycel import {}nn{}\n", parameter ? "Parameter, " : "", ops ? ", ops" : "");
  if (s.internal_ops) out += "from mycel._mycel import op\n";
  out += fmt::format(
      "\nWEIGHTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), \"{}.safetensors\")\n",
      stem);
  size_t at = out.rfind("\nWEIGHTS");
  std::string line = out.substr(at + 1);
  out.resize(at + 1);
  line.pop_back();
  out += statement(line, 0);
  out += s.classes;
  out += fmt::format(
      "\n\ndef load(path=WEIGHTS):\n    \"\"\"The network with the weights of a file; path=None "
      "leaves "
      "them unset.\"\"\"\n    net = {}()\n    if path is not None:\n        missing = "
      "mycel.load_param_into_net(net, mycel.load_checkpoint(path))\n        if missing:\n          "
      "  "
      "raise ValueError(f\"{{path}} lacks {{missing}}\")\n    return net\n",
      s.network);
  return out;
}

ScriptReport write(Recovered& r, const std::string& source, const std::string& stem,
                   const std::string& folder, const ScriptOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::kOs, "'{}' cannot be made: {}", folder, error.message());
  std::string base = folder + "/";
  Facts facts;
  facts.source = source;
  Matched matched;
  try {
    matched = match_units(r);
  } catch (const UserError& e) {
    facts.refused = e.message();
    write_text(base + "report.md", report_markdown(facts));
    write_text(base + "report.json", report_json(facts));
    throw;
  }
  Network& net = matched.network;
  for (size_t i = 0; i < net.inputs.size(); ++i)
    net.inputs[i].type = with_extents(net.inputs[i].type, r, r.graph().params()[i]);
  for (size_t i = 0; i < net.outputs.size(); ++i)
    net.outputs[i].type = with_extents(net.outputs[i].type, r, r.graph().results()[i]);
  for (const Origin& o : r.source.origins) {
    for (const auto& [path, cls] : o.classes) net.class_of_path.emplace(path, cls);
  }
  std::unique_ptr<Block> root = build_blocks(net);
  std::string name = options.name.empty() ? class_of(stem) : options.name;
  Script s = write_classes(net, *root, name, doc_of(net, source));
  std::string text = module_text(s, source, stem);
  Checkpoint weights;
  int64_t count = 0;
  for (auto& [key, value] : s.weights) {
    count += value.size();
    weights.tensors.emplace_back(key, value);
  }
  facts.fill(matched, s, r, text, count);
  write_text(base + stem + ".py", text);
  save_safetensors(base + stem + ".safetensors", weights);
  write_text(base + "report.md", report_markdown(facts));
  write_text(base + "report.json", report_json(facts));
  return facts.summary;
}

}  // namespace

ScriptReport onnx_to_script(const std::string& path, const std::string& folder,
                            const ScriptOptions& options) {
  Recovered r = script::recover_onnx(path, options.shapes);
  return write(r, std::filesystem::path(path).filename().string(), stem_of(path), folder, options);
}

ScriptReport model_to_script(const runtime::TracedModel& model, const std::string& source,
                             const std::string& folder, const ScriptOptions& options) {
  Recovered r = script::recover(model);
  return write(r, std::filesystem::path(source).filename().string(), stem_of(source), folder,
               options);
}

}  // namespace mycel::interop
