#include "interop/script/recover_onnx.h"

#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "interop/onnx.h"

namespace mycel::interop::script {
namespace {

constexpr int64_t kBatch = 3, kImage = 224, kLength = 16;
constexpr int64_t kMore = 2;  // by how much an extent is changed to see what follows from it

std::string called(const OnnxPort& p, size_t d) {
  if (d < p.symbols.size() && !p.symbols[d].empty()) return p.symbols[d];
  return d == 0 ? "batch" : fmt::format("{}_dim{}", p.name, d);
}

struct Ask {
  const OnnxModel& model;
  std::vector<std::vector<int64_t>> dims;  // of each input
  std::vector<Extent> extents;
  std::vector<std::vector<std::pair<int, int>>> places;  // of each extent: (input, dim)

  Tensors inputs(int changed) const {
    std::vector<std::vector<int64_t>> now = dims;
    if (changed >= 0) {
      for (auto [i, d] : places[static_cast<size_t>(changed)])
        now[static_cast<size_t>(i)][static_cast<size_t>(d)] += kMore;
    }
    Tensors out;
    for (size_t i = 0; i < now.size(); ++i)
      out.push_back(Tensor::abstract(model.inputs()[i].dtype, Shape(now[i])));
    return out;
  }
};

Ask ask_of(const OnnxModel& model, const std::map<std::string, Shape>& shapes, bool free_batch) {
  Ask ask{model, {}, {}, {}};
  std::map<std::string, int> by_name;
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    const OnnxPort& p = model.inputs()[i];
    if (!p.tensor)
      fail(ErrorKind::kUnsupported,
           "input '{}' is a {}; networks are converted whose inputs are "
           "tensors of known rank",
           p.name, p.type);
    std::vector<int64_t> dims = p.dims;
    auto given = shapes.find(p.name);
    if (given == shapes.end() && model.inputs().size() == 1) given = shapes.find("");
    if (given != shapes.end()) {
      bool fits = given->second.rank() == static_cast<int>(dims.size());
      for (size_t d = 0; fits && d < dims.size(); ++d)
        fits = dims[d] < 0 || dims[d] == given->second[static_cast<int>(d)];
      if (!fits)
        value_error("input '{}' is {}; the shape {} is given", p.name, p.type, given->second.str());
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      bool open = dims[d] < 0 || (free_batch && d == 0);
      if (given != shapes.end()) dims[d] = given->second[static_cast<int>(d)];
      if (!open) continue;
      std::string name = called(p, d);
      auto [it, fresh] = by_name.try_emplace(name, static_cast<int>(ask.extents.size()));
      if (fresh) {
        int64_t guess = d == 0 ? kBatch : dims.size() == 4 && d >= 2 ? kImage : kLength;
        if (given != shapes.end()) guess = dims[d];
        ask.extents.push_back({name, static_cast<int>(i), static_cast<int>(d), guess});
        ask.places.emplace_back();
      }
      auto e = static_cast<size_t>(it->second);
      dims[d] = ask.extents[e].base;
      ask.places[e].emplace_back(i, d);
    }
    ask.dims.push_back(std::move(dims));
  }
  for (const auto& [name, shape] : shapes) {
    bool known = name.empty() && model.inputs().size() == 1;
    for (const OnnxPort& p : model.inputs()) known = known || p.name == name;
    if (!known) value_error("a shape is given for '{}', which is no input", name);
  }
  return ask;
}

std::string label(const ImportedGraph& g, const ir::Node& n) {
  for (const Origin& o : g.origins) {
    if (n.id >= o.begin && n.id < o.end) return fmt::format("{} '{}'", o.op, o.name);
  }
  return n.op ? n.op->name : "a constant";
}

// Whether all rows along dim d hold the same bytes.
bool rows_alike(const Tensor& t, int d) {
  int64_t outer = t.shape().size(0, d), inner = t.shape().size(d + 1, t.rank()), n = t.dim(d);
  size_t bytes = static_cast<size_t>(inner) * size_of(t.dtype());
  const auto* p = static_cast<const char*>(t.raw());
  for (int64_t o = 0; o < outer; ++o) {
    const char* first = p + static_cast<size_t>(o * n) * bytes;
    for (int64_t k = 1; k < n; ++k) {
      if (std::memcmp(first, first + static_cast<size_t>(k) * bytes, bytes) != 0) return false;
    }
  }
  return true;
}

// What follows from extent e, from the graph of the model with that extent changed; "" or why the
// extent must be fixed.
std::string compare(Recovered& r, const ImportedGraph& other, int e) {
  const ImportedGraph& mine = r.source;
  if (mine.graph->size() != other.graph->size()) return "the nodes depend on it";
  int64_t base = r.extents[static_cast<size_t>(e)].base;
  // Parameters come in order; captured ones may lie between other nodes.
  size_t params = 0, first_captured = mine.inputs.size() + mine.weights.size();
  // Recurrent nodes become layers, whatever the loops inside.
  std::vector<bool> skipped(mine.graph->size(), false);
  for (const Origin& o : mine.origins) {
    for (uint32_t i = o.begin; i < o.end && (o.op == "LSTM" || o.op == "GRU"); ++i)
      skipped[i] = true;
  }
  auto sizes = r.sizes;
  auto dims = r.dims;
  auto rows = r.rows;
  for (size_t i = 0; i < mine.graph->size(); ++i) {
    const ir::Node &a = mine.graph->nodes()[i], &b = other.graph->nodes()[i];
    if (a.op != b.op || a.attrs.size() != b.attrs.size()) return "the nodes depend on it";
    auto number = [&](int attr, int at, int64_t x, int64_t y) {
      if (x == y) return true;
      if ((y - x) % kMore != 0) return false;
      Follows f{e, (y - x) / kMore, 0};
      f.plus = x - f.times * base;
      return sizes.emplace(std::tuple(a.id, attr, at), f).second;
    };
    for (size_t k = 0; k < a.attrs.size() && !skipped[i]; ++k) {
      const ir::Attr &x = a.attrs[k], &y = b.attrs[k];
      int at = static_cast<int>(k);
      if (x.is<int64_t>() && y.is<int64_t>()) {
        if (!number(at, 0, x.integer(), y.integer())) return "attributes of " + label(mine, a);
      } else if (x.is<ir::Attr::Ints>() && y.is<ir::Attr::Ints>()) {
        if (x.ints().size() != y.ints().size()) return "attributes of " + label(mine, a);
        for (size_t p = 0; p < x.ints().size(); ++p) {
          if (!number(at, static_cast<int>(p), x.ints()[p], y.ints()[p]))
            return "attributes of " + label(mine, a);
        }
      } else if (!x.is<ir::GraphPtr>() && !(x == y)) {
        return "attributes of " + label(mine, a);
      } else if (x.is<ir::GraphPtr>() && x.graph()->str() != y.graph()->str()) {
        return "the inside of " + label(mine, a);
      }
    }
    for (uint32_t j = 0; j < a.types.size(); ++j) {
      const Shape &x = a.types[j].shape, &y = b.types[j].shape;
      if (x.rank() != y.rank()) return "the rank of a result of " + label(mine, a);
      for (int d = 0; d < x.rank(); ++d) {
        if (x[d] != y[d] && x[d] == base && y[d] == base + kMore) dims[{a.id, j, d}] = e;
      }
    }
    if (!a.is_param() || params++ < first_captured) continue;
    size_t c = params - 1 - first_captured;
    const Tensor &x = mine.captured[c], &y = other.captured[c];
    int differs = -1, count = 0;
    for (int d = 0; d < x.rank(); ++d) {
      if (x.dim(d) != y.dim(d)) differs = d, ++count;
    }
    if (!count) {
      if (x.bytes() != y.bytes() || std::memcmp(x.raw(), y.raw(), x.bytes()) != 0)
        return "a constant of the file is computed from it";
      continue;
    }
    bool fine = count == 1 && x.dim(differs) == base && rows_alike(x, differs) &&
                rows.emplace(a.id, std::pair(differs, e)).second;
    if (!fine) return "a constant of the file has a shape that follows from it";
  }
  r.sizes = std::move(sizes);
  r.dims = std::move(dims);
  r.rows = std::move(rows);
  return "";
}

}  // namespace

Recovered recover_onnx(const std::string& path, const std::map<std::string, Shape>& shapes) {
  auto model = load_onnx(path);
  bool any_open = false;
  for (const OnnxPort& p : model->inputs()) {
    for (int64_t d : p.dims) any_open = any_open || d < 0;
  }
  // A file for one batch size often is one for any.
  for (bool free_batch : {!any_open, false}) {
    Ask ask = ask_of(*model, shapes, free_batch);
    Recovered r;
    try {
      r.source = model->import_graph(ask.inputs(-1));
    } catch (const UserError&) {
      if (free_batch) continue;
      throw;
    }
    r.extents = ask.extents;
    for (size_t e = 0; e < ask.extents.size(); ++e) {
      std::string why;
      try {
        why = compare(r, model->import_graph(ask.inputs(static_cast<int>(e))), static_cast<int>(e));
      } catch (const UserError& error) {
        why = error.message();
      }
      if (!why.empty())
        r.fixed.push_back(
            fmt::format("{} is {}: {}", ask.extents[e].name, ask.extents[e].base, why));
    }
    if (free_batch && !r.fixed.empty()) continue;
    return r;
  }
  throw UserError(ErrorKind::kUnsupported, "the model cannot be read for any extent of its inputs");
}

}  // namespace mycel::interop::script
