// Input pipeline: a Dataset describes rows of named columns; operators (shuffle, batch, map, …; see
// operators.h) wrap one another. Datasets hold no position: the rows of an epoch are always the
// same ones in the same order, so that (epoch, position) is all a resumed run needs.
//
// Two kinds. Rows with numbers (`indexable`) are made one by one on any thread: a shuffle is then a
// permutation of numbers, and a chain of operators is one function from number to row. A stream
// gives its rows in order. Either way `iterate` gives jobs, which say what is to be done and run
// later, on any thread; Reader (reader.h) runs them on workers and gives the rows in order.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/value.h"

namespace mycel::data {

// Makes a row; runs at most once, on any thread.
using Job = std::function<Row()>;

// The jobs of one epoch, one after the other; used by one thread at a time.
class Rows {
 public:
  virtual ~Rows() = default;
  // False when there is none left.
  virtual bool next(Job* job) = 0;
  // Leaves out `n` rows; gives how many there were. In O(1) where rows have numbers.
  virtual int64_t skip(int64_t n);
};
using RowsPtr = std::unique_ptr<Rows>;

constexpr int64_t kUnknownSize = -1;

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const std::vector<std::string>& columns() const = 0;
  // Rows an epoch, or kUnknownSize.
  virtual int64_t size() const = 0;
  virtual RowsPtr iterate(uint64_t epoch) const = 0;
  // Whether `row` works; size() is known then.
  virtual bool indexable() const { return false; }
  // Row i of an epoch, 0 <= i < size(); from any thread. Counted and timed in `work`.
  Row row(uint64_t epoch, int64_t i) const;
  // Rows put together into one by batch(); 1 without.
  virtual int64_t batch_size() const { return 1; }
  // How many times repeat() gives the source in an epoch; 1 without.
  virtual int64_t repeat_count() const { return 1; }
  // Whether rows of one number may differ between epochs (a random transform, a new order).
  virtual bool changes() const { return false; }
  // The names of classes and the labels that stand for them, where a source has such; empty
  // otherwise.
  virtual std::vector<std::pair<std::string, int64_t>> class_indexing() const { return {}; }
  // Threads that make rows, as asked for somewhere in the pipeline; 0: not asked.
  virtual int workers() const { return 0; }
  // "shuffle(seed=3)", for descriptions; the datasets it is made from.
  virtual std::string describe() const { return "dataset"; }
  virtual std::vector<std::shared_ptr<const Dataset>> inputs() const { return {}; }

  // Rows made here and the time it took, that of the inputs included.
  struct Work {
    std::atomic<int64_t> rows = 0, ns = 0;
  };
  Work& work() const { return work_; }
  // Of the reader that gave a row last, where it makes rows ahead: threads, rows that are made or
  // being made and how many may be, and bytes of the former; how many rows were given, how often
  // and how long the reader waited for one.
  struct Queue {
    std::atomic<int64_t> threads = 0, ahead = 0, ahead_at_most = 0, bytes = 0, rows = 0, waits = 0,
                         wait_ns = 0;
  };
  Queue& queue() const { return queue_; }

 protected:
  // What `row` calls; MYCEL_CHECK unless indexable.
  virtual Row make_row(uint64_t epoch, int64_t i) const;

 private:
  mutable Work work_;
  mutable Queue queue_;
};
using DatasetPtr = std::shared_ptr<const Dataset>;

// The jobs of a dataset that is indexable.
RowsPtr numbered_rows(const Dataset& dataset, uint64_t epoch);
// A job that counts and times itself in `of`.
Job timed(const Dataset& of, Job job);

// Base of datasets whose rows have numbers.
class NumberedDataset : public Dataset {
 public:
  bool indexable() const final { return true; }
  RowsPtr iterate(uint64_t epoch) const final;
};

// Base of sources whose rows have numbers and are the same in every epoch: write columns, size and
// row(i).
class IndexedDataset : public NumberedDataset {
 public:
  virtual Row row(int64_t i) const = 0;  // from many threads at once
  using Dataset::row;

 protected:
  Row make_row(uint64_t, int64_t i) const final { return row(i); }
};

// Base of sources that are read from begin to end: write columns, size and open.
class StreamDataset : public Dataset {
 public:
  class Stream {
   public:
    virtual ~Stream() = default;
    virtual bool next(Row* row) = 0;  // false at the end
    // As Rows::skip.
    virtual int64_t skip(int64_t n);
  };
  RowsPtr iterate(uint64_t epoch) const final;

 protected:
  virtual std::unique_ptr<Stream> open() const = 0;
};

// Rows are slices along the first dim of `arrays`; strings too. ValueError for no columns, no rows,
// 0-d arrays, different lengths, or a name given twice.
DatasetPtr value_dataset(std::vector<std::pair<std::string, Value>> arrays);
DatasetPtr tensor_dataset(std::vector<std::pair<std::string, Tensor>> arrays);

// The place of a column; KeyError naming the columns there are.
size_t column_index(const Dataset& dataset, const std::string& name, const char* what);

}  // namespace mycel::data
