// Reads a dataset ahead: the rows of a Cursor, made on a thread of its own while the last ones are
// being used. At most `depth` rows wait; then the thread waits.
#pragma once

#include <memory>

#include "data/dataset.h"

namespace mycel::data {

class Prefetch {
 public:
  // What is read at most, so that no row is asked of a source that nobody will use.
  struct Limits {
    int64_t epochs = -1;  // up to the end of this many epochs, counted from the dataset's first
    int64_t rows = -1;    // from the start
  };
  explicit Prefetch(DatasetPtr dataset, Position start = {}) : Prefetch(dataset, start, Limits()) {}
  Prefetch(DatasetPtr dataset, Position start, Limits limits, size_t depth = 2);
  // Waits for the row that is being read, if any. Holders of a lock that the dataset's functions
  // need (Python's) let go of it before.
  ~Prefetch();
  // As Cursor's. Throws what reading threw, at the row where it happened and from then on.
  bool next(Tensors* row);
  // The same, going on with the first row of the next epoch where one ends.
  bool next_of_any_epoch(Tensors* row) { return next(row) || next(row); }
  Position position() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace mycel::data
