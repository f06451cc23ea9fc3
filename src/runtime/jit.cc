#include "runtime/jit.h"

#include <chrono>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "base/timeline.h"
#include "runtime/compile_report.h"
#include "runtime/dispatch.h"
#include "runtime/random_state.h"
#include "runtime/trace.h"

namespace mycel::runtime {
namespace {

thread_local int g_compiling = 0;

struct Compiling {
  Compiling() { ++g_compiling; }
  ~Compiling() { --g_compiling; }
};

std::string describe_types(std::span<const Tensor> args) {
  std::string s;
  for (const Tensor& t : args) s += (t ? t.describe() : "None") + ";";
  return s;
}

Signature signature_of(std::span<const Tensor> args, const std::string& static_key,
                       size_t variables) {
  using Kind = Signature::Kind;
  Signature s;
  for (size_t i = 0; i < args.size(); ++i) {
    s.parts.push_back({fmt::format("argument {}", i), Kind::kTensor,
                       args[i] ? ir::type_of(args[i]).str() : "None"});
  }
  if (!static_key.empty()) s.parts.push_back({"the static key", Kind::kValue, static_key});
  s.parts.push_back({"the number of variables", Kind::kValue, std::to_string(variables)});
  return s;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool watched(std::span<const Tensor> args) {
  for (const Tensor& t : args) {
    Tensor plain = t;
    if (plain && (live_trace(plain) || !plain.concrete())) return true;
  }
  return false;
}

}  // namespace

bool compiling() { return g_compiling > 0; }

// One compiled signature.
struct Trace {
  std::shared_ptr<ir::Graph> graph;
  std::shared_ptr<const Plan> plan;
  size_t arguments = 0, variables = 0, results = 0;
  std::vector<int> assigned;  // variables that get a new value, in the order of the extra results
  // Parameters after arguments and variables: tensors from outside, or (empty) the next random key.
  Tensors captured;
  std::vector<uint64_t> key_seeds;  // of the keys, in order
  CompileReport report;
};

struct Jit::Impl {
  Fn f;
  std::string name;
  std::function<std::vector<Tensor*>()> variables;
  std::map<std::string, Trace> traces;
  std::vector<Signature> signatures;  // of the programs so far, while the log asks for reasons

  Trace& find(std::span<const Tensor> args, const std::string& static_key);
  Trace trace(std::span<const Tensor> args, const std::vector<Tensor*>& vars);
};

namespace {

// Sets variables to abstract tensors while tracing and puts the real values back.
class Borrowed {
 public:
  Borrowed(Recorder& r, const std::vector<Tensor*>& vars) : vars_(vars) {
    for (Tensor* v : vars_) {
      before_.push_back(*v);
      *v = r.watch(Tensor::abstract(v->dtype(), v->shape()));
      watched_.push_back(*v);
    }
  }
  ~Borrowed() {
    for (size_t i = 0; i < vars_.size(); ++i) *vars_[i] = before_[i];
  }
  bool changed(size_t i) const { return !vars_[i]->same(watched_[i]); }
  const Tensor& now(size_t i) const { return *vars_[i]; }
  const Tensor& before(size_t i) const { return before_[i]; }

 private:
  const std::vector<Tensor*>& vars_;
  Tensors before_, watched_;
};

}  // namespace

Trace Jit::Impl::trace(std::span<const Tensor> args, const std::vector<Tensor*>& vars) {
  timeline::Slice slice(timeline::on() ? timeline::named(timeline::Kind::kCompile, "trace " + name)
                                       : 0);
  Compiling guard;
  Trace t;
  Recorder r(name, true);
  r.keep_kernels();
  Tensors params;
  for (const Tensor& a : args) params.push_back(r.watch(Tensor::abstract(a.dtype(), a.shape())));
  t.arguments = args.size();
  t.variables = vars.size();
  Borrowed borrowed(r, vars);
  std::vector<size_t> keys;  // positions among the parameters
  KeySource source([&](uint64_t op_seed) {
    keys.push_back(r.param_primals().size());
    t.key_seeds.push_back(op_seed);
    return r.watch(Tensor::abstract(DType::kUInt32, Shape{2}), "key");
  });
  std::vector<ir::Value> results;
  for (const Tensor& y : f(params)) results.push_back(r.value_of(y));
  t.results = results.size();
  for (size_t i = 0; i < vars.size(); ++i) {
    if (!borrowed.changed(i)) continue;
    const Tensor &now = borrowed.now(i), &before = borrowed.before(i);
    if (now.dtype() != before.dtype() || !(now.shape() == before.shape())) {
      value_error("{}: a variable of type {} is assigned a {} in a compiled function", name,
                  before.describe(), now.describe());
    }
    t.assigned.push_back(static_cast<int>(i));
    results.push_back(r.value_of(now));
  }
  r.graph().set_results(std::move(results));
  t.graph = r.graph_ptr();
  size_t fixed = args.size() + vars.size();
  const Tensors& all = r.param_primals();
  t.captured.assign(all.begin() + static_cast<int64_t>(fixed), all.end());
  for (size_t k : keys) t.captured[k - fixed] = Tensor();
  return t;
}

Trace& Jit::Impl::find(std::span<const Tensor> args, const std::string& static_key) {
  std::vector<Tensor*> vars = variables ? variables() : std::vector<Tensor*>();
  std::string key = describe_types(args) + "|" + static_key;
  auto it = traces.find(key);
  if (it != traces.end() && it->second.variables == vars.size()) return it->second;
  auto start = std::chrono::steady_clock::now();
  Trace t = trace(args, vars);
  if (log_enabled("compile")) {
    Signature now = signature_of(args, static_key, vars.size());
    t.report = {.name = name,
                .reason = reason_to_compile(now, signatures),
                .number = signatures.size() + 1,
                .trace_seconds = seconds_since(start),
                .written = false};
    signatures.push_back(std::move(now));
  }
  return traces.insert_or_assign(key, std::move(t)).first->second;
}

Jit::Jit(Fn f, std::string name, std::function<std::vector<Tensor*>()> variables)
    : impl_(std::make_unique<Impl>(
          Impl{std::move(f), std::move(name), std::move(variables), {}, {}})) {}
Jit::~Jit() = default;

namespace {

Tensors gather_inputs(const Trace& t, std::span<const Tensor> args,
                      const std::vector<Tensor*>& vars) {
  Tensors in(args.begin(), args.end());
  for (Tensor* v : vars) in.push_back(*v);
  size_t key = 0;
  for (const Tensor& c : t.captured) in.push_back(c ? c : next_key(t.key_seeds[key++]));
  return in;
}

// Runs the plan with the assigned variables donated: they give up their own reference meanwhile and
// get it back if the plan throws.
Tensors run_donated(Trace& t, Tensors& in, const std::vector<Tensor*>& vars) {
  if (!t.plan) {
    PlanOptions options;
    options.donated.assign(in.size(), false);
    for (int i : t.assigned) options.donated[t.arguments + i] = true;
    t.plan = Plan::build(*t.graph, options);
    t.report.passes_seconds = t.plan->stats().passes_seconds;
    t.report.kernels_seconds = t.plan->stats().kernels_seconds;
    t.report.write();
  }
  for (Tensor& x : in) live_trace(x);
  for (int i : t.assigned) *vars[i] = Tensor();
  try {
    return t.plan->run(in);
  } catch (...) {
    for (int i : t.assigned) *vars[i] = in[t.arguments + i];
    throw;
  }
}

}  // namespace

Tensors Jit::operator()(std::span<const Tensor> args, const std::string& static_key) {
  Trace& t = impl_->find(args, static_key);
  std::vector<Tensor*> vars = impl_->variables ? impl_->variables() : std::vector<Tensor*>();
  Tensors in = gather_inputs(t, args, vars);
  Tensors out = watched(in) ? run_graph(*t.graph, in) : run_donated(t, in, vars);
  for (size_t k = 0; k < t.assigned.size(); ++k) *vars[t.assigned[k]] = out[t.results + k];
  out.resize(t.results);
  return out;
}

std::shared_ptr<const ir::Graph> Jit::graph(std::span<const Tensor> args,
                                            const std::string& static_key) {
  return impl_->find(args, static_key).graph;
}

size_t Jit::traces() const { return impl_->traces.size(); }

}  // namespace mycel::runtime
