// Orders choose rows of a dataset by number: what comes at place i of an epoch. The published API
// calls them samplers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mycel::data {

class Order {
 public:
  virtual ~Order() = default;
  // Rows an epoch of a dataset of `rows` rows.
  virtual int64_t size(int64_t rows) const = 0;
  // The number of the row at place 0 <= i < size(rows) of an epoch; from many threads at once.
  virtual int64_t at(uint64_t epoch, int64_t rows, int64_t i) const = 0;
  // The numbers at the places first, first + 1, … of an epoch; faster than one by one where the
  // order is computed.
  virtual void read(uint64_t epoch, int64_t rows, int64_t first, std::span<int64_t> out) const;
  // Whether epochs have other orders.
  virtual bool changes() const = 0;
  virtual std::string describe() const = 0;
};
using OrderPtr = std::shared_ptr<const Order>;

constexpr int64_t kAllRows = -1;

// `count` rows from `start` on. ValueError while used: beyond the rows there are.
OrderPtr sequential(int64_t start = 0, int64_t count = kAllRows);
// A new order each epoch; with replacement each place is drawn by itself.
OrderPtr random_order(uint64_t seed, bool replacement = false, int64_t count = kAllRows);
// These rows; negative numbers count from the end. `random`: in a new order each epoch.
OrderPtr subset(std::vector<int64_t> rows, int64_t count = kAllRows);
OrderPtr random_subset(std::vector<int64_t> rows, uint64_t seed, int64_t count = kAllRows);
// Row i with a probability that is proportional to weights[i] >= 0. Without replacement: of the
// rows that are left (P. Efraimidis, P. Spirakis, "Weighted random sampling with a reservoir",
// 2006). ValueError: a negative or not finite weight, all 0, or fewer rows than `count`.
OrderPtr weighted(std::vector<double> weights, uint64_t seed, bool replacement = true,
                  int64_t count = kAllRows);
// `per_class` rows of each class: all rows by class, or of `classes` classes drawn anew each epoch;
// `shuffled`: rows of a class drawn in a new order each epoch. labels[i]: the class of row i.
OrderPtr per_class(const std::vector<int64_t>& labels, int64_t rows_per_class, uint64_t seed,
                   bool shuffled = false, int64_t classes = kAllRows, int64_t count = kAllRows);
// Every `shards`-th row, from row `shard` on (moved by `offset` rows if that is not negative), so
// that all shards have the same number of rows: the first rows come twice where they must.
// `shuffled`: of a permutation that all shards share.
OrderPtr sharded(int64_t shards, int64_t shard, bool shuffled, uint64_t seed,
                 int64_t count = kAllRows, int64_t offset = -1);
// What `rows_of` gives for an epoch, asked for once each; every epoch must have as many rows as the
// first (ValueError).
OrderPtr tabled(std::function<std::vector<int64_t>(uint64_t epoch)> rows_of);
// `outer` applied to the rows that `inner` gives.
OrderPtr chained(OrderPtr outer, OrderPtr inner);

}  // namespace mycel::data
