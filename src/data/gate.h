// Gates: rows that are made only when the program says so, as data that follow a training need
// (sync_wait). A gate stands in a pipeline; a Reader of it makes nothing ahead, and asks every gate
// before each of its rows.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace mycel::data {

class Gate {
 public:
  // `rows` may be made at the begin of an epoch. `patience`: seconds to wait for the next release;
  // asked for when it comes to waiting. ValueError: rows < 1.
  Gate(std::string name, int64_t rows, std::function<double()> patience = {});
  // Of the reader. An epoch begins.
  void begin();
  // Waits until a row more may be made; RuntimeError when patience ends. `poll` (may be empty) is
  // called now and then, and may throw.
  void pass(const std::function<void()>& poll);
  // Of the program: so many rows more may be made (0: as many as at the begin).
  void release(int64_t rows = 0);

  const std::string& name() const { return name_; }
  int64_t rows() const { return rows_; }

 private:
  const std::string name_;
  const int64_t rows_;
  const std::function<double()> patience_;
  std::mutex mutex_;
  std::condition_variable released_;
  int64_t given_ = 0, allowed_;
};
using GatePtr = std::shared_ptr<Gate>;

// The rows of `source`, of which a reader makes only those that `gate` lets pass.
DatasetPtr sync_wait(DatasetPtr source, GatePtr gate);
// The gates of a pipeline, each once.
std::vector<GatePtr> gates_of(const Dataset& dataset);

}  // namespace mycel::data
