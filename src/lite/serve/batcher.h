// Batcher: joins requests that arrive close together into one run of a model. Requests are rows:
// where every input's first dim was left open at export, rows of several requests are put together
// (up to max_rows, waiting at most max_delay), padded to a power of two so that few sizes are
// compiled, run, and given back to whom they belong. Other models run one request at a time. One
// thread runs the model, which itself uses all cores.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/model_file.h"

namespace mycel::lite {

struct BatchOptions {
  int64_t max_rows = 32;             // of a batch; 1: requests are never joined
  double max_delay_seconds = 0.002;  // that a request waits for others
  int64_t queue = 1024;              // requests that may wait
};

struct BatchStats {
  int64_t requests = 0, failed = 0, refused = 0;  // refused: the queue was full, or closing
  int64_t rows = 0, runs = 0, waiting = 0;
  double run_seconds = 0;
};

class Batcher {
 public:
  Batcher(std::shared_ptr<const runtime::Model> model, const BatchOptions& options);
  ~Batcher();  // closes
  Batcher(const Batcher&) = delete;

  // From any thread; waits for the results. UserError for inputs that the model refuses, and
  // kRuntime when the queue is full or closed.
  Tensors run(Tensors inputs);
  // Lets everything that was taken finish, and takes no more.
  void close();

  bool joins() const;  // whether requests can be put together
  BatchStats stats() const;

 private:
  struct Worker;
  std::unique_ptr<Worker> worker_;
};

}  // namespace mycel::lite
