#include "data/dataset.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/threads.h"
#include "base/timeline.h"

namespace mycel::data {

namespace {

// The Id of a dataset while one recording runs. Few datasets make rows in turn on a thread.
timeline::Id timeline_id(const Dataset& d) {
  if (!timeline::on(timeline::kData)) return 0;
  struct Known {
    const Dataset* dataset = nullptr;
    uint64_t recording = 0;
    timeline::Id id = 0;
  };
  thread_local Known known[16];
  Known& k = known[reinterpret_cast<uintptr_t>(&d) / 64 % std::size(known)];
  if (k.dataset != &d || k.recording != timeline::recording())
    k = {&d, timeline::recording(), timeline::named(timeline::Kind::kData, d.describe())};
  return k.id;
}

}  // namespace

int64_t Rows::skip(int64_t n) {
  Job dropped;
  for (int64_t i = 0; i < n; ++i) {
    if (!next(&dropped)) return i;
  }
  return n;
}

int64_t StreamDataset::Stream::skip(int64_t n) {
  Row dropped;
  for (int64_t i = 0; i < n; ++i) {
    if (!next(&dropped)) return i;
  }
  return n;
}

Row Dataset::row(uint64_t epoch, int64_t i) const {
  timeline::Slice slice(timeline_id(*this));
  const int64_t start = clock_ns();
  Row made = make_row(epoch, i);
  work_.rows.fetch_add(1, std::memory_order_relaxed);
  work_.ns.fetch_add(clock_ns() - start, std::memory_order_relaxed);
  return made;
}

Row Dataset::make_row(uint64_t, int64_t) const {
  internal_error(__FILE__, __LINE__, "indexable", "rows of this dataset have no numbers");
}

Job timed(const Dataset& of, Job job) {
  return [&of, &work = of.work(), job = std::move(job)] {
    timeline::Slice slice(timeline_id(of));
    const int64_t start = clock_ns();
    Row made = job();
    work.rows.fetch_add(1, std::memory_order_relaxed);
    work.ns.fetch_add(clock_ns() - start, std::memory_order_relaxed);
    return made;
  };
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

class NumberedRows final : public Rows {
 public:
  NumberedRows(const Dataset& source, uint64_t epoch)
      : source_(source), epoch_(epoch), size_(source.size()) {}
  bool next(Job* job) override {
    if (at_ >= size_) return false;
    *job = [&source = source_, epoch = epoch_, i = at_++] { return source.row(epoch, i); };
    return true;
  }
  int64_t skip(int64_t n) override {
    n = std::min(n, size_ - at_);
    at_ += n;
    return n;
  }

 private:
  const Dataset& source_;
  uint64_t epoch_;
  int64_t size_, at_ = 0;
};

// A stream is read where its jobs are asked for: one thread at a time.
class StreamedRows final : public Rows {
 public:
  StreamedRows(const Dataset& source, std::unique_ptr<StreamDataset::Stream> stream)
      : source_(source), stream_(std::move(stream)) {}
  bool next(Job* job) override {
    Row row;
    timeline::Slice slice(timeline_id(source_));
    const int64_t start = clock_ns();
    if (!stream_->next(&row)) return false;
    source_.work().rows.fetch_add(1, std::memory_order_relaxed);
    source_.work().ns.fetch_add(clock_ns() - start, std::memory_order_relaxed);
    *job = [row = std::move(row)]() mutable { return std::move(row); };
    return true;
  }
  int64_t skip(int64_t n) override { return stream_->skip(n); }

 private:
  const Dataset& source_;
  std::unique_ptr<StreamDataset::Stream> stream_;
};

class ValueDataset final : public IndexedDataset {
 public:
  explicit ValueDataset(std::vector<std::pair<std::string, Value>> arrays) {
    if (arrays.empty()) value_error("dataset: there are no columns");
    std::set<std::string> seen;
    for (auto& [name, array] : arrays) {
      if (!seen.insert(name).second) value_error("dataset: two columns are named '{}'", name);
      if (array.shape().rank() == 0)
        value_error("dataset: column '{}' is one value; rows are cut along the first dim", name);
      const int64_t rows = array.shape()[0];
      if (columns_.empty()) size_ = rows;
      if (rows != size_) {
        value_error("dataset: column '{}' has {} rows, '{}' has {}", name, rows, columns_[0],
                    size_);
      }
      columns_.push_back(name);
      arrays_.push_back(std::move(array));
    }
    if (size_ == 0)
      value_error("dataset: there are no rows in columns {}", fmt::join(columns_, ", "));
  }
  const std::vector<std::string>& columns() const override { return columns_; }
  int64_t size() const override { return size_; }
  std::string describe() const override {
    return fmt::format("arrays({} columns, {} rows)", columns_.size(), size_);
  }
  Row row(int64_t i) const override {
    Row out;
    out.reserve(arrays_.size());
    for (const Value& a : arrays_) {
      Shape shape = a.shape();
      shape.erase(0);
      const int64_t n = shape.size();
      if (a.is_tensor()) {
        out.emplace_back(a.tensor().view(shape, i * n));
      } else {
        const auto from = a.strings().values.begin() + i * n;
        out.emplace_back(StringArray{{from, from + n}, shape});
      }
    }
    return out;
  }

 private:
  std::vector<std::string> columns_;
  Row arrays_;
  int64_t size_ = 0;
};

}  // namespace

RowsPtr numbered_rows(const Dataset& dataset, uint64_t epoch) {
  return std::make_unique<NumberedRows>(dataset, epoch);
}

RowsPtr NumberedDataset::iterate(uint64_t epoch) const { return numbered_rows(*this, epoch); }

RowsPtr StreamDataset::iterate(uint64_t) const {
  return std::make_unique<StreamedRows>(*this, open());
}

DatasetPtr value_dataset(std::vector<std::pair<std::string, Value>> arrays) {
  return std::make_shared<ValueDataset>(std::move(arrays));
}

DatasetPtr tensor_dataset(std::vector<std::pair<std::string, Tensor>> arrays) {
  std::vector<std::pair<std::string, Value>> values;
  for (auto& [name, array] : arrays) values.emplace_back(std::move(name), std::move(array));
  return value_dataset(std::move(values));
}

}  // namespace mycel::data
