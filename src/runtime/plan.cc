#include "runtime/plan.h"

#include <chrono>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/core_ops.h"
#include "passes/pass.h"
#include "runtime/dispatch.h"
#include "runtime/loop_plan.h"
#include "runtime/memory_plan.h"
#include "runtime/probe.h"
#include "tensor/provide_pages.h"
#include "tensor/stack.h"

namespace mycel::runtime {

using ir::Node;
using ir::Value;

namespace {

Tensors evaluate(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  return call(op, in, attrs);
}

bool accepts(const ir::Op& op, std::span<const ir::Type* const> in, std::span<const ir::Type> out,
             const ir::Attrs& attrs) {
  return cpu::has_listed_kernel({op, in, out, attrs});
}

// Of all plans that this thread has built: a plan's regions have plans of their own.
thread_local double g_passes_seconds = 0;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

class PlanBuilder {
 public:
  PlanBuilder(const ir::Graph& g, const PlanOptions& options)
      : plan_(std::make_shared<Plan>()), options_(options) {
    auto start = std::chrono::steady_clock::now();
    plan_->graph_ = passes::optimize(g, evaluate, accepts, options.steady);
    g_passes_seconds += seconds_since(start);
  }

  std::shared_ptr<Plan> build() {
    number_values();
    for (const Node& n : plan_->graph_->nodes()) add_step(n);
    if (!options_.steady.empty()) {
      take_out_seldom();
      pack_steady();
    }
    find_lifetimes();
    place_results();
    place_intermediates();
    for (const auto& [view, of] : views_) plan_->places_[view] = plan_->places_[root(of)];
    finish_steps();
    note_steady();
    return plan_;
  }

 private:
  const ir::Graph& graph() const { return *plan_->graph_; }
  int number(const Value& v) const {
    return v ? numbers_[v.node->id] + static_cast<int>(v.index) : -1;
  }

  // The value whose bytes `v` is.
  int root(int v) const {
    for (auto it = views_.find(v); it != views_.end(); it = views_.find(v)) v = it->second;
    return v;
  }

  void number_values() {
    int next = 0;
    for (const Node& n : graph().nodes()) {
      numbers_.push_back(next);
      next += static_cast<int>(n.types.size());
      for (const ir::Type& t : n.types) plan_->types_.push_back(t);
    }
    plan_->places_.resize(next);
    placed_.assign(next, false);
    held_.assign(next, false);
    for (size_t i = 0; i < graph().params().size(); ++i) {
      put(number(graph().params()[i]), {Plan::Place::kParam, i});
      plan_->param_types_.push_back(graph().params()[i].type());
    }
  }

  void put(int value, Plan::Place place) {
    plan_->places_[value] = place;
    placed_[value] = true;
  }

  void add_step(const Node& n) {
    if (n.is_param()) return;
    if (n.op == ir::core_ops().constant || small_fill(n)) {
      put(number({const_cast<Node*>(&n), 0}), {Plan::Place::kConstant, plan_->constants_.size()});
      plan_->constants_.push_back(n.op == ir::core_ops().constant
                                      ? n.attrs[0].tensor()
                                      : evaluate(*n.op, {}, n.attrs).at(0));
      return;
    }
    if (n.op->def.view && n.types[0].shape.known()) {
      views_[numbers_[n.id]] = number(n.inputs[0]);
      return;
    }
    Plan::Step s;
    s.op = n.op;
    s.node = &n;
    s.attrs = n.attrs;
    s.loc = n.loc;
    for (const Value& v : n.inputs) s.in.push_back(number(v));
    for (uint32_t j = 0; j < n.types.size(); ++j)
      s.out.push_back(numbers_[n.id] + static_cast<int>(j));
    s.kernel = kernel_for(n);
    if (s.kernel) {
      s.kind = Plan::Step::kKernel;
      ++plan_->stats_.kernels;
    } else {
      choose_kind(n, s);
      ++plan_->stats_.calls;
      // A popped element of a known shape goes where a kernel would put it.
      bool placed_top = s.kind == Plan::Step::kPop;
      for (size_t j = 0; j < s.out.size(); ++j) held_[s.out[j]] = !(placed_top && j == 1);
    }
    plan_->steps_.push_back(std::move(s));
  }

  // Filled once, not in every run.
  static bool small_fill(const Node& n) {
    constexpr int64_t kElements = 1024;
    return n.op == ir::core_ops().full && n.inputs.empty() && n.types[0].shape.known() &&
           n.types[0].shape.size() <= kElements;
  }

  static bool packed(const Value& v) { return v.shape().known(); }

  void choose_kind(const Node& n, Plan::Step& s) {
    const ir::CoreOps& core = ir::core_ops();
    if (n.op == core.stack_push && packed(n.inputs[0]) && packed(n.inputs[1])) {
      s.kind = Plan::Step::kPush;
    } else if (n.op == core.stack_pop && packed(n.inputs[0])) {
      s.kind = Plan::Step::kPop;
    } else if (n.op == core.while_loop) {
      s.kind = Plan::Step::kLoop;
      s.loop = LoopPlan::build(*n.attrs[0].graph(), *n.attrs[1].graph());
    } else if (n.op == core.cond) {
      s.kind = Plan::Step::kCond;
      s.then = Plan::build(*n.attrs[0].graph());
      s.otherwise = Plan::build(*n.attrs[1].graph());
    }
  }

  bool is_steady(int v) const {
    const Plan::Place& p = plan_->places_[root(v)];
    bool param =
        placed_[root(v)] && p.kind == Plan::Place::kParam && p.index < options_.steady.size();
    return p.kind == Plan::Place::kKept || (param && options_.steady[p.index]);
  }
  bool is_constant(int v) const {
    return placed_[root(v)] && plan_->places_[root(v)].kind == Plan::Place::kConstant;
  }

  // Steps on steady values alone, unless they make much out of little.
  void take_out_seldom() {
    std::vector<bool> leaves(plan_->places_.size(), false);
    for (const Value& v : graph().results()) leaves[root(number(v))] = true;
    auto bytes = [&](int v) {
      return plan_->types_[v].shape.size() * static_cast<int64_t>(size_of(plan_->types_[v].dtype));
    };
    std::vector<Plan::Step> often;
    for (Plan::Step& s : plan_->steps_) {
      bool seldom = s.kernel && !s.op->def.random && !s.op->def.side_effect;
      bool any = false;
      int64_t in = 0, out = 0;
      for (int v : s.in) {
        if (!seldom || v < 0) continue;
        seldom = is_steady(v) || is_constant(v);
        any |= is_steady(v);
        in += bytes(v);
      }
      for (int v : s.out) {
        if (!seldom) break;
        seldom = !leaves[v];
        out += bytes(v);
      }
      if (seldom && any && out <= 2 * in) {
        for (int v : s.out) keep(v);
        plan_->seldom_.push_back(std::move(s));
      } else {
        often.push_back(std::move(s));
      }
    }
    plan_->steps_ = std::move(often);
  }

  void keep(int v) {
    put(v, {Plan::Place::kKept, plan_->keeps_.size()});
    plan_->keeps_.push_back(plan_->types_[v]);
  }

  // Kernels that want another layout of a steady operand get it.
  void pack_steady() {
    std::vector<Plan::Step> packs;
    for (Plan::Step& s : plan_->steps_) {
      for (size_t k = 0; s.kernel && k < s.in.size(); ++k) {
        if (s.in[k] < 0 || !(is_steady(s.in[k]) || is_constant(s.in[k]))) continue;
        auto packed = s.kernel->packed(static_cast<int>(k));
        if (!packed) continue;
        int v = static_cast<int>(plan_->places_.size());
        plan_->places_.emplace_back();
        plan_->types_.emplace_back(DType::kUInt8, Shape{static_cast<int64_t>(packed->bytes)});
        placed_.push_back(false);
        held_.push_back(false);
        keep(v);
        Plan::Step pack;
        pack.kind = Plan::Step::kKernel;
        pack.kernel = packed->pack;
        pack.op = s.op;
        pack.in = {s.in[k]};
        pack.out = {v};
        pack.loc = s.loc;
        packs.push_back(std::move(pack));
        s.kernel = packed->kernel;
        s.in[k] = v;
      }
    }
    pack_early(std::move(packs));
  }

  // Packs each value right after it is made, so that the value need not wait for the others.
  void pack_early(std::vector<Plan::Step> packs) {
    std::unordered_multimap<int, size_t> of;
    for (size_t i = 0; i < packs.size(); ++i) of.emplace(root(packs[i].in[0]), i);
    std::vector<Plan::Step> made;
    std::vector<bool> done(packs.size(), false);
    for (Plan::Step& s : plan_->seldom_) {
      made.push_back(std::move(s));
      const std::vector<int> outs = made.back().out;
      for (int v : outs) {
        auto [begin, end] = of.equal_range(v);
        for (auto it = begin; it != end; ++it) {
          done[it->second] = true;
          made.push_back(std::move(packs[it->second]));
        }
      }
    }
    for (size_t i = 0; i < packs.size(); ++i) {
      if (!done[i]) made.push_back(std::move(packs[i]));
    }
    plan_->seldom_ = std::move(made);
  }

  // The parameters that the seldom steps read.
  void note_steady() {
    std::vector<bool> read(graph().params().size(), false);
    for (const Plan::Step& s : plan_->seldom_) {
      for (int v : s.in) {
        if (v < 0) continue;
        const Plan::Place& p = plan_->places_[v];
        if (p.kind == Plan::Place::kParam) read[p.index] = true;
      }
    }
    for (size_t i = 0; i < read.size(); ++i) {
      if (read[i]) plan_->steady_.push_back(i);
    }
  }

  // What a run needs to know of each step beforehand.
  void finish_steps() {
    auto held = [&](int v) { return v >= 0 && plan_->places_[v].kind == Plan::Place::kHeld; };
    for (size_t i = 0; i < plan_->steps_.size(); ++i) {
      Plan::Step& s = plan_->steps_[i];
      s.first = plan_->addresses_;
      plan_->addresses_ += s.in.size() + s.out.size();
      for (int v : s.in) {
        s.waits |= held(v);
        s.last.push_back(v >= 0 && last_[root(v)] == static_cast<int>(i) && !is_result(v));
      }
      for (int v : s.out) s.waits |= held(v);
    }
  }

  bool is_result(int v) const { return is_result_[root(v)]; }

  std::shared_ptr<const cpu::Prepared> kernel_for(const Node& n) {
    if (n.op->holds_code) return nullptr;
    std::vector<const ir::Type*> in;
    for (const Value& v : n.inputs) {
      in.push_back(v ? &v.type() : nullptr);
      if (v && !v.shape().known()) return nullptr;
    }
    for (const ir::Type& t : n.types) {
      if (!t.shape.known() || t.shape.size() == 0) return nullptr;
    }
    return cpu::choose({*n.op, in, n.types, n.attrs}).prepared;
  }

  void find_lifetimes() {
    first_.assign(plan_->places_.size(), 0);
    last_.assign(plan_->places_.size(), -1);
    for (size_t i = 0; i < plan_->steps_.size(); ++i) {
      for (int v : plan_->steps_[i].out) first_[v] = last_[v] = static_cast<int>(i);
      for (int v : plan_->steps_[i].in) {
        if (v >= 0) last_[root(v)] = static_cast<int>(i);
      }
    }
  }

  // A result gets memory of its own, or the buffer of a donated parameter that its step reads last.
  void place_results() {
    is_result_.assign(plan_->places_.size(), false);
    for (const Value& v : graph().results()) {
      plan_->results_.push_back(number(v));
      is_result_[root(number(v))] = true;
    }
    std::vector<bool> taken(graph().params().size(), false);
    std::vector<int> producer(plan_->places_.size(), -1);
    for (size_t i = 0; i < plan_->steps_.size(); ++i) {
      for (int v : plan_->steps_[i].out) producer[v] = static_cast<int>(i);
    }
    // Last results first: those are the new values of variables, which should take the old ones'
    // memory.
    for (size_t r = plan_->results_.size(); r-- > 0;) {
      int v = root(plan_->results_[r]);
      if (placed_[v] || held_[v]) continue;
      put(v, {Plan::Place::kResult, r});
      donate(plan_->steps_[producer[v]], v, taken);
    }
  }

  void donate(Plan::Step& s, int result, std::vector<bool>& taken) {
    if (s.out.empty() || !s.kernel) return;
    for (size_t k = 0; k < s.in.size(); ++k) {
      int v = s.in[k] < 0 ? -1 : root(s.in[k]);
      if (v < 0 || plan_->places_[v].kind != Plan::Place::kParam) continue;
      size_t param = plan_->places_[v].index;
      bool donated = param < options_.donated.size() && options_.donated[param];
      if (!donated || taken[param] || is_result(v) || !(plan_->types_[v] == plan_->types_[result]))
        continue;
      if (last_[v] != first_[result] || !s.kernel->can_alias(static_cast<int>(k))) continue;
      taken[param] = true;
      plan_->donors_[plan_->places_[result].index] = static_cast<int>(param);
      return;
    }
  }

  void place_intermediates() {
    std::vector<BufferLife> lives;
    std::vector<int> values;
    for (const Plan::Step& s : plan_->steps_) {
      for (int v : s.out) {
        if (placed_[v]) continue;
        if (held_[v]) {
          put(v, {Plan::Place::kHeld, plan_->held_++});
          continue;
        }
        const ir::Type& t = plan_->types_[v];
        size_t bytes = static_cast<size_t>(t.shape.size()) * size_of(t.dtype);
        lives.push_back({bytes, first_[v], std::max(first_[v], last_[v]), 0});
        values.push_back(v);
        plan_->stats_.unplanned_bytes += bytes;
      }
    }
    plan_->stats_.arena_bytes = place_buffers(lives);
    for (size_t i = 0; i < values.size(); ++i)
      put(values[i], {Plan::Place::kArena, lives[i].offset});
  }

  std::shared_ptr<Plan> plan_;
  const PlanOptions& options_;
  std::vector<int> numbers_;            // first value number by node id
  std::unordered_map<int, int> views_;  // value -> the value that it is another shape of
  std::vector<bool> placed_, held_, is_result_;
  std::vector<int> first_, last_;
};

std::shared_ptr<const Plan> Plan::build(const ir::Graph& g, const PlanOptions& options) {
  auto start = std::chrono::steady_clock::now();
  double passes = g_passes_seconds;
  auto plan = PlanBuilder(g, options).build();
  plan->stats_.passes_seconds = g_passes_seconds - passes;
  plan->stats_.kernels_seconds = seconds_since(start) - plan->stats_.passes_seconds;
  return plan;
}

namespace {

void check_args(const ir::Types& types, std::span<const Tensor> args) {
  if (args.size() != types.size()) {
    value_error("compiled graph: {} arguments given, takes {}", args.size(), types.size());
  }
  for (size_t i = 0; i < args.size(); ++i) {
    bool fits = args[i].dtype() == types[i].dtype && args[i].rank() == types[i].shape.rank();
    for (int d = 0; fits && d < args[i].rank(); ++d) {
      fits = types[i].shape[d] == kUnknownDim || types[i].shape[d] == args[i].dim(d);
    }
    if (!fits) {
      value_error("compiled graph: argument {} is {}, takes {}", i, args[i].describe(),
                  types[i].str());
    }
  }
}

// How steps without a kernel run, by kind.
constexpr const char* kWays[] = {"", "stack", "stack", "loop", "regions", "call"};

Tensor copy_of(const Tensor& t) {
  Tensor out = Tensor::empty(t.dtype(), t.shape());
  std::memcpy(out.mutable_raw(), t.raw(), t.bytes());
  return out;
}

}  // namespace

void* Plan::address(int value, const Frame& f) const {
  if (value < 0) return nullptr;
  const Place& p = places_[value];
  switch (p.kind) {
    case Place::kParam:
      return f.args[p.index] ? f.args[p.index].impl()->data : nullptr;
    case Place::kConstant:
      return constants_[p.index].impl()->data;
    case Place::kArena:
      return static_cast<char*>(f.arena->data()) + p.index;
    case Place::kResult:
      return f.results[p.index].impl()->data;
    case Place::kHeld:
      return f.held[p.index] ? f.held[p.index].impl()->data : nullptr;
    case Place::kKept:
      return f.kept->values[p.index].impl()->data;
  }
  return nullptr;
}

Tensor Plan::as_tensor(int value, const Frame& f) const {
  if (value < 0) return {};
  const Place& p = places_[value];
  auto shaped = [&](const Tensor& t) {
    return t.shape() == types_[value].shape || !types_[value].shape.known() || t.is_stack()
               ? t
               : t.view(types_[value].shape);
  };
  if (p.kind == Place::kParam) return shaped(f.args[p.index]);
  if (p.kind == Place::kConstant) return shaped(constants_[p.index]);
  if (p.kind == Place::kResult) return shaped(f.results[p.index]);
  if (p.kind == Place::kHeld) return shaped(f.held[p.index]);
  if (p.kind == Place::kKept) return shaped(f.kept->values[p.index]);
  auto impl = make_ref<TensorImpl>();
  impl->dtype = types_[value].dtype;
  impl->shape = types_[value].shape;
  impl->storage = f.arena;
  impl->data = static_cast<char*>(f.arena->data()) + p.index;
  return Tensor(impl);
}

Tensor Plan::take(int value, bool last, Frame& f) const {
  if (last && types_[value].kind == ir::Type::Kind::kStack) {
    const Place& p = places_[value];
    if (p.kind == Place::kHeld) return std::move(f.held[p.index]);
    if (p.kind == Place::kParam && f.owns_args) return std::move(f.args[p.index]);
  }
  return as_tensor(value, f);
}

Tensors Plan::operands(const Step& s, Frame& f) const {
  Tensors in;
  in.reserve(s.in.size());
  for (size_t i = 0; i < s.in.size(); ++i) {
    in.push_back(s.in[i] < 0 ? Tensor() : take(s.in[i], s.last[i], f));
  }
  return in;
}

void Plan::keep(const Step& s, Tensors out, Frame& f) const {
  for (Tensor& t : out) {
    // The arena's bytes are used again: what leaves a call must not live there.
    if (f.arena && t.impl()->storage == f.arena) t = copy_of(t);
  }
  for (size_t j = 0; j < s.out.size(); ++j) f.held[places_[s.out[j]].index] = std::move(out[j]);
}

void Plan::push(const Step& s, Frame& f) const {
  Tensor stack = take(s.in[0], s.last[0], f);
  bool masked = s.in.size() > 2 && s.in[2] >= 0;
  const auto* mask = masked ? static_cast<const uint8_t*>(address(s.in[2], f)) : nullptr;
  owned_stack(stack).push(address(s.in[1], f), mask, masked ? types_[s.in[2]].shape.rank() : 0);
  f.held[places_[s.out[0]].index] = std::move(stack);
}

void Plan::pop(const Step& s, Frame& f) const {
  Tensor stack = take(s.in[0], s.last[0], f);
  bool masked = s.in.size() > 1 && s.in[1] >= 0;
  const auto* mask = masked ? static_cast<const uint8_t*>(address(s.in[1], f)) : nullptr;
  owned_stack(stack).pop(address(s.out[1], f), mask, masked ? types_[s.in[1]].shape.rank() : 0);
  f.held[places_[s.out[0]].index] = std::move(stack);
}

void Plan::run_step(const Step& s, Frame& f) const {
  switch (s.kind) {
    case Step::kKernel: {
      void** at = f.addresses.data() + s.first;
      if (s.waits) {
        for (size_t i = 0; i < s.in.size(); ++i) at[i] = address(s.in[i], f);
      }
      s.kernel->run(at);
      return;
    }
    case Step::kPush:
      return push(s, f);
    case Step::kPop:
      return pop(s, f);
    case Step::kLoop:
      return keep(s, s.loop->run(operands(s, f)), f);
    case Step::kCond: {
      bool taken = *static_cast<const uint8_t*>(address(s.in[0], f)) != 0;
      Tensors in = operands(s, f);
      return keep(s, (taken ? s.then : s.otherwise)->run(std::span(in).subspan(1)), f);
    }
    case Step::kCall:
      return keep(s, call(*s.op, operands(s, f), s.attrs), f);
  }
}

Plan::Frame Plan::frame(std::span<const Tensor> args) const {
  Frame f;
  f.args.assign(args.begin(), args.end());
  f.results.resize(results_.size());
  f.held.resize(held_);
  if (stats_.arena_bytes) {
    f.arena = Storage::allocate(stats_.arena_bytes);
    provide_pages(f.arena->data(), stats_.arena_bytes);
  }
  return f;
}

void Plan::bind(Frame& f) const {
  f.addresses.resize(addresses_);
  for (const Step& s : steps_) {
    if (s.kind != Step::kKernel) continue;
    void** at = f.addresses.data() + s.first;
    for (int v : s.in) *at++ = address(v, f);
    for (int v : s.out) *at++ = address(v, f);
  }
}

void Plan::probe_step(const Step& s, Frame& f) const {
  probe::Span span;
  run_step(s, f);
  probe::note_step(graph_, *s.node, s.kernel ? s.kernel->implementation() : kWays[s.kind], span);
}

void Plan::execute(Frame& f) const {
  const bool probed = probe::on.load(std::memory_order_relaxed);
  for (const Step& s : steps_) {
    try {
      probed ? probe_step(s, f) : run_step(s, f);
    } catch (UserError& e) {
      if (s.loc) e.set_where("At " + ir::loc_text(s.loc));
      throw;
    }
  }
}

void Plan::find_kept(Frame& f) const {
  if (seldom_.empty()) return;
  std::lock_guard lock(kept_mutex_);
  auto same = [&](size_t k) {
    const TensorImpl& now = *f.args[steady_[k]].impl();
    return kept_->of[k].first == now.storage && kept_->of[k].second == now.data;
  };
  bool all = kept_ != nullptr;
  for (size_t k = 0; all && k < steady_.size(); ++k) all = same(k);
  if (all) {
    f.kept = kept_;
    return;
  }
  kept_ = nullptr;
  auto fresh = std::make_shared<Kept>();
  bool immutable = true;
  for (size_t i : steady_) {
    const TensorImpl& now = *f.args[i].impl();
    fresh->of.emplace_back(now.storage, now.data);
    immutable &= !now.storage->foreign();  // an owner outside may write to it
  }
  fresh->values.resize(keeps_.size());
  f.kept = fresh;
  // What only these steps read, like the weights before they are packed, goes after the last of
  // them.
  constexpr size_t kStays = SIZE_MAX;
  std::vector<size_t> last(keeps_.size(), 0);
  auto each_kept = [&](const std::vector<int>& values, auto visit) {
    for (int v : values) {
      if (v >= 0 && places_[v].kind == Place::kKept) visit(places_[v].index);
    }
  };
  for (size_t i = 0; i < seldom_.size(); ++i) {
    each_kept(seldom_[i].in, [&](size_t slot) { last[slot] = i; });
  }
  for (const Step& s : steps_) each_kept(s.in, [&](size_t slot) { last[slot] = kStays; });
  std::vector<void*> at;
  for (size_t i = 0; i < seldom_.size(); ++i) {
    const Step& s = seldom_[i];
    each_kept(s.out, [&](size_t slot) {
      fresh->values[slot] = Tensor::empty(keeps_[slot].dtype, keeps_[slot].shape);
    });
    at.clear();
    for (int v : s.in) at.push_back(address(v, f));
    for (int v : s.out) at.push_back(address(v, f));
    s.kernel->run(at.data());
    each_kept(s.in, [&](size_t slot) {
      if (last[slot] == i) fresh->values[slot] = Tensor();
    });
  }
  if (immutable) kept_ = std::move(fresh);
}

Tensors Plan::run(std::span<const Tensor> args) const {
  if (!probe::on.load(std::memory_order_relaxed)) return run_bound(args);
  probe::Span span;
  Tensors results = run_bound(args);
  probe::note_plan(graph_, span);
  return results;
}

Tensors Plan::run_bound(std::span<const Tensor> args) const {
  check_args(param_types_, args);
  Frame f = frame({});
  for (size_t r = 0; r < results_.size(); ++r) {
    const Place& p = places_[results_[r]];
    if (p.kind != Place::kResult || p.index != r) continue;
    MYCEL_CHECK(types_[results_[r]].shape.known(), "a planned result has an unknown shape");
    auto donor = donors_.find(r);
    if (donor != donors_.end() && args[donor->second].sole_owner()) {
      f.results[r] = args[donor->second].view(types_[results_[r]].shape);
    } else {
      f.results[r] = Tensor::empty(types_[results_[r]].dtype, types_[results_[r]].shape);
    }
  }
  f.args.assign(args.begin(), args.end());
  find_kept(f);
  bind(f);
  execute(f);
  for (size_t r = 0; r < results_.size(); ++r) {
    if (!f.results[r]) f.results[r] = as_tensor(results_[r], f);
  }
  return std::move(f.results);
}

std::string Plan::str() const {
  std::string text =
      fmt::format("plan: {} kernels, {} calls, arena {} bytes ({} without reuse)\n", stats_.kernels,
                  stats_.calls, stats_.arena_bytes, stats_.unplanned_bytes);
  static const char* const kinds[] = {"p", "c", "a", "r", "h", "k"};
  auto place = [&](int v) {
    return v < 0 ? std::string("-") : fmt::format("{}{}", kinds[places_[v].kind], places_[v].index);
  };
  for (const Step& s : seldom_) {
    text += fmt::format("when weights change: {} [{}]", s.op->name, s.kernel->implementation());
    for (int v : s.in) text += " " + place(v);
    text += " ->";
    for (int v : s.out) text += " " + place(v);
    text += "\n";
  }
  for (const Step& s : steps_) {
    text +=
        fmt::format("{} [{}]", s.op->name, s.kernel ? s.kernel->implementation() : kWays[s.kind]);
    for (int v : s.in) text += " " + place(v);
    text += " ->";
    for (int v : s.out) text += " " + place(v);
    text += "\n";
  }
  return text;
}

}  // namespace mycel::runtime
