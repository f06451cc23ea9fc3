// Batches: of a fixed number of rows, of a number that changes, and by length.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/operators/wrapper.h"
#include "data/stack.h"

namespace mycel::data {
namespace {

using Columns = std::vector<std::vector<Value>>;  // the rows of a batch, column by column

// Puts rows together: the function first, then padding, then stacking.
class Stacker {
 public:
  Stacker(const Dataset& source, Batching options) : options_(std::move(options)) {
    columns_ = source.columns();
    if (options_.function) {
      in_ = places_of(source, options_.inputs.empty() ? columns_ : options_.inputs, "batch");
      if (options_.outputs.empty()) {
        for (size_t p : in_) options_.outputs.push_back(columns_[p]);
      }
      std::vector<std::string> after;
      for (size_t c = 0; c < columns_.size(); ++c) {
        if (c == in_[0])
          after.insert(after.end(), options_.outputs.begin(), options_.outputs.end());
        if (!taken(c)) after.push_back(columns_[c]);
      }
      check_distinct(after, "batch");
      columns_ = std::move(after);
    } else if (!options_.inputs.empty() || !options_.outputs.empty()) {
      value_error("batch: input and output columns belong to per_batch_map, which is not given");
    }
    for (const auto& p : options_.padding) {
      const auto at = std::find(columns_.begin(), columns_.end(), p.column);
      if (at == columns_.end()) {
        fail(ErrorKind::kKey, "batch: there is no column '{}' to pad; columns: {}", p.column,
             fmt::join(columns_, ", "));
      }
      padded_.push_back(at - columns_.begin());
    }
  }

  const std::vector<std::string>& columns() const { return columns_; }
  const Batching& options() const { return options_; }
  // Of `rows` rows.
  int64_t batches(int64_t rows, int64_t size) const {
    return options_.drop_remainder ? rows / size : (rows + size - 1) / size;
  }

  // A batch of what row(0) to row(rows - 1) give; each row is stacked before the next is made where
  // nothing needs to see them together.
  template <typename RowOf>
  Row made(size_t rows, RowOf&& row, int64_t batch, uint64_t epoch, int64_t boundary = 0) const {
    if (options_.function || !padded_.empty()) {
      std::vector<Row> all;
      for (size_t i = 0; i < rows; ++i) all.push_back(row(i));
      return stacked(all, batch, epoch, boundary);
    }
    std::vector<Stack> stacks;
    for (size_t i = 0; i < rows; ++i) {
      const Row one = row(i);
      for (size_t c = stacks.size(); c < one.size(); ++c) stacks.emplace_back(columns_[c], rows);
      for (size_t c = 0; c < one.size(); ++c) stacks[c].add(one[c]);
    }
    Row out;
    for (Stack& s : stacks) out.push_back(s.take());
    return out;
  }

  // `boundary` > 0: what a dim of -1 is padded to.
  Row stacked(const std::vector<Row>& rows, int64_t batch, uint64_t epoch,
              int64_t boundary = 0) const {
    Columns values(rows[0].size());
    for (const Row& row : rows) {
      for (size_t c = 0; c < values.size(); ++c) values[c].push_back(row[c]);
    }
    if (options_.function) values = through_function(std::move(values), batch, epoch);
    for (size_t i = 0; i < padded_.size(); ++i)
      pad(&values[padded_[i]], options_.padding[i], boundary);
    Row out;
    for (size_t c = 0; c < values.size(); ++c) out.push_back(stack(values[c], columns_[c]));
    return out;
  }

 private:
  bool taken(size_t c) const { return std::find(in_.begin(), in_.end(), c) != in_.end(); }

  Columns through_function(Columns values, int64_t batch, uint64_t epoch) const {
    Columns args, out;
    for (size_t p : in_) args.push_back(values[p]);
    Columns made = options_.function(args, batch, epoch);
    if (made.size() != options_.outputs.size()) {
      value_error("batch: per_batch_map gave {} columns for {} ({})", made.size(),
                  options_.outputs.size(), fmt::join(options_.outputs, ", "));
    }
    for (size_t c = 0; c < values.size(); ++c) {
      if (c == in_[0])
        for (auto& column : made) {
          if (column.empty()) value_error("batch: per_batch_map gave a column without rows");
          out.push_back(std::move(column));
        }
      if (!taken(c)) out.push_back(std::move(values[c]));
    }
    return out;
  }

  static void pad(std::vector<Value>* rows, const Batching::Padding& p, int64_t boundary) {
    std::vector<int64_t> shape = p.shape;
    const int rank = (*rows)[0].shape().rank();
    if (shape.empty()) shape.assign(static_cast<size_t>(rank), -1);
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] >= 0) continue;
      shape[d] = boundary;
      for (const Value& v : *rows) {
        if (boundary <= 0 && static_cast<int>(d) < v.shape().rank())
          shape[d] = std::max(shape[d], v.shape()[static_cast<int>(d)]);
      }
    }
    for (Value& v : *rows) {
      v = padded(v, shape, p.value, p.text, fmt::format("batch: column '{}'", p.column));
    }
  }

  Batching options_;
  std::vector<std::string> columns_;
  std::vector<size_t> in_, padded_;
};

// Makes the rows of `jobs` and stacks them.
Job stacking(const Dataset& of, const Stacker& stacker, std::vector<Job> jobs, int64_t batch,
             uint64_t epoch, int64_t boundary = 0) {
  return timed(of, [&stacker, jobs = std::move(jobs), batch, epoch, boundary] {
    return stacker.made(jobs.size(), [&](size_t i) { return jobs[i](); }, batch, epoch, boundary);
  });
}

// How many rows the batch of a number has, in an epoch.
using BatchSize = std::function<int64_t(int64_t batch, uint64_t epoch)>;

// The batches of a stream of rows, of one size or of changing ones.
class BatchStream final : public Rows {
 public:
  BatchStream(const Dataset& of, const Stacker& stacker, RowsPtr rows, uint64_t epoch, int64_t size)
      : BatchStream(of, stacker, std::move(rows), epoch,
                    [size](int64_t, uint64_t) { return size; }) {
    fixed_ = size;
  }
  BatchStream(const Dataset& of, const Stacker& stacker, RowsPtr rows, uint64_t epoch,
              BatchSize size)
      : of_(of), stacker_(stacker), rows_(std::move(rows)), epoch_(epoch), size_(std::move(size)) {}

  bool next(Job* job) override {
    const int64_t want = size_(at_, epoch_);
    at_least("batch", "batch_size", want, 1);
    std::vector<Job> jobs;
    Job one;
    while (static_cast<int64_t>(jobs.size()) < want && rows_->next(&one))
      jobs.push_back(std::move(one));
    if (stacker_.batches(static_cast<int64_t>(jobs.size()), want) == 0) return false;
    *job = stacking(of_, stacker_, std::move(jobs), at_++, epoch_);
    return true;
  }
  int64_t skip(int64_t n) override {
    if (fixed_ == 0) return Rows::skip(n);
    const int64_t batches = stacker_.batches(rows_->skip(n * fixed_), fixed_);
    at_ += batches;
    return batches;
  }

 private:
  const Dataset& of_;
  const Stacker& stacker_;
  RowsPtr rows_;
  uint64_t epoch_;
  BatchSize size_;
  int64_t fixed_ = 0;  // the size when all have the same
  int64_t at_ = 0;
};

class BatchWrapper : public Wrapper {
 public:
  BatchWrapper(DatasetPtr source, Batching options)
      : Wrapper(std::move(source)), stacker_(*source_, std::move(options)) {}
  const std::vector<std::string>& columns() const override { return stacker_.columns(); }
  int workers() const override { return std::max(stacker_.options().workers, source_->workers()); }

 protected:
  Stacker stacker_;
};

class Batched final : public BatchWrapper {
 public:
  Batched(DatasetPtr source, int64_t size, Batching options)
      : BatchWrapper(std::move(source), std::move(options)), rows_(size) {}
  int64_t size() const override {
    const int64_t n = source_->size();
    return n < 0 ? n : stacker_.batches(n, rows_);
  }
  int64_t batch_size() const override { return rows_; }
  std::string describe() const override { return fmt::format("batch({})", rows_); }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override {
    const int64_t first = i * rows_, last = std::min(first + rows_, source_->size());
    return stacker_.made(
        static_cast<size_t>(last - first),
        [&](size_t r) { return source_->row(epoch, first + static_cast<int64_t>(r)); }, i, epoch);
  }

  RowsPtr stream(uint64_t epoch) const override {
    return std::make_unique<BatchStream>(*this, stacker_, source_->iterate(epoch), epoch, rows_);
  }

 private:
  int64_t rows_;
};

class BatchedBySize final : public BatchWrapper {
 public:
  BatchedBySize(DatasetPtr source, BatchSize size, Batching options)
      : BatchWrapper(std::move(source), std::move(options)), rows_(std::move(size)) {}
  int64_t size() const override { return kUnknownSize; }
  bool indexable() const override { return false; }
  std::string describe() const override { return "batch(of changing size)"; }

 protected:
  RowsPtr stream(uint64_t epoch) const override {
    return std::make_unique<BatchStream>(*this, stacker_, source_->iterate(epoch), epoch, rows_);
  }

 private:
  BatchSize rows_;
};

class BatchedByLength final : public BatchWrapper {
 public:
  BatchedByLength(DatasetPtr source, Buckets buckets, Batching options)
      : BatchWrapper(std::move(source), std::move(options)), buckets_(std::move(buckets)) {
    const auto& b = buckets_.boundaries;
    if (b.empty()) value_error("bucket_batch_by_length: there are no boundaries");
    for (size_t i = 0; i < b.size(); ++i) {
      at_least("bucket_batch_by_length", "bucket_boundaries", b[i], 1);
      if (i > 0 && b[i] <= b[i - 1])
        value_error("bucket_batch_by_length: boundaries must grow, got {}", fmt::join(b, ", "));
    }
    if (buckets_.sizes.size() != b.size() + 1) {
      value_error("bucket_batch_by_length: {} boundaries make {} buckets, got {} batch sizes",
                  b.size(), b.size() + 1, buckets_.sizes.size());
    }
    for (int64_t n : buckets_.sizes) at_least("bucket_batch_by_length", "bucket_batch_sizes", n, 1);
    places_ = places_of(
        *source_,
        buckets_.inputs.empty() ? std::vector<std::string>{source_->columns()[0]} : buckets_.inputs,
        "bucket_batch_by_length");
    if (!buckets_.length && places_.size() != 1)
      value_error("bucket_batch_by_length: the length of several columns needs a function");
  }
  int64_t size() const override { return kUnknownSize; }
  bool indexable() const override { return false; }
  std::string describe() const override {
    return fmt::format("bucket_batch_by_length({} buckets)", buckets_.sizes.size());
  }

 protected:
  int64_t length_of(const Row& row) const {
    Row args;
    for (size_t p : places_) args.push_back(row[p]);
    if (buckets_.length) return buckets_.length(args);
    if (args[0].shape().rank() == 0)
      value_error("bucket_batch_by_length: a single value has no length");
    return args[0].shape()[0];
  }

  class Stream final : public Rows {
   public:
    Stream(const BatchedByLength& of, uint64_t epoch)
        : of_(of),
          epoch_(epoch),
          rows_(made_rows(of.source_->iterate(epoch), of.source_->workers())),
          held_(of.buckets_.sizes.size()) {}
    bool next(Job* job) override {
      Job one;
      while (rows_->next(&one)) {
        Row row = one();
        const int64_t n = of_.length_of(row);
        if (n < 0) value_error("bucket_batch_by_length: a length is negative: {}", n);
        const auto& b = of_.buckets_.boundaries;
        const size_t bucket = std::upper_bound(b.begin(), b.end(), n) - b.begin();
        held_[bucket].push_back(std::move(row));
        if (static_cast<int64_t>(held_[bucket].size()) == of_.buckets_.sizes[bucket])
          return give(bucket, job);
      }
      for (size_t b = 0; b < held_.size() && !of_.stacker_.options().drop_remainder; ++b) {
        if (!held_[b].empty()) return give(b, job);
      }
      return false;
    }

   private:
    bool give(size_t bucket, Job* job) {
      const auto& b = of_.buckets_.boundaries;
      int64_t boundary = 0;
      if (of_.buckets_.pad_to_boundary) {
        if (bucket == b.size()) {
          value_error(
              "bucket_batch_by_length: a row is as long as the last boundary ({}) or longer; it "
              "cannot be padded to a boundary",
              b.back());
        }
        boundary = b[bucket] - 1;
      }
      *job = timed(of_, [&of = of_, rows = std::move(held_[bucket]), n = at_++, epoch = epoch_,
                         boundary] { return of.stacker_.stacked(rows, n, epoch, boundary); });
      held_[bucket].clear();
      return true;
    }
    const BatchedByLength& of_;
    uint64_t epoch_;
    RowsPtr rows_;
    std::vector<std::vector<Row>> held_;
    int64_t at_ = 0;
  };
  RowsPtr stream(uint64_t epoch) const override { return std::make_unique<Stream>(*this, epoch); }

 private:
  Buckets buckets_;
  std::vector<size_t> places_;
};

}  // namespace

DatasetPtr batch(DatasetPtr source, int64_t size, Batching options) {
  at_least("batch", "batch_size", size, 1);
  auto out = std::make_shared<Batched>(std::move(source), size, std::move(options));
  if (out->size() == 0) {
    value_error(
        "batch: no batch of {} rows can be made: the dataset is smaller, and drop_remainder leaves "
        "the rest out",
        size);
  }
  return out;
}

DatasetPtr batch(DatasetPtr source, std::function<int64_t(int64_t, uint64_t)> size,
                 Batching options) {
  return std::make_shared<BatchedBySize>(std::move(source), std::move(size), std::move(options));
}

DatasetPtr bucket_batch(DatasetPtr source, Buckets buckets, Batching options) {
  return std::make_shared<BatchedByLength>(std::move(source), std::move(buckets),
                                           std::move(options));
}

}  // namespace mycel::data
