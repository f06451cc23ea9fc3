#include "graph_checks.h"

#include <cmath>

#include <fmt/format.h>

#include "backend/cpu/kernel.h"
#include "base/error.h"
#include "base/random.h"
#include "ir/verify.h"
#include "op_numbers.h"
#include "passes/pass.h"
#include "runtime/dispatch.h"

namespace mycel::graph_checks {
namespace {

Tensors evaluate(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  return runtime::call(op, in, attrs);
}

bool accepts(const ir::Op& op, std::span<const ir::Type* const> in, std::span<const ir::Type> out,
             const ir::Attrs& attrs) {
  return cpu::has_listed_kernel({op, in, out, attrs});
}

constexpr NamedPass kPasses[] = {
    {"expand_composites", passes::expand_composites},
    {"expand_to_kernels", passes::expand_to_kernels},
    {"simplify_algebra", passes::simplify_algebra},
    {"fold_constants", [](const ir::Graph& g) { return passes::fold_constants(g, evaluate); }},
    {"inline_regions", passes::inline_regions},
    {"hoist_loop_invariants", passes::hoist_loop_invariants},
    {"merge_duplicates", passes::merge_duplicates},
    {"merge_gradient_sums", passes::merge_gradient_sums},
    {"eliminate_dead_code", passes::eliminate_dead_code},
    {"channels_last", passes::channels_last},
    {"fuse_attention", passes::fuse_attention},
    {"fold_scales",
     [](const ir::Graph& g) {
       return passes::fold_scales(g, std::vector<bool>(g.params().size(), true));
     }},
    {"absorb_casts", passes::absorb_casts},
    {"fuse_norm_gradients", passes::fuse_norm_gradients},
    {"recompute", [](const ir::Graph& g) { return passes::recompute(g, 64); }},
    {"fuse_elementwise", passes::fuse_elementwise},
    {"join_epilogues", [](const ir::Graph& g) { return passes::join_epilogues(g, accepts); }},
    {"optimize", [](const ir::Graph& g) { return passes::optimize(g, evaluate, accepts); }},
};

}  // namespace

std::span<const NamedPass> all_passes() { return kPasses; }

std::shared_ptr<ir::Graph> run_pass(const std::string& name, const ir::Graph& g) {
  for (const NamedPass& p : kPasses) {
    if (name == p.name) return p.run(g);
  }
  value_error("no pass is named '{}'", name);
}

Tensors inputs_for(const ir::Graph& g, uint64_t seed) {
  Tensors in;
  Philox draw(seed, 77);
  for (const ir::Value& p : g.params()) {
    Shape s = p.shape();
    for (int d = 0; d < s.rank(); ++d) {
      if (s[d] == kUnknownDim) s.set(d, 6);
    }
    Tensor t = Tensor::empty(p.dtype(), s);
    for (int64_t i = 0; i < t.size(); ++i) {
      if (is_float(p.dtype())) {
        set_element(t.mutable_raw(), p.dtype(), i, draw.uniform() * 4 - 2);
      } else {
        int64_t below = is_bool(p.dtype()) ? 2 : 3;
        set_element(t.mutable_raw(), p.dtype(), i, static_cast<int64_t>(draw.below(below)));
      }
    }
    in.push_back(t);
  }
  return in;
}

std::string differ(const Tensors& got, const Tensors& want, double tolerance) {
  if (got.size() != want.size())
    return fmt::format("{} results, expected {}", got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].describe() != want[i].describe())
      return fmt::format("result {} is {}, expected {}", i, got[i].describe(), want[i].describe());
    if (std::isinf(tolerance)) continue;
    auto a = op_cases::numbers_of(got[i]), b = op_cases::numbers_of(want[i]);
    for (size_t k = 0; k < a.size(); ++k) {
      bool same = a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k])) ||
                  std::fabs(a[k] - b[k]) <= tolerance * std::max(1.0, std::fabs(b[k]));
      if (!same) return fmt::format("result {} element {} is {}, expected {}", i, k, a[k], b[k]);
    }
  }
  return "";
}

std::string check_pass(const NamedPass& pass, const ir::Graph& g, uint64_t seed, double tolerance) {
  auto once = pass.run(g);
  if (std::string problem = ir::problem_of(*once); !problem.empty())
    return fmt::format("{} made an unsound graph: {}", pass.name, problem);
  auto twice = pass.run(*once);
  if (twice->str() != once->str())
    return fmt::format("{} is not idempotent:\n{}\nthen\n{}", pass.name, once->str(), twice->str());
  Tensors in = inputs_for(g, seed);
  std::string wrong = differ(runtime::run_graph(*once, in), runtime::run_graph(g, in), tolerance);
  return wrong.empty()
             ? ""
             : fmt::format("{} changed the results: {}\n{}", pass.name, wrong, once->str());
}

}  // namespace mycel::graph_checks
