#include "runtime/transforms.h"

#include "autodiff/backward.h"
#include "autodiff/forward.h"
#include "autodiff/taylor.h"
#include "base/error.h"
#include "base/timeline.h"
#include "ir/activity.h"
#include "ir/core_ops.h"
#include "runtime/dispatch.h"
#include "runtime/tap.h"
#include "runtime/tape_cache.h"
#include "runtime/trace.h"

namespace mycel::runtime {
namespace {

Tensor ones_like(const Tensor& t) {
  return call1(*ir::core_ops().full, std::span<const Tensor>(),
               {ir::Attr(1.0), ir::Attr(t.shape()), ir::Attr(t.dtype())});
}

// Puts the watched tensors into the variables and takes them out again, also when the function
// throws.
class Watching {
 public:
  Watching(Recorder& r, const std::vector<Tensor*>& variables) : variables_(variables) {
    for (Tensor* v : variables_) {
      before_.push_back(*v);
      watched_.push_back(r.watch(*v));
      *v = watched_.back();
    }
  }
  // A variable that the function assigned keeps its new value, one that it only read gets its old
  // one.
  ~Watching() {
    for (size_t i = 0; i < variables_.size(); ++i) {
      Tensor& now = *variables_[i];
      if (now.same(watched_[i])) {
        now = before_[i];
      } else {
        live_trace(now);  // the recorder is closed: look through
      }
    }
  }
  const Tensors& watched() const { return watched_; }

 private:
  const std::vector<Tensor*>& variables_;
  Tensors before_, watched_;
};

// A recorded run of a function: what reverse mode needs.
struct Tape {
  Recorder recorder;
  std::vector<ir::Value> wrt;
  Tensors values;  // primal results
};

void record(Tape& tape, const Fn& f, std::span<const Tensor> args, const std::vector<int>& wrt,
            const std::vector<Tensor*>& variables, bool has_aux) {
  Tensors watched(args.begin(), args.end());
  for (int i : wrt) {
    MYCEL_CHECK(i >= 0 && i < static_cast<int>(args.size()),
                "argument {} of {} is to be differentiated", i, args.size());
    watched[i] = tape.recorder.watch(args[i]);
    tape.wrt.push_back(tape.recorder.value_of(watched[i]));
  }
  Watching watching(tape.recorder, variables);
  for (const Tensor& v : watching.watched()) tape.wrt.push_back(tape.recorder.value_of(v));
  Tensors results = f(watched);
  std::vector<ir::Value> outs;
  size_t differentiated = has_aux ? std::min<size_t>(1, results.size()) : results.size();
  for (size_t i = 0; i < differentiated; ++i) outs.push_back(tape.recorder.value_of(results[i]));
  tape.recorder.graph().set_results(std::move(outs));
  tape.recorder.close();
  for (Tensor& t : results) {
    live_trace(t);
    tape.values.push_back(t);
  }
}

// While compiling a size may be unknown on one side.
bool may_agree(const Shape& a, const Shape& b) {
  bool same = a.rank() == b.rank();
  for (int d = 0; same && d < a.rank(); ++d)
    same = a[d] == b[d] || a[d] == kUnknownDim || b[d] == kUnknownDim;
  return same;
}

Tensors run_backward(const Tape& tape, const BackwardProgram& program,
                     std::span<const Tensor> seeds) {
  timeline::InPhase backward(timeline::Phase::kBackward);
  const autodiff::Backward& b = program.backward;
  Tensors in;
  for (const ir::Value& r : b.residuals) in.push_back(tape.recorder.primal_of(r));
  for (size_t i = 0; i < b.seeded.size(); ++i) {
    if (!b.seeded[i]) continue;
    Tensor seed = i < seeds.size() && seeds[i] ? seeds[i] : ones_like(tape.values[i]);
    if (!may_agree(seed.shape(), tape.values[i].shape())) {
      value_error("grad: the gradient given for result {} is {}, the result is {}", i,
                  seed.describe(), tape.values[i].describe());
    }
    in.push_back(seed.dtype() == tape.values[i].dtype()
                     ? seed
                     : call1(*ir::core_ops().cast, {seed}, {tape.values[i].dtype()}));
  }
  bool plain = true;
  for (Tensor& t : in) {
    live_trace(t);
    plain &= t.concrete();
  }
  return plain && program.plan && !tap::attached ? program.plan->run(in) : run_graph(*b.graph, in);
}

}  // namespace

Grads value_and_grad(const Fn& f, std::span<const Tensor> args, const GradOptions& o) {
  Tape tape;
  record(tape, f, args, o.wrt, o.variables, o.has_aux);
  BackwardProgram b = backward_program(tape.recorder.graph_ptr(), tape.wrt);
  Tensors grads = run_backward(tape, b, o.seeds);
  Grads out;
  out.values = tape.values;
  out.inputs.assign(grads.begin(), grads.begin() + static_cast<int64_t>(o.wrt.size()));
  out.variables.assign(grads.begin() + static_cast<int64_t>(o.wrt.size()), grads.end());
  return out;
}

Pullback vjp(const Fn& f, std::span<const Tensor> args) {
  auto tape = std::make_shared<Tape>();
  std::vector<int> all(args.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  record(*tape, f, args, all, {}, false);
  auto b =
      std::make_shared<BackwardProgram>(backward_program(tape->recorder.graph_ptr(), tape->wrt));
  return {tape->values,
          [tape, b](std::span<const Tensor> seeds) { return run_backward(*tape, *b, seeds); }};
}

namespace {

bool calls_the_host(const ir::Graph& g) {
  for (const ir::Node& n : g.nodes()) {
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      if (n.attrs[i].is<ir::CallbackPtr>()) return true;
      if (n.attrs[i].is<ir::GraphPtr>() && calls_the_host(*n.attrs[i].graph())) return true;
    }
  }
  return false;
}

// By differentiating twice: the pullback is linear in its seeds u, so the derivative of
// u -> pull(u) in the direction of the tangents is the pushforward. Needs no rule but the user's
// own, which only runs.
Linear linearize_by_vjp(const Fn& f, std::span<const Tensor> args) {
  Pullback first = vjp(f, args);
  Tensors zeros;
  for (const Tensor& v : first.values) {
    zeros.push_back(call1(*ir::core_ops().full, std::span<const Tensor>(),
                          {ir::Attr(0.0), ir::Attr(v.shape()), ir::Attr(v.dtype())}));
  }
  Pullback second = vjp([&](std::span<const Tensor> seeds) { return first.pull(seeds); }, zeros);
  return {first.values, second.pull};
}

void check_tangents(std::span<const Tensor> args, std::span<const Tensor> tangents) {
  if (tangents.size() != args.size()) {
    value_error("jvp: {} tangents given for {} arguments", tangents.size(), args.size());
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (!(tangents[i].shape() == args[i].shape())) {
      value_error("jvp: tangent {} is {}, the argument is {}", i, tangents[i].describe(),
                  args[i].describe());
    }
  }
}

}  // namespace

Linear linearize(const Fn& f, std::span<const Tensor> args) {
  auto tape = std::make_shared<Tape>();
  std::vector<int> wrt;
  for (size_t i = 0; i < args.size(); ++i) {
    if (ir::differentiable(ir::type_of(args[i]))) wrt.push_back(static_cast<int>(i));
  }
  record(*tape, f, args, wrt, {}, false);
  const ir::Graph& g = tape->recorder.graph();
  if (calls_the_host(g)) return linearize_by_vjp(f, args);
  auto t = std::make_shared<autodiff::Tangents>(autodiff::tangents(g, tape->wrt));
  Tensors given(args.begin(), args.end());
  return {tape->values, [tape, t, wrt, given](std::span<const Tensor> tangents) {
            check_tangents(given, tangents);
            Tensors in;
            for (const ir::Value& r : t->residuals) in.push_back(tape->recorder.primal_of(r));
            for (int i : wrt) {
              in.push_back(tangents[i].dtype() == given[i].dtype()
                               ? tangents[i]
                               : call1(*ir::core_ops().cast, {tangents[i]}, {given[i].dtype()}));
            }
            for (Tensor& x : in) live_trace(x);
            Tensors flowing = run_graph(*t->graph, in), out;
            size_t next = 0;
            for (const Tensor& v : tape->values) {
              out.push_back(ir::differentiable(ir::type_of(v))
                                ? flowing[next++]
                                : call1(*ir::core_ops().zeros_like, {v}));
            }
            return out;
          }};
}

Pushforward jvp(const Fn& f, std::span<const Tensor> args, std::span<const Tensor> tangents) {
  check_tangents(args, tangents);
  Linear l = linearize(f, args);
  Tensors out = l.push(tangents);
  return {l.values, out};
}

namespace {

Tensor times(const Tensor& t, double by) {
  static const ir::Op& mul = ir::op_named("mul");
  return by == 1 ? t : call1(mul, {t, Tensor::scalar(t.dtype(), by)});
}

int order_of(std::span<const Tensor> args, std::span<const Tensors> series) {
  if (series.size() != args.size()) {
    value_error("jet: {} series given for {} arguments", series.size(), args.size());
  }
  size_t order = series.empty() ? 0 : series[0].size();
  for (size_t i = 0; i < args.size(); ++i) {
    if (series[i].size() != order) {
      value_error("jet: series {} has {} derivatives, others have {}", i, series[i].size(), order);
    }
    for (const Tensor& t : series[i]) {
      if (t.shape() == args[i].shape()) continue;
      value_error("jet: a derivative in series {} is {}, the argument is {}", i, t.describe(),
                  args[i].describe());
    }
  }
  if (order < 1) value_error("jet: the series must have at least one derivative");
  return static_cast<int>(order);
}

}  // namespace

Jet jet(const Fn& f, std::span<const Tensor> args, std::span<const Tensors> series) {
  int order = order_of(args, series);
  Tape tape;
  std::vector<int> wrt, places;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!ir::differentiable(ir::type_of(args[i]))) continue;
    places.push_back(static_cast<int>(wrt.size()));
    wrt.push_back(static_cast<int>(i));
  }
  record(tape, f, args, wrt, {}, false);
  const ir::Graph& g = tape.recorder.graph();
  if (calls_the_host(g)) {
    throw UserError(ErrorKind::kUnsupported,
                    "jet: the function has a gradient of its own (bprop), which tells nothing of "
                    "higher derivatives in Taylor mode",
                    "Nest jvp instead.");
  }
  auto made = autodiff::jet_graph(g, places, order);
  Tensors in = tape.recorder.param_primals();
  for (int i : wrt) {
    double factorial = 1;
    for (int k = 1; k <= order; ++k) {
      factorial *= k;
      const Tensor& d = series[static_cast<size_t>(i)][static_cast<size_t>(k - 1)];
      DType want = args[static_cast<size_t>(i)].dtype();
      in.push_back(
          times(d.dtype() == want ? d : call1(*ir::core_ops().cast, {d}, {want}), 1 / factorial));
    }
  }
  for (Tensor& t : in) live_trace(t);
  Tensors all = run_graph(*made, in);
  Jet out{tape.values, {}};
  size_t next = tape.values.size();
  for (const Tensor& v : tape.values) {
    Tensors own;
    double factorial = 1;
    for (int k = 1; k <= order; ++k) {
      factorial *= k;
      own.push_back(ir::differentiable(ir::type_of(v)) ? times(all[next++], factorial)
                                                       : call1(*ir::core_ops().zeros_like, {v}));
    }
    out.series.push_back(std::move(own));
  }
  return out;
}

Tensor stop_gradient(const Tensor& t) {
  static const ir::Op& op = ir::op_named("stop_gradient");
  return call1(op, {t});
}

Tensors with_custom_gradient(const Fn& f, const Fn& bprop, std::span<const Tensor> args) {
  static const ir::Op& op = ir::op_named("custom_gradient");
  auto forward = std::make_shared<const ir::Callback>(f);
  auto backward = std::make_shared<const ir::Callback>(bprop);
  return call(op, args, {ir::Attr(ir::CallbackPtr(forward)), ir::Attr(ir::CallbackPtr(backward))});
}

}  // namespace mycel::runtime
