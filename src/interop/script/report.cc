#include "interop/script/report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mycel::interop::script {
namespace {

double share(int part, int whole) { return whole ? 100.0 * part / whole : 100.0; }

}  // namespace

void Facts::fill(const Matched& m, const Script& s, const Recovered& r, const std::string& text,
                 int64_t weights) {
  summary.network = s.network;
  summary.nodes = m.nodes;
  summary.in_layers = m.in_layers;
  summary.classes = s.class_count;
  summary.weights = weights;
  summary.lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  instances = s.instances;
  bool batch_norm = false, dropout = false;
  for (const Unit& u : m.network.units) {
    switch (u.kind) {
      case Unit::Kind::kLayer:
        ++summary.layers;
        rows.push_back({u.from, u.callee, "layer"});
        batch_norm = batch_norm || u.callee.starts_with("nn.BatchNorm");
        break;
      case Unit::Kind::kParameter:
        ++summary.parameters;
        rows.push_back({u.from, "Parameter", "parameter"});
        break;
      default:
        ++summary.calls;
        rows.push_back({u.from, u.callee, "call"});
        if (u.internal) internal.push_back(u.from + ": " + u.callee);
    }
  }
  int convolutions = 0, others = 0;
  for (const Unit& u : m.network.units) {
    if (u.callee == "nn.Conv2d") {
      bool bias = std::ranges::any_of(u.stored, [](const Stored& t) { return t.role == "bias"; });
      ++(bias ? convolutions : others);
    }
  }
  for (const Origin& o : r.source.origins) dropout = dropout || o.op == "Dropout";
  auto& notes = summary.notes;
  if (batch_norm)
    notes.push_back("Batch normalizations use batch statistics in training mode again.");
  if (convolutions > 1 && !batch_norm)
    notes.push_back(
        "No batch normalization is left in the file: exporters fold it into the biases "
        "of convolutions, which cannot be undone.");
  if (convolutions > 1 && batch_norm)
    notes.push_back(
        fmt::format("{} convolutions have a bias: where a batch normalization was folded "
                    "into it, that cannot be undone.",
                    convolutions));
  if (dropout)
    notes.push_back(
        "Dropout nodes do nothing in evaluation and are left out: put nn.Dropout where "
        "training needs it.");
  for (const std::string& f : r.fixed) notes.push_back("Fixed: " + f + ".");
  for (const Extent& e : r.extents) {
    bool fixed = std::ranges::any_of(
        r.fixed, [&](const std::string& f) { return f.starts_with(e.name + " is "); });
    if (!fixed) notes.push_back("Open: " + e.name + " may be anything.");
  }
}

std::string report_markdown(const Facts& f) {
  std::string s = fmt::format("# {} as a script\n\n", f.source);
  if (!f.refused.empty()) return s + "There is no script: " + f.refused + "\n";
  const ScriptReport& r = f.summary;
  s += fmt::format(
      "`{}`: {} lines, {} classes, {} layers, {} calls of ops, {} parameters of its own, {} "
      "numbers in the "
      "weight file.\n\nOf {} nodes of the graph {} became layers of `mycel.nn` ({:.1f}%), {} calls "
      "of "
      "public ops ({:.1f}%), {} calls of internal ops ({:.1f}%); none is missing: coverage "
      "100%.\n\n",
      r.network, r.lines, r.classes, r.layers, r.calls, r.parameters, r.weights, r.nodes,
      r.in_layers, share(r.in_layers, r.nodes),
      r.nodes - r.in_layers - static_cast<int>(f.internal.size()),
      share(r.nodes - r.in_layers - static_cast<int>(f.internal.size()), r.nodes),
      f.internal.size(), share(static_cast<int>(f.internal.size()), r.nodes));
  for (const std::string& n : r.notes) s += "- " + n + "\n";
  if (!f.internal.empty()) {
    s += "\n## Ops without a public name\n\n";
    for (const std::string& i : f.internal) s += "- " + i + "\n";
  }
  if (!f.instances.empty()) {
    s += "\n## Classes\n\n| class | instances |\n|---|---|\n";
    for (const auto& [name, n] : f.instances) s += fmt::format("| `{}` | {} |\n", name, n);
  }
  s += "\n## Nodes\n\n| from | became |\n|---|---|\n";
  for (const Facts::Row& row : f.rows) s += fmt::format("| {} | `{}` |\n", row.from, row.to);
  return s;
}

std::string report_json(const Facts& f) {
  nlohmann::ordered_json j;
  j["source"] = f.source;
  j["converted"] = f.refused.empty();
  if (!f.refused.empty()) {
    j["reason"] = f.refused;
    return j.dump(2) + "\n";
  }
  const ScriptReport& r = f.summary;
  j["network"] = r.network;
  j["lines"] = r.lines;
  j["classes"] = r.classes;
  j["layers"] = r.layers;
  j["calls"] = r.calls;
  j["parameters"] = r.parameters;
  j["numbers"] = r.weights;
  j["nodes"] = r.nodes;
  j["nodes_in_layers"] = r.in_layers;
  j["percent_in_layers"] = share(r.in_layers, r.nodes);
  j["coverage_percent"] = 100.0;
  j["notes"] = r.notes;
  j["internal"] = f.internal;
  j["instances"] = f.instances;
  for (const Facts::Row& row : f.rows)
    j["map"].push_back({{"from", row.from}, {"to", row.to}, {"kind", row.kind}});
  return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace mycel::interop::script
