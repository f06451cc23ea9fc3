// Orders of rows that lie in groups: files of text, row groups of Parquet. Rows of one group are
// kept together as far as the order says, so that few groups are read at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "data/order.h"

namespace mycel::data {

// The groups come in a new order each epoch, and of `window` groups that follow one another (0: of
// all) the rows are mixed. Both are keyed permutations, of the seed and the epoch.
struct GroupOrder {
  bool shuffled = true;             // false: neither
  bool groups = true, rows = true;  // which of the two
  int64_t window = 8;
  uint64_t seed = 0;
  // Shards get ranges of this order, as long as each other: the last takes rows from the start.
  int64_t shards = 1, shard = 0;
  int64_t count = kAllRows;
};
// `groups`: how many rows each has.
OrderPtr by_groups(const std::vector<int64_t>& groups, GroupOrder options);

// A source that says how many of its rows lie in each file, one behind the other: `ends`, the
// number of the first row behind each.
DatasetPtr in_files(DatasetPtr rows, const std::vector<int64_t>& ends);
// What in_files was told of a source; ValueError where it says nothing.
std::vector<int64_t> rows_of_files(const Dataset& source);

}  // namespace mycel::data
