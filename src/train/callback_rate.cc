// Callbacks that look at how training goes: early stopping and learning rates.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "runtime/trace.h"
#include "train/callback.h"

namespace mycel::train {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool bigger_is_better(const std::string& owner, const std::string& monitor,
                      const std::string& mode) {
  if (mode == "max") return true;
  if (mode == "min") return false;
  if (mode != "auto")
    value_error("{}: 'mode' must be \"auto\", \"min\" or \"max\", got '{}'", owner, mode);
  return monitor.find("acc") != monitor.npos;
}

const nn::Parameter& rate_of(const nn::Optimizer& optimizer) {
  for (const auto& [name, p] : optimizer.own_parameters()) {
    if (name == "learning_rate" && p->value.rank() == 0) return p;
  }
  throw UserError(ErrorKind::kValue,
                  "the learning rate of this optimizer is a schedule, a list or one per group",
                  "Callbacks that change it need an optimizer made with one number.");
}

Tensor number(double v) { return Tensor::scalar(DType::kFloat64, v); }

// The number of a state's entry; leaves `into` when there is none.
template <typename T>
void read_number(const NamedTensors& state, std::string_view name, T* into) {
  for (const auto& [key, tensor] : state) {
    if (key == name) *into = static_cast<T>(tensor.item());
  }
}

nn::Optimizer& optimizer_of(const char* owner, RunContext& run) {
  MYCEL_CHECK(run.optimizer, "{}: this callback is for runs of C++ networks", owner);
  return *run.optimizer;
}

}  // namespace

double learning_rate(const nn::Optimizer& optimizer) {
  return runtime::concrete(rate_of(optimizer)->value, "learning_rate").item();
}

void set_learning_rate(nn::Optimizer& optimizer, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    value_error("a learning rate must be finite and at least 0, got {}", value);
  rate_of(optimizer)->value = Tensor::scalar(DType::kFloat32, value);
}

Watch::Watch(std::string owner, std::string monitor, const std::string& mode, double min_delta)
    : owner_(std::move(owner)),
      monitor_(std::move(monitor)),
      max_(bigger_is_better(owner_, monitor_, mode)),
      min_delta_(std::abs(min_delta)) {
  reset();
}

void Watch::reset() { best_ = max_ ? -kInfinity : kInfinity; }

double Watch::value(const RunContext& run) const {
  if (monitor_ == "loss") return run.loss();
  std::vector<std::string> known = {"loss"};
  for (const auto& [name, value] : run.metrics) {
    if ("eval_" + name == monitor_) return value;
    known.push_back("eval_" + name);
  }
  throw UserError(
      ErrorKind::kValue,
      fmt::format("{}: there is no '{}' to watch; there is {}", owner_, monitor_,
                  fmt::join(known, ", ")),
      "Values that begin with eval_ come from Model.fit with a validation in each epoch.");
}

bool Watch::better(double value) const {
  return max_ ? value - min_delta_ > best_ : value + min_delta_ < best_;
}

EarlyStopping::EarlyStopping(Options options)
    : options_(std::move(options)),
      watch_("EarlyStopping", options_.monitor, options_.mode, options_.min_delta) {
  if (options_.patience < 0)
    value_error("EarlyStopping: 'patience' must not be negative, got {}", options_.patience);
}

void EarlyStopping::on_train_begin(RunContext&) {
  watch_.reset();
  if (!std::isnan(options_.baseline)) watch_.set_best(options_.baseline);
  waited_ = stopped_ = 0;
  best_weights_.clear();
}

void EarlyStopping::on_train_epoch_end(RunContext& run) {
  double value = watch_.value(run);
  bool keep = options_.restore_best_weights;
  if (watch_.better(value)) {
    watch_.set_best(value);
    waited_ = 0;
    if (keep) best_weights_ = entries_of(run.network->parameters());
    return;
  }
  if (++waited_ < options_.patience) return;
  stopped_ = run.epoch;
  run.request_stop();
  if (!keep || best_weights_.empty()) return;
  Loaded best;
  best.file = "best weights";
  best.tensors = best_weights_;
  load_parameters(run.network->parameters(), best);
}

NamedTensors EarlyStopping::state() const {
  NamedTensors out = {{"EarlyStopping.best", number(watch_.best())},
                      {"EarlyStopping.waited", number(static_cast<double>(waited_))}};
  for (const auto& [name, tensor] : best_weights_)
    out.emplace_back("EarlyStopping.weights." + name, tensor);
  return out;
}

void EarlyStopping::set_state(const NamedTensors& state) {
  double best = watch_.best();
  read_number(state, "EarlyStopping.best", &best);
  watch_.set_best(best);
  read_number(state, "EarlyStopping.waited", &waited_);
  constexpr std::string_view kWeights = "EarlyStopping.weights.";
  for (const auto& [name, tensor] : state) {
    if (name.starts_with(kWeights))
      best_weights_.emplace_back(name.substr(kWeights.size()), tensor);
  }
}

void EarlyStopping::on_train_end(RunContext&) { best_weights_.clear(); }

ReduceLROnPlateau::ReduceLROnPlateau(Options options)
    : options_(std::move(options)),
      watch_("ReduceLROnPlateau", options_.monitor, options_.mode, options_.min_delta) {
  if (!(options_.factor > 0 && options_.factor < 1)) {
    value_error("ReduceLROnPlateau: 'factor' must be between 0 and 1, got {}", options_.factor);
  }
  if (options_.patience < 0 || options_.cooldown < 0 || options_.min_lr < 0) {
    value_error("ReduceLROnPlateau: 'patience', 'cooldown' and 'min_lr' must not be negative");
  }
}

void ReduceLROnPlateau::on_train_begin(RunContext&) {
  watch_.reset();
  waited_ = cooling_ = 0;
}

void ReduceLROnPlateau::on_train_epoch_end(RunContext& run) {
  double value = watch_.value(run);
  if (cooling_ > 0) {
    --cooling_;
    waited_ = 0;
  }
  if (watch_.better(value)) {
    watch_.set_best(value);
    waited_ = 0;
  } else if (cooling_ == 0 && ++waited_ >= options_.patience) {
    nn::Optimizer& optimizer = optimizer_of("ReduceLROnPlateau", run);
    double now = learning_rate(optimizer);
    if (now > options_.min_lr)
      set_learning_rate(optimizer, std::max(now * options_.factor, options_.min_lr));
    cooling_ = options_.cooldown;
    waited_ = 0;
  }
}

NamedTensors ReduceLROnPlateau::state() const {
  return {{"ReduceLROnPlateau.best", number(watch_.best())},
          {"ReduceLROnPlateau.waited", number(static_cast<double>(waited_))},
          {"ReduceLROnPlateau.cooling", number(static_cast<double>(cooling_))}};
}

void ReduceLROnPlateau::set_state(const NamedTensors& state) {
  double best = watch_.best();
  read_number(state, "ReduceLROnPlateau.best", &best);
  watch_.set_best(best);
  read_number(state, "ReduceLROnPlateau.waited", &waited_);
  read_number(state, "ReduceLROnPlateau.cooling", &cooling_);
}

void LearningRateScheduler::on_train_step_begin(RunContext& run) {
  nn::Optimizer& optimizer = optimizer_of("LearningRateScheduler", run);
  set_learning_rate(optimizer, f_(learning_rate(optimizer), run.step));
}

}  // namespace mycel::train
