#include "runtime/trace.h"

#include "base/error.h"
#include "ir/phase.h"
#include "runtime/region.h"
#include "runtime/tap.h"

namespace mycel::runtime {
namespace {
thread_local int g_depth = 0;
}

Recorder::Recorder(std::string name, bool closed)
    : graph_(std::make_shared<ir::Graph>(std::move(name))), closed_(closed) {
  level_ = make_ref<Level>();
  level_->recorder = this;
  level_->depth = ++g_depth;
}

Recorder::~Recorder() { close(); }

void Recorder::close() {
  if (!level_->recorder) return;
  level_->recorder = nullptr;
  --g_depth;
}

Tensor Recorder::wrap(ir::Value value, const Tensor& primal) {
  auto trace = make_ref<Traced>();
  trace->level = level_;
  trace->value = value;
  trace->primal = primal;
  auto impl = make_ref<TensorImpl>();
  impl->dtype = primal.dtype();
  impl->shape = primal.shape();
  impl->stack = primal.is_stack();
  impl->trace = trace;
  return Tensor(impl);
}

Tensor Recorder::watch(const Tensor& primal, std::string name) {
  ir::Value v = graph_->add_param(ir::type_of(primal), std::move(name));
  first_primal_.push_back(static_cast<uint32_t>(primals_.size()));
  primals_.push_back(primal);
  param_primals_.push_back(primal);
  return wrap(v, primal);
}

ir::Value Recorder::value_of(const Tensor& t) {
  Tensor plain = t;
  Traced* trace = live_trace(plain);
  if (trace && trace->level == level_) return trace->value;
  auto it = captured_.find(plain.impl().get());
  if (it != captured_.end()) return it->second;
  ir::Value v = graph_->add_param(ir::type_of(plain));
  first_primal_.push_back(static_cast<uint32_t>(primals_.size()));
  primals_.push_back(plain);
  param_primals_.push_back(plain);
  captured_.emplace(plain.impl().get(), v);
  return v;
}

void Recorder::record(const ir::Op& op, std::span<const Tensor> inputs, const ir::Attrs& attrs,
                      Tensors& results) {
  std::vector<ir::Value> values;
  values.reserve(inputs.size());
  for (const Tensor& t : inputs) values.push_back(t ? value_of(t) : ir::Value());
  ir::Types types;
  types.reserve(results.size());
  for (const Tensor& t : results) types.push_back(ir::type_of(t));
  ir::Node* node = graph_->add_typed(op, std::move(values), attrs, std::move(types),
                                     ir::with_phase(current_place(), timeline::phase()));
  first_primal_.push_back(static_cast<uint32_t>(primals_.size()));
  for (size_t i = 0; i < results.size(); ++i) {
    primals_.push_back(results[i]);
    results[i] = wrap(node->out(static_cast<uint32_t>(i)), results[i]);
  }
}

const Tensor& Recorder::primal_of(ir::Value v) const {
  static const Tensor none;
  if (v.node->id >= first_primal_.size()) return none;
  return primals_[first_primal_[v.node->id] + v.index];
}

Traced* live_trace(Tensor& t) {
  while (t && t.trace()) {
    auto* trace = static_cast<Traced*>(t.trace().get());
    if (trace->level->recorder) return trace;
    t = Tensor(trace->primal);
  }
  return nullptr;
}

Tensor captured_beside(const Tensor& t, const Tensor& traced) {
  Tensor own = t, beside = traced;
  Traced* trace = live_trace(beside);
  if (!trace || !trace->level->recorder || live_trace(own)) return t;
  Recorder& r = *trace->level->recorder;
  return r.wrap(r.value_of(t), t);
}

Traced* innermost_trace(Tensors& tensors) {
  Traced* top = nullptr;
  for (Tensor& t : tensors) {
    Traced* trace = live_trace(t);
    if (trace && (!top || trace->level->depth > top->level->depth)) top = trace;
  }
  return top;
}

Tensors primals_at(const Ref<Level>& level, const Tensors& tensors) {
  Tensors out = tensors;
  for (Tensor& t : out) {
    if (!t || !t.trace()) continue;
    if (level->recorder && level->recorder->closed()) {
      t = ir::abstract_of(ir::type_of(t));
      continue;
    }
    auto* trace = static_cast<Traced*>(t.trace().get());
    if (trace->level == level) t = Tensor(trace->primal);
  }
  return out;
}

Tensor primal(const Tensor& t) {
  Tensor p = t;
  while (p && p.trace()) p = Tensor(static_cast<Traced*>(p.trace().get())->primal);
  return p;
}

Tensor concrete(const Tensor& t, const char* what) {
  Tensor p = primal(t);
  if (!p.concrete()) {
    throw UserError(
        ErrorKind::kValue,
        fmt::format("{}: the value of this {} is not known while a graph is being compiled", what,
                    p.describe()),
        "Use ops.select/cond/while_loop on tensors, or run this part in PYNATIVE_MODE.");
  }
  return p;
}

}  // namespace mycel::runtime
