#include "data/group_order.h"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "data/operators/wrapper.h"

namespace mycel::data {
namespace {

constexpr uint64_t kRowStream = uint64_t{1} << 63;  // apart from the permutation of groups

class ByGroups final : public Order {
 public:
  ByGroups(const std::vector<int64_t>& groups, GroupOrder options) : options_(options) {
    for (int64_t n : groups) {
      begins_.push_back(rows_);
      rows_ += n;
    }
    groups_ = groups;
    if (options_.window <= 0) options_.window = static_cast<int64_t>(groups_.size());
    a_shard_ = (rows_ + options_.shards - 1) / options_.shards;
    if (options_.count != kAllRows) a_shard_ = std::min(a_shard_, options_.count);
  }
  int64_t size(int64_t) const override { return a_shard_; }
  int64_t at(uint64_t epoch, int64_t, int64_t i) const override {
    const int64_t whole = (rows_ + options_.shards - 1) / options_.shards;
    const int64_t place = (options_.shard * whole + i) % rows_;
    if (!options_.shuffled) return place;
    const TablePtr t = table(epoch);
    // The window, the place that is mixed in it, and the group that holds it.
    const size_t w =
        std::upper_bound(t->windows.begin(), t->windows.end(), place) - t->windows.begin();
    const int64_t begin = w == 0 ? 0 : t->windows[w - 1];
    if (!options_.rows) return row_at(*t, place);
    const Permutation mixed(static_cast<uint64_t>(t->windows[w] - begin),
                            options_.seed + w * 0x9E3779B97F4A7C15u, kRowStream | epoch);
    return row_at(*t, begin + static_cast<int64_t>(mixed(static_cast<uint64_t>(place - begin))));
  }
  bool changes() const override { return options_.shuffled; }
  std::string describe() const override {
    return fmt::format("by groups({}window={}, seed={})",
                       !options_.rows     ? "groups alone, "
                       : !options_.groups ? "rows alone, "
                                          : "",
                       options_.window, options_.seed);
  }

 private:
  struct Table {
    std::vector<size_t> order;           // of the groups
    std::vector<int64_t> ends, windows;  // where groups and windows end in that order
  };
  using TablePtr = std::shared_ptr<const Table>;

  // The row at a place of the groups in their order.
  int64_t row_at(const Table& t, int64_t place) const {
    const size_t k = std::upper_bound(t.ends.begin(), t.ends.end(), place) - t.ends.begin();
    return begins_[t.order[k]] + place - (k == 0 ? 0 : t.ends[k - 1]);
  }
  // Those of this epoch and the one before are kept.
  TablePtr table(uint64_t epoch) const {
    std::lock_guard lock(mutex_);
    TablePtr& known = tables_[epoch % 2].second;
    if (known && tables_[epoch % 2].first == epoch) return known;
    auto t = std::make_shared<Table>();
    const Permutation order(groups_.size(), options_.seed, epoch);
    int64_t sum = 0;
    for (size_t k = 0; k < groups_.size(); ++k) {
      t->order.push_back(options_.groups ? order(k) : k);
      t->ends.push_back(sum += groups_[t->order[k]]);
      const bool last = k + 1 == groups_.size();
      if (last || (static_cast<int64_t>(k) + 1) % options_.window == 0) t->windows.push_back(sum);
    }
    tables_[epoch % 2].first = epoch;
    known = t;
    return t;
  }

  GroupOrder options_;
  std::vector<int64_t> groups_, begins_;
  int64_t rows_ = 0, a_shard_ = 0;
  mutable std::mutex mutex_;
  mutable std::pair<uint64_t, TablePtr> tables_[2];
};

class InFiles final : public Wrapper {
 public:
  InFiles(DatasetPtr source, std::vector<int64_t> rows)
      : Wrapper(std::move(source)), rows_(std::move(rows)) {}
  std::string describe() const override { return fmt::format("{} files", rows_.size()); }
  const std::vector<int64_t>& rows() const { return rows_; }

 protected:
  Row make_row(uint64_t epoch, int64_t i) const override { return source_->row(epoch, i); }
  RowsPtr stream(uint64_t epoch) const override { return source_->iterate(epoch); }

 private:
  std::vector<int64_t> rows_;
};

}  // namespace

DatasetPtr in_files(DatasetPtr rows, const std::vector<int64_t>& ends) {
  std::vector<int64_t> each;
  for (size_t k = 0; k < ends.size(); ++k) each.push_back(ends[k] - (k == 0 ? 0 : ends[k - 1]));
  return std::make_shared<InFiles>(std::move(rows), std::move(each));
}

std::vector<int64_t> rows_of_files(const Dataset& source) {
  for (const Dataset* d = &source;;) {
    if (auto* in = dynamic_cast<const InFiles*>(d)) return in->rows();
    const std::vector<DatasetPtr> inputs = d->inputs();
    if (inputs.size() != 1)
      value_error("'{}' does not tell which rows lie in which file", source.describe());
    d = inputs[0].get();  // held by the source
  }
}

OrderPtr by_groups(const std::vector<int64_t>& groups, GroupOrder options) {
  if (options.shards < 1 || options.shard < 0 || options.shard >= options.shards)
    value_error("'shard_id' must be from 0 to {}, got {}", options.shards - 1, options.shard);
  return std::make_shared<ByGroups>(groups, options);
}

}  // namespace mycel::data
