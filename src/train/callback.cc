#include "train/callback.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "runtime/trace.h"
#include "train/model.h"

namespace mycel::train {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Print or_stdout(Print print) {
  if (print) return print;
  return [](const std::string& line) {
    std::puts(line.c_str());
    std::fflush(stdout);
  };
}

}  // namespace

double RunContext::loss() const {
  if (outputs.empty() || !outputs[0])
    fail(ErrorKind::kRuntime, "there is no loss before the first step");
  Tensor t = runtime::concrete(outputs[0], "loss");
  if (t.size() == 0) value_error("the loss is empty: {}", t.describe());
  double sum = 0;
  for (int64_t i = 0; i < t.size(); ++i) sum += element_as_double(t.raw(), t.dtype(), i);
  return sum / static_cast<double>(t.size());
}

namespace {

// The state of one callback begins with this in a run's: "0." for the first one of its class, "1."
// for the second, so that callbacks of other classes may come and go between runs.
std::string place_of(std::map<std::string, int>& seen, const NamedTensors& own) {
  const std::string& name = own[0].first;
  return fmt::format("{}.", seen[name.substr(0, name.find('.'))]++);
}

}  // namespace

Progress RunContext::progress() const {
  Progress p{epoch > 0 ? epoch - 1 : 0, position, step, runtime::random_state()};
  if (!outputs.empty() && outputs[0])
    p.state.emplace_back("loss", runtime::concrete(outputs[0], "loss"));
  std::map<std::string, int> seen;
  for (const CallbackPtr& c : callbacks ? *callbacks : Callbacks()) {
    NamedTensors own = c->state();
    if (own.empty()) continue;
    std::string place = place_of(seen, own);
    for (auto& [name, tensor] : own) p.state.emplace_back(place + name, std::move(tensor));
  }
  return p;
}

void RunContext::restore(const NamedTensors& state) {
  for (const auto& [name, tensor] : state) {
    if (name == "loss") outputs = {tensor};
  }
  std::map<std::string, int> seen;
  for (const CallbackPtr& c : callbacks ? *callbacks : Callbacks()) {
    NamedTensors own = c->state(), saved;
    if (own.empty()) continue;
    std::string owner = own[0].first.substr(0, own[0].first.find('.') + 1);
    std::string prefix = place_of(seen, own) + owner;
    for (const auto& [name, tensor] : state) {
      if (name.compare(0, prefix.size(), prefix) == 0)
        saved.emplace_back(name.substr(prefix.size() - owner.size()), tensor);
    }
    if (!saved.empty()) c->set_state(saved);
  }
}

const char* name_of(Moment m) {
  static constexpr const char* kNames[kMomentCount] = {
      "on_train_begin",     "on_train_epoch_begin", "on_train_step_begin", "on_train_step_end",
      "on_train_epoch_end", "on_train_end",         "on_eval_begin",       "on_eval_epoch_begin",
      "on_eval_step_begin", "on_eval_step_end",     "on_eval_epoch_end",   "on_eval_end"};
  return kNames[static_cast<int>(m)];
}

void Callback::at(Moment m, RunContext& run) {
  using Method = void (Callback::*)(RunContext&);
  static constexpr Method kMethods[kMomentCount] = {
      &Callback::on_train_begin,    &Callback::on_train_epoch_begin, &Callback::on_train_step_begin,
      &Callback::on_train_step_end, &Callback::on_train_epoch_end,   &Callback::on_train_end,
      &Callback::on_eval_begin,     &Callback::on_eval_epoch_begin,  &Callback::on_eval_step_begin,
      &Callback::on_eval_step_end,  &Callback::on_eval_epoch_end,    &Callback::on_eval_end};
  (this->*kMethods[static_cast<int>(m)])(run);
}

void LambdaCallback::at(Moment m, RunContext& run) {
  auto it = functions_.find(m);
  if (it != functions_.end() && it->second) it->second(run);
}

LossMonitor::LossMonitor(int64_t every, Print print)
    : every_(every), print_(or_stdout(std::move(print))) {
  if (every < 1) value_error("LossMonitor: 'per_print_times' must be at least 1, got {}", every);
}

void LossMonitor::on_train_step_end(RunContext& run) {
  double loss = run.loss();
  if (!std::isfinite(loss)) {
    throw UserError(ErrorKind::kValue,
                    fmt::format("epoch: {} step: {}: the loss is {}; training stops", run.epoch,
                                run.position, loss),
                    "Try a smaller learning rate or clipped gradients; look for log(0) or x / 0.");
  }
  if (run.reached(every_))
    print_(fmt::format("epoch: {} step: {}, loss is {}", run.epoch, run.position, loss));
}

TimeMonitor::TimeMonitor(Print print) : print_(or_stdout(std::move(print))) {}

void TimeMonitor::on_train_epoch_begin(RunContext& run) {
  began_ = seconds_now();
  first_step_ = run.step;
}

void TimeMonitor::on_train_epoch_end(RunContext& run) {
  double ms = (seconds_now() - began_) * 1e3;
  int64_t steps = std::max<int64_t>(1, run.step - first_step_);
  print_(fmt::format("Train epoch time: {:.3f} ms, per step time: {:.3f} ms", ms,
                     ms / static_cast<double>(steps)));
}

void History::on_train_begin(RunContext&) {
  epochs_.clear();
  values_.clear();
}

NamedTensors History::state() const {
  NamedTensors out = {{"History.epochs", Tensor::from(epochs_, {std::ssize(epochs_)})}};
  for (const auto& [name, values] : values_)
    out.emplace_back("History.values." + name, Tensor::from(values, {std::ssize(values)}));
  return out;
}

void History::set_state(const NamedTensors& state) {
  constexpr std::string_view kValues = "History.values.";
  for (const auto& [name, tensor] : state) {
    if (name == "History.epochs") {
      auto d = tensor.data<int64_t>();
      epochs_.assign(d.begin(), d.end());
    } else if (name.starts_with(kValues)) {
      auto d = tensor.data<double>();
      values_[name.substr(kValues.size())].assign(d.begin(), d.end());
    }
  }
}

void History::on_train_epoch_end(RunContext& run) {
  epochs_.push_back(run.epoch);
  if (!run.outputs.empty()) values_["loss"].push_back(run.loss());
  for (const auto& [name, value] : run.metrics) values_["eval_" + name].push_back(value);
}

ModelCheckpoint::ModelCheckpoint(std::string prefix, std::string folder, CheckpointConfig config)
    : prefix_(std::move(prefix)),
      folder_(folder.empty() ? "." : std::move(folder)),
      config_(config) {
  if (prefix_.empty() || prefix_.find('/') != prefix_.npos) {
    value_error("ModelCheckpoint: 'prefix' must be a file name's start, got '{}'", prefix_);
  }
  if (config.every_steps < 0 || config.every_seconds < 0 || config.keep < 0) {
    value_error("ModelCheckpoint: numbers of the configuration must not be negative");
  }
}

void ModelCheckpoint::on_train_begin(RunContext& run) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) fail(ErrorKind::kOs, "ModelCheckpoint: {}: {}", folder_, error.message());
  last_time_ = seconds_now();
  last_step_ = run.step;
}

void ModelCheckpoint::on_train_step_end(RunContext& run) {
  bool by_step = config_.every_steps > 0 && run.reached(config_.every_steps);
  bool by_time = config_.every_seconds > 0 && seconds_now() - last_time_ >= config_.every_seconds;
  if (by_step || by_time) save(run);
}

void ModelCheckpoint::on_train_end(RunContext& run) {
  if (run.step != last_step_) save(run);
}

void ModelCheckpoint::save(RunContext& run) {
  MYCEL_CHECK(run.network && run.optimizer, "this checkpoint is for runs of C++ networks");
  auto [entries, states] = training_entries(*run.network, *run.optimizer);
  latest_ = fmt::format("{}/{}-{}_{}.ckpt", folder_, prefix_, run.epoch, run.position);
  save_checkpoint(latest_, entries, {.extra = states, .progress = run.progress()});
  last_time_ = seconds_now();
  last_step_ = run.step;
  std::erase(files_, latest_);
  files_.push_back(latest_);
  while (config_.keep > 0 && files_.size() > static_cast<size_t>(config_.keep)) {
    std::error_code ignored;  // somebody may have removed it already
    std::filesystem::remove(files_.front(), ignored);
    files_.erase(files_.begin());
  }
}

}  // namespace mycel::train
