#include "runtime/loop_plan.h"

#include <cstring>

#include "base/error.h"
#include "passes/pass.h"

namespace mycel::runtime {
namespace {

// carried -> (body(carried), condition(body(carried))).
std::shared_ptr<ir::Graph> joined(const ir::Graph& condition, const ir::Graph& body) {
  auto g = std::make_shared<ir::Graph>(body.name());
  std::vector<ir::Value> params;
  for (const ir::Value& p : body.params()) params.push_back(g->add_param(p.type(), p.node->name));
  std::vector<ir::Value> results = ir::inline_graph(body, *g, params);
  results.push_back(ir::inline_graph(condition, *g, results)[0]);
  g->set_results(std::move(results));
  return g;
}

bool shares(const Tensor& t, const Tensors& others) {
  for (const Tensor& o : others) {
    if (o && o.impl()->storage == t.impl()->storage) return true;
  }
  return false;
}

Tensor copied(const Tensor& t) {
  Tensor own = Tensor::empty(t.dtype(), t.shape());
  if (t.bytes()) std::memcpy(own.mutable_raw(), t.raw(), t.bytes());
  return own;
}

bool by_buffer(const ir::Type& t) {
  return t.kind == ir::Type::Kind::kTensor && t.shape.known() && t.shape.size() > 0;
}

}  // namespace

std::shared_ptr<const LoopPlan> LoopPlan::build(const ir::Graph& condition, const ir::Graph& body) {
  auto l = std::make_shared<LoopPlan>();
  l->first_ = Plan::build(condition);
  l->step_ = Plan::build(*joined(condition, body));
  const Plan& p = *l->step_;
  for (size_t i = 0; i < p.results_.size(); ++i) {
    const Plan::Place& place = p.places_[p.results_[i]];
    bool condition_itself = i == body.params().size();
    ir::Type type = condition_itself ? ir::Type(DType::kBool, Shape()) : body.params()[i].type();
    if (!condition_itself && place.kind == Plan::Place::kParam && place.index == i &&
        p.types_[p.results_[i]].shape == type.shape) {
      l->carry_.push_back(Carry::kInvariant);
    } else if (condition_itself || by_buffer(type)) {
      l->carry_.push_back(Carry::kBuffer);
      if (place.kind != Plan::Place::kResult || place.index != i) l->copied_.push_back(i);
    } else {
      l->carry_.push_back(Carry::kTensor);
      l->handed_.push_back(i);
    }
  }
  return l;
}

bool LoopPlan::keeps_on(const Tensors& carried) const {
  return first_->run(carried)[0].item() != 0;
}

void LoopPlan::prepare(Plan::Frame& a, Plan::Frame& b, Tensors& carried) const {
  const size_t n = carried.size();
  const Plan& p = *step_;
  for (size_t i = 0; i <= n; ++i) {
    if (carry_[i] != Carry::kBuffer) continue;
    const ir::Type type = i < n ? p.param_types_[i] : ir::type_of(b.results[i]);
    Tensor second = Tensor::empty(type.dtype, type.shape);
    a.results[i] = second;
    if (i == n) continue;
    // The first buffer is the value itself when nobody else reads it.
    bool mine = carried[i].sole_owner();
    Tensor first = mine ? carried[i] : Tensor::empty(type.dtype, type.shape);
    if (!mine) std::memcpy(first.mutable_raw(), carried[i].raw(), first.bytes());
    a.args[i] = b.results[i] = first;
    b.args[i] = second;
  }
  for (size_t i = 0; i < n; ++i) {
    if (carry_[i] == Carry::kInvariant) a.args[i] = b.args[i] = carried[i];
    if (carry_[i] == Carry::kTensor) a.args[i] = std::move(carried[i]);
  }
}

bool LoopPlan::written_again(const Tensor& t, const Plan::Frame& f) {
  return t.impl()->storage == f.arena || shares(t, f.args) || shares(t, f.results);
}

void LoopPlan::hand_over(Plan::Frame& from, Plan::Frame& to) const {
  const Plan& p = *step_;
  for (size_t i : copied_) {
    const Tensor& buffer = from.results[i];
    int value = p.results_[i];
    if (p.places_[value].kind == Plan::Place::kHeld) {
      const Tensor& t = from.held[p.places_[value].index];
      if (!(t.shape() == buffer.shape()) && t.size() != buffer.size()) {
        value_error("while_loop: carried value {} enters as {} and leaves the body as {}", i,
                    buffer.describe(), t.describe());
      }
    }
    std::memcpy(buffer.mutable_raw(), p.address(value, from), buffer.bytes());
  }
  for (size_t i : handed_) {
    int value = p.results_[i];
    bool stack = p.types_[value].kind == ir::Type::Kind::kStack;
    Tensor t = p.as_tensor(value, from);
    if (stack) {
      // The frame gives up its own reference, so that the stack goes on growing in place.
      const Plan::Place& place = p.places_[value];
      if (place.kind == Plan::Place::kHeld) from.held[place.index] = Tensor();
      if (place.kind == Plan::Place::kParam) from.args[place.index] = Tensor();
    } else {
      // What a later iteration writes must not be handed on.
      if (written_again(t, from)) t = copied(t);
    }
    to.args[i] = std::move(t);
  }
}

Tensors LoopPlan::run(Tensors carried) const {
  const size_t n = carried.size();
  if (!keeps_on(carried)) return carried;
  const Plan& p = *step_;
  Plan::Frame a = p.frame({}), b = p.frame({});
  a.args.resize(n);
  b.args.resize(n);
  a.owns_args = b.owns_args = true;
  b.arena = a.arena;
  b.results[n] = Tensor::empty(DType::kBool, Shape());
  prepare(a, b, carried);
  carried.clear();
  p.bind(a);
  p.bind(b);
  Plan::Frame *now = &a, *next = &b;
  for (;;) {
    p.execute(*now);
    hand_over(*now, *next);
    bool more = *static_cast<const uint8_t*>(now->results[n].impl()->data) != 0;
    std::swap(now, next);
    if (!more) break;
  }
  Tensors out(n);
  for (size_t i = 0; i < n; ++i) out[i] = std::move(now->args[i]);
  return out;
}

}  // namespace mycel::runtime
