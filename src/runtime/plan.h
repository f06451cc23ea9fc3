// Plan: a graph made ready to run: passes applied, a kernel chosen and prepared for every node,
// every intermediate given its place in one arena. Running it takes no shape inference, no hashing
// and no allocation besides the arena and the results.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backend/cpu/kernel.h"
#include "base/timeline.h"
#include "ir/graph.h"
#include "tensor/tensor.h"

namespace mycel::runtime {

class LoopPlan;

// What `Plan::build` makes of a graph before it chooses kernels; `observe` sees every pass.
std::shared_ptr<ir::Graph> optimized(
    const ir::Graph& g, const std::vector<bool>& steady = {},
    const std::function<void(const char* pass, const ir::Graph& g)>& observe = {});

struct PlanOptions {
  // Parameters whose buffers the plan may overwrite with a result when the caller holds the only
  // reference; indexed like the graph's parameters.
  std::vector<bool> donated;
  // Parameters that seldom change from run to run (weights): what follows from them alone is
  // computed when one of them is another tensor than before, and kernels take them packed. Indexed
  // like the graph's parameters.
  std::vector<bool> steady;
};

struct PlanStats {
  size_t kernels = 0, calls = 0;                   // steps by kind: kernels; everything else
  size_t arena_bytes = 0;                          // after planning
  size_t unplanned_bytes = 0;                      // sum of all intermediates
  double passes_seconds = 0, kernels_seconds = 0;  // of building, regions included
};

class Plan {
 public:
  // All dimensions must be known, or every node runs through the dispatcher.
  static std::shared_ptr<const Plan> build(const ir::Graph& g, const PlanOptions& options = {});

  // `args` are concrete, of the types of the graph's parameters (checked). A donated one may be
  // overwritten when `args` holds the only reference to it.
  Tensors run(std::span<const Tensor> args) const;
  const PlanStats& stats() const { return stats_; }
  // One line per step: op, implementation, operands, place.
  std::string str() const;

 private:
  friend class PlanBuilder;
  friend class LoopPlan;
  // Where a value lives while the plan runs.
  struct Place {
    enum Kind : uint8_t { kParam, kConstant, kArena, kResult, kHeld, kKept } kind = kArena;
    size_t index = 0;  // parameter, constant, result, held or kept slot; byte offset in the arena
  };
  struct Step {
    // How a step runs: by its kernel, on a stack in place, through a plan of its regions, or
    // through the dispatcher.
    enum Kind : uint8_t { kKernel, kPush, kPop, kLoop, kCond, kCall } kind = kCall;
    bool waits = false;  // an operand or result is a held tensor: its address is known late
    std::shared_ptr<const cpu::Prepared> kernel;
    std::shared_ptr<const LoopPlan> loop;
    std::shared_ptr<const Plan> then, otherwise;
    const ir::Op* op = nullptr;
    const ir::Node* node = nullptr;  // of graph_, for the probe
    ir::Attrs attrs;
    std::vector<int> in, out;  // value numbers; -1: absent
    std::vector<bool> last;    // per operand: nobody reads it after this step
    ir::Loc loc = 0;
    size_t first = 0;  // of its addresses in Frame::addresses
    timeline::Mark mark;
  };
  // What follows from steady parameters, and which they were.
  struct Kept {
    std::vector<std::pair<Ref<Storage>, const void*>> of;
    Tensors values;
  };
  // One run of the plan: its tensors, and the address of every operand and result of every kernel.
  // Loops run the same frame many times.
  struct Frame {
    Tensors args, results, held;
    Ref<Storage> arena;
    std::shared_ptr<const Kept> kept;
    std::vector<void*> addresses;
    bool owns_args = false;  // `args` may be moved from and changed: nobody else looks at them
  };

  Frame frame(std::span<const Tensor> args) const;  // without results
  void bind(Frame& f) const;                        // fills `addresses`
  void execute(Frame& f) const;
  void find_kept(Frame& f) const;  // computes it when a steady parameter is another one
  void* address(int value, const Frame& f) const;
  Tensor as_tensor(int value, const Frame& f) const;
  // The tensor of a value that a step reads last, given away where the frame may.
  Tensor take(int value, bool last, Frame& f) const;
  Tensors operands(const Step& s, Frame& f) const;
  void keep(const Step& s, Tensors out, Frame& f) const;
  void push(const Step& s, Frame& f) const;
  void pop(const Step& s, Frame& f) const;
  void run_step(const Step& s, Frame& f) const;
  void watch_step(const Step& s, Frame& f) const;  // the same, timed
  void show_step(const Step& s, const Frame& f) const;
  timeline::Id id_of(const Step& s) const;
  timeline::Id arena_id() const;
  Tensors run_bound(std::span<const Tensor> args) const;

  std::shared_ptr<const ir::Graph> graph_;  // optimised; keeps nodes alive
  std::vector<Place> places_;               // by value number
  ir::Types types_;                         // by value number
  std::vector<Step> steps_;
  std::vector<Step> seldom_;     // of steady parameters alone; results are kept
  std::vector<size_t> steady_;   // the parameters that they read
  std::vector<ir::Type> keeps_;  // by kept slot
  // Of the arena's buffers, steps by their places; for measurements.
  struct Lived {
    int step, last;
    size_t bytes;
  };
  std::vector<Lived> lived_;
  timeline::Mark mark_, arena_mark_;
  Tensors constants_;
  std::vector<int> results_;      // value number of each result
  std::map<size_t, int> donors_;  // result -> parameter whose buffer it may take
  ir::Types param_types_;
  size_t held_ = 0, addresses_ = 0;
  PlanStats stats_;
  mutable std::mutex kept_mutex_;
  mutable std::shared_ptr<const Kept> kept_;
};

}  // namespace mycel::runtime
