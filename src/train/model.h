// Training and evaluation: Loop runs the epochs of a Program (steps, metrics) with callbacks; Model
// is the program of a C++ network, its loss, optimizer and metrics. The Python front runs its own
// program through the same Loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "nn/metric.h"
#include "nn/optimizer.h"
#include "train/callback.h"

namespace mycel::runtime {
class Jit;
}
namespace mycel::data {
class Reader;
}

namespace mycel::train {

// What a loop runs.
class Program {
 public:
  // Gives the next batch, if there is to be another step.
  using NextBatch = std::function<bool(Tensors*)>;
  virtual ~Program() = default;
  virtual void set_train(bool training) = 0;
  virtual Tensors train_step(const Tensors& batch) = 0;  // the loss first
  // Many steps in one go; gives the outputs of the last one.
  virtual Tensors train_steps(const NextBatch& next);
  virtual Tensors eval_step(const Tensors& batch) = 0;
  virtual void clear_metrics() = 0;
  virtual void add_to_metrics(const Tensors& outputs) = 0;
  virtual Metrics metric_values() = 0;
  // Called after each step: throws to end the run.
  virtual void after_step() {}
};

struct Validation {
  data::DatasetPtr dataset;
  int64_t every = 1;             // epochs
  std::vector<int64_t> at = {};  // these epochs instead, when not empty
  bool sink = false;             // as Loop::eval's
};

// How many steps run between callbacks. Data sinks: the next batch is read on another thread while
// a step runs, and callbacks see the start of the first and the end of the last step of a call.
constexpr int64_t kNoSink = 0;      // callbacks around each step
constexpr int64_t kSinkEpoch = -1;  // around each epoch; any n > 0: around n steps, called an epoch

class Loop {
 public:
  Loop(Program& program, Callbacks callbacks, RunContext& run)
      : program_(program), callbacks_(std::move(callbacks)), run_(run) {
    run_.callbacks = &callbacks_;
  }
  ~Loop() { run_.callbacks = nullptr; }
  // Trains until `epochs` epochs are complete, from `start`. Ctrl-C ends it after the current step
  // with an error of kind kInterrupted when `catch_interrupt`. `sink`: kNoSink, kSinkEpoch, or the
  // steps of an epoch, which then has nothing to do with the dataset's.
  void train(int64_t epochs, const data::DatasetPtr& dataset, const Progress& start = {},
             const Validation& validation = {}, bool catch_interrupt = true,
             int64_t sink = kNoSink);
  // `sink`: the next batch is read on another thread while a step runs.
  Metrics eval(const data::DatasetPtr& dataset, bool sink = false);

 private:
  void at(Moment m);
  void begin(int64_t epochs, int64_t batches, const Progress& start);
  // `epoch` trains one epoch; false: somebody asked to stop.
  void train_epochs(const std::function<bool()>& epoch, const Validation& validation);
  bool train_epoch(data::Reader& rows);
  bool train_call(data::Reader& rows, int64_t sink);
  void after_step();
  void check_interrupt() const;
  void validate(const Validation& v);
  Program& program_;
  Callbacks callbacks_;
  RunContext& run_;
};

class Model final : public Program {
 public:
  // `metrics`: short or class names ("acc", "loss"). `loss` gets (the network's results…, labels);
  // none: the network gives the loss itself. With a loss the last column of a dataset is the
  // labels.
  Model(nn::CellPtr network, nn::CellPtr loss = {}, nn::OptimizerPtr optimizer = {},
        const std::vector<std::string>& metrics = {});
  ~Model() override;

  // RuntimeError without an optimizer; ValueError for an empty dataset or epochs < 1.
  // `sink`: as Loop's.
  void train(int64_t epochs, const data::DatasetPtr& dataset, Callbacks callbacks = {},
             int64_t sink = kNoSink);
  // With an evaluation every `validation.every` epochs.
  void fit(int64_t epochs, const data::DatasetPtr& dataset, const Validation& validation,
           Callbacks callbacks = {}, int64_t sink = kNoSink);
  Metrics eval(const data::DatasetPtr& dataset, Callbacks callbacks = {}, bool sink = false);
  Tensors predict(const Tensors& inputs);

  // Steps run as compiled plans, one a signature of the batch. `eager`: op by op instead, for
  // networks whose C++ code looks at values.
  void run_eagerly(bool eager = true) { eager_ = eager; }

  // Loads a training checkpoint: the next train() or fit() goes on where it was saved, on the same
  // dataset.
  void resume(const std::string& path);
  // Writes one, as ModelCheckpoint does.
  void save(const std::string& path) const;

  // Program.
  void set_train(bool training) override;
  Tensors train_step(const Tensors& batch) override;
  Tensors eval_step(const Tensors& batch) override;
  void clear_metrics() override;
  void add_to_metrics(const Tensors& outputs) override;
  Metrics metric_values() override;

 private:
  struct Named {
    std::string name;
    nn::MetricPtr metric;
    bool of_loss;
  };
  void start(int64_t epochs, const data::DatasetPtr& dataset, const Validation& validation,
             Callbacks callbacks, int64_t sink);
  // What beside the batch decides how a step computes: switches of the cells, frozen parameters.
  std::string state_key() const;
  std::vector<Tensor*> variables() const;
  Tensors measured(nn::Inputs batch);
  nn::CellPtr network_, loss_, trained_;
  nn::OptimizerPtr optimizer_;
  std::unique_ptr<runtime::Jit> train_step_, eval_step_;
  bool eager_ = false;
  std::vector<Named> metrics_;
  Progress progress_;
  bool resumed_ = false;
};

// The entries of a training checkpoint, and which of them are the optimizer's.
std::pair<NamedTensors, std::vector<std::string>> training_entries(const nn::Cell& network,
                                                                   const nn::Optimizer& optimizer);

}  // namespace mycel::train
