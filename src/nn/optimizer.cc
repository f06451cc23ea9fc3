#include "nn/optimizer.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/timeline.h"
#include "mycel/ops.h"
#include "nn/arith.h"
#include "runtime/jit.h"
#include "runtime/region.h"
#include "runtime/tap.h"

namespace mycel::nn {
namespace {

bool is_low_precision(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

DType compute_dtype(const Tensor& param) {
  return is_low_precision(param.dtype()) ? DType::kFloat32 : param.dtype();
}

Tensor cast_to(const Tensor& t, DType dtype) {
  return t.dtype() == dtype ? t : ops::cast(t, dtype);
}

// The published default: normalisation's scales and shifts do not decay.
bool decays_by_default(const ParameterData& p) {
  return p.name.find("beta") == std::string::npos && p.name.find("gamma") == std::string::npos;
}

// g less its mean over all dims but the first (Yong et al., "Gradient centralization", ECCV 2020).
Tensor centralize(const Tensor& g) {
  if (g.rank() < 2) return g;
  std::vector<int64_t> axes;
  for (int d = 1; d < g.rank(); ++d) axes.push_back(d);
  return g - ops::reduce_mean(g, axes, true);
}

void check_names(const std::string& owner, const std::vector<Parameter>& params) {
  if (params.empty()) value_error("{}: there are no parameters to optimize", owner);
  std::unordered_set<const ParameterData*> seen;
  for (const Parameter& p : params) {
    if (!p) type_error("{}: a parameter is null", owner);
    if (!seen.insert(p.get()).second) {
      value_error("{}: the parameter '{}' appears in more than one group or twice in one", owner,
                  p->name);
    }
  }
}

}  // namespace

Scheduled::Scheduled(const std::string& owner, const std::string& name, const Arg& value) {
  if (value.is_cell()) {
    cell_ = value.cell();
    dynamic_ = true;
    return;
  }
  const ir::Attr& a = value.attr();
  Tensor t;
  if (a.is<Tensor>()) {
    t = cast_to(a.tensor(), DType::kFloat32);
  } else if (a.is<ir::Attr::Floats>()) {
    const auto& list = a.floats();
    t = Tensor::empty(DType::kFloat32, Shape{static_cast<int64_t>(list.size())});
    for (size_t i = 0; i < list.size(); ++i) {
      if (!(list[i] >= 0))
        value_error("{}: '{}' must not be negative, got {}", owner, name, list[i]);
      set_element(t.mutable_raw(), DType::kFloat32, static_cast<int64_t>(i), list[i]);
    }
  } else {
    double v = a.real();
    if (!(v >= 0)) value_error("{}: '{}' must not be negative, got {}", owner, name, v);
    zero_ = v == 0;
    t = Tensor::scalar(DType::kFloat32, v);
  }
  if (t.rank() > 1 || t.size() == 0) {
    value_error("{}: '{}' must be one number or a list of them, got {}", owner, name, t.describe());
  }
  dynamic_ = t.rank() == 1;
  parameter_ = make_parameter(t, name, false);
}

Tensor Scheduled::at(const Tensor& global_step) const {
  Tensor v;
  if (cell_) {
    Tensors out = cell_->run(std::span(&global_step, 1));
    if (out.size() != 1) value_error("{}: a schedule gives one number", cell_->class_name());
    v = out[0];
  } else if (dynamic_) {
    v = ops::gather(parameter_->value, global_step, 0, 0, "clip");
  } else {
    v = parameter_->value;
  }
  if (v.rank() != 0) v = ops::reshape(v, {});
  return cast_to(v, DType::kFloat32);
}

Optimizer::Optimizer(const OptimizerDef& d, std::vector<ParamGroup> groups, Args a,
                     const std::vector<Parameter>& order)
    : def(d), args(std::move(a)) {
  global_step_ = add("global_step",
                     make_parameter(Tensor::zeros(DType::kInt32, Shape{1}), "global_step", false));
  if (args.signature().index("loss_scale") >= 0) loss_scale_ = args.positive_real("loss_scale");
  bool several =
      groups.size() > 1 || (groups.size() == 1 && (groups[0].lr || groups[0].weight_decay));
  for (size_t i = 0; i < groups.size(); ++i) add_group(groups[i], static_cast<int>(i), several);
  check_names(def.name, params_);
  if (!order.empty()) reorder(order);
  if (def.setup) def.setup(*this);
}

void Optimizer::reorder(const std::vector<Parameter>& order) {
  if (order.size() != params_.size()) {
    value_error("{}: 'order_params' names {} parameters, the groups hold {}", def.name,
                order.size(), params_.size());
  }
  std::vector<Rule> rules;
  std::vector<bool> flags;
  for (const Parameter& p : order) {
    auto at = std::find(params_.begin(), params_.end(), p);
    if (at == params_.end()) {
      value_error("{}: 'order_params' names '{}', which is in no group", def.name, p->name);
    }
    rules.push_back(rules_[at - params_.begin()]);
    flags.push_back(decay_flags_[at - params_.begin()]);
  }
  params_ = order;
  rules_ = std::move(rules);
  decay_flags_ = std::move(flags);
}

int Optimizer::scheduled(const std::string& name, const Arg& value) {
  scheduled_.emplace_back(def.name, name, value);
  const Scheduled& s = scheduled_.back();
  if (s.cell()) {
    add(name, s.cell());
  } else if (name.starts_with("learning_rate")) {
    add(name, s.parameter());  // saved, and open to callbacks that change it
  }
  return static_cast<int>(scheduled_.size()) - 1;
}

void Optimizer::add_group(const ParamGroup& g, int number, bool several) {
  auto given = [&](const char* name) {
    bool there = args.signature().index(name) >= 0 && !args.none(name);
    return there ? args[name] : Arg(0.0);
  };
  Rule rule;
  rule.group = number;
  std::string suffix = several ? fmt::format("_group_{}", number) : "";
  rule.lr = scheduled("learning_rate" + suffix, g.lr ? *g.lr : given("learning_rate"));
  Arg decay = g.weight_decay ? *g.weight_decay : given("weight_decay");
  bool decays = decay.is_cell() || !decay.attr().is<double>() || decay.attr().real() != 0;
  if (decays && decay.is_attr() && decay.attr().is<int64_t>()) decays = decay.attr().integer() != 0;
  if (decays) rule.decay = scheduled("weight_decay" + suffix, decay);
  rule.centralize = g.grad_centralization;
  for (const Parameter& p : g.params) {
    params_.push_back(p);
    rules_.push_back(rule);
    decay_flags_.push_back(decays && (several || def.decays_all || decays_by_default(*p)));
  }
}

void Optimizer::slot(const std::string& name, double fill, ShapeOf shape_of) {
  Slot one{name, {}};
  for (const Parameter& p : params_) {
    Shape s = shape_of ? shape_of(p->value.shape()) : p->value.shape();
    Tensor first = Tensor::full(compute_dtype(p->value), s, fill);
    one.states.push_back(make_parameter(first, name + "." + p->name, false));
    add_state(one.states.back());
  }
  slots_.push_back(std::move(one));
}

Parameter Optimizer::shared(const std::string& name, double first) {
  return add(name, make_parameter(Tensor::scalar(DType::kFloat32, first), name, false));
}

void Optimizer::assign_shared(std::string_view name, Tensor v) {
  Parameter p = find_own(name);
  MYCEL_CHECK(p, "{} has no state '{}'", def.name, name);
  p->value = settle(p->value, std::move(v));
}

Tensor Optimizer::step_number() const {
  return ops::reshape(ops::cast(global_step_->value, DType::kFloat32), {}) + 1.0;
}

Tensors Optimizer::scheduled_now() const {
  Tensors now;
  for (const Scheduled& s : scheduled_) now.push_back(s.at(global_step_->value));
  return now;
}

Tensors Optimizer::learning_rates() const {
  Tensors now = scheduled_now(), out;
  for (const Rule& r : rules_) out.push_back(now[r.lr]);
  return out;
}

Tensors Optimizer::weight_decays() const {
  Tensors now = scheduled_now(), out;
  for (size_t i = 0; i < rules_.size(); ++i) {
    bool decays = decay_flags_[i] && rules_[i].decay >= 0;
    out.push_back(decays ? now[rules_[i].decay] : Tensor::scalar(DType::kFloat32, 0.0));
  }
  return out;
}

bool Optimizer::dynamic_lr() const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [&](const Rule& r) { return scheduled_[r.lr].dynamic(); });
}

Tensor Optimizer::prepare_gradient(int i, const Tensor& gradient, const Tensor& decay,
                                   Preparation what) const {
  const Tensor& p = params_[i]->value;
  if (!gradient || !(gradient.shape() == p.shape())) {
    value_error("{}: the gradient of '{}' is {}, the parameter {}", def.name, params_[i]->name,
                gradient ? gradient.describe() : "missing", p.describe());
  }
  Tensor g = cast_to(gradient, compute_dtype(p));
  if (what.scale && loss_scale_ != 1) g = g * (1 / loss_scale_);
  if (what.decay && decay) g = g + cast_to(p, g.dtype()) * decay;
  return what.centralize && rules_[i].centralize ? centralize(g) : g;
}

Tensors Optimizer::prepare_gradients(std::span<const Tensor> gradients, Preparation what) const {
  check_count(gradients.size());
  Tensors now = scheduled_now(), out;
  for (size_t i = 0; i < params_.size(); ++i) {
    Tensor decay = decay_flags_[i] && rules_[i].decay >= 0 ? now[rules_[i].decay] : Tensor();
    out.push_back(prepare_gradient(static_cast<int>(i), gradients[i], decay, what));
  }
  return out;
}

void Optimizer::update_one(int i, const Tensor& gradient, const Tensors& now, bool prepared) {
  const Rule& rule = rules_[i];
  Tensor decay = !prepared && decay_flags_[i] && rule.decay >= 0 ? now[rule.decay] : Tensor();
  const Parameter& p = params_[i];
  Tensor g =
      prepared ? gradient : prepare_gradient(i, gradient, decay, {true, !def.own_decay, true});
  Update u{*this, i, cast_to(p->value, compute_dtype(p->value)), g, now[rule.lr], decay, {}};
  for (const Slot& slot : slots_) u.state.push_back(slot.states[i]->value);
  def.update(u);
  p->value = settle(p->value, cast_to(u.param, p->value.dtype()));
  for (size_t s = 0; s < slots_.size(); ++s) {
    const Parameter& state = slots_[s].states[i];
    state->value = settle(state->value, u.state[s]);
  }
}

void Optimizer::check_count(size_t gradients) const {
  if (gradients == params_.size()) return;
  value_error("{}: {} gradients given for {} parameters", def.name, gradients, params_.size());
}

Optimizer::~Optimizer() = default;

void Optimizer::step(std::span<const Tensor> gradients) {
  MYCEL_CHECK(def.update, "{} is a base class", def.name);
  check_count(gradients.size());
  timeline::InPhase update(timeline::Phase::kUpdate);
  show_gradients(gradients);
  places_ = all_places();
  can_compile(gradients) ? step_compiled(gradients) : step_by_ops(gradients);
}

bool Optimizer::can_compile(std::span<const Tensor> gradients) const {
  if (runtime::compiling() || runtime::active_region() || runtime::tap::attached) return false;
  // A schedule of the user's own may do anything, and does it every step.
  for (const Scheduled& s : scheduled_) {
    if (s.cell()) return false;
  }
  auto plain = [](const Tensor& t) { return t && t.concrete() && !t.trace(); };
  if (!std::all_of(gradients.begin(), gradients.end(), plain)) return false;
  return std::all_of(places_.begin(), places_.end(), [&](auto& p) { return plain(p->value); });
}

void Optimizer::step_compiled(std::span<const Tensor> gradients) {
  std::vector<ir::Type> types;
  for (const Parameter& p : places_) types.push_back(ir::type_of(p->value));
  if (!compiled_ || types != compiled_for_) {
    auto update = [this](std::span<const Tensor> g) {
      step_by_ops(g);
      return Tensors();
    };
    compiled_ = std::make_unique<runtime::Jit>(update, def.name, [this] {
      std::vector<Tensor*> values;
      for (const Parameter& p : places_) values.push_back(&p->value);
      return values;
    });
    compiled_for_ = std::move(types);
  }
  (*compiled_)(gradients);
}

void Optimizer::step_by_ops(std::span<const Tensor> gradients) {
  Tensors now = scheduled_now();
  if (def.begin) def.begin(*this);
  for (size_t i = 0; i < params_.size(); ++i)
    update_one(static_cast<int>(i), gradients[i], now, false);
  advance();
}

// For debuggers: each gradient by its parameter's name.
void Optimizer::show_gradients(std::span<const Tensor> gradients) const {
  if (!runtime::tap::attached) return;
  for (size_t i = 0; i < params_.size(); ++i)
    runtime::tap::mark("gradient", params_[i]->name, gradients[i]);
}

std::vector<Parameter> Optimizer::all_places() const {
  std::vector<Parameter> all = params_;
  for (const auto& [name, p] : own_parameters()) all.push_back(p);
  return all;
}

void Optimizer::step_unless(const Tensor& skip, std::span<const Tensor> gradients) {
  std::vector<Parameter> places = all_places();
  Tensors before;
  for (const Parameter& p : places) before.push_back(p->value);
  step(gradients);
  for (size_t i = 0; i < places.size(); ++i) {
    Tensor& now = places[i]->value;
    if (!now.same(before[i])) now = settle(before[i], ops::select(skip, before[i], now));
  }
}

void Optimizer::lars_step(std::span<const Tensor> gradients, const std::vector<bool>& flags,
                          const Lars& settings) {
  check_count(gradients.size());
  timeline::InPhase update(timeline::Phase::kUpdate);
  show_gradients(gradients);
  Tensors now = scheduled_now();
  if (def.begin) def.begin(*this);
  for (size_t i = 0; i < params_.size(); ++i) {
    const Rule& rule = rules_[i];
    Tensor g = prepare_gradient(static_cast<int>(i), gradients[i], {}, {true, false, true});
    if (flags[i]) {
      Tensor p = cast_to(params_[i]->value, g.dtype());
      Tensor decay = decay_flags_[i] && rule.decay >= 0 ? now[rule.decay]
                                                        : Tensor::scalar(DType::kFloat32, 0.0);
      Tensor pn = ops::sqrt(ops::reduce_sum_square(p)), gn = ops::sqrt(ops::reduce_sum_square(g));
      Tensor trust = settings.coefficient * pn / (gn + decay * pn + settings.epsilon);
      Tensor zero = number(pn, 0), one = number(pn, 1);
      Tensor both = ops::logical_and(ops::greater(pn, zero), ops::greater(gn, zero));
      trust = ops::select(both, trust, one);
      if (settings.clip) trust = ops::minimum(trust / now[rule.lr], one);
      g = trust * (g + decay * p);
    }
    update_one(static_cast<int>(i), g, now, true);
  }
  advance();
}

void Optimizer::advance() {
  Tensor one = Tensor::full(DType::kInt32, Shape{1}, 1);
  global_step_->value = settle(global_step_->value, ops::add(global_step_->value, one));
}

Tensors Optimizer::construct(Inputs gradients) {
  step(gradients);
  return {};
}

namespace {
constexpr OptimizerDef kBase = {
    .name = "Optimizer",
    .doc =
        "Base of optimizers that users write: learning rates, weight decay, loss scale, no update "
        "rule.",
    .args = {"learning_rate: schedule", "weight_decay: schedule = 0.0", "loss_scale: float = 1.0"},
};
}  // namespace

OptimizerDefs base_optimizers() { return {&kBase}; }

const std::vector<const OptimizerDef*>& all_optimizers() {
  static const auto* all = [] {
    auto* v = new std::vector<const OptimizerDef*>;
    for (const OptimizerDefs& room :
         {gradient_descent_optimizers(), adam_optimizers(), adaptive_optimizers(),
          proximal_optimizers(), base_optimizers()}) {
      v->insert(v->end(), room.begin(), room.end());
    }
    return v;
  }();
  return *all;
}

const OptimizerDef* find_optimizer(const std::string& name) {
  for (const OptimizerDef* d : all_optimizers()) {
    if (name == d->name) return d;
  }
  return nullptr;
}

std::shared_ptr<const Signature> signature_of(const OptimizerDef& def) {
  static auto* made = new std::map<const OptimizerDef*, std::shared_ptr<const Signature>>;
  auto& slot = (*made)[&def];
  if (!slot) slot = std::make_shared<const Signature>(def.name, def.args);
  return slot;
}

OptimizerPtr make_optimizer(const std::string& name, std::vector<ParamGroup> groups,
                            std::vector<Arg> positional, const NamedArgs& named,
                            const std::vector<Parameter>& order) {
  const OptimizerDef* d = find_optimizer(name);
  if (!d) {
    std::vector<const char*> names;
    for (const OptimizerDef* o : all_optimizers()) names.push_back(o->name);
    std::string near = did_you_mean(name, names.data(), names.size());
    throw UserError(ErrorKind::kAttribute, fmt::format("there is no optimizer '{}'", name),
                    near.empty() ? "" : "Did you mean '" + near + "'?");
  }
  return std::make_shared<Optimizer>(*d, std::move(groups),
                                     Args(signature_of(*d), std::move(positional), named), order);
}

OptimizerPtr make_optimizer(const std::string& name, std::vector<Parameter> params,
                            std::vector<Arg> positional, const NamedArgs& named) {
  return make_optimizer(name, std::vector<ParamGroup>{{std::move(params)}}, std::move(positional),
                        named);
}

}  // namespace mycel::nn
