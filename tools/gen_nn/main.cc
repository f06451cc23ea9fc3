// Prints mycel/nn.h: one typed C++ function for every layer and optimizer record. Linked with
// libmycel, whose layers are records too; nothing in libmycel includes the header.
#include <string>

#include <fmt/format.h>

#include "nn/layer.h"
#include "nn/metric.h"
#include "nn/optimizer.h"

namespace mycel::nn {
namespace {

using Extra = ArgSpec::Extra;
using ir::AttrKind;

bool upper(char c) { return c >= 'A' && c <= 'Z'; }

// "BCEWithLogitsLoss" -> "bce_with_logits_loss"; ReLU and its relatives are one word.
std::string snake_case(std::string name) {
  for (const char* word : {"ReLU", "SiLU", "SeLU"}) {
    for (size_t at = name.find(word); at != name.npos; at = name.find(word))
      name.replace(at + 2, 2, "lu");
  }
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    bool starts =
        upper(name[i]) && i > 0 &&
        (!upper(name[i - 1]) || (i + 1 < name.size() && !upper(name[i + 1]) && name[i + 1] >= 'a'));
    if (starts && name[i - 1] != '_' && out != "p" && out != "r") out += '_';
    out += static_cast<char>(upper(name[i]) ? name[i] - 'A' + 'a' : name[i]);
  }
  return out;
}

std::string type_of(const ArgSpec& a) {
  if (a.extra == Extra::kInit && !a.optional) return "const Init&";
  if (a.extra != Extra::kNone) return "const Arg&";
  if (a.kind == AttrKind::kTensor) return "const Tensor&";
  if (a.kind == AttrKind::kInts && !a.optional) return "const IntsArg&";
  if (a.optional) return "const Arg&";
  switch (a.kind) {
    case AttrKind::kBool:
      return "bool";
    case AttrKind::kInt:
      return "int64_t";
    case AttrKind::kFloat:
      return "double";
    case AttrKind::kString:
      return "const std::string&";
    case AttrKind::kDType:
      return "DType";
    case AttrKind::kFloats:
      return "const std::vector<double>&";
    default:
      return "const Arg&";
  }
}

template <typename V>
std::string braces(const V& values) {
  std::string s;
  for (auto v : values) s += (s.empty() ? "" : ", ") + fmt::format("{}", v);
  return "{" + s + "}";
}

std::string literal(const ArgSpec& a) {
  const ir::Attr& v = a.default_value;
  if (v.none()) return "{}";
  if (v.is<bool>()) return v.boolean() ? "true" : "false";
  if (v.is<int64_t>()) return fmt::format("{}", v.integer());
  if (v.is<double>()) {
    std::string s = fmt::format("{}", v.real());
    return a.extra == Extra::kNone && s.find_first_of(".e") == s.npos ? s + ".0" : s;
  }
  if (v.is<std::string>()) return fmt::format("\"{}\"", v.string());
  if (v.is<DType>()) return v.dtype() == DType::kInt32 ? "DType::kInt32" : "DType::kFloat32";
  if (v.is<ir::Attr::Ints>())
    return v.ints().size() == 1 ? fmt::format("{}", v.ints()[0]) : braces(v.ints());
  return braces(v.floats());
}

// The C++ name of an argument that is published under a keyword.
std::string safe(const std::string& name) { return name == "operator" ? name + "_" : name; }

// ("int64_t groups = 1, …", "groups, …").
std::pair<std::string, std::string> parameters(const Signature& s) {
  std::string declared, passed;
  const auto& specs = s.specs();
  size_t first = specs.size();
  while (first > 0 && specs[first - 1].has_default) --first;
  for (size_t i = 0; i < specs.size(); ++i) {
    const ArgSpec& a = specs[i];
    const char* comma = i ? ", " : "";
    std::string name = safe(a.name);
    declared += fmt::format("{}{} {}", comma, type_of(a), name);
    if (i >= first) declared += " = " + literal(a);
    bool maybe = a.kind == AttrKind::kTensor && a.extra == Extra::kNone;
    passed += comma + (maybe ? fmt::format("{0} ? Arg({0}) : Arg()", name) : name);
  }
  return {declared, passed};
}

void print_layers() {
  for (const LayerDef* d : all_layers()) {
    auto [declared, passed] = parameters(*signature_of(*d));
    fmt::print("// {}\ninline CellPtr {}({}) {{ return make(\"{}\", {{{}}}); }}\n\n", d->doc,
               snake_case(d->name), declared, d->name, passed.empty() ? "" : passed);
  }
}

void print_optimizers() {
  for (const OptimizerDef* d : all_optimizers()) {
    if (!d->update) continue;
    auto [declared, passed] = parameters(*signature_of(*d));
    for (const char* params : {"std::vector<Parameter>", "std::vector<ParamGroup>"}) {
      fmt::print(
          "// {}\ninline OptimizerPtr {}({} params, {}) {{\n  return make_optimizer(\"{}\", "
          "std::move(params), {{{}}});\n}}\n\n",
          d->doc, snake_case(d->name), params, declared, d->name, passed);
    }
  }
}

void print_metrics() {
  for (const MetricDef* d : all_metrics()) {
    auto [declared, passed] = parameters(*signature_of(*d));
    fmt::print("// {}\ninline MetricPtr {}({}) {{ return make_metric(\"{}\", {{{}}}); }}\n\n",
               d->doc, snake_case(d->name) + "_metric", declared, d->name, passed);
  }
}

}  // namespace
}  // namespace mycel::nn

int main() {
  fmt::print(
      "// Generated from the records of layers, optimizers and metrics: one function each. Do not "
      "edit.\n"
      "#pragma once\n\n#include \"nn/layer.h\"\n#include \"nn/metric.h\"\n#include "
      "\"nn/optimizer.h\"\n\n"
      "namespace mycel::nn {{\n\n");
  mycel::nn::print_layers();
  mycel::nn::print_optimizers();
  mycel::nn::print_metrics();
  fmt::print("}}  // namespace mycel::nn\n");
}
