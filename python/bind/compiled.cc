// A Python function traced once into a graph and run from then on as a compiled plan. Inputs of the
// graph: the function's tensors, every Parameter that it read, a key for every random op, and the
// tensors that it closed over. Parameters that it assigned come out as further results and are
// written back.
#include "bind/compiled.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/timeline.h"
#include "bind/convert.h"
#include "bind/tensor_object.h"
#include "ir/graph.h"
#include "runtime/compile_report.h"
#include "runtime/dispatch.h"
#include "runtime/plan.h"
#include "runtime/random_state.h"
#include "runtime/trace.h"

namespace mycel::bind {

struct Compiled {
  std::shared_ptr<ir::Graph> graph;
  size_t inputs = 0, results = 0;
  // The graph's parameters behind the inputs, in order of first use.
  struct Extra {
    nn::Parameter param;  // or
    bool key = false;     // a random key drawn with `op_seed`, or
    uint64_t op_seed = 0;
    Tensor captured;  // a tensor from outside the function
  };
  std::vector<Extra> extras;
  std::vector<nn::Parameter> assigned;  // results behind `results`
  bool closes_over_trace = false;       // it read a tensor that a transform watches: not reusable
  std::once_flag planned;
  std::shared_ptr<const runtime::Plan> plan;
  runtime::CompileReport report;
};

namespace {

// What a running trace has met so far. One per nesting level of traces on a thread.
class Tracing {
 public:
  Tracing()
      : outer_(g_current),
        outer_hook_(g_on_read),
        keys_([this](uint64_t seed) { return key(seed); }) {
    recorder.keep_kernels();
    g_current = this;
    g_on_read = [](const nn::Parameter& p) { g_current->read(p); };
  }
  ~Tracing() {
    g_current = outer_;
    g_on_read = outer_hook_;
    for (Read& r : reads_) r.param->value = r.before;
  }
  void read(const nn::Parameter& p) {
    if (places_.count(p.get())) return;
    if (outer_) outer_->read(p);  // so that the outer graph watches it too
    places_[p.get()] = reads_.size();
    Tensor before = p->value;
    Tensor watched = recorder.watch(Tensor::abstract(before.dtype(), before.shape()), p->name);
    note({.param = p});
    p->value = watched;
    reads_.push_back({p, before, watched});
  }

  // Parameters whose value is no longer the watched one.
  std::vector<std::pair<nn::Parameter, Tensor>> assigned() const {
    std::vector<std::pair<nn::Parameter, Tensor>> out;
    for (const Read& r : reads_) {
      if (!r.param->value.same(r.watched)) out.emplace_back(r.param, r.param->value);
    }
    return out;
  }
  static Tracing* current() { return g_current; }
  // The parameters met so far with their values now.
  std::vector<std::pair<nn::Parameter, Tensor>> values() const {
    std::vector<std::pair<nn::Parameter, Tensor>> out;
    for (const Read& r : reads_) out.emplace_back(r.param, r.param->value);
    return out;
  }
  // Those whose value is another one than in `before` (a prefix of values()), with it; puts the
  // values of `before` back.
  std::vector<std::pair<nn::Parameter, Tensor>> take_back(
      const std::vector<std::pair<nn::Parameter, Tensor>>& before) {
    std::vector<std::pair<nn::Parameter, Tensor>> out;
    for (size_t i = 0; i < reads_.size(); ++i) {
      const Tensor& was = i < before.size() ? before[i].second : reads_[i].watched;
      Tensor& now = reads_[i].param->value;
      if (now.same(was)) continue;
      out.emplace_back(reads_[i].param, now);
      now = was;
    }
    return out;
  }

  // What each parameter of the graph behind the inputs stands for.
  std::vector<Compiled::Extra> extras(size_t inputs) const {
    std::vector<Compiled::Extra> out;
    const Tensors& primals = recorder.param_primals();
    for (size_t i = inputs; i < primals.size(); ++i) {
      auto it = known_.find(i);
      out.push_back(it != known_.end() ? it->second : Compiled::Extra{.captured = primals[i]});
    }
    return out;
  }

  // A value that ops with effects pass on to each other, so that their order is one of data.
  Tensor token() {
    Tensor t = recorder.watch(Tensor::abstract(DType::kBool, {}), "token");
    note({.captured = Tensor::scalar(DType::kBool, int64_t{0})});
    return t;
  }

  runtime::Recorder recorder{"main", true};

 private:
  struct Read {
    nn::Parameter param;
    Tensor before, watched;
  };
  Tensor key(uint64_t op_seed) {
    Tensor t = recorder.watch(Tensor::abstract(DType::kUInt32, {2}), "key");
    note({.key = true, .op_seed = op_seed});
    return t;
  }
  void note(Compiled::Extra e) { known_[recorder.param_primals().size() - 1] = std::move(e); }

  static thread_local Tracing* g_current;
  Tracing* outer_;
  void (*outer_hook_)(const nn::Parameter&);
  runtime::KeySource keys_;
  std::vector<Read> reads_;
  std::unordered_map<const nn::ParameterData*, size_t> places_;
  std::unordered_map<size_t, Compiled::Extra> known_;
};
thread_local Tracing* Tracing::g_current = nullptr;

nb::list to_list(std::span<const Tensor> tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(nb::steal(wrap(t)));
  return out;
}

// Traces f(list of tensors) -> list of tensors over inputs of these types. `parameters`: read in
// any case.
std::shared_ptr<Compiled> trace(nb::handle f, nb::handle inputs, nb::handle parameters,
                                const std::string& name) {
  timeline::Slice slice(timeline::on() ? timeline::named(timeline::Kind::kCompile, "trace " + name)
                                       : 0);
  auto start = std::chrono::steady_clock::now();
  auto c = std::make_shared<Compiled>();
  Tracing tracing;
  nb::list watched;
  for (nb::handle o : inputs) {
    Tensor t = to_tensor(o.ptr(), "argument");
    watched.append(nb::steal(wrap(tracing.recorder.watch(Tensor::abstract(t.dtype(), t.shape())))));
    ++c->inputs;
  }
  for (nb::handle o : parameters) {
    nn::Parameter p = parameter_of(o.ptr());
    if (p) tracing.read(p);
  }
  nb::object out = f(watched);
  std::vector<ir::Value> values;
  for (nb::handle o : out)
    values.push_back(tracing.recorder.value_of(to_tensor(o.ptr(), "result")));
  c->results = values.size();
  for (auto& [param, value] : tracing.assigned()) {
    values.push_back(tracing.recorder.value_of(value));
    c->assigned.push_back(param);
  }
  tracing.recorder.graph().set_results(std::move(values));
  tracing.recorder.graph().set_name(name);
  tracing.recorder.close();
  c->extras = tracing.extras(c->inputs);
  for (Compiled::Extra& e : c->extras) {
    if (e.captured && runtime::live_trace(e.captured)) c->closes_over_trace = true;
  }
  c->graph = tracing.recorder.graph_ptr();
  c->report.trace_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return c;
}

// The first parameter that the graph reads and that has another type than it had, as the reason to
// compile anew; or "".
std::string misfit(const Compiled& c) {
  const auto& params = c.graph->params();
  for (size_t i = 0; i < c.extras.size(); ++i) {
    if (!c.extras[i].param) continue;
    const Tensor& now = c.extras[i].param->value;
    const ir::Type& then = params[c.inputs + i].type();
    if (now.dtype() != then.dtype || !(now.shape() == then.shape)) {
      return fmt::format("Parameter '{}' is {} instead of {}", c.extras[i].param->name,
                         ir::type_of(now).str(), then.str());
    }
  }
  return "";
}

// [(name, kind, tensor or text)] of everything that a program holds for.
runtime::Signature signature_of(nb::handle parts) {
  static const std::map<std::string, runtime::Signature::Kind> kKinds = {
      {"tensor", runtime::Signature::Kind::kTensor},
      {"value", runtime::Signature::Kind::kValue},
      {"structure", runtime::Signature::Kind::kStructure},
      {"mode", runtime::Signature::Kind::kMode}};
  runtime::Signature s;
  for (nb::handle p : parts) {
    nb::handle value = p[2];
    s.parts.push_back({nb::cast<std::string>(p[0]), kKinds.at(nb::cast<std::string>(p[1])),
                       is_tensor(value.ptr()) ? ir::type_of(to_tensor(value.ptr(), "part")).str()
                                              : nb::cast<std::string>(value)});
  }
  return s;
}

// What MYCEL_LOG=compile remembers of the programs of one function.
struct Programs {
  std::vector<runtime::Signature> before;
  // Notes a program; `reason` where something else than its signature is one.
  void add(const std::shared_ptr<Compiled>& c, const std::string& name, nb::handle parts,
           std::string reason) {
    runtime::Signature now = signature_of(parts);
    if (reason.empty() || before.empty()) reason = runtime::reason_to_compile(now, before);
    before.push_back(std::move(now));
    c->report.name = name;
    c->report.reason = reason.empty() ? "the earlier program was dropped" : reason;
    c->report.number = before.size();
    c->report.written = false;
  }
};

bool all_plain(const Tensors& in) {
  return std::all_of(in.begin(), in.end(),
                     [](const Tensor& t) { return !t.trace() && t.concrete(); });
}

// The plan; parameters that the function assigns give their buffers up for their new values.
const runtime::Plan& plan_of(Compiled& c) {
  std::call_once(c.planned, [&] {
    runtime::PlanOptions options;
    options.donated.assign(c.inputs + c.extras.size(), false);
    options.steady.assign(c.inputs + c.extras.size(), false);
    for (size_t i = 0; i < c.extras.size(); ++i) {
      const nn::Parameter& p = c.extras[i].param;
      options.donated[c.inputs + i] =
          p && std::find(c.assigned.begin(), c.assigned.end(), p) != c.assigned.end();
      options.steady[c.inputs + i] = !c.extras[i].key && !options.donated[c.inputs + i];
    }
    c.plan = runtime::Plan::build(*c.graph, options);
    c.report.passes_seconds = c.plan->stats().passes_seconds;
    c.report.kernels_seconds = c.plan->stats().kernels_seconds;
    c.report.write();
  });
  return *c.plan;
}

// `in` and what the graph reads beside its inputs.
void add_extras(const Compiled& c, Tensors& in) {
  MYCEL_CHECK(in.size() == c.inputs, "{} inputs given to a graph of {}", in.size(), c.inputs);
  for (const Compiled::Extra& e : c.extras) {
    if (e.param) {
      if (g_on_read) g_on_read(e.param);
      in.push_back(e.param->value);
    } else {
      in.push_back(e.key ? runtime::next_key(e.op_seed) : e.captured);
    }
  }
}

// While the plan runs the assigned parameters hold no reference of their own to their values: it
// overwrites them in place.
void give_up(const Compiled& c) {
  for (const nn::Parameter& p : c.assigned) p->value = Tensor();
}

// They get them back when the plan throws.
void take_back(const Compiled& c, const Tensors& in) {
  for (size_t i = 0; i < c.extras.size(); ++i) {
    const nn::Parameter& p = c.extras[i].param;
    if (p && !p->value) p->value = in[c.inputs + i];
  }
}

void assign(const Compiled& c, Tensors& out) {
  for (size_t i = 0; i < c.assigned.size(); ++i) c.assigned[i]->value = out[c.results + i];
  out.resize(c.results);
}

// Called with the GIL; lets it go while the program runs.
Tensors execute(Compiled& c, Tensors in) {
  add_extras(c, in);
  Tensors out;
  if (all_plain(in)) {
    give_up(c);
    try {
      nb::gil_scoped_release release;
      out = plan_of(c).run(in);
    } catch (...) {
      take_back(c, in);
      throw;
    }
  } else {
    nb::gil_scoped_release release;
    out = runtime::run_graph(*c.graph, in);
  }
  assign(c, out);
  return out;
}

nb::list run(const std::shared_ptr<Compiled>& c, nb::handle inputs) {
  Tensors in;
  for (nb::handle o : inputs) in.push_back(to_tensor(o.ptr(), "argument"));
  return to_list(execute(*c, std::move(in)));
}

// The values of parameters at one moment of a trace.
class ParameterValues {
 public:
  ParameterValues() : tracing_(Tracing::current()) {
    if (tracing_) values_ = tracing_->values();
  }
  // [(parameter, value)] of those assigned since; they get their values of that moment back.
  nb::list take_back() {
    nb::list out;
    if (!tracing_ || tracing_ != Tracing::current()) return out;
    for (auto& [param, value] : tracing_->take_back(values_))
      out.append(nb::make_tuple(nb::steal(wrap(param)), nb::steal(wrap(value))));
    return out;
  }

 private:
  Tracing* tracing_;
  std::vector<std::pair<nn::Parameter, Tensor>> values_;
};

}  // namespace

const ir::Graph& graph_of(const Compiled& c) { return *c.graph; }
std::shared_ptr<const ir::Graph> shared_graph_of(const std::shared_ptr<Compiled>& c) {
  return c->graph;
}

std::shared_ptr<Compiled> to_compiled(nb::handle o) {
  if (o.is_none()) return nullptr;
  return nb::cast<std::shared_ptr<Compiled>&>(o);
}

Tensors run_unlocked(Compiled& c, Tensors in) {
  nb::gil_scoped_acquire gil;
  return execute(c, std::move(in));
}

void bind_compiled(nb::module_& m) {
  nb::class_<std::shared_ptr<Compiled>>(m, "Compiled")
      .def("__call__", run, nb::arg("inputs"))
      .def_prop_ro("reusable",
                   [](const std::shared_ptr<Compiled>& c) { return !c->closes_over_trace; })
      .def_prop_ro("fits", [](const std::shared_ptr<Compiled>& c) { return misfit(*c).empty(); })
      .def_prop_ro("misfit", [](const std::shared_ptr<Compiled>& c) { return misfit(*c); })
      .def_prop_ro("graph", [](const std::shared_ptr<Compiled>& c) { return c->graph->str(); })
      .def_prop_ro("result_types",
                   [](const std::shared_ptr<Compiled>& c) {
                     nb::list out;
                     for (const ir::Value& v : c->graph->results())
                       out.append(nb::cast(v.type().str()));
                     return out;
                   })
      .def_prop_ro("plan", [](const std::shared_ptr<Compiled>& c) {
        return c->plan ? c->plan->str() : std::string();
      });
  nb::class_<Programs>(m, "Programs")
      .def(nb::init<>())
      .def("add", &Programs::add, nb::arg("compiled"), nb::arg("name"), nb::arg("parts"),
           nb::arg("reason"));
  m.def(
      "log_enabled",
      [](const std::string& channel, int level) {
        return log_enabled(channel, static_cast<Level>(level));
      },
      nb::arg("channel"), nb::arg("level") = static_cast<int>(Level::kInfo));
  m.def("log", [](int level, const std::string& channel, const std::string& text) {
    log(static_cast<Level>(level), channel, text);
  });
  m.def("user_log_level", [] { return static_cast<int>(log_settings().user); });
  nb::class_<ParameterValues>(m, "ParameterValues")
      .def(nb::init<>())
      .def("take_back", &ParameterValues::take_back);
  m.def("effect_token", [] {
    if (!Tracing::current()) type_error("effect_token: no function is being compiled");
    return nb::steal(wrap(Tracing::current()->token()));
  });
  m.def("tracing", [] { return Tracing::current() != nullptr; });
  m.def("trace", trace, nb::arg("fn"), nb::arg("inputs"), nb::arg("parameters"), nb::arg("name"),
        "Traces a function of a list of tensors.");
}

}  // namespace mycel::bind
