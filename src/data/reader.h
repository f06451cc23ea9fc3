// Reader: the rows of a dataset, epoch by epoch from any position, in their order. It makes them on
// the caller's thread, or ahead of it on workers; which of them never changes a row.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/gate.h"
#include "data/workers.h"

namespace mycel::data {

// Where a run stands in its data: `epoch` counts from 0, `position` rows of it have been given.
struct Position {
  uint64_t epoch = 0;
  int64_t position = 0;
};

constexpr int kAutoWorkers = -1;

// What all readers that are made from now on take where their options leave it open.
struct ReaderSettings {
  int64_t ahead = 0;               // rows made ahead; 0: twice the workers, and two
  size_t bytes = size_t{1} << 30;  // memory for rows ahead
  bool tune = false;               // `ahead` is found while reading (workers.h), within `bytes`
  int64_t interval = 0;            // rows between two decisions; 0: Workers::kTuneRows
  // Where a reader that had workers writes what was found, when it ends: <prefix>_<n>.json with
  // {"numParallelWorkers", "prefetchSize", …}; empty: nowhere.
  std::string found_prefix = {};
};
void set_reader_settings(ReaderSettings settings);
ReaderSettings reader_settings();

struct ReaderOptions {
  // Threads that make rows: 0 none, the caller makes them; kAutoWorkers: as many as the pipeline
  // asks for (num_parallel_workers), or else none as long as rows are made in less than 50
  // microseconds, and then one a core at most.
  int workers = kAutoWorkers;
  int64_t ahead = 0;  // rows that are made ahead; 0: as ReaderSettings
  size_t bytes = 0;   // of these; 0: as ReaderSettings
  // What is read at most, so that no row is asked of a source that nobody will use.
  int64_t epochs = -1;  // up to the end of this many epochs, counted from the dataset's first
  int64_t rows = -1;    // from the start
  std::function<void()> poll = {};  // called now and then while waiting; may throw
  bool gates = true;                // of the pipeline (gate.h) are kept; false: as if all were open
};

class Reader {
 public:
  // ValueError: no rows, a negative position.
  explicit Reader(DatasetPtr dataset, Position start = {}, ReaderOptions options = {});
  ~Reader();
  // The next row of this epoch; false at its end, after which `position` is the start of the next
  // one. ValueError: an epoch without rows, or a start behind the end of the epoch. Errors of a row
  // come at that row, and reading may go on behind it.
  bool next(Row* row);
  // The same for rows of tensors; TypeError naming a column that holds strings.
  bool next(Tensors* row);
  // Going on with the first row of the next epoch where one ends.
  bool next_of_any_epoch(Tensors* row) { return next(row) || (!done_ && next(row)); }
  Position position() const { return at_; }
  // Workers there are now; 0 while the caller makes the rows.
  Workers::Stats stats() const;
  const Dataset& dataset() const { return *dataset_; }

 private:
  class Jobs;
  Workers::Found take(Row* row);
  void publish_queue() const;
  void write_found() const;
  void pass_gates();
  void start_workers(int threads);

  DatasetPtr dataset_;
  ReaderOptions options_;
  const ReaderSettings settings_ = reader_settings();
  Position at_;                        // behind the last row given
  bool done_ = false, begun_ = false;  // the run; the epoch at the gates
  std::vector<GatePtr> gates_;         // with gates the caller makes all rows
  std::shared_ptr<Jobs> jobs_;
  std::unique_ptr<Workers> workers_;
  int64_t made_ = 0, made_ns_ = 0;  // by the caller
};

}  // namespace mycel::data
