#include "runtime/plan.h"

#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/phase.h"
#include "runtime/dispatch.h"
#include "runtime/loop_plan.h"
#include "runtime/node_facts.h"
#include "runtime/probe.h"
#include "runtime/tap.h"
#include "tensor/provide_pages.h"
#include "tensor/stack.h"

namespace mycel::runtime {

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
    case Step::kCall: {
      Tensors in = operands(s, f);
      // The user's code may keep what it is given; this memory serves other values afterwards.
      if (s.op->holds_code) {
        for (Tensor& t : in) {
          if (t && !t.is_stack()) t = copy_of(t);
        }
      }
      return keep(s, call(*s.op, in, s.attrs), f);
    }
  }
}

Plan::Frame Plan::frame(std::span<const Tensor> args) const {
  Frame f;
  f.args.assign(args.begin(), args.end());
  f.results.resize(results_.size());
  f.held.resize(held_);
  if (stats_.arena_bytes) {
    timeline::Owner owner(timeline::on(timeline::kMemory) ? arena_id() : 0);
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

timeline::Id Plan::id_of(const Step& s) const {
  return s.mark.get([&] {
    const char* way = s.kernel ? s.kernel->implementation() : kWays[s.kind];
    if (s.node) return describe(*s.node, way);
    return timeline::What{.kind = timeline::Kind::kKernel,
                          .phase = ir::phase_of(s.loc),
                          .name = "pack for " + s.op->name,
                          .implementation = way,
                          .where = ir::loc_text(s.loc)};
  });
}

timeline::Id Plan::arena_id() const {
  return arena_mark_.get([&] {
    timeline::What what{.kind = timeline::Kind::kArena, .name = graph_->name()};
    what.bytes = static_cast<int64_t>(stats_.arena_bytes);
    for (const Lived& l : lived_)
      what.lives.push_back({id_of(steps_[static_cast<size_t>(l.step)]), l.bytes, l.step, l.last});
    return what;
  });
}

void Plan::watch_step(const Step& s, Frame& f) const {
  timeline::Slice slice(timeline::on() ? id_of(s) : 0, static_cast<uint32_t>(timeline::phase()));
  if (!probe::on.load(std::memory_order_relaxed)) return run_step(s, f);
  probe::Span span;
  run_step(s, f);
  probe::note_step(graph_, *s.node, s.kernel ? s.kernel->implementation() : kWays[s.kind], span);
}

void Plan::show_step(const Step& s, const Frame& f) const {
  if (!s.node) return;
  Tensors in;
  for (int v : s.in) in.push_back(as_tensor(v, f));
  for (size_t j = 0; j < s.out.size(); ++j)
    tap::show({s.op, s.node, static_cast<uint32_t>(j), s.loc, in}, as_tensor(s.out[j], f));
}

void Plan::execute(Frame& f) const {
  const bool watched = probe::on.load(std::memory_order_relaxed) || timeline::on();
  const bool shown = tap::on.load(std::memory_order_relaxed);
  for (const Step& s : steps_) {
    try {
      watched ? watch_step(s, f) : run_step(s, f);
      if (shown) show_step(s, f);
    } catch (UserError& e) {
      if (ir::has_line(s.loc)) e.set_where("At " + ir::loc_text(s.loc));
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
    {
      timeline::Slice slice(timeline::on() ? id_of(s) : 0);
      s.kernel->run(at.data());
    }
    each_kept(s.in, [&](size_t slot) {
      if (last[slot] == i) fresh->values[slot] = Tensor();
    });
  }
  if (immutable) kept_ = std::move(fresh);
}

Tensors Plan::run(std::span<const Tensor> args) const {
  timeline::Slice slice(timeline::on() ? mark_.get([&] {
    return timeline::What{.kind = timeline::Kind::kProgram, .name = graph_->name()};
  })
                                       : 0,
                        static_cast<uint32_t>(timeline::phase()));
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
