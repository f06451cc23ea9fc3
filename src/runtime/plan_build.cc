// How a plan is made: passes, a kernel for every node, places for all values.
#include <chrono>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/core_ops.h"
#include "passes/pass.h"
#include "runtime/dispatch.h"
#include "runtime/loop_plan.h"
#include "runtime/memory_plan.h"
#include "runtime/plan.h"
#include "runtime/tap.h"

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

std::shared_ptr<ir::Graph> optimized(const ir::Graph& g, const std::vector<bool>& steady,
                                     const passes::Observe& observe) {
  return passes::optimize(g, evaluate, accepts, steady, observe, tap::attached);
}

class PlanBuilder {
 public:
  PlanBuilder(const ir::Graph& g, const PlanOptions& options)
      : plan_(std::make_shared<Plan>()), options_(options) {
    auto start = std::chrono::steady_clock::now();
    plan_->graph_ = optimized(g, options.steady);
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
    for (size_t i = 0; i < values.size(); ++i) {
      put(values[i], {Plan::Place::kArena, lives[i].offset});
      plan_->lived_.push_back({lives[i].first, lives[i].last, lives[i].bytes});
    }
  }

  std::shared_ptr<Plan> plan_;
  const PlanOptions& options_;
  std::vector<int> numbers_;            // first value number by node id
  std::unordered_map<int, int> views_;  // value -> the value that it is another shape of
  std::vector<bool> placed_, held_, is_result_;
  std::vector<int> first_, last_;
};

std::shared_ptr<const Plan> Plan::build(const ir::Graph& g, const PlanOptions& options) {
  timeline::Slice slice(
      timeline::on() ? timeline::named(timeline::Kind::kCompile, "compile " + g.name()) : 0);
  auto start = std::chrono::steady_clock::now();
  double passes = g_passes_seconds;
  auto plan = PlanBuilder(g, options).build();
  plan->stats_.passes_seconds = g_passes_seconds - passes;
  plan->stats_.kernels_seconds = seconds_since(start) - plan->stats_.passes_seconds;
  return plan;
}

}  // namespace mycel::runtime
