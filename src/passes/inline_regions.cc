#include "ir/structural.h"
#include "passes/control.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

namespace mycel::passes {
namespace {

bool same_types(const ir::Node& n, const std::vector<ir::Value>& by) {
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

GraphOut inline_level(const ir::Graph& g) {
  Rewrite r(g);
  for (const ir::Node& n : g.nodes()) {
    if (is_cond(n)) {
      std::vector<ir::Value> in = r.operands(n);
      const ir::Graph* branch = taken(n, in[0]);
      if (branch && fits(n, *branch)) {
        in.erase(in.begin());
        r.replace(n, ir::inline_graph(*branch, r.out(), in));
        continue;
      }
    }
    if (is_while(n) && never_begins(n) && same_types(n, r.operands(n))) {
      r.replace(n, r.operands(n));
      continue;
    }
    r.copy(n);
  }
  return r.finish();
}

}  // namespace

GraphOut inline_regions(const ir::Graph& g) { return at_every_level(g, inline_level); }

}  // namespace mycel::passes
