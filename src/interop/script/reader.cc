#include "interop/script/reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tensor/element.h"

namespace mycel::interop::script {
namespace {

std::vector<std::string> pieces(const std::string& name) {
  std::vector<std::string> out(1);
  for (char c : name) {
    if (c == '.' || c == '/')
      out.emplace_back();
    else
      out.back() += c;
  }
  std::erase(out, "");
  return out;
}

// Names that tools make up: "onnx::Conv_193", "val_71", "constant.0", "_0".
bool tells_nothing(const std::string& name) {
  return name.find("::") != name.npos || name.starts_with("val_") ||
         name.starts_with("constant.") || name.starts_with("_") || name.empty() ||
         std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

Path path_of_weight(const std::string& name) {
  if (tells_nothing(name)) return {};
  std::vector<std::string> p = pieces(name);
  p.pop_back();
  return p;
}

std::string last_of_weight(const std::string& name) {
  if (tells_nothing(name)) return "";
  std::vector<std::string> p = pieces(name);
  std::string last = p.empty() ? "" : p.back();
  return last.substr(0, last.find(':'));
}

Reader::Reader(const Recovered& r) : from(r) {
  for (const Node& n : graph().nodes()) {
    first_.push_back(static_cast<size_t>(values_));
    values_ += static_cast<ValueId>(n.types.size());
  }
  claimed_.assign(graph().size(), false);
  origin_of_.assign(graph().size(), -1);
  for (size_t i = 0; i < r.source.origins.size(); ++i) {
    for (uint32_t k = r.source.origins[i].begin; k < r.source.origins[i].end; ++k)
      origin_of_[k] = static_cast<int>(i);
  }
  find_live();
  find_folded();
}

void Reader::find_live() {
  live_.assign(graph().size(), false);
  for (const Value& v : graph().results()) live_[v.node->id] = true;
  for (size_t i = graph().size(); i-- > 0;) {
    const Node& n = graph().nodes()[i];
    if (!live_[i]) continue;
    for (const Value& v : n.inputs) {
      if (v) live_[v.node->id] = true;
    }
  }
}

void Reader::find_folded() {
  const ImportedGraph& s = from.source;
  size_t n = graph().size();
  folded_.assign(n, false);
  weights_.assign(n, {});
  std::vector<bool> refused(n, false);
  for (bool again = true; again;) {
    again = false;
    for (const Node& node : graph().nodes()) {
      uint32_t i = node.id;
      weights_[i].clear();
      if (node.is_param()) {
        folded_[i] = !is_input(node);
        size_t w = i - s.inputs.size();
        bool weight = folded_[i] && w < s.weights.size();
        if (weight && tells_nothing(s.weights[w].first))
          weight = is_float(s.weights[w].second.dtype()) && s.weights[w].second.size() > 1;
        if (weight) weights_[i] = {static_cast<int>(w)};
        continue;
      }
      folded_[i] = !refused[i] && !node.op->holds_code;
      for (uint32_t k = 0; k < node.types.size(); ++k)
        folded_[i] = folded_[i] && static_cast<bool>(s.values[s.first_value[i] + k]);
      for (const Value& v : node.inputs) {
        if (!v) continue;
        folded_[i] = folded_[i] && folded_[v.node->id] && !from.rows.count(v.node->id);
        weights_[i].insert(weights_[v.node->id].begin(), weights_[v.node->id].end());
      }
      if (!folded_[i]) weights_[i].clear();
    }
    // Where the outside reads folded values, and which weights are read through more than one.
    std::vector<std::set<uint32_t>> read_as(s.weights.size());
    auto reads = [&](const Value& v) {
      if (!v || !folded_[v.node->id]) return;
      for (int w : weights_[v.node->id]) read_as[static_cast<size_t>(w)].insert(v.node->id);
    };
    for (const Node& node : graph().nodes()) {
      if (node.is_param() || folded_[node.id] || !live_[node.id]) continue;
      for (const Value& v : node.inputs) reads(v);
    }
    for (const Value& v : graph().results()) reads(v);
    for (const Node& node : graph().nodes()) {
      if (node.is_param() || !folded_[node.id] || weights_[node.id].empty()) continue;
      for (int w : weights_[node.id]) {
        bool large = s.weights[static_cast<size_t>(w)].second.rank() >= 2;
        if (large && read_as[static_cast<size_t>(w)].size() > 1) refused[node.id] = again = true;
      }
    }
  }
  uses_.assign(static_cast<size_t>(values_), 0);
  for (const Node& node : graph().nodes()) {
    if (!live_[node.id] || node.is_param() || folded_[node.id]) continue;
    for (const Value& v : node.inputs) {
      if (v) ++uses_[static_cast<size_t>(id(v))];
    }
  }
  for (const Value& v : graph().results()) uses_[static_cast<size_t>(id(v))] += 2;
}

Tensor Reader::tensor(const Value& v) const {
  const ImportedGraph& s = from.source;
  return s.values[s.first_value[v.node->id] + v.index];
}

bool Reader::statistic(const Value& v) const {
  const auto& w = weights_of(v);
  return std::ranges::any_of(w,
                             [&](int i) { return from.source.statistics[static_cast<size_t>(i)]; });
}

std::optional<double> Reader::number(const Value& v) const {
  if (!folded(v) || !weights_of(v).empty()) return {};
  Tensor t = tensor(v);
  if (!t || t.size() < 1 || t.size() > (1 << 16) || is_complex(t.dtype())) return {};
  double first = element_as_double(t.raw(), t.dtype(), 0);
  for (int64_t i = 1; i < t.size(); ++i) {
    if (element_as_double(t.raw(), t.dtype(), i) != first) return {};
  }
  return first;
}

bool Reader::is_number(const Value& v, double want, double tolerance) const {
  auto n = number(v);
  return n && std::abs(*n - want) <= tolerance * std::max(1.0, std::abs(want));
}

const Node* Reader::maker(const Value& v, const char* op) const {
  if (!v || v.node->is_param() || folded(v) || claimed(*v.node) || v.node->op->name != op)
    return nullptr;
  return v.node;
}

const Node* Reader::inner(const Value& v, const char* op) const {
  const Node* n = maker(v, op);
  return n && uses(v) == 1 ? n : nullptr;
}

const Origin* Reader::origin(const Node& n) const {
  int at = origin_of_[n.id];
  return at < 0 ? nullptr : &from.source.origins[static_cast<size_t>(at)];
}

Path Reader::path(const Node& n, const Value& weight) const {
  const Origin* o = origin(n);
  // Tools merge tensors that are equal: the name of one that others read too tells nothing.
  bool own = weight && is_weight(weight) && (uses(weight) == 1 || !o || o->scope.empty());
  if (own) {
    for (int w : weights_of(weight)) {
      Path p = path_of_weight(from.source.weights[static_cast<size_t>(w)].first);
      if (!p.empty()) return p;
    }
  }
  return o ? o->scope : Path();
}

std::string Reader::title(const Node& n) const {
  if (const Origin* o = origin(n)) return o->name.empty() ? o->op : o->op + " " + o->name;
  return n.loc ? fmt::format("{} at {}", n.op->name, ir::loc_text(n.loc)) : n.op->name;
}

bool Reader::depends(const Node& n) const {
  auto it = from.sizes.lower_bound({n.id, -1, -1});
  return it != from.sizes.end() && std::get<0>(it->first) == n.id;
}

}  // namespace mycel::interop::script
