// OptimizerDef: the one record of an optimizer, and Optimizer, which runs it. A record names its
// arguments and states and computes new values from (parameter, gradient, states, learning rate,
// step) with ordinary ops, so a training step is one graph of ops for whoever records or compiles
// it.
//
// Everything published that all optimizers share is here: parameter groups, learning rates that
// change (a list, a tensor, a schedule cell), weight decay with its filter, gradient
// centralization, loss scale.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "ir/type.h"
#include "nn/args.h"
#include "nn/cell.h"

namespace mycel::runtime {
class Jit;
}

namespace mycel::nn {

class Optimizer;

// What an update rule sees for one parameter. Low-precision parameters are updated in float32:
// `param`, `grad` and states are float32 then, and the result is cast back.
struct Update {
  const Optimizer& optimizer;
  int index;     // of the parameter
  Tensor param;  // in: old value; out: new value
  Tensor grad;   // scaled, centralized and, unless the record decays weights itself, decayed
  Tensor lr;     // 0-d float32
  Tensor decay;  // weight decay coefficient where the record applies it itself; none: no decay here
  std::vector<Tensor> state;  // in record order; assign new values
};

struct OptimizerDef {
  const char* name = "";
  const char* doc = "";  // the update rule, then source; ends with a full stop
  ir::Names args = {};
  // Checks arguments and calls `slot` (one state per parameter) and `shared` (one for all).
  void (*setup)(Optimizer&) = nullptr;
  // Once a step, before the parameters: new values of the shared states.
  void (*begin)(Optimizer&) = nullptr;
  void (*update)(Update&) = nullptr;  // null only in the base of optimizers that users write
  bool own_decay = false;             // weight decay is part of the rule, not of the gradient
  bool decays_all = false;            // weight decay spares no parameter, as published for SGD
};

// One entry of a list of groups. Whatever is not given is taken from the optimizer's arguments.
struct ParamGroup {
  std::vector<Parameter> params;
  std::optional<Arg> lr = {};
  std::optional<Arg> weight_decay = {};
  bool grad_centralization = false;
};

// A number that may depend on the step: constant, a list (its last entry holds on), or a schedule
// cell. Constants and lists live in a parameter, so they are saved with the optimizer and can be
// changed.
class Scheduled {
 public:
  Scheduled(const std::string& owner, const std::string& name, const Arg& value);
  Tensor at(const Tensor& global_step) const;                // 0-d float32
  const Parameter& parameter() const { return parameter_; }  // null for a cell
  const CellPtr& cell() const { return cell_; }
  bool dynamic() const { return dynamic_; }
  bool zero() const { return zero_; }  // constant 0: nothing to do

 private:
  Parameter parameter_;
  CellPtr cell_;
  bool dynamic_ = false, zero_ = false;
};

class Optimizer : public Cell {
 public:
  ~Optimizer() override;
  Optimizer(const OptimizerDef& def, std::vector<ParamGroup> groups, Args args,
            const std::vector<Parameter>& order = {});

  const OptimizerDef& def;
  const Args args;

  // Updates all parameters from their gradients, in order of params(). ValueError when number,
  // shape or dtype class differ.
  void step(std::span<const Tensor> gradients);
  // The same, but everything keeps its value where `skip` (0-d bool) is true: after an overflow.
  void step_unless(const Tensor& skip, std::span<const Tensor> gradients);
  // Layer-wise adaptive rate scaling in front of the update: where `flags` say so, a gradient is
  // replaced by trust * (g + decay p), trust = coefficient |p| / (|g| + decay |p| + epsilon) (1
  // when a norm is 0), with `clip` at most lr, divided by it. Weight decay is applied here alone.
  // Source: You et al. 2017.
  struct Lars {
    double epsilon = 1e-5, coefficient = 0.001;
    bool clip = false;
  };
  void lars_step(std::span<const Tensor> gradients, const std::vector<bool>& flags,
                 const Lars& settings);
  // What happens to gradients before the update rule, for optimizers that users write.
  struct Preparation {
    bool scale = true, decay = true, centralize = true;
  };
  Tensors prepare_gradients(std::span<const Tensor> gradients, Preparation what) const;
  // Counts a step.
  void advance();
  // The same as a cell; gives nothing back.
  Tensors construct(Inputs gradients) override;
  std::string class_name() const override { return def.name; }

  const std::vector<Parameter>& params() const { return params_; }
  // The learning rate of each parameter at the current step.
  Tensors learning_rates() const;
  // Its weight decay coefficient; 0 where it does not decay.
  Tensors weight_decays() const;
  bool dynamic_lr() const;  // some learning rate changes with the step
  int group_of(int i) const { return rules_[i].group; }
  const Parameter& global_step() const { return global_step_; }
  // Which parameters weight decay applies to.
  const std::vector<bool>& decay_flags() const { return decay_flags_; }

  // For records: a state of every parameter, named "name.<parameter>" and filled with `fill`;
  // `shape_of` gives its shape from the parameter's (the same by default).
  using ShapeOf = Shape (*)(const Shape&);
  void slot(const std::string& name, double fill = 0, ShapeOf shape_of = nullptr);
  // A state of the optimizer, one element.
  Parameter shared(const std::string& name, double first);
  Tensor shared_value(std::string_view name) const { return value(name); }
  void assign_shared(std::string_view name, Tensor v);
  // The number of this step, counted from 1, float32, 0-d.
  Tensor step_number() const;
  int slot_count() const { return static_cast<int>(slots_.size()); }
  const std::string& slot_name(int s) const { return slots_[s].name; }
  // One state per parameter, in order of params().
  const std::vector<Parameter>& slot_parameters(int s) const { return slots_[s].states; }

 private:
  struct Rule {
    int group = 0;
    int lr = 0, decay = -1;  // into scheduled_
    bool centralize = false;
  };
  struct Slot {
    std::string name;
    std::vector<Parameter> states;
  };
  void add_group(const ParamGroup& g, int number, bool several);
  void reorder(const std::vector<Parameter>& order);
  int scheduled(const std::string& name, const Arg& value);
  Tensor prepare_gradient(int i, const Tensor& gradient, const Tensor& decay,
                          Preparation what) const;
  Tensors scheduled_now() const;
  void check_count(size_t gradients) const;
  void show_gradients(std::span<const Tensor> gradients) const;
  // `prepared`: the gradient as the rule takes it, and weight decay has been dealt with.
  void update_one(int i, const Tensor& gradient, const Tensors& now, bool prepared);
  std::vector<Parameter> all_places() const;
  void step_by_ops(std::span<const Tensor> gradients);
  // The whole update as one compiled program, for steps that nothing watches.
  bool can_compile(std::span<const Tensor> gradients) const;
  void step_compiled(std::span<const Tensor> gradients);

  std::vector<Parameter> params_;
  std::vector<Rule> rules_;
  std::vector<bool> decay_flags_;
  std::vector<Scheduled> scheduled_;
  std::vector<Slot> slots_;
  Parameter global_step_;
  double loss_scale_ = 1;
  std::vector<Parameter> places_;  // all that this step may read and write
  std::unique_ptr<runtime::Jit> compiled_;
  std::vector<ir::Type> compiled_for_;  // the types of places_
};
using OptimizerPtr = std::shared_ptr<Optimizer>;

// By name: make_optimizer("Adam", net.trainable_params(), {{"learning_rate", 0.01}}).
OptimizerPtr make_optimizer(const std::string& name, std::vector<ParamGroup> groups,
                            std::vector<Arg> positional = {}, const NamedArgs& named = {},
                            const std::vector<Parameter>& order = {});
OptimizerPtr make_optimizer(const std::string& name, std::vector<Parameter> params,
                            std::vector<Arg> positional = {}, const NamedArgs& named = {});

const OptimizerDef* find_optimizer(const std::string& name);
const std::vector<const OptimizerDef*>& all_optimizers();
std::shared_ptr<const Signature> signature_of(const OptimizerDef& def);

using OptimizerDefs = std::vector<const OptimizerDef*>;
OptimizerDefs gradient_descent_optimizers();  // optimizers/*.cc
OptimizerDefs adam_optimizers();
OptimizerDefs adaptive_optimizers();
OptimizerDefs proximal_optimizers();
OptimizerDefs base_optimizers();  // optimizer.cc

}  // namespace mycel::nn
