// How a run proceeds, drawn in the terminal: a line that is written over itself while an epoch runs
// (bar, mean loss, time left), lines that stay, and the learning curve at the end. ProgressLines
// draws, from plain numbers, for both front ends; ProgressBar is the C++ callback.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "train/callback.h"
#include "train/terminal.h"

namespace mycel::train {

class ProgressLines {
 public:
  // `keep_every`: epochs between lines that stay; 0: about ten lines in all.
  explicit ProgressLines(int64_t keep_every = 0, std::FILE* out = stdout);
  void begin(int64_t epochs);
  // After a step; `batches` of an epoch may be unknown (-1).
  void step(int64_t epoch, int64_t position, int64_t batches, double loss);
  void epoch_end(int64_t epoch, const std::map<std::string, double>& metrics);
  // The curve of the epochs' losses, when there are two or more.
  void end();

 private:
  std::string left(int64_t epoch, double done) const;
  Screen screen_;
  int64_t keep_every_, epochs_ = 0, first_epoch_ = 0, steps_ = 0;
  double began_ = 0, drawn_ = 0, total_ = 0;
  std::vector<double> losses_;
};

// Shows the progress of Model::train and fit; see ProgressLines.
class ProgressBar final : public Callback {
 public:
  explicit ProgressBar(int64_t keep_every = 0) : lines_(keep_every) {}
  void on_train_begin(RunContext& run) override { lines_.begin(run.epochs); }
  void on_train_step_end(RunContext& run) override {
    lines_.step(run.epoch, run.position, run.batches, run.loss());
  }
  void on_train_epoch_end(RunContext& run) override { lines_.epoch_end(run.epoch, run.metrics); }
  void on_train_end(RunContext&) override { lines_.end(); }

 private:
  ProgressLines lines_;
};

}  // namespace mycel::train
