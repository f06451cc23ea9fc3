// The callback that records a run of a C++ Model (train/model.h), as SummaryCollector does in
// Python: loss, images of the batch, distributions of parameters, results of evaluations, what the
// run is made with, the pipeline of data and the machine.
#pragma once

#include <memory>
#include <string>

#include "data/dataset.h"
#include "insight/recorder.h"
#include "train/callback.h"

namespace mycel::insight {

class Collector final : public train::Callback {
 public:
  struct Options {
    int64_t every = 10;         // steps between records; the first is always one
    int64_t parameters = 5;     // whose distributions are recorded, the first ones
    bool images = true;         // the batch's first column where it is [n, 1 or 3, h, w]
    HParams facts = {};         // further ones of the run, for the table of lineage
    data::DatasetPtr pipeline;  // recorded with its rates when given
    RecorderOptions recorder = {};
  };
  // ValueError for options below what they mean; the folder is made when training begins.
  explicit Collector(std::string folder, Options options);
  explicit Collector(std::string folder) : Collector(std::move(folder), Options()) {}
  void on_train_begin(train::RunContext& run) override;
  void on_train_step_end(train::RunContext& run) override;
  void on_train_epoch_end(train::RunContext& run) override;
  void on_train_end(train::RunContext& run) override;

  // The file while a run is recorded, for values of the program's own; else null.
  Recorder* recorder() { return recorder_.get(); }

 private:
  HParams facts_of(const train::RunContext& run) const;
  std::string folder_;
  Options options_;
  std::unique_ptr<Recorder> recorder_;
  bool first_ = true;
};

}  // namespace mycel::insight
