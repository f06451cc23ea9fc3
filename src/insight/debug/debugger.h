// The callback that debugs a run of a C++ Model (train/model.h): what mycel.insight.Debugger does
// in Python. Watchpoints, pauses and dumps are those of SessionOptions; scopes are paths of cells.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "insight/debug/session.h"
#include "nn/cell_watch.h"
#include "train/callback.h"

namespace mycel::insight::debug {

class Debugger final : public train::Callback, private nn::CellWatch {
 public:
  explicit Debugger(SessionOptions options) : options_(std::move(options)) {}
  ~Debugger() override;
  void on_train_begin(train::RunContext& run) override;
  void on_train_step_begin(train::RunContext& run) override;
  void on_train_step_end(train::RunContext& run) override;
  void on_train_end(train::RunContext& run) override;

  // Null before training begins. Stays after it has ended, for its hits.
  Session* session() { return session_.get(); }

 private:
  void enter(const nn::Cell& cell) override;
  void leave(const nn::Cell& cell, const Tensors& results) override;
  void end();
  const SessionOptions options_;
  std::shared_ptr<Session> session_;
  std::vector<std::string> scopes_, before_;  // of the cells that run, outermost first; what was
  std::vector<const nn::Cell*> cells_;
  bool watching_ = false;
};

}  // namespace mycel::insight::debug
