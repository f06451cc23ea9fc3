// If, Loop and Scan. Where what decides is known, the branch or the iterations simply run; while a
// graph is traced they become cond, while_loop and scan, with gradients and plans like any other.
#include "runtime/control.h"

#include "interop/onnx/ops/build.h"
#include "runtime/scan.h"
#include "runtime/trace.h"

namespace mycel::interop::onnx {
namespace {

constexpr int64_t kMaxUnrolled = 256;  // iterations of loops that a graph cannot carry

Tensors tensors_of(Call& c, const Values& values, const char* what) {
  Tensors out;
  for (const Value& v : values) {
    if (v.kind != Value::Kind::kTensor) c.not_compilable(std::string(what) + " is no tensor");
    out.push_back(v.tensor);
  }
  return out;
}

Values branch(Call& c) {
  Tensor chosen = c.x(0);
  const pb::Graph* yes = c.graph("then_branch");
  const pb::Graph* no = c.graph("else_branch");
  if (chosen.rank() > 0) chosen = ops::reshape(chosen, {});
  if (runtime::primal(chosen).concrete())
    return run_region(c.known(chosen, "the condition").item() != 0 ? *yes : *no, c.scope, {});
  auto traced = [&](const pb::Graph* g) -> runtime::Fn {
    return [&c, g](std::span<const Tensor>) {
      return tensors_of(c, run_region(*g, c.scope, {}), "a result of a branch");
    };
  };
  try {
    return many(runtime::cond(chosen, traced(yes), traced(no)));
  } catch (NotCompilable&) {
    throw;
  } catch (UserError& e) {
    // Branches of different shapes: only the value of the condition helps.
    throw NotCompilable(c.title() + ": " + e.message(), chosen);
  }
}

struct LoopParts {
  const pb::Graph* body;
  Tensor count, go;  // empty: no bound, always
  Values carried;
};

Values stacked(Call& c, const std::vector<Values>& rows, size_t carried, size_t scans) {
  Values out;
  for (size_t k = 0; k < scans; ++k) {
    Tensors each;
    for (const Values& r : rows) each.push_back(r[carried + 1 + k].tensor);
    if (!each.empty()) {
      out.emplace_back(ops::stack(each, 0));
      continue;
    }
    // No iteration: the declared type of the body's output says what there are none of.
    const pb::Type& t = c.graph("body")->output(static_cast<int>(carried + 1 + k)).type();
    Shape shape{0};
    for (const pb::Dimension& d : t.tensor_type().shape().dim())
      shape.push_back(std::max<int64_t>(d.dim_value(), 0));
    out.emplace_back(Tensor::zeros(dtype_of_code(t.tensor_type().elem_type(), c.title()), shape));
  }
  return out;
}

// Iteration by iteration: everything that decides is known.
Values run_out(Call& c, const LoopParts& p, int64_t at_most) {
  size_t n = p.carried.size();
  Values now = p.carried;
  std::vector<Values> rows;
  int64_t bound = p.count ? c.known(p.count, "the number of iterations").item_int() : INT64_MAX;
  bool go = !p.go || c.known(p.go, "the condition").item() != 0;
  size_t scans = static_cast<size_t>(p.body->output_size()) - n - 1;
  for (int64_t i = 0; go && i < bound; ++i) {
    if (i >= at_most)
      c.not_compilable(fmt::format("more than {} iterations cannot be unrolled", at_most));
    Values in{Value(Tensor::scalar(DType::kInt64, i)), Value(number(1, DType::kBool))};
    in.insert(in.end(), now.begin(), now.end());
    Values out = run_region(*p.body, c.scope, in);
    go = c.known(out.at(0).tensor, "the condition").item() != 0;
    now.assign(out.begin() + 1, out.begin() + 1 + static_cast<int64_t>(n));
    if (scans) rows.push_back(std::move(out));
  }
  Values more = stacked(c, rows, n, scans);
  now.insert(now.end(), more.begin(), more.end());
  return now;
}

// What the body gives for carried values of these types, without running it.
struct Probe {
  Tensors results;
  bool always = false;  // the condition stays true
  bool same_types = true;
};
Probe probe(Call& c, const LoopParts& p, const Tensors& carried) {
  runtime::Recorder r("probe", true);
  Values in{Value(r.watch(Tensor::abstract(DType::kInt64, Shape()))),
            Value(r.watch(Tensor::abstract(DType::kBool, Shape())))};
  Tensor go = in[1].tensor;
  for (const Tensor& t : carried) in.emplace_back(r.watch(Tensor::abstract(t.dtype(), t.shape())));
  Probe out;
  out.results = tensors_of(c, run_region(*p.body, c.scope, in), "a result of the body");
  Tensor next = out.results.at(0), plain = runtime::primal(next);
  out.always = next.same(go) || (plain.concrete() && plain.item() != 0);
  for (size_t i = 0; i < carried.size(); ++i) {
    const Tensor &a = carried[i], &b = out.results[i + 1];
    out.same_types = out.same_types && a.dtype() == b.dtype() && a.shape() == b.shape();
  }
  return out;
}

Values traced_loop(Call& c, const LoopParts& p) {
  for (const Value& v : p.carried) {
    if (v.kind != Value::Kind::kTensor) return run_out(c, p, kMaxUnrolled);
  }
  Tensors carried = tensors_of(c, p.carried, "a carried value");
  Probe seen = probe(c, p, carried);
  if (!seen.same_types) return run_out(c, p, kMaxUnrolled);
  size_t n = carried.size(), scans = static_cast<size_t>(p.body->output_size()) - n - 1;
  auto body = [&](std::span<const Tensor> state) {  // (i, carried…) -> results of the body
    Values in{Value(state[0]), Value(number(1, DType::kBool))};
    for (const Tensor& t : state.subspan(1)) in.emplace_back(t);
    return tensors_of(c, run_region(*p.body, c.scope, in), "a result of the body");
  };
  Tensor one_more = Tensor::scalar(DType::kInt64, int64_t{1});
  Tensor first = Tensor::scalar(DType::kInt64, int64_t{0});
  bool always = seen.always &&
                (!p.go || (runtime::primal(p.go).concrete() && runtime::primal(p.go).item() != 0));
  if (always && p.count && (scans > 0 || runtime::primal(p.count).concrete())) {
    int64_t length = c.known(p.count, "the number of iterations").item_int();
    if (length == 0) return run_out(c, p, 0);
    Tensors state{first};
    state.insert(state.end(), carried.begin(), carried.end());
    runtime::Scanned out = runtime::scan(
        [&](std::span<const Tensor> s, std::span<const Tensor>) {
          Tensors r = body(s);
          runtime::Scanned step;
          step.carried = {ops::add(s[0], one_more)};
          step.carried.insert(step.carried.end(), r.begin() + 1,
                              r.begin() + 1 + static_cast<int64_t>(n));
          step.results.assign(r.begin() + 1 + static_cast<int64_t>(n), r.end());
          return step;
        },
        state, {}, length);
    Values results;
    for (size_t i = 0; i < n; ++i) results.emplace_back(out.carried[i + 1]);
    for (const Tensor& t : out.results) results.emplace_back(t);
    return results;
  }
  if (scans > 0) c.not_compilable("how many rows it gives is known at run time only");
  // (i, go, carried…)
  Tensors state{first, p.go ? ops::reshape(p.go, {}) : number(1, DType::kBool)};
  state.insert(state.end(), carried.begin(), carried.end());
  Tensor bound = p.count ? ops::reshape(p.count, {}) : Tensor::scalar(DType::kInt64, INT64_MAX);
  auto condition = [&](std::span<const Tensor> s) {
    return Tensors{ops::logical_and(ops::less(s[0], bound), s[1])};
  };
  auto step = [&](std::span<const Tensor> s) {
    Tensors in{s[0]};
    in.insert(in.end(), s.begin() + 2, s.end());
    Tensors r = body(in), next{ops::add(s[0], one_more), ops::reshape(r[0], {})};
    next.insert(next.end(), r.begin() + 1, r.end());
    return next;
  };
  Tensors out = runtime::while_loop(condition, step, state);
  return many({out.begin() + 2, out.end()});
}

Values loop(Call& c) {
  LoopParts p{c.graph("body"), c.x_or(0), c.x_or(1), {}};
  for (int i = 2; i < c.inputs(); ++i) p.carried.push_back(c.value(i));
  if (p.body->output_size() < static_cast<int>(p.carried.size()) + 1)
    c.fail("{} values are carried, the body gives {}", p.carried.size(), p.body->output_size() - 1);
  return c.scope.abstract ? traced_loop(c, p) : run_out(c, p, INT64_MAX);
}

Tensor row_first(const Tensor& x, int axis, bool backwards) {
  Tensor t = backwards ? ops::flip(x, {axis}) : x;
  return axis == 0 ? t : ops::moveaxis(t, {axis}, {0});
}

struct ScanSpec {
  const pb::Graph* body;
  size_t states, rows;
  Ints in_axes, out_axes, in_back, out_back;
};

Tensors scanned(Call& c, const ScanSpec& s, const Tensors& states, const Tensors& inputs) {
  Tensors xs;
  for (size_t k = 0; k < s.rows; ++k)
    xs.push_back(
        row_first(inputs[k], axis_of(c, s.in_axes[k], inputs[k].rank()), s.in_back[k] != 0));
  runtime::Scanned out = runtime::scan(
      [&](std::span<const Tensor> carried, std::span<const Tensor> rows) {
        Values in;
        for (const Tensor& t : carried) in.emplace_back(t);
        for (const Tensor& t : rows) in.emplace_back(t);
        Tensors r = tensors_of(c, run_region(*s.body, c.scope, in), "a result of the body");
        auto cut = r.begin() + static_cast<int64_t>(s.states);
        return runtime::Scanned{{r.begin(), cut}, {cut, r.end()}};
      },
      states, xs);
  Tensors all = out.carried;
  for (size_t k = 0; k < out.results.size(); ++k) {
    Tensor t = out.results[k];
    int axis = axis_of(c, s.out_axes[k], t.rank());
    if (s.out_back[k]) t = ops::flip(t, {0});
    all.push_back(axis == 0 ? t : ops::moveaxis(t, {0}, {axis}));
  }
  return all;
}

Values scan(Call& c) {
  ScanSpec s{c.graph("body"), 0, static_cast<size_t>(c.integer("num_scan_inputs")), {}, {}, {}, {}};
  bool batched = c.opset < 9;
  size_t first = batched ? 1 : 0, given = static_cast<size_t>(c.inputs()) - first;
  if (s.rows < 1 || s.rows > given) c.fail("{} scan inputs of {}", s.rows, given);
  if (batched && c.has(0)) c.unsupported("sequence_lens of opset 8");
  s.states = given - s.rows;
  size_t outs = static_cast<size_t>(s.body->output_size()) - s.states;
  s.in_axes = c.ints("scan_input_axes", Ints(s.rows, 0));
  s.out_axes = c.ints("scan_output_axes", Ints(outs, 0));
  s.in_back = c.ints(batched ? "directions" : "scan_input_directions", Ints(s.rows, 0));
  s.out_back = c.ints("scan_output_directions", Ints(outs, 0));
  if (s.in_axes.size() != s.rows || s.in_back.size() != s.rows || s.out_axes.size() != outs ||
      s.out_back.size() != outs)
    c.fail("its axes and directions do not belong to {} inputs and {} outputs", s.rows, outs);
  Tensors states, inputs;
  for (size_t i = 0; i < given; ++i)
    (i < s.states ? states : inputs).push_back(c.x(static_cast<int>(i + first)));
  if (!batched) return many(scanned(c, s, states, inputs));
  std::vector<Tensors> each(s.states + outs);
  for (int64_t b = 0; b < inputs.at(0).dim(0); ++b) {
    auto of = [&](const Tensors& all) {
      Tensors one_sample;
      for (const Tensor& t : all)
        one_sample.push_back(ops::squeeze(ops::narrow(t, 0, b, 1), ir::Attr(Ints{0})));
      return one_sample;
    };
    Tensors r = scanned(c, s, of(states), of(inputs));
    for (size_t k = 0; k < r.size(); ++k) each[k].push_back(r[k]);
  }
  Tensors all;
  for (const Tensors& samples : each) all.push_back(ops::stack(samples, 0));
  return many(all);
}

constexpr Record kRecords[] = {{"If", branch}, {"Loop", loop}, {"Scan", scan}};

}  // namespace

Records control_records() { return kRecords; }

}  // namespace mycel::interop::onnx
