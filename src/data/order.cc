#include "data/order.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "data/permuted_run.h"

namespace mycel::data {
namespace {

int64_t limited(int64_t rows, int64_t count) {
  return count == kAllRows ? rows : std::min(rows, count);
}

void check_count(const char* name, int64_t count) {
  if (count != kAllRows && count < 1)
    value_error("{}: 'num_samples' must be at least 1, got {}", name, count);
}

class Sequential final : public Order {
 public:
  Sequential(int64_t start, int64_t count) : start_(start), count_(count) {}
  int64_t size(int64_t rows) const override {
    if (start_ >= rows)
      value_error("SequentialSampler: 'start_index' {} is behind the last of {} rows", start_,
                  rows);
    return limited(rows - start_, count_);
  }
  int64_t at(uint64_t, int64_t, int64_t i) const override { return start_ + i; }
  bool changes() const override { return false; }
  std::string describe() const override { return fmt::format("sequential(start={})", start_); }

 private:
  int64_t start_, count_;
};

class Random final : public Order {
 public:
  Random(uint64_t seed, bool replacement, int64_t count)
      : seed_(seed), replacement_(replacement), count_(count) {}
  int64_t size(int64_t rows) const override {
    return replacement_ && count_ != kAllRows ? count_ : limited(rows, count_);
  }
  int64_t at(uint64_t epoch, int64_t rows, int64_t i) const override {
    const auto n = static_cast<uint64_t>(rows);
    if (!replacement_) return Permutation(n, seed_, epoch)(i);
    return Philox(seed_ ^ (epoch * 0x9E3779B97F4A7C15u), static_cast<uint64_t>(i)).below(n);
  }
  void read(uint64_t epoch, int64_t rows, int64_t first, std::span<int64_t> out) const override {
    if (replacement_) return Order::read(epoch, rows, first, out);
    const Permutation order(static_cast<uint64_t>(rows), seed_, epoch);
    permuted_run(order, static_cast<uint64_t>(first), out);
  }
  bool changes() const override { return true; }
  std::string describe() const override {
    return fmt::format("random(seed={}, replacement={})", seed_, replacement_);
  }

 private:
  uint64_t seed_;
  bool replacement_;
  int64_t count_;
};

class Subset final : public Order {
 public:
  Subset(std::vector<int64_t> rows, bool random, uint64_t seed, int64_t count)
      : rows_(std::move(rows)), random_(random), seed_(seed), count_(count) {
    if (rows_.empty()) value_error("SubsetSampler: there are no indices");
    lowest_ = *std::min_element(rows_.begin(), rows_.end());
    highest_ = *std::max_element(rows_.begin(), rows_.end());
  }
  int64_t size(int64_t rows) const override {
    if (lowest_ < -rows || highest_ >= rows)
      value_error("SubsetSampler: index {} is not in a dataset of {} rows",
                  highest_ >= rows ? highest_ : lowest_, rows);
    return limited(static_cast<int64_t>(rows_.size()), count_);
  }
  int64_t at(uint64_t epoch, int64_t rows, int64_t i) const override {
    const auto place = random_ ? Permutation(rows_.size(), seed_, epoch)(i) : i;
    const int64_t row = rows_[place];
    return row < 0 ? row + rows : row;
  }
  bool changes() const override { return random_; }
  std::string describe() const override {
    return fmt::format("subset({} rows{})", rows_.size(), random_ ? ", shuffled" : "");
  }

 private:
  std::vector<int64_t> rows_;
  bool random_;
  uint64_t seed_;
  int64_t count_, lowest_ = 0, highest_ = 0;
};

// An order of an epoch that cannot be computed place by place: made once for each of the last
// epochs used.
class EpochTables {
 public:
  using Table = std::shared_ptr<const std::vector<int64_t>>;
  template <typename Make>
  Table get(uint64_t epoch, Make&& make) const {
    std::lock_guard lock(mutex_);
    Table& t = tables_[epoch];
    if (!t) t = std::make_shared<const std::vector<int64_t>>(make());
    Table out = t;
    while (tables_.size() > 2)  // this epoch and the one before, which may still be read
      tables_.erase(epoch == tables_.begin()->first ? std::prev(tables_.end()) : tables_.begin());
    return out;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::map<uint64_t, Table> tables_;
};

class Weighted final : public Order {
 public:
  Weighted(std::vector<double> weights, uint64_t seed, bool replacement, int64_t count)
      : weights_(std::move(weights)), seed_(seed), replacement_(replacement), count_(count) {
    double sum = 0;
    int64_t positive = 0;
    for (double w : weights_) {
      if (!(w >= 0) || !std::isfinite(w))
        value_error("WeightedRandomSampler: 'weights' must be 0 or more and finite, got {}", w);
      sum += w;
      positive += w > 0;
      sums_.push_back(sum);
    }
    if (positive == 0) value_error("WeightedRandomSampler: all weights are 0");
    if (!replacement_ && count_ != kAllRows && count_ > positive) {
      value_error(
          "WeightedRandomSampler: {} rows without replacement cannot be drawn from {} with a "
          "weight above 0",
          count_, positive);
    }
    if (!replacement_ && count_ == kAllRows) count_ = positive;
  }
  int64_t size(int64_t rows) const override {
    if (static_cast<int64_t>(weights_.size()) > rows)
      value_error("WeightedRandomSampler: there are {} weights for {} rows", weights_.size(), rows);
    return count_ == kAllRows ? static_cast<int64_t>(weights_.size()) : count_;
  }
  int64_t at(uint64_t epoch, int64_t, int64_t i) const override {
    if (!replacement_) return (*tables_.get(epoch, [&] { return drawn(epoch); }))[i];
    Philox draw(seed_ ^ (epoch * 0x9E3779B97F4A7C15u), static_cast<uint64_t>(i));
    const double u = draw.uniform() * sums_.back();
    auto at = std::upper_bound(sums_.begin(), sums_.end(), u);
    if (at == sums_.end()) --at;  // rounding
    while (weights_[at - sums_.begin()] == 0) --at;
    return at - sums_.begin();
  }
  bool changes() const override { return true; }
  std::string describe() const override {
    return fmt::format("weighted({} weights, replacement={})", weights_.size(), replacement_);
  }

 private:
  // The rows with the largest u^(1/w), compared by their logarithms.
  std::vector<int64_t> drawn(uint64_t epoch) const {
    Philox draw(seed_, epoch);
    std::vector<std::pair<double, int64_t>> keys;
    for (size_t i = 0; i < weights_.size(); ++i) {
      const double u = 1 - draw.uniform();
      if (weights_[i] > 0) keys.emplace_back(-std::log(u) / weights_[i], static_cast<int64_t>(i));
    }
    std::partial_sort(keys.begin(), keys.begin() + count_, keys.end());
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < count_; ++i) rows.push_back(keys[i].second);
    return rows;
  }

  std::vector<double> weights_, sums_;
  uint64_t seed_;
  bool replacement_;
  int64_t count_;
  EpochTables tables_;
};

class PerClass final : public Order {
 public:
  PerClass(const std::vector<int64_t>& labels, int64_t rows_per_class, uint64_t seed, bool shuffled,
           int64_t classes, int64_t count)
      : per_class_(rows_per_class),
        seed_(seed),
        shuffled_(shuffled),
        rows_(labels.size()),
        count_(count) {
    std::map<int64_t, std::vector<int64_t>> found;
    for (size_t i = 0; i < labels.size(); ++i) found[labels[i]].push_back(static_cast<int64_t>(i));
    for (auto& [label, members] : found) members_.push_back(std::move(members));
    drawn_ = limited(static_cast<int64_t>(members_.size()), classes);
    all_ = drawn_ == static_cast<int64_t>(members_.size());
    if (members_.empty()) value_error("PKSampler: there are no rows");
  }
  int64_t size(int64_t rows) const override {
    if (rows != rows_) value_error("PKSampler: made for {} rows, used for {}", rows_, rows);
    return limited(drawn_ * per_class_, count_);
  }
  int64_t at(uint64_t epoch, int64_t, int64_t i) const override {
    uint64_t which = static_cast<uint64_t>(i / per_class_);
    if (!all_) which = Permutation(members_.size(), seed_, epoch)(which);
    const auto& members = members_[which];
    const auto k = static_cast<uint64_t>(i % per_class_);
    // A class with too few rows gives them again, in another order.
    const uint64_t round = k / members.size(), place = k % members.size();
    if (!shuffled_) return members[place];
    return members[Permutation(members.size(), seed_ + which + 1, (epoch << 20) + round)(place)];
  }
  bool changes() const override { return shuffled_ || !all_; }
  std::string describe() const override {
    return fmt::format("per_class({} classes, {} rows of each)", drawn_, per_class_);
  }

 private:
  std::vector<std::vector<int64_t>> members_;
  int64_t per_class_, drawn_ = 0;
  bool all_ = true;
  uint64_t seed_;
  bool shuffled_;
  int64_t rows_, count_;
};

class Sharded final : public Order {
 public:
  Sharded(int64_t shards, int64_t shard, bool shuffled, uint64_t seed, int64_t count,
          int64_t offset)
      : shards_(shards),
        shard_(shard),
        shuffled_(shuffled),
        seed_(seed),
        count_(count),
        offset_(offset) {}
  int64_t size(int64_t rows) const override {
    if (offset_ < 0) return limited((rows + shards_ - 1) / shards_, count_);
    const int64_t n = (rows - start() + shards_ - 1) / shards_;
    if (n <= 0) value_error("DistributedSampler: shard {} has none of {} rows", shard_, rows);
    return limited(n, count_);
  }
  int64_t at(uint64_t epoch, int64_t rows, int64_t i) const override {
    const int64_t place = (i * shards_ + start()) % rows;
    return shuffled_ ? Permutation(static_cast<uint64_t>(rows), seed_, epoch)(place) : place;
  }
  bool changes() const override { return shuffled_; }
  std::string describe() const override {
    return fmt::format("sharded({} of {}{})", shard_, shards_, shuffled_ ? ", shuffled" : "");
  }

 private:
  int64_t start() const {
    return offset_ < 0 ? shard_ : ((shard_ - offset_) % shards_ + shards_) % shards_;
  }
  int64_t shards_, shard_;
  bool shuffled_;
  uint64_t seed_;
  int64_t count_, offset_;
};

class Tabled final : public Order {
 public:
  explicit Tabled(std::function<std::vector<int64_t>(uint64_t)> rows_of)
      : rows_of_(std::move(rows_of)) {
    size_ = static_cast<int64_t>(table(0)->size());
  }
  int64_t size(int64_t) const override { return size_; }
  int64_t at(uint64_t epoch, int64_t rows, int64_t i) const override {
    const EpochTables::Table t = table(epoch);
    if (static_cast<int64_t>(t->size()) != size_) {
      value_error("sampler: it gave {} rows in epoch {} and {} in the first", t->size(), epoch + 1,
                  size_);
    }
    const int64_t row = (*t)[static_cast<size_t>(i)];
    if (row < -rows || row >= rows)
      value_error("sampler: row {} is not in a dataset of {} rows", row, rows);
    return row < 0 ? row + rows : row;
  }
  bool changes() const override { return true; }
  std::string describe() const override { return fmt::format("{} rows of a function", size_); }

 private:
  EpochTables::Table table(uint64_t epoch) const {
    return tables_.get(epoch, [&] { return rows_of_(epoch); });
  }
  std::function<std::vector<int64_t>(uint64_t)> rows_of_;
  int64_t size_ = 0;
  EpochTables tables_;
};

class Chained final : public Order {
 public:
  Chained(OrderPtr outer, OrderPtr inner) : outer_(std::move(outer)), inner_(std::move(inner)) {}
  int64_t size(int64_t rows) const override { return outer_->size(inner_->size(rows)); }
  int64_t at(uint64_t epoch, int64_t rows, int64_t i) const override {
    return inner_->at(epoch, rows, outer_->at(epoch, inner_->size(rows), i));
  }
  bool changes() const override { return outer_->changes() || inner_->changes(); }
  std::string describe() const override { return outer_->describe() + " of " + inner_->describe(); }

 private:
  OrderPtr outer_, inner_;
};

}  // namespace

void Order::read(uint64_t epoch, int64_t rows, int64_t first, std::span<int64_t> out) const {
  for (size_t k = 0; k < out.size(); ++k) out[k] = at(epoch, rows, first + static_cast<int64_t>(k));
}

OrderPtr sequential(int64_t start, int64_t count) {
  if (start < 0)
    value_error("SequentialSampler: 'start_index' must not be negative, got {}", start);
  check_count("SequentialSampler", count);
  return std::make_shared<Sequential>(start, count);
}

OrderPtr random_order(uint64_t seed, bool replacement, int64_t count) {
  check_count("RandomSampler", count);
  return std::make_shared<Random>(seed, replacement, count);
}

OrderPtr subset(std::vector<int64_t> rows, int64_t count) {
  check_count("SubsetSampler", count);
  return std::make_shared<Subset>(std::move(rows), false, 0, count);
}

OrderPtr random_subset(std::vector<int64_t> rows, uint64_t seed, int64_t count) {
  check_count("SubsetRandomSampler", count);
  return std::make_shared<Subset>(std::move(rows), true, seed, count);
}

OrderPtr weighted(std::vector<double> weights, uint64_t seed, bool replacement, int64_t count) {
  check_count("WeightedRandomSampler", count);
  return std::make_shared<Weighted>(std::move(weights), seed, replacement, count);
}

OrderPtr per_class(const std::vector<int64_t>& labels, int64_t rows_per_class, uint64_t seed,
                   bool shuffled, int64_t classes, int64_t count) {
  if (rows_per_class < 1)
    value_error("PKSampler: 'num_val' must be at least 1, got {}", rows_per_class);
  if (classes != kAllRows && classes < 1)
    value_error("PKSampler: 'num_class' must be at least 1, got {}", classes);
  check_count("PKSampler", count);
  return std::make_shared<PerClass>(labels, rows_per_class, seed, shuffled, classes, count);
}

OrderPtr sharded(int64_t shards, int64_t shard, bool shuffled, uint64_t seed, int64_t count,
                 int64_t offset) {
  if (shards < 1)
    value_error("DistributedSampler: 'num_shards' must be at least 1, got {}", shards);
  if (shard < 0 || shard >= shards)
    value_error("DistributedSampler: 'shard_id' must be in [0, {}), got {}", shards, shard);
  if (offset > shards)
    value_error("DistributedSampler: 'offset' must be at most 'num_shards' ({}), got {}", shards,
                offset);
  check_count("DistributedSampler", count);
  return std::make_shared<Sharded>(shards, shard, shuffled, seed, count, offset);
}

OrderPtr tabled(std::function<std::vector<int64_t>(uint64_t)> rows_of) {
  return std::make_shared<Tabled>(std::move(rows_of));
}

OrderPtr chained(OrderPtr outer, OrderPtr inner) {
  return std::make_shared<Chained>(std::move(outer), std::move(inner));
}

}  // namespace mycel::data
