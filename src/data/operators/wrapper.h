// What the operators share: a dataset over one other, passing on what it does not change.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/operators.h"

namespace mycel::data {

class Wrapper : public Dataset {
 public:
  explicit Wrapper(DatasetPtr source) : source_(std::move(source)) {}
  const std::vector<std::string>& columns() const override { return source_->columns(); }
  int64_t size() const override { return source_->size(); }
  int64_t batch_size() const override { return source_->batch_size(); }
  int64_t repeat_count() const override { return source_->repeat_count(); }
  std::vector<std::pair<std::string, int64_t>> class_indexing() const override {
    return source_->class_indexing();
  }
  int workers() const override { return source_->workers(); }
  bool indexable() const override { return source_->indexable(); }
  RowsPtr iterate(uint64_t epoch) const final {
    return indexable() ? numbered_rows(*this, epoch) : stream(epoch);
  }
  std::vector<DatasetPtr> inputs() const override { return {source_}; }

 protected:
  // The rows when they have no numbers.
  virtual RowsPtr stream(uint64_t epoch) const = 0;
  DatasetPtr source_;
};

// Rows that are those of another, made by another job each: `f` wraps a job.
template <typename F>
class EachRow final : public Rows {
 public:
  EachRow(RowsPtr source, F f) : source_(std::move(source)), f_(std::move(f)) {}
  bool next(Job* job) override {
    Job inner;
    if (!source_->next(&inner)) return false;
    *job = f_(std::move(inner), at_++);
    return true;
  }
  int64_t skip(int64_t n) override {
    n = source_->skip(n);
    at_ += n;
    return n;
  }

 private:
  RowsPtr source_;
  F f_;  // (Job inner, int64_t number of the row) -> Job
  int64_t at_ = 0;
};
template <typename F>
RowsPtr each_row(RowsPtr source, F f) {
  return std::make_unique<EachRow<F>>(std::move(source), std::move(f));
}

inline void at_least(const char* op, const char* name, int64_t value, int64_t least) {
  if (value < least) value_error("{}: '{}' must be at least {}, got {}", op, name, least, value);
}

// The places of named columns; ValueError for a name given twice.
std::vector<size_t> places_of(const Dataset& dataset, const std::vector<std::string>& names,
                              const char* op);
// ValueError when two names are the same.
void check_distinct(const std::vector<std::string>& names, const char* op);

// Rows made on threads of their own, for operators that must see a row before they can say which
// comes next (filter, buckets); one thread: where they are asked for.
RowsPtr made_rows(RowsPtr source, int workers);

}  // namespace mycel::data
