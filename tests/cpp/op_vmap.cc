// The vmap column: every op mapped over a batch against the op called once per example, with all
// operands batched and with each of them alone.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "op_checks.h"
#include "op_numbers.h"
#include "runtime/dispatch.h"
#include "runtime/vmap.h"

namespace mycel::op_cases {
namespace {

constexpr int64_t kExamples = 3;

Tensor stacked(const Tensors& rows) {
  Shape s{static_cast<int64_t>(rows.size())};
  for (int64_t d : rows[0].shape()) s.push_back(d);
  Tensor out = Tensor::empty(rows[0].dtype(), s);
  char* to = static_cast<char*>(out.mutable_raw());
  for (const Tensor& t : rows) {
    if (t.bytes()) std::copy_n(static_cast<const char*>(t.raw()), t.bytes(), to);
    to += t.bytes();
  }
  return out;
}

Tensor row(const Tensor& t, int64_t i) {
  Shape s(std::vector<int64_t>(t.shape().begin() + 1, t.shape().end()));
  return t.view(s, i * s.size());
}

// The operands of each example; where `batched` is not set, those of the case.
std::vector<Tensors> examples(const Case& c, const std::vector<bool>& batched) {
  std::vector<Tensors> out;
  for (int64_t e = 0; e < kExamples; ++e) {
    Case other = c;
    other.seed += static_cast<uint64_t>(e) * 1009;
    Tensors in = c.inputs;
    for (size_t i = 0; i < in.size(); ++i) {
      if (batched[i]) in[i] = other.remade(i, in[i].dtype(), in[i].shape());
    }
    out.push_back(std::move(in));
  }
  return out;
}

std::string compare(const Tensor& got, const Tensor& want, double tolerance) {
  if (got.dtype() != want.dtype() || !(got.shape() == want.shape())) {
    return fmt::format("{} instead of {}", got.describe(), want.describe());
  }
  int64_t parts = is_complex(got.dtype()) ? 2 : 1;
  DType d = got.dtype() == DType::kComplex64    ? DType::kFloat32
            : got.dtype() == DType::kComplex128 ? DType::kFloat64
                                                : got.dtype();
  for (int64_t i = 0; i < got.size() * parts; ++i) {
    double a = element_as_double(got.raw(), d, i), b = element_as_double(want.raw(), d, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)))) {
      return fmt::format("element {} is {}, alone it is {}", i, a, b);
    }
  }
  return "";
}

std::string check_batched(const Case& c, const std::vector<bool>& batched) {
  std::vector<Tensors> each = examples(c, batched);
  std::vector<Tensors> want;
  for (const Tensors& in : each) want.push_back(runtime::call(*c.op, in, c.attrs));
  for (const Tensors& w : want) {
    for (size_t j = 0; j < w.size(); ++j) {
      if (!(w[j].shape() == want[0][j].shape())) return "";  // no batch can hold them
    }
  }
  Tensors args;
  runtime::VmapOptions o;
  o.in_axes.clear();
  std::vector<size_t> place;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i]) continue;
    place.push_back(i);
    Tensors rows;
    for (const Tensors& in : each) rows.push_back(in[i]);
    args.push_back(batched[i] ? stacked(rows) : c.inputs[i]);
    o.in_axes.push_back(batched[i] ? std::optional<int>(0) : std::nullopt);
  }
  Tensors got = runtime::vmap(
      [&](std::span<const Tensor> x) {
        Tensors in(c.inputs.size());
        for (size_t k = 0; k < place.size(); ++k) in[place[k]] = x[k];
        return runtime::call(*c.op, in, c.attrs);
      },
      args, o);
  const double tolerance = c.group->in_float32 ? c.group->tolerance : 1e-10;
  for (size_t j = 0; j < got.size(); ++j) {
    for (int64_t e = 0; e < kExamples; ++e) {
      std::string text = compare(row(got[j], e), want[e][j], tolerance);
      if (!text.empty()) return fmt::format("result {} of example {}: {}", j, e, text);
    }
  }
  return "";
}

}  // namespace

std::set<std::string>& looped_ops() {
  static std::set<std::string> names;
  return names;
}

namespace {

// Whether the op, everything batched, runs once per example somewhere inside.
bool runs_in_a_loop(const Case& c) {
  ir::Graph g;
  std::vector<ir::Value> in;
  for (const Tensor& t : c.inputs) {
    in.push_back(t ? g.add_param(ir::type_of(t)) : ir::Value());
  }
  ir::Node* n = g.add(*c.op, in, c.attrs);
  std::vector<ir::Value> results;
  for (uint32_t j = 0; j < n->types.size(); ++j) results.push_back(n->out(j));
  g.set_results(results);
  return !autodiff::batch_graph(g, std::vector<bool>(g.params().size(), true), kExamples)
              .looped.empty();
}

}  // namespace

void check_vmap(const OpCases& all, bool brief, Report& r) {
  for (const Case* c : cases_for("vmap", all, brief, r)) {
    if (c->op->def.side_effect) {
      r.why_not = "it has a side effect";
      return;
    }
    std::vector<size_t> there;
    for (size_t i = 0; i < c->inputs.size(); ++i) {
      if (c->inputs[i]) there.push_back(i);
    }
    std::vector<std::vector<bool>> ways;
    if (!there.empty()) ways.emplace_back(c->inputs.size(), false);
    for (size_t i : there) ways[0][i] = true;
    for (size_t i : there) {
      if (there.size() < 2) break;
      ways.emplace_back(c->inputs.size(), false);
      ways.back()[i] = true;
    }
    if (!ways.empty() && runs_in_a_loop(*c)) looped_ops().insert(c->op->name);
    for (const auto& way : ways) {
      std::string text = c->text + " batched";
      for (size_t i : there) {
        if (way[i]) text += " " + c->spec(i).name;
      }
      try {
        r.check(text, check_batched(*c, way));
      } catch (const std::exception& e) {
        r.check(text, e.what());
      }
    }
  }
}

}  // namespace mycel::op_cases
