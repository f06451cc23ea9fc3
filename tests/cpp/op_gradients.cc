// Derivative columns: gradients against central differences of the op in float64, gradients of
// gradients against differences of the gradient. Both are compared along random directions.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "op_checks.h"
#include "op_numbers.h"
#include "runtime/dispatch.h"
#include "runtime/transforms.h"

namespace mycel::op_cases {
namespace {

constexpr double kStep = 1e-6;

bool differentiable(DType d) { return is_float(d) || is_complex(d); }

// The float operands of a case and the rest that stays fixed.
struct Problem {
  const Case& c;
  std::vector<size_t> wrt;
  Tensors args;   // the operands in `wrt`
  Tensors seeds;  // one per differentiable result

  explicit Problem(const Case& the_case) : c(the_case) {
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      if (!c.inputs[i] || !differentiable(c.inputs[i].dtype()) ||
          c.group->no_grad.count(c.spec(i).name))
        continue;
      wrt.push_back(i);
      args.push_back(c.inputs[i]);
    }
    if (wrt.empty()) return;
    uint64_t seed = c.seed + 101;
    for (const Tensor& y : call(args)) seeds.push_back(noise(y.dtype(), y.shape(), seed += 17));
  }

  // The differentiable results for other values of the operands.
  Tensors call(std::span<const Tensor> values) const {
    Tensors all = c.inputs;
    for (size_t k = 0; k < wrt.size(); ++k) all[wrt[k]] = values[k];
    Tensors kept;
    for (const Tensor& y : runtime::call(*c.op, all, c.attrs)) {
      if (differentiable(y.dtype())) kept.push_back(y);
    }
    return kept;
  }

  // Gradients of sum(seeds . results) at `values`.
  Tensors gradients(std::span<const Tensor> values, std::span<const Tensor> with_seeds) const {
    runtime::GradOptions o;
    o.wrt.clear();
    for (size_t k = 0; k < wrt.size(); ++k) o.wrt.push_back(static_cast<int>(k));
    o.seeds.assign(with_seeds.begin(), with_seeds.end());
    return runtime::value_and_grad([this](std::span<const Tensor> v) { return call(v); }, values, o)
        .inputs;
  }
};

std::string why_without(const OpCases& all) {
  if (all.op->def.grad.none) return all.op->def.grad.none;
  return all.op->def.side_effect ? "it has a side effect" : "";
}

// The directional derivative by central differences of `value` against dot(gradient, direction).
template <typename F>
std::string compare_slope(F&& value, const Tensors& at, const Tensors& gradient, size_t k,
                          uint64_t seed, double tolerance) {
  if (!(gradient[k].shape() == at[k].shape()) || gradient[k].dtype() != at[k].dtype()) {
    return fmt::format("gradient is {}, the operand {}", gradient[k].describe(), at[k].describe());
  }
  Tensor v = noise(at[k].dtype(), at[k].shape(), seed);
  Tensors there = at;
  there[k] = moved(at[k], v, kStep);
  double up = value(there);
  there[k] = moved(at[k], v, -kStep);
  double down = value(there);
  double slope = (up - down) / (2 * kStep), mine = dot(gradient[k], v);
  // Differences of numbers of this size lose that much.
  double noise_floor = 1e-15 * (std::fabs(up) + std::fabs(down)) / kStep;
  double allowed =
      tolerance * std::max({1.0, std::fabs(slope), dot_size(gradient[k], v)}) + 4 * noise_floor;
  if (std::fabs(slope - mine) <= allowed) return "";
  return fmt::format("{} by the gradient, {} by differences (allowed {:.2g})", mine, slope,
                     allowed);
}

double projected(const Tensors& a, const Tensors& b) {
  double sum = 0;
  for (size_t j = 0; j < a.size(); ++j) sum += dot(a[j], b[j]);
  return sum;
}

}  // namespace

void check_grad(const OpCases& all, bool brief, Report& r) {
  r.why_not = why_without(all);
  if (!r.why_not.empty()) return;
  for (const Case* c : cases_for("grad", all, brief, r)) {
    if (c->special()) {
      r.why_not = "values hold inf or nan";
      continue;
    }
    try {
      Problem p(*c);
      if (p.wrt.empty() || p.seeds.empty()) {
        r.why_not = p.wrt.empty() ? "no differentiable operand" : "no differentiable result";
        continue;
      }
      Tensors g = p.gradients(p.args, p.seeds);
      for (size_t k = 0; k < p.wrt.size(); ++k) {
        auto value = [&](const Tensors& at) { return projected(p.seeds, p.call(at)); };
        r.check(fmt::format("{}gradient of operand {}", c->text, c->spec(p.wrt[k]).name),
                compare_slope(value, p.args, g, k, c->seed + 7 * k + 3, c->group->fd_tolerance));
      }
    } catch (const std::exception& e) {
      r.check(c->text + "gradient", e.what());
    }
  }
}

void check_grad2(const OpCases& all, bool brief, Report& r) {
  r.why_not = why_without(all);
  if (!r.why_not.empty()) return;
  for (const Case* c : cases_for("grad2", all, brief, r)) {
    if (c->special()) {
      r.why_not = "values hold inf or nan";
      continue;
    }
    try {
      Problem p(*c);
      if (p.wrt.empty() || p.seeds.empty()) {
        r.why_not = p.wrt.empty() ? "no differentiable operand" : "no differentiable result";
        continue;
      }
      // (operands, seeds) -> gradients is itself a function to differentiate, in all its arguments.
      size_t operands = p.args.size();
      auto inner = [&](std::span<const Tensor> v) {
        return p.gradients(v.subspan(0, operands), v.subspan(operands));
      };
      Tensors at = p.args;
      at.insert(at.end(), p.seeds.begin(), p.seeds.end());
      Tensors weights;
      uint64_t seed = c->seed + 501;
      for (const Tensor& t : p.args) weights.push_back(noise(t.dtype(), t.shape(), seed += 13));
      runtime::GradOptions o;
      o.wrt.clear();
      for (size_t k = 0; k < at.size(); ++k) o.wrt.push_back(static_cast<int>(k));
      o.seeds = weights;
      Tensors g = runtime::value_and_grad(inner, at, o).inputs;
      for (size_t k = 0; k < at.size(); ++k) {
        std::string which =
            k < operands ? c->spec(p.wrt[k]).name : fmt::format("dy{}", k - operands);
        auto value = [&](const Tensors& v) { return projected(weights, inner(v)); };
        r.check(fmt::format("{}second gradient, by {}", c->text, which),
                compare_slope(value, at, g, k, c->seed + 9 * k + 5, 4 * c->group->fd_tolerance));
      }
    } catch (const std::exception& e) {
      r.check(c->text + "second gradient", e.what());
    }
  }
}

}  // namespace mycel::op_cases
