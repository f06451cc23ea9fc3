// Callbacks: code that runs between the steps of training and evaluation, and RunContext, what it
// sees and may ask for. Built-in ones: monitors, checkpoints, early stopping, learning rates.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nn/optimizer.h"
#include "train/checkpoint.h"

namespace mycel::train {

using Metrics = std::map<std::string, double>;

class Callback;
using CallbackPtr = std::shared_ptr<Callback>;
using Callbacks = std::vector<CallbackPtr>;

// The state of a run. Callbacks read it and may set `stop`.
struct RunContext {
  nn::Cell* network = nullptr;         // null where the front end is not C++
  nn::Optimizer* optimizer = nullptr;  // the same; null in evaluation alone
  int64_t epochs = 0;                  // to run in all
  int64_t epoch = 0;                   // the current one, counted from 1
  int64_t batches = -1;                // an epoch; -1: not known
  int64_t step = 0;                    // since the start of training, counted from 1
  int64_t position = 0;                // in the epoch, counted from 1
  int64_t steps = 1;                   // since the last kTrainStepBegin: more than 1 in data sinks
  Tensors batch;                       // what the step is given
  Tensors outputs;                     // of the last step; in training the loss is the first
  Metrics metrics;                     // of the last evaluation
  bool evaluating = false;
  bool stop = false;  // no further step
  const Callbacks* callbacks = nullptr;
  void request_stop() { stop = true; }
  // Whether a multiple of `every` is among the steps since the last kTrainStepBegin.
  bool reached(int64_t every) const { return step / every != (step - steps) / every; }
  // The mean of the loss over its elements. RuntimeError before the first step.
  double loss() const;
  // What a run that goes on from here needs; between steps.
  Progress progress() const;
  // Gives callbacks their part of a Progress, and `outputs` the loss.
  void restore(const NamedTensors& state);
};

// Moments in the order in which a run meets them.
enum class Moment {
  kTrainBegin,
  kTrainEpochBegin,
  kTrainStepBegin,
  kTrainStepEnd,
  kTrainEpochEnd,
  kTrainEnd,
  kEvalBegin,
  kEvalEpochBegin,
  kEvalStepBegin,
  kEvalStepEnd,
  kEvalEpochEnd,
  kEvalEnd,
};
constexpr int kMomentCount = 12;
// "on_train_begin", …
const char* name_of(Moment m);

class Callback {
 public:
  virtual ~Callback() = default;
  virtual void on_train_begin(RunContext&) {}
  virtual void on_train_epoch_begin(RunContext&) {}
  virtual void on_train_step_begin(RunContext&) {}
  virtual void on_train_step_end(RunContext&) {}
  virtual void on_train_epoch_end(RunContext&) {}
  virtual void on_train_end(RunContext&) {}
  virtual void on_eval_begin(RunContext&) {}
  virtual void on_eval_epoch_begin(RunContext&) {}
  virtual void on_eval_step_begin(RunContext&) {}
  virtual void on_eval_step_end(RunContext&) {}
  virtual void on_eval_epoch_end(RunContext&) {}
  virtual void on_eval_end(RunContext&) {}
  // Calls the one of `m`.
  virtual void at(Moment m, RunContext& run);
  // What it keeps from step to step and a resumed run has to know. Names begin with the class's:
  // "EarlyStopping.best". set_state is called after on_train_begin, with the names of state().
  virtual NamedTensors state() const { return {}; }
  virtual void set_state(const NamedTensors&) {}
};
using Print = std::function<void(const std::string&)>;

// A function a moment.
class LambdaCallback final : public Callback {
 public:
  explicit LambdaCallback(std::map<Moment, std::function<void(RunContext&)>> functions)
      : functions_(std::move(functions)) {}
  void at(Moment m, RunContext& run) override;

 private:
  std::map<Moment, std::function<void(RunContext&)>> functions_;
};

// Prints the loss every `every` steps. ValueError when it is infinite or not a number.
class LossMonitor final : public Callback {
 public:
  explicit LossMonitor(int64_t every = 1, Print print = {});
  void on_train_step_end(RunContext& run) override;

 private:
  int64_t every_;
  Print print_;
};

// Prints the time of each epoch and, on average, of its steps.
class TimeMonitor final : public Callback {
 public:
  explicit TimeMonitor(Print print = {});
  void on_train_epoch_begin(RunContext& run) override;
  void on_train_epoch_end(RunContext& run) override;

 private:
  Print print_;
  double began_ = 0;
  int64_t first_step_ = 0;
};

// Loss of every epoch, and metrics where there is an evaluation.
class History final : public Callback {
 public:
  void on_train_begin(RunContext&) override;
  void on_train_epoch_end(RunContext& run) override;
  NamedTensors state() const override;
  void set_state(const NamedTensors& state) override;
  const std::vector<int64_t>& epochs() const { return epochs_; }
  const std::map<std::string, std::vector<double>>& values() const { return values_; }

 private:
  std::vector<int64_t> epochs_;
  std::map<std::string, std::vector<double>> values_;
};

struct CheckpointConfig {
  int64_t every_steps = 1;   // 0: not by steps
  double every_seconds = 0;  // 0: not by time
  int64_t keep = 5;          // the newest files that stay; 0: all
};

// Training checkpoints "<folder>/<prefix>-<epoch>_<position>.ckpt", by steps or time and at the
// end.
class ModelCheckpoint final : public Callback {
 public:
  ModelCheckpoint(std::string prefix, std::string folder, CheckpointConfig config = {});
  void on_train_begin(RunContext&) override;
  void on_train_step_end(RunContext& run) override;
  void on_train_end(RunContext& run) override;
  const std::string& latest() const { return latest_; }

 private:
  void save(RunContext& run);
  std::string prefix_, folder_, latest_;
  CheckpointConfig config_;
  std::vector<std::string> files_;
  double last_time_ = 0;
  int64_t last_step_ = -1;
};

// Whether a watched number gets better. `monitor`: "loss", or "eval_<metric>". mode: "min", "max",
// or "auto": max for names with "acc", else min.
class Watch {
 public:
  Watch(std::string owner, std::string monitor, const std::string& mode, double min_delta);
  // The number now. ValueError naming those there are.
  double value(const RunContext& run) const;
  bool better(double value) const;
  double best() const { return best_; }
  void set_best(double v) { best_ = v; }
  void reset();

 private:
  std::string owner_, monitor_;
  bool max_;
  double min_delta_, best_;
};

// Stops when the number has not become better for `patience` epochs.
class EarlyStopping final : public Callback {
 public:
  struct Options {
    std::string monitor = "eval_loss", mode = "auto";
    double min_delta = 0;
    int64_t patience = 0;
    double baseline = std::numeric_limits<double>::quiet_NaN();  // none
    bool restore_best_weights = false;
  };
  explicit EarlyStopping(Options options);
  EarlyStopping() : EarlyStopping(Options()) {}
  void on_train_begin(RunContext&) override;
  void on_train_epoch_end(RunContext& run) override;
  void on_train_end(RunContext& run) override;
  NamedTensors state() const override;
  void set_state(const NamedTensors& state) override;
  int64_t stopped_epoch() const { return stopped_; }

 private:
  Options options_;
  Watch watch_;
  int64_t waited_ = 0, stopped_ = 0;
  NamedTensors best_weights_;
};

// Multiplies the learning rate by `factor` when the number has not become better for `patience`
// epochs.
class ReduceLROnPlateau final : public Callback {
 public:
  struct Options {
    std::string monitor = "eval_loss", mode = "auto";
    double factor = 0.1, min_delta = 1e-4, min_lr = 0;
    int64_t patience = 10, cooldown = 0;
  };
  explicit ReduceLROnPlateau(Options options);
  ReduceLROnPlateau() : ReduceLROnPlateau(Options()) {}
  void on_train_begin(RunContext&) override;
  void on_train_epoch_end(RunContext& run) override;
  NamedTensors state() const override;
  void set_state(const NamedTensors& state) override;

 private:
  Options options_;
  Watch watch_;
  int64_t waited_ = 0, cooling_ = 0;
};

// Sets the learning rate before each step to f(rate now, step counted from 1).
class LearningRateScheduler final : public Callback {
 public:
  explicit LearningRateScheduler(std::function<double(double, int64_t)> f) : f_(std::move(f)) {}
  void on_train_step_begin(RunContext& run) override;

 private:
  std::function<double(double, int64_t)> f_;
};

// The learning rate of an optimizer that has one number for it. ValueError when it is a schedule or
// a list.
double learning_rate(const nn::Optimizer& optimizer);
void set_learning_rate(nn::Optimizer& optimizer, double value);

}  // namespace mycel::train
