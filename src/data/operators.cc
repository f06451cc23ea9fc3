// The operators of the pipeline. Each is a Dataset over another.
#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/random.h"
#include "data/dataset.h"

namespace mycel::data {
namespace {

// What most operators pass on.
class Wrapper : public Dataset {
 public:
  explicit Wrapper(DatasetPtr source) : source_(std::move(source)) {}
  const std::vector<std::string>& columns() const override { return source_->columns(); }
  int64_t size() const override { return source_->size(); }
  int64_t batch_size() const override { return source_->batch_size(); }
  int64_t repeat_count() const override { return source_->repeat_count(); }

 protected:
  DatasetPtr source_;
};

// --- shuffle ----------------------------------------------------------------------------------

class PermutedRows : public Rows {
 public:
  PermutedRows(const Dataset& source, uint64_t seed, uint64_t epoch)
      : source_(source), order_(static_cast<uint64_t>(source.size()), seed, epoch) {}
  bool next(Tensors* row) override {
    if (at_ >= order_.size()) return false;
    *row = source_.row(static_cast<int64_t>(order_(at_++)));
    return true;
  }
  int64_t skip(int64_t n) override {
    n = std::min(n, static_cast<int64_t>(order_.size() - at_));
    at_ += static_cast<uint64_t>(n);
    return n;
  }

 private:
  const Dataset& source_;
  Permutation order_;
  uint64_t at_ = 0;
};

class WindowedRows : public Rows {
 public:
  WindowedRows(RowsPtr source, int64_t window, uint64_t seed, uint64_t epoch)
      : source_(std::move(source)), window_(static_cast<size_t>(window)), draw_(seed, epoch) {}
  bool next(Tensors* row) override {
    Tensors incoming;
    while (held_.size() < window_ && source_->next(&incoming)) held_.push_back(std::move(incoming));
    if (held_.empty()) return false;
    std::swap(held_[draw_.below(held_.size())], held_.back());
    *row = std::move(held_.back());
    held_.pop_back();
    return true;
  }

 private:
  RowsPtr source_;
  size_t window_;
  Philox draw_;
  std::vector<Tensors> held_;
};

class Shuffled final : public Wrapper {
 public:
  Shuffled(DatasetPtr source, int64_t window, uint64_t seed)
      : Wrapper(std::move(source)), window_(window), seed_(seed) {}
  RowsPtr iterate(uint64_t epoch) const override {
    if (source_->indexable()) return std::make_unique<PermutedRows>(*source_, seed_, epoch);
    return std::make_unique<WindowedRows>(source_->iterate(epoch), window_, seed_, epoch);
  }

 private:
  int64_t window_;
  uint64_t seed_;
};

// --- batch ------------------------------------------------------------------------------------

Tensor stack(const std::vector<Tensors>& rows, size_t column, const std::string& name) {
  const Tensor& first = rows[0][column];
  Shape shape = first.shape();
  shape.insert(0, static_cast<int64_t>(rows.size()));
  Tensor out = Tensor::empty(first.dtype(), shape);
  auto* to = static_cast<char*>(out.mutable_raw());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Tensor& t = rows[i][column];
    if (!(t.shape() == first.shape()) || t.dtype() != first.dtype()) {
      value_error("batch: column '{}' has rows {} and {} (row {} of the batch); they must be alike",
                  name, first.describe(), t.describe(), i);
    }
    if (t.bytes()) std::memcpy(to + i * t.bytes(), t.raw(), t.bytes());
  }
  return out;
}

class BatchedRows : public Rows {
 public:
  BatchedRows(const Dataset& source, uint64_t epoch, int64_t size, bool drop)
      : source_(source), rows_(source.iterate(epoch)), size_(size), drop_(drop) {}
  bool next(Tensors* row) override {
    std::vector<Tensors> rows;
    Tensors one;
    while (static_cast<int64_t>(rows.size()) < size_ && rows_->next(&one))
      rows.push_back(std::move(one));
    if (rows.empty() || (drop_ && static_cast<int64_t>(rows.size()) < size_)) return false;
    row->clear();
    for (size_t c = 0; c < source_.columns().size(); ++c)
      row->push_back(stack(rows, c, source_.columns()[c]));
    return true;
  }
  int64_t skip(int64_t n) override {
    int64_t rows = rows_->skip(n * size_);
    return drop_ ? rows / size_ : (rows + size_ - 1) / size_;
  }

 private:
  const Dataset& source_;
  RowsPtr rows_;
  int64_t size_;
  bool drop_;
};

class Batched final : public Wrapper {
 public:
  Batched(DatasetPtr source, int64_t size, bool drop)
      : Wrapper(std::move(source)), rows_(size), drop_(drop) {}
  int64_t size() const override {
    int64_t n = source_->size();
    return n < 0 ? n : drop_ ? n / rows_ : (n + rows_ - 1) / rows_;
  }
  int64_t batch_size() const override { return rows_; }
  RowsPtr iterate(uint64_t epoch) const override {
    return std::make_unique<BatchedRows>(*source_, epoch, rows_, drop_);
  }

 private:
  int64_t rows_;
  bool drop_;
};

// --- repeat, take, skip -------------------------------------------------------------------------

class RepeatedRows : public Rows {
 public:
  RepeatedRows(const Dataset& source, uint64_t first, int64_t count)
      : source_(source), epoch_(first), end_(first + static_cast<uint64_t>(count)) {}
  bool next(Tensors* row) override {
    for (; epoch_ < end_; ++epoch_, rows_.reset()) {
      if (!rows_) rows_ = source_.iterate(epoch_);
      if (rows_->next(row)) return true;
    }
    return false;
  }
  int64_t skip(int64_t n) override {
    int64_t done = 0;
    for (; epoch_ < end_; ++epoch_, rows_.reset()) {
      if (!rows_) rows_ = source_.iterate(epoch_);
      done += rows_->skip(n - done);
      if (done == n) break;
    }
    return done;
  }

 private:
  const Dataset& source_;
  uint64_t epoch_, end_;
  RowsPtr rows_;
};

class Repeated final : public Wrapper {
 public:
  Repeated(DatasetPtr source, int64_t count) : Wrapper(std::move(source)), count_(count) {}
  int64_t size() const override {
    return source_->size() < 0 ? kUnknownSize : source_->size() * count_;
  }
  int64_t repeat_count() const override { return count_ * source_->repeat_count(); }
  RowsPtr iterate(uint64_t epoch) const override {
    return std::make_unique<RepeatedRows>(*source_, epoch * static_cast<uint64_t>(count_), count_);
  }

 private:
  int64_t count_;
};

class TakenRows : public Rows {
 public:
  TakenRows(RowsPtr source, int64_t left) : source_(std::move(source)), left_(left) {}
  bool next(Tensors* row) override { return left_ > 0 && (--left_, source_->next(row)); }
  int64_t skip(int64_t n) override {
    n = source_->skip(std::min(n, left_));
    left_ -= n;
    return n;
  }

 private:
  RowsPtr source_;
  int64_t left_;
};

class Taken final : public Wrapper {
 public:
  Taken(DatasetPtr source, int64_t count) : Wrapper(std::move(source)), count_(count) {}
  int64_t size() const override {
    return source_->size() < 0 ? kUnknownSize : std::min(count_, source_->size());
  }
  RowsPtr iterate(uint64_t epoch) const override {
    return std::make_unique<TakenRows>(source_->iterate(epoch), count_);
  }
  bool indexable() const override { return source_->indexable(); }
  Tensors row(int64_t i) const override { return source_->row(i); }

 private:
  int64_t count_;
};

class Skipped final : public Wrapper {
 public:
  Skipped(DatasetPtr source, int64_t count) : Wrapper(std::move(source)), count_(count) {}
  int64_t size() const override {
    return source_->size() < 0 ? kUnknownSize : std::max<int64_t>(0, source_->size() - count_);
  }
  RowsPtr iterate(uint64_t epoch) const override {
    RowsPtr rows = source_->iterate(epoch);
    rows->skip(count_);
    return rows;
  }
  bool indexable() const override { return source_->indexable(); }
  Tensors row(int64_t i) const override { return source_->row(i + count_); }

 private:
  int64_t count_;
};

// --- map ----------------------------------------------------------------------------------------

class MappedRows : public Rows {
 public:
  MappedRows(RowsPtr source, std::function<Tensors(const Tensors&)> f)
      : source_(std::move(source)), f_(std::move(f)) {}
  bool next(Tensors* row) override {
    Tensors in;
    if (!source_->next(&in)) return false;
    *row = f_(in);
    return true;
  }
  int64_t skip(int64_t n) override { return source_->skip(n); }

 private:
  RowsPtr source_;
  std::function<Tensors(const Tensors&)> f_;
};

class Mapped final : public Wrapper {
 public:
  Mapped(DatasetPtr source, RowFunction f, const std::vector<std::string>& inputs,
         std::vector<std::string> outputs)
      : Wrapper(std::move(source)), f_(std::move(f)), outputs_(std::move(outputs)) {
    for (const std::string& name : inputs) in_.push_back(column_index(*source_, name, "map"));
    std::set<size_t> taken(in_.begin(), in_.end());
    if (taken.size() != in_.size())
      value_error("map: a column is named twice in {}", fmt::join(inputs, ", "));
    for (size_t c = 0; c < source_->columns().size(); ++c) {
      if (c == in_[0]) columns_.insert(columns_.end(), outputs_.begin(), outputs_.end());
      if (!taken.count(c)) columns_.push_back(source_->columns()[c]);
    }
    std::set<std::string> names(columns_.begin(), columns_.end());
    if (names.size() != columns_.size())
      value_error("map: two columns would have one name: {}", fmt::join(columns_, ", "));
  }
  const std::vector<std::string>& columns() const override { return columns_; }
  RowsPtr iterate(uint64_t epoch) const override {
    return std::make_unique<MappedRows>(source_->iterate(epoch),
                                        [this](const Tensors& in) { return apply(in); });
  }
  bool indexable() const override { return source_->indexable(); }
  Tensors row(int64_t i) const override { return apply(source_->row(i)); }

 private:
  Tensors apply(const Tensors& in) const {
    Tensors args, out;
    for (size_t c : in_) args.push_back(in[c]);
    Tensors made = f_(args);
    if (made.size() != outputs_.size()) {
      value_error("map: the function gave {} values for {} columns ({})", made.size(),
                  outputs_.size(), fmt::join(outputs_, ", "));
    }
    for (size_t c = 0; c < in.size(); ++c) {
      if (c == in_[0]) out.insert(out.end(), made.begin(), made.end());
      if (std::find(in_.begin(), in_.end(), c) == in_.end()) out.push_back(in[c]);
    }
    return out;
  }
  RowFunction f_;
  std::vector<size_t> in_;
  std::vector<std::string> outputs_, columns_;
};

class Projected final : public Wrapper {
 public:
  Projected(DatasetPtr source, std::vector<std::string> columns)
      : Wrapper(std::move(source)), columns_(std::move(columns)) {
    for (const std::string& name : columns_)
      places_.push_back(column_index(*source_, name, "project"));
  }
  const std::vector<std::string>& columns() const override { return columns_; }
  RowsPtr iterate(uint64_t epoch) const override {
    return std::make_unique<MappedRows>(source_->iterate(epoch),
                                        [this](const Tensors& in) { return pick(in); });
  }
  bool indexable() const override { return source_->indexable(); }
  Tensors row(int64_t i) const override { return pick(source_->row(i)); }

 private:
  Tensors pick(const Tensors& in) const {
    Tensors out;
    for (size_t p : places_) out.push_back(in[p]);
    return out;
  }
  std::vector<std::string> columns_;
  std::vector<size_t> places_;
};

void at_least(const char* op, const char* name, int64_t value, int64_t least) {
  if (value < least) value_error("{}: '{}' must be at least {}, got {}", op, name, least, value);
}

}  // namespace

DatasetPtr shuffle(DatasetPtr source, int64_t window, uint64_t seed) {
  at_least("shuffle", "buffer_size", window, 2);
  return std::make_shared<Shuffled>(std::move(source), window, seed);
}

DatasetPtr batch(DatasetPtr source, int64_t size, bool drop_remainder) {
  at_least("batch", "batch_size", size, 1);
  auto out = std::make_shared<Batched>(std::move(source), size, drop_remainder);
  if (out->size() == 0) {
    value_error(
        "batch: no batch of {} rows can be made: the dataset is smaller, and drop_remainder leaves "
        "the rest out",
        size);
  }
  return out;
}

DatasetPtr repeat(DatasetPtr source, int64_t count) {
  at_least("repeat", "count", count, 1);
  return std::make_shared<Repeated>(std::move(source), count);
}

DatasetPtr take(DatasetPtr source, int64_t count) {
  at_least("take", "count", count, 1);
  return std::make_shared<Taken>(std::move(source), count);
}

DatasetPtr skip(DatasetPtr source, int64_t count) {
  at_least("skip", "count", count, 0);
  auto out = std::make_shared<Skipped>(std::move(source), count);
  if (out->size() == 0)
    value_error("skip: the dataset has no more than {} rows: none would be left", count);
  return out;
}

DatasetPtr map(DatasetPtr source, RowFunction f, std::vector<std::string> inputs,
               std::vector<std::string> outputs) {
  if (inputs.empty()) inputs = source->columns();
  if (outputs.empty()) outputs = inputs;
  return std::make_shared<Mapped>(std::move(source), std::move(f), inputs, std::move(outputs));
}

DatasetPtr project(DatasetPtr source, const std::vector<std::string>& columns) {
  if (columns.empty()) value_error("project: no columns are named");
  return std::make_shared<Projected>(std::move(source), columns);
}

}  // namespace mycel::data
