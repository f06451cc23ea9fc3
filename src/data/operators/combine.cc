// Several datasets, or one several times: repeat, zip, concat, flat_map.
#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/operators/wrapper.h"

namespace mycel::data {
namespace {

// --- repeat

class RepeatedRows final : public Rows {
 public:
  RepeatedRows(const Dataset& source, uint64_t first, uint64_t count)
      : source_(source), epoch_(first), end_(first + count) {}
  bool next(Job* job) override {
    for (; epoch_ < end_; ++epoch_, rows_.reset()) {
      const bool fresh = !rows_;
      if (fresh) rows_ = source_.iterate(epoch_);
      if (rows_->next(job)) return true;
      if (fresh) return false;  // an epoch without rows: forever would never end
    }
    return false;
  }
  int64_t skip(int64_t n) override {
    int64_t done = 0;
    for (; epoch_ < end_; ++epoch_, rows_.reset()) {
      if (!rows_) rows_ = source_.iterate(epoch_);
      const int64_t now = rows_->skip(n - done);
      done += now;
      if (done == n || now == 0) break;
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
  bool indexable() const override { return count_ != kForever && source_->indexable(); }
  int64_t size() const override {
    return source_->size() < 0 || count_ == kForever ? kUnknownSize : source_->size() * count_;
  }
  int64_t repeat_count() const override {
    return count_ == kForever ? kForever : count_ * source_->repeat_count();
  }
  std::string describe() const override {
    return count_ == kForever ? "repeat" : fmt::format("repeat({})", count_);
  }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override {
    const int64_t n = source_->size();
    return source_->row(first(epoch) + static_cast<uint64_t>(i / n), i % n);
  }
  RowsPtr stream(uint64_t epoch) const override {
    return std::make_unique<RepeatedRows>(*source_, first(epoch), times());
  }

 private:
  uint64_t times() const {
    return count_ == kForever ? std::numeric_limits<uint64_t>::max() / 2
                              : static_cast<uint64_t>(count_);
  }
  uint64_t first(uint64_t epoch) const { return count_ == kForever ? 0 : epoch * times(); }
  int64_t count_;
};

// --- zip, concat

// What zip and concat share.
class Several : public Dataset {
 public:
  explicit Several(std::vector<DatasetPtr> sources) : sources_(std::move(sources)) {
    indexable_ = std::all_of(sources_.begin(), sources_.end(),
                             [](const DatasetPtr& d) { return d->indexable(); });
  }
  const std::vector<std::string>& columns() const override { return columns_; }
  int64_t size() const override { return size_; }
  bool indexable() const override { return indexable_; }
  int64_t batch_size() const override { return sources_[0]->batch_size(); }
  std::vector<DatasetPtr> inputs() const override { return sources_; }
  int workers() const override {
    int most = 0;
    for (const DatasetPtr& d : sources_) most = std::max(most, d->workers());
    return most;
  }

 protected:
  std::vector<DatasetPtr> sources_;
  std::vector<std::string> columns_;
  int64_t size_ = kUnknownSize;
  bool indexable_ = false;
};

class ZippedRows final : public Rows {
 public:
  explicit ZippedRows(std::vector<RowsPtr> sources) : sources_(std::move(sources)) {}
  bool next(Job* job) override {
    std::vector<Job> jobs(sources_.size());
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (!sources_[i]->next(&jobs[i])) return false;
    }
    *job = [jobs = std::move(jobs)] {
      Row out;
      for (const Job& j : jobs) {
        for (Value& v : j()) out.push_back(std::move(v));
      }
      return out;
    };
    return true;
  }
  int64_t skip(int64_t n) override {
    int64_t least = n;
    for (const RowsPtr& r : sources_) least = std::min(least, r->skip(n));
    return least;
  }

 private:
  std::vector<RowsPtr> sources_;
};

class Zipped final : public Several {
 public:
  explicit Zipped(std::vector<DatasetPtr> sources) : Several(std::move(sources)) {
    for (const DatasetPtr& d : sources_) {
      columns_.insert(columns_.end(), d->columns().begin(), d->columns().end());
      // A source of unknown size may be the shortest one.
      size_ = &d == &sources_[0]           ? d->size()
              : d->size() < 0 || size_ < 0 ? kUnknownSize
                                           : std::min(size_, d->size());
    }
    check_distinct(columns_, "zip");
  }
  std::string describe() const override { return "zip"; }
  RowsPtr iterate(uint64_t epoch) const override {
    if (indexable()) return numbered_rows(*this, epoch);
    std::vector<RowsPtr> rows;
    for (const DatasetPtr& d : sources_) rows.push_back(d->iterate(epoch));
    return std::make_unique<ZippedRows>(std::move(rows));
  }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override {
    Row out;
    for (const DatasetPtr& d : sources_) {
      for (Value& v : d->row(epoch, i)) out.push_back(std::move(v));
    }
    return out;
  }
};

class JoinedRows final : public Rows {
 public:
  JoinedRows(const std::vector<DatasetPtr>& sources, uint64_t epoch)
      : sources_(sources), epoch_(epoch) {}
  bool next(Job* job) override {
    for (; at_ < sources_.size(); ++at_, rows_.reset()) {
      if (!rows_) rows_ = sources_[at_]->iterate(epoch_);
      if (rows_->next(job)) return true;
    }
    return false;
  }
  int64_t skip(int64_t n) override {
    int64_t done = 0;
    for (; at_ < sources_.size(); ++at_, rows_.reset()) {
      if (!rows_) rows_ = sources_[at_]->iterate(epoch_);
      done += rows_->skip(n - done);
      if (done == n) break;
    }
    return done;
  }

 private:
  const std::vector<DatasetPtr>& sources_;
  uint64_t epoch_;
  size_t at_ = 0;
  RowsPtr rows_;
};

class Joined final : public Several {
 public:
  explicit Joined(std::vector<DatasetPtr> sources) : Several(std::move(sources)) {
    columns_ = sources_[0]->columns();
    size_ = 0;
    for (const DatasetPtr& d : sources_) {
      if (d->columns() != columns_) {
        value_error("concat: columns ({}) are not those of the first dataset ({})",
                    fmt::join(d->columns(), ", "), fmt::join(columns_, ", "));
      }
      size_ = size_ < 0 || d->size() < 0 ? kUnknownSize : size_ + d->size();
    }
  }
  std::string describe() const override { return "concat"; }
  RowsPtr iterate(uint64_t epoch) const override {
    if (indexable()) return numbered_rows(*this, epoch);
    return std::make_unique<JoinedRows>(sources_, epoch);
  }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override {
    size_t s = 0;
    while (i >= sources_[s]->size()) i -= sources_[s++]->size();
    return sources_[s]->row(epoch, i);
  }
};

// --- flat_map

class FlatRows final : public Rows {
 public:
  FlatRows(RowsPtr source, uint64_t epoch, const std::function<DatasetPtr(const Row&)>& f)
      : source_(std::move(source)), epoch_(epoch), f_(f) {}
  bool next(Job* job) override {
    for (;;) {
      // A job refers to its dataset, which the next row replaces.
      if (rows_ && rows_->next(job)) {
        *job = [made = made_, job = std::move(*job)] { return job(); };
        return true;
      }
      Job outer;
      if (!source_->next(&outer)) return false;
      made_ = f_(outer());
      rows_ = made_->iterate(epoch_);
    }
  }

 private:
  RowsPtr source_;
  uint64_t epoch_;
  const std::function<DatasetPtr(const Row&)>& f_;
  DatasetPtr made_;
  RowsPtr rows_;
};

class FlatMapped final : public Wrapper {
 public:
  FlatMapped(DatasetPtr source, std::function<DatasetPtr(const Row&)> f)
      : Wrapper(std::move(source)), f_(std::move(f)) {
    Job first;
    if (!source_->iterate(0)->next(&first)) value_error("flat_map: the dataset has no rows");
    columns_ = f_(first())->columns();
  }
  const std::vector<std::string>& columns() const override { return columns_; }
  int64_t size() const override { return kUnknownSize; }
  bool indexable() const override { return false; }
  std::string describe() const override { return "flat_map"; }

 protected:
  RowsPtr stream(uint64_t epoch) const override {
    return std::make_unique<FlatRows>(source_->iterate(epoch), epoch, f_);
  }

 private:
  std::function<DatasetPtr(const Row&)> f_;
  std::vector<std::string> columns_;
};

}  // namespace

DatasetPtr repeat(DatasetPtr source, int64_t count) {
  if (count != kForever) at_least("repeat", "count", count, 1);
  if (count == 1) return source;
  return std::make_shared<Repeated>(std::move(source), count);
}

DatasetPtr zip(std::vector<DatasetPtr> sources) {
  if (sources.empty()) value_error("zip: there are no datasets");
  return std::make_shared<Zipped>(std::move(sources));
}

DatasetPtr concat(std::vector<DatasetPtr> sources) {
  if (sources.empty()) value_error("concat: there are no datasets");
  return std::make_shared<Joined>(std::move(sources));
}

DatasetPtr flat_map(DatasetPtr source, std::function<DatasetPtr(const Row&)> f) {
  return std::make_shared<FlatMapped>(std::move(source), std::move(f));
}

}  // namespace mycel::data
