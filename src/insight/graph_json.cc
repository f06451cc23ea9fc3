// Graphs for the Graph page: an array of nodes in order, an operand written [node, result].
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "insight/recorder.h"
#include "ir/function.h"
#include "ir/phase.h"
#include "runtime/plan.h"

namespace mycel::insight {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const ir::Attr& a) {
  if (a.is<bool>()) return a.boolean() ? "true" : "false";
  if (a.is<int64_t>()) return fmt::format("{}", a.integer());
  if (a.is<double>()) return fmt::format("{}", a.real());
  if (a.is<std::string>()) return a.string();
  if (a.is<ir::Attr::Ints>()) {
    std::string out;
    for (int64_t v : a.ints()) out += fmt::format("{}{}", out.empty() ? "" : ", ", v);
    return "[" + out + "]";
  }
  if (a.is<DType>()) return std::string(name_of(a.dtype()));
  if (a.is<Tensor>()) return a.tensor() ? a.tensor().describe() : "";
  if (a.is<ir::FunctionPtr>()) return "@" + a.function()->name;
  return "";
}

Json json_of(const ir::Graph& g) {
  Json out;
  out["name"] = g.name();
  Json& nodes = out["nodes"] = Json::array();
  for (const ir::Node& n : g.nodes()) {
    Json node;
    node["op"] = n.is_param() ? "parameter" : n.op->name;
    if (!n.name.empty()) node["name"] = n.name;
    Json inputs = Json::array();
    for (const ir::Value& v : n.inputs) {
      if (v) inputs.push_back({v.node->id, v.index});
    }
    if (!inputs.empty()) node["in"] = inputs;
    Json types = Json::array();
    for (const ir::Type& t : n.types) types.push_back(t.str());
    node["types"] = types;
    if (ir::has_line(n.loc)) node["at"] = ir::loc_text(n.loc);
    Json attrs = Json::object(), regions = Json::array();
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      const ir::Attr& a = n.attrs[i];
      if (a.is<ir::GraphPtr>() && a.graph()) {
        regions.push_back(json_of(*a.graph()));
      } else if (std::string text = text_of(a); !text.empty()) {
        attrs[n.op->attrs[i].name] = text;
      }
    }
    if (!attrs.empty()) node["attrs"] = attrs;
    if (!regions.empty()) node["regions"] = regions;
    nodes.push_back(std::move(node));
  }
  Json& results = out["results"] = Json::array();
  for (const ir::Value& v : g.results()) results.push_back({v.node->id, v.index});
  return out;
}

}  // namespace

std::string passes_json(const ir::Graph& graph) {
  constexpr size_t kSmall = 500;  // nodes of a graph that is kept after every pass
  struct Pass {
    std::string name;
    std::map<std::string, int64_t> ops;
    size_t nodes = 0;
    Json graph;
  };
  std::vector<Pass> passes;
  const auto count = [](const auto& self, const ir::Graph& g, Pass* p) -> void {
    for (const ir::Node& n : g.nodes()) {
      ++p->nodes;
      if (!n.is_param()) ++p->ops[n.op->name];
      for (size_t i = 0; i < n.attrs.size(); ++i) {
        if (n.attrs[i].is<ir::GraphPtr>() && n.attrs[i].graph()) self(self, *n.attrs[i].graph(), p);
      }
    }
  };
  const bool small = graph.size() <= kSmall;
  auto last = runtime::optimized(graph, {}, [&](const char* name, const ir::Graph& g) {
    Pass p{.name = name};
    count(count, g, &p);
    if (!passes.empty() && passes.back().nodes == p.nodes && passes.back().ops == p.ops) return;
    if (small) p.graph = json_of(g);
    passes.push_back(std::move(p));
  });
  passes.back().graph = json_of(*last);
  Json out = Json::array();
  for (Pass& p : passes) {
    Json one = {{"name", p.name}, {"nodes", p.nodes}, {"ops", p.ops}};
    if (!p.graph.is_null()) one["graph"] = std::move(p.graph);
    out.push_back(std::move(one));
  }
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string graph_json(const ir::Graph& graph) {
  return json_of(graph).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace mycel::insight
