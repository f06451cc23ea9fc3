// Which rows: shuffle, sample, take, skip, split, filter.
#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "base/random.h"
#include "data/operators/wrapper.h"
#include "data/workers.h"

namespace mycel::data {
namespace {

// --- shuffle, sample

class WindowedRows final : public Rows {
 public:
  WindowedRows(RowsPtr source, int64_t window, uint64_t seed, uint64_t epoch)
      : source_(std::move(source)), window_(static_cast<size_t>(window)), draw_(seed, epoch) {}
  bool next(Job* job) override {
    Job incoming;
    while (held_.size() < window_ && source_->next(&incoming)) held_.push_back(std::move(incoming));
    if (held_.empty()) return false;
    std::swap(held_[draw_.below(held_.size())], held_.back());
    *job = std::move(held_.back());
    held_.pop_back();
    return true;
  }

 private:
  RowsPtr source_;
  size_t window_;
  Philox draw_;
  std::vector<Job> held_;
};

class Shuffled final : public Wrapper {
 public:
  Shuffled(DatasetPtr source, int64_t window, uint64_t seed)
      : Wrapper(std::move(source)), window_(window), seed_(seed) {}
  std::string describe() const override {
    return indexable() ? fmt::format("shuffle(all rows, seed={})", seed_)
                       : fmt::format("shuffle(window={}, seed={})", window_, seed_);
  }
  bool changes() const override { return true; }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override {
    const Permutation order(static_cast<uint64_t>(size()), seed_, epoch);
    return source_->row(epoch, static_cast<int64_t>(order(static_cast<uint64_t>(i))));
  }
  RowsPtr stream(uint64_t epoch) const override {
    return std::make_unique<WindowedRows>(source_->iterate(epoch), window_, seed_, epoch);
  }

 private:
  int64_t window_;
  uint64_t seed_;
};

class Sampled final : public Wrapper {
 public:
  Sampled(DatasetPtr source, OrderPtr order)
      : Wrapper(std::move(source)), order_(std::move(order)) {
    if (!source_->indexable()) {
      value_error("sampler: '{}' is read from begin to end; a sampler needs rows with numbers",
                  source_->describe());
    }
    rows_ = source_->size();
    size_ = order_->size(rows_);
    if (size_ < 1) value_error("sampler: no rows are left");
  }
  int64_t size() const override { return size_; }
  std::string describe() const override { return fmt::format("sample({})", order_->describe()); }
  bool changes() const override { return order_->changes(); }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override {
    return source_->row(epoch, order_->at(epoch, rows_, i));
  }
  RowsPtr stream(uint64_t epoch) const override { return source_->iterate(epoch); }

 private:
  OrderPtr order_;
  int64_t rows_ = 0, size_ = 0;
};

// --- take, skip

class TakenRows final : public Rows {
 public:
  TakenRows(RowsPtr source, int64_t left) : source_(std::move(source)), left_(left) {}
  bool next(Job* job) override { return left_ > 0 && (--left_, source_->next(job)); }
  int64_t skip(int64_t n) override {
    n = source_->skip(std::min(n, left_));
    left_ -= n;
    return n;
  }

 private:
  RowsPtr source_;
  int64_t left_;
};

// Rows first, first + 1, … of the source, `count` at most (kAllRows: all).
class Range final : public Wrapper {
 public:
  Range(DatasetPtr source, int64_t first, int64_t count, std::string name)
      : Wrapper(std::move(source)), first_(first), count_(count), name_(std::move(name)) {}
  int64_t size() const override {
    if (source_->size() < 0) return kUnknownSize;
    const int64_t left = std::max<int64_t>(0, source_->size() - first_);
    return count_ == kAllRows ? left : std::min(left, count_);
  }
  std::string describe() const override { return name_; }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override { return source_->row(epoch, i + first_); }
  RowsPtr stream(uint64_t epoch) const override {
    RowsPtr rows = source_->iterate(epoch);
    rows->skip(first_);
    return count_ == kAllRows ? std::move(rows)
                              : std::make_unique<TakenRows>(std::move(rows), count_);
  }

 private:
  int64_t first_, count_;
  std::string name_;
};

// --- shards of a stream

class ShardRows final : public Rows {
 public:
  ShardRows(RowsPtr source, int64_t shards, int64_t shard)
      : source_(std::move(source)), shards_(shards), shard_(shard) {}
  bool next(Job* job) override {
    if (ended_) return false;
    bool found = false;
    for (int64_t k = 0; k < shards_; ++k, ++read_) {
      Job one;
      if (!source_->next(&one)) {
        ended_ = true;
        return found || at_end(k, job);
      }
      if (k == shard_) {
        *job = std::move(one);
        found = true;
      } else if (read_ < shard_) {
        first_.push_back(std::move(one));
      }
    }
    return true;
  }

 private:
  // Of a last round of `left` rows; the shards behind them take the first rows of all.
  bool at_end(int64_t left, Job* job) {
    if (left == 0) return false;
    const auto k = static_cast<size_t>((shard_ - left) % read_);
    *job = std::move(first_.at(k));
    return true;
  }

  RowsPtr source_;
  int64_t shards_, shard_, read_ = 0;
  std::vector<Job> first_;  // rows 0 to shard - 1, which nobody else asked for
  bool ended_ = false;
};

class Shard final : public Wrapper {
 public:
  Shard(DatasetPtr source, int64_t shards, int64_t shard)
      : Wrapper(std::move(source)), shards_(shards), shard_(shard) {}
  int64_t size() const override {
    const int64_t n = source_->size();
    return n < 0 ? kUnknownSize : (n + shards_ - 1) / shards_;
  }
  std::string describe() const override { return fmt::format("shard({} of {})", shard_, shards_); }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override {
    return source_->row(epoch, (i * shards_ + shard_) % source_->size());
  }
  RowsPtr stream(uint64_t epoch) const override {
    return std::make_unique<ShardRows>(source_->iterate(epoch), shards_, shard_);
  }

 private:
  int64_t shards_, shard_;
};

// --- filter

class FilteredRows final : public Rows {
 public:
  FilteredRows(RowsPtr source, std::function<bool(const Row&)> keep)
      : source_(std::move(source)), keep_(std::move(keep)) {}
  bool next(Job* job) override {
    Job inner;
    while (source_->next(&inner)) {
      Row row = inner();
      if (!keep_(row)) continue;
      *job = [row = std::move(row)]() mutable { return std::move(row); };
      return true;
    }
    return false;
  }

 private:
  RowsPtr source_;
  std::function<bool(const Row&)> keep_;
};

class Filtered final : public Wrapper {
 public:
  Filtered(DatasetPtr source, Predicate keep, std::vector<std::string> inputs, int workers)
      : Wrapper(std::move(source)), keep_(std::move(keep)), workers_(workers) {
    places_ = places_of(*source_, inputs.empty() ? source_->columns() : inputs, "filter");
  }
  int64_t size() const override { return kUnknownSize; }
  bool indexable() const override { return false; }
  std::string describe() const override { return "filter"; }

 protected:
  RowsPtr stream(uint64_t epoch) const override {
    return std::make_unique<FilteredRows>(
        made_rows(source_->iterate(epoch), std::max(workers_, source_->workers())),
        [this](const Row& row) {
          Row args;
          for (size_t p : places_) args.push_back(row[p]);
          return keep_(args);
        });
  }

 private:
  Predicate keep_;
  int workers_;
  std::vector<size_t> places_;
};

// Rows whose jobs fail are left out.
class SoundRows final : public Rows {
 public:
  SoundRows(RowsPtr source, std::shared_ptr<std::atomic<int64_t>> skipped)
      : source_(std::move(source)), skipped_(std::move(skipped)) {}
  bool next(Job* job) override {
    Job inner;
    while (source_->next(&inner)) {
      try {
        Row row = inner();
        *job = [row = std::move(row)]() mutable { return std::move(row); };
        return true;
      } catch (const InternalError&) {
        throw;
      } catch (const UserError& e) {
        if (e.kind() == ErrorKind::kInterrupted || e.kind() == ErrorKind::kMemory) throw;
        left_out(e);
      } catch (const std::exception& e) {  // of a function in another language
        left_out(e);
      }
    }
    return false;
  }

 private:
  void left_out(const std::exception& e) {
    ++*skipped_;
    log(Level::kWarning, "user", fmt::format("dataset: a row is left out: {}", e.what()));
  }
  RowsPtr source_;
  std::shared_ptr<std::atomic<int64_t>> skipped_;
};

class Sound final : public Wrapper {
 public:
  Sound(DatasetPtr source, std::shared_ptr<std::atomic<int64_t>> skipped, int workers)
      : Wrapper(std::move(source)), skipped_(std::move(skipped)), workers_(workers) {}
  int64_t size() const override { return kUnknownSize; }
  bool indexable() const override { return false; }
  std::string describe() const override {
    return fmt::format("skip_errors({} left out)", skipped_->load());
  }

 protected:
  RowsPtr stream(uint64_t epoch) const override {
    return std::make_unique<SoundRows>(
        made_rows(source_->iterate(epoch), std::max(workers_, source_->workers())), skipped_);
  }

 private:
  std::shared_ptr<std::atomic<int64_t>> skipped_;
  int workers_;
};

// Rows of Workers as jobs that are done.
class MadeRows final : public Rows {
 public:
  MadeRows(RowsPtr source, int workers)
      : source_(std::move(source)),
        workers_([rows = source_.get()](Job* job) { return rows->next(job); },
                 {.threads = workers}) {}
  bool next(Job* job) override {
    Row row;
    std::exception_ptr error;
    if (workers_.next(&row, &error) == Workers::Found::kEnd) return false;
    *job = [row = std::move(row), error]() mutable -> Row {
      if (error) std::rethrow_exception(error);
      return std::move(row);
    };
    return true;
  }

 private:
  RowsPtr source_;
  Workers workers_;
};

}  // namespace

RowsPtr made_rows(RowsPtr source, int workers) {
  if (workers <= 1) return source;
  return std::make_unique<MadeRows>(std::move(source), workers);
}

DatasetPtr shuffle(DatasetPtr source, int64_t window, uint64_t seed) {
  at_least("shuffle", "buffer_size", window, 2);
  return std::make_shared<Shuffled>(std::move(source), window, seed);
}

DatasetPtr sample(DatasetPtr source, OrderPtr order) {
  return std::make_shared<Sampled>(std::move(source), std::move(order));
}

DatasetPtr shard(DatasetPtr source, int64_t shards, int64_t shard) {
  at_least("shard", "num_shards", shards, 1);
  if (shard < 0 || shard >= shards)
    value_error("shard: 'shard_id' must be from 0 to {}, got {}", shards - 1, shard);
  return std::make_shared<Shard>(std::move(source), shards, shard);
}

DatasetPtr take(DatasetPtr source, int64_t count) {
  at_least("take", "count", count, 1);
  return std::make_shared<Range>(std::move(source), 0, count, fmt::format("take({})", count));
}

DatasetPtr skip(DatasetPtr source, int64_t count) {
  at_least("skip", "count", count, 0);
  auto out =
      std::make_shared<Range>(std::move(source), count, kAllRows, fmt::format("skip({})", count));
  if (out->size() == 0)
    value_error("skip: the dataset has no more than {} rows: none would be left", count);
  return out;
}

std::vector<DatasetPtr> split(DatasetPtr source, const std::vector<int64_t>& sizes) {
  if (source->size() < 0) value_error("split: the number of rows is not known");
  std::vector<DatasetPtr> parts;
  int64_t first = 0;
  for (int64_t n : sizes) {
    at_least("split", "sizes", n, 1);
    parts.push_back(std::make_shared<Range>(source, first, n,
                                            fmt::format("split(rows {} to {})", first, first + n)));
    first += n;
  }
  if (first > source->size())
    value_error("split: the parts have {} rows together, the dataset has {}", first,
                source->size());
  return parts;
}

DatasetPtr filter(DatasetPtr source, Predicate keep, std::vector<std::string> inputs, int workers) {
  return std::make_shared<Filtered>(std::move(source), std::move(keep), std::move(inputs), workers);
}

DatasetPtr skip_errors(DatasetPtr source, std::shared_ptr<std::atomic<int64_t>> skipped,
                       int workers) {
  return std::make_shared<Sound>(std::move(source), std::move(skipped), workers);
}

}  // namespace mycel::data
