// Input pipeline: a Dataset describes rows of named columns; operators (shuffle, batch, map, …)
// wrap one another. Datasets hold no position: `iterate(epoch)` gives the rows of an epoch, always
// the same ones in the same order, so that (epoch, position) is all a resumed run needs. Cursor
// keeps that pair.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::data {

// The rows of one epoch, one after the other.
class Rows {
 public:
  virtual ~Rows() = default;
  // Fills `row` with one tensor a column; false when there is none left.
  virtual bool next(Tensors* row) = 0;
  // Leaves out `n` rows; gives how many there were. Sources with numbered rows do it in O(1).
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
  // Rows put together into one by batch(); 1 without.
  virtual int64_t batch_size() const { return 1; }
  // How many times repeat() gives the source in an epoch; 1 without.
  virtual int64_t repeat_count() const { return 1; }
  // Whether `row(i)` works: sources with numbered rows, which shuffle as a whole.
  virtual bool indexable() const { return false; }
  virtual Tensors row(int64_t i) const;
};
using DatasetPtr = std::shared_ptr<const Dataset>;

// Base of sources with numbered rows: write columns, size and row.
class IndexedDataset : public Dataset {
 public:
  bool indexable() const final { return true; }
  RowsPtr iterate(uint64_t epoch) const final;
};

// Rows are slices along the first dim of `arrays`. ValueError for no columns, no rows, 0-d arrays,
// different lengths, or a name given twice.
DatasetPtr tensor_dataset(std::vector<std::pair<std::string, Tensor>> arrays);

// Rows in an order that is a function of (seed, epoch). Numbered rows: a keyed permutation of all
// of them in constant memory; otherwise each row is drawn from a window of `window` rows.
// ValueError: window < 2.
DatasetPtr shuffle(DatasetPtr source, int64_t window, uint64_t seed);
// `size` rows stacked along a new first dim. The last batch is smaller, or left out with
// `drop_remainder`. ValueError while iterating when rows of a batch differ in shape or dtype,
// naming the column.
DatasetPtr batch(DatasetPtr source, int64_t size, bool drop_remainder = false);
// The source `count` times an epoch; shuffled anew each time.
DatasetPtr repeat(DatasetPtr source, int64_t count);
DatasetPtr take(DatasetPtr source, int64_t count);
DatasetPtr skip(DatasetPtr source, int64_t count);

using RowFunction = std::function<Tensors(const Tensors&)>;
// Applies `f` to the columns `inputs` (all when empty); its results stand in their place under the
// names `outputs` (as `inputs` when empty). KeyError for a column that is not there.
DatasetPtr map(DatasetPtr source, RowFunction f, std::vector<std::string> inputs = {},
               std::vector<std::string> outputs = {});
// Only these columns, in this order.
DatasetPtr project(DatasetPtr source, const std::vector<std::string>& columns);

// The place of a column; KeyError naming the columns there are.
size_t column_index(const Dataset& dataset, const std::string& name, const char* what);

// Where a run stands in its data: `epoch` counts from 0, `position` rows of it have been given.
struct Position {
  uint64_t epoch = 0;
  int64_t position = 0;
};

// Reads a dataset epoch by epoch from any position.
class Cursor {
 public:
  explicit Cursor(DatasetPtr dataset, Position start = {});
  // The next row of this epoch; false at its end, after which `position` is the start of the next
  // one.
  bool next(Tensors* row);
  Position position() const { return at_; }

 private:
  DatasetPtr dataset_;
  Position at_;
  RowsPtr rows_;
};

}  // namespace mycel::data
