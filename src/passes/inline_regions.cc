#include <algorithm>
#include <span>
#include <vector>

#include "ir/structural.h"
#include "passes/control.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

namespace mycel::passes {
namespace {

bool same_types(const ir::Node& n, const ir::ValueList& by) {
  for (size_t i = 0; i < by.size(); ++i) {
    if (!(by[i].type() == n.types[i])) return false;
  }
  return true;
}

// The region that runs whatever happens, or null.
const ir::Graph* taken(const ir::Node& n, const ir::Value& predicate) {
  if (auto known = uniform(predicate)) return &region(n, *known != 0 ? 0 : 1);
  return ir::structurally_equal(region(n, 0), region(n, 1)) ? &region(n, 0) : nullptr;
}

// Results of a branch may be typed closer than the cond, which covers both: then it stays.
bool fits(const ir::Node& n, const ir::Graph& branch) {
  for (size_t i = 0; i < n.types.size(); ++i) {
    if (!(branch.results()[i].type() == n.types[i])) return false;
  }
  for (size_t i = 0; i < branch.params().size(); ++i) {
    if (!(branch.params()[i].type() == n.inputs[i + 1].type())) return false;
  }
  return true;
}

bool never_begins(const ir::Node& n) {
  auto known = uniform(region(n, 0).results()[0]);
  return known && *known == 0;
}

// Copies the nodes of `g` into `out`, branches that are taken in place of their cond; what comes in
// may decide conds inside them in turn.
class Inliner {
 public:
  Inliner(const ir::Graph& g, ir::Graph& out) : g_(g), out_(out), first_(g.size()) {
    size_t values = 0;
    for (const ir::Node& n : g.nodes()) {
      first_[n.id] = values;
      values += n.types.size();
    }
    map_.resize(values);
  }

  ir::ValueList run(std::span<const ir::Value> args) {
    for (size_t i = 0; i < args.size(); ++i) map_[first_[g_.params()[i].node->id]] = args[i];
    for (const ir::Node& n : g_.nodes()) {
      if (!n.is_param()) place(n);
    }
    return translate(g_.results());
  }

 private:
  ir::ValueList translate(std::span<const ir::Value> values) const {
    ir::ValueList out;
    out.reserve(values.size());
    for (const ir::Value& v : values)
      out.push_back(v ? map_[first_[v.node->id] + v.index] : ir::Value());
    return out;
  }

  void place(const ir::Node& n) {
    ir::ValueList in = translate(n.inputs);
    ir::Value* by = map_.data() + first_[n.id];
    const ir::Graph* branch = is_cond(n) ? taken(n, in[0]) : nullptr;
    if (branch && fits(n, *branch)) {
      std::ranges::copy(Inliner(*branch, out_).run(std::span(in).subspan(1)), by);
    } else if (is_while(n) && never_begins(n) && same_types(n, in)) {
      std::ranges::copy(in, by);
    } else {
      ir::Node* made = out_.add_typed(*n.op, std::move(in), n.attrs, n.types, n.loc);
      for (uint32_t j = 0; j < n.types.size(); ++j) by[j] = made->out(j);
    }
  }

  const ir::Graph& g_;
  ir::Graph& out_;
  std::vector<size_t> first_;  // by node id: where its results are in map_
  std::vector<ir::Value> map_;
};

GraphOut inline_level(const ir::Graph& g) {
  auto out = std::make_shared<ir::Graph>(g.name());
  std::vector<ir::Value> params;
  for (const ir::Value& p : g.params()) params.push_back(out->add_param(p.type(), p.node->name));
  ir::ValueList results = Inliner(g, *out).run(params);
  out->set_results({results.begin(), results.end()});
  return out;
}

}  // namespace

GraphOut inline_regions(const ir::Graph& g) { return at_every_level(g, inline_level); }

}  // namespace mycel::passes
