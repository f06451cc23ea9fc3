#include "data/dataset.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace mycel::data {

int64_t Rows::skip(int64_t n) {
  Tensors dropped;
  for (int64_t i = 0; i < n; ++i) {
    if (!next(&dropped)) return i;
  }
  return n;
}

Tensors Dataset::row(int64_t) const {
  internal_error(__FILE__, __LINE__, "indexable", "rows of this dataset have no numbers");
}

size_t column_index(const Dataset& dataset, const std::string& name, const char* what) {
  const auto& all = dataset.columns();
  auto it = std::find(all.begin(), all.end(), name);
  if (it == all.end()) {
    fail(ErrorKind::kKey, "{}: there is no column '{}'; columns: {}", what, name,
         fmt::join(all, ", "));
  }
  return it - all.begin();
}

namespace {

class NumberedRows : public Rows {
 public:
  explicit NumberedRows(const Dataset& source) : source_(source), size_(source.size()) {}
  bool next(Tensors* row) override {
    if (at_ >= size_) return false;
    *row = source_.row(at_++);
    return true;
  }
  int64_t skip(int64_t n) override {
    n = std::min(n, size_ - at_);
    at_ += n;
    return n;
  }

 private:
  const Dataset& source_;
  int64_t size_, at_ = 0;
};

class TensorDataset final : public IndexedDataset {
 public:
  explicit TensorDataset(std::vector<std::pair<std::string, Tensor>> arrays) {
    if (arrays.empty()) value_error("dataset: there are no columns");
    std::set<std::string> seen;
    for (auto& [name, array] : arrays) {
      if (!seen.insert(name).second) value_error("dataset: two columns are named '{}'", name);
      if (array.rank() == 0)
        value_error("dataset: column '{}' is one number; rows are cut along the first dim", name);
      if (columns_.empty()) size_ = array.dim(0);
      if (array.dim(0) != size_) {
        value_error("dataset: column '{}' has {} rows, '{}' has {}", name, array.dim(0),
                    columns_[0], size_);
      }
      columns_.push_back(name);
      arrays_.push_back(std::move(array));
    }
    if (size_ == 0)
      value_error("dataset: there are no rows in columns {}", fmt::join(columns_, ", "));
  }
  const std::vector<std::string>& columns() const override { return columns_; }
  int64_t size() const override { return size_; }
  Tensors row(int64_t i) const override {
    Tensors out;
    for (const Tensor& a : arrays_) {
      Shape shape = a.shape();
      shape.erase(0);
      out.push_back(a.view(shape, i * shape.size()));
    }
    return out;
  }

 private:
  std::vector<std::string> columns_;
  Tensors arrays_;
  int64_t size_ = 0;
};

}  // namespace

RowsPtr IndexedDataset::iterate(uint64_t) const { return std::make_unique<NumberedRows>(*this); }

DatasetPtr tensor_dataset(std::vector<std::pair<std::string, Tensor>> arrays) {
  return std::make_shared<TensorDataset>(std::move(arrays));
}

Cursor::Cursor(DatasetPtr dataset, Position start) : dataset_(std::move(dataset)), at_(start) {
  if (dataset_->size() == 0) value_error("dataset: there are no rows");
  if (at_.position < 0)
    value_error("dataset: the position must not be negative, got {}", at_.position);
}

bool Cursor::next(Tensors* row) {
  if (!rows_) {
    rows_ = dataset_->iterate(at_.epoch);
    int64_t skipped = rows_->skip(at_.position);
    if (skipped < at_.position) {
      value_error(
          "dataset: a run cannot go on at row {} of an epoch: there are only {}\n  It was saved "
          "with another dataset.",
          at_.position, skipped);
    }
  }
  if (!rows_->next(row)) {
    if (at_.position == 0) value_error("dataset: epoch {} has no rows", at_.epoch + 1);
    rows_.reset();
    at_ = {at_.epoch + 1, 0};
    return false;
  }
  ++at_.position;
  return true;
}

}  // namespace mycel::data
