// The operators of the pipeline: each is a dataset over another. None changes its source, so a
// dataset may be used in several pipelines.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/order.h"
#include "data/transform.h"

namespace mycel::data {

// --- order and choice of rows (operators/select.cc, operators/shuffle.cc)

// Rows in an order that is a function of (seed, epoch). Numbered rows: a keyed permutation of all
// of them in constant memory; of a stream, each row is drawn from a window of `window` rows.
// ValueError: window < 2.
DatasetPtr shuffle(DatasetPtr source, int64_t window, uint64_t seed);
// The rows that `order` names (order.h). ValueError: a stream, or no rows.
DatasetPtr sample(DatasetPtr source, OrderPtr order);
// Every `shards`-th row from row `shard` on, as sharded(…, shuffled=false) of order.h gives them,
// also of a stream, which is read as a whole for it; all shards have the same number of rows: the
// first rows come twice where they must. ValueError: no such shard.
DatasetPtr shard(DatasetPtr source, int64_t shards, int64_t shard);
// ValueError: count < 1 (take) or < 0 (skip); skip: none would be left.
DatasetPtr take(DatasetPtr source, int64_t count);
DatasetPtr skip(DatasetPtr source, int64_t count);
// Parts of the rows one after the other, in their order; shuffle before to draw them. ValueError: a
// stream without a known size, sizes below 1, or more rows than there are.
std::vector<DatasetPtr> split(DatasetPtr source, const std::vector<int64_t>& sizes);
// The rows for which `keep` is true of the columns `inputs` (all when empty).
using Predicate = std::function<bool(const Row&)>;
DatasetPtr filter(DatasetPtr source, Predicate keep, std::vector<std::string> inputs = {},
                  int workers = 0);
// Rows that cannot be made (a broken file) are left out, each with a warning in the log, and
// counted in `skipped`.
DatasetPtr skip_errors(DatasetPtr source, std::shared_ptr<std::atomic<int64_t>> skipped,
                       int workers = 0);

// --- columns (operators/columns.cc)

// Only these columns, in this order. KeyError for a column that is not there.
DatasetPtr project(DatasetPtr source, const std::vector<std::string>& columns);
// Other names for some columns. ValueError: two would have one name.
DatasetPtr rename(DatasetPtr source, const std::vector<std::string>& from,
                  const std::vector<std::string>& to);

// --- values (operators/map.cc)

// Applies transforms, one after the other, to the columns `inputs` (the first ones that they take
// when empty: all). The results stand in their place under the names `outputs` (as `inputs` when
// empty). Random bits come from (seed, place in the pipeline, epoch, row). workers: threads asked
// for, 0 for no wish.
DatasetPtr map(DatasetPtr source, std::vector<TransformPtr> transforms,
               std::vector<std::string> inputs = {}, std::vector<std::string> outputs = {},
               uint64_t seed = 0, int workers = 0);
using RowFunction = std::function<Row(const Row&)>;
DatasetPtr map(DatasetPtr source, RowFunction f, std::vector<std::string> inputs = {},
               std::vector<std::string> outputs = {}, int workers = 0);

// --- batches (operators/batch.cc)

struct Batching {
  bool drop_remainder = false;  // leaves out a last, smaller batch
  // For each named column a shape (-1: the longest of the batch) and what fills the rest. Columns
  // that are not named must be alike.
  struct Padding {
    std::string column;
    std::vector<int64_t> shape;  // empty: the longest along every dim
    double value = 0;
    std::string text;  // for strings
  };
  std::vector<Padding> padding = {};
  // Applied to the columns `inputs` of the rows of a batch before they are stacked; each value is
  // the rows of a column. `info`: number of the batch in the epoch, and of the epoch.
  using Function = std::function<std::vector<std::vector<Value>>(
      const std::vector<std::vector<Value>>& columns, int64_t batch, uint64_t epoch)>;
  Function function = nullptr;
  std::vector<std::string> inputs = {}, outputs = {};
  int workers = 0;
};
// `size` rows stacked along a new first dim. ValueError while reading when rows of a batch differ
// in shape or dtype, naming the column; ValueError: size < 1, or no batch can be made.
DatasetPtr batch(DatasetPtr source, int64_t size, Batching options = {});
inline DatasetPtr batch(DatasetPtr source, int64_t size, bool drop_remainder) {
  return batch(std::move(source), size, Batching{.drop_remainder = drop_remainder});
}
// Batches whose size depends on the number of rows read before them and on the epoch.
DatasetPtr batch(DatasetPtr source, std::function<int64_t(int64_t batch, uint64_t epoch)> size,
                 Batching options = {});
// Rows of like length together: a row of length n goes into the first bucket i with n <
// boundaries[i], the last bucket without one; a bucket of sizes[i] rows is a batch. length: of the
// columns `inputs`.
struct Buckets {
  std::vector<std::string> inputs;
  std::vector<int64_t> boundaries, sizes;
  std::function<int64_t(const Row&)> length;  // null: the first dim of the first column
  bool pad_to_boundary = false;  // -1 in padding: the boundary less one, not the longest row
};
DatasetPtr bucket_batch(DatasetPtr source, Buckets buckets, Batching options = {});

// --- several datasets (operators/combine.cc)

// The source `count` times an epoch; shuffled and drawn anew each time. kForever: without end.
constexpr int64_t kForever = -1;
DatasetPtr repeat(DatasetPtr source, int64_t count);
// Columns side by side, up to the shortest. ValueError: two columns with one name.
DatasetPtr zip(std::vector<DatasetPtr> sources);
// One after the other. ValueError: other columns than the first.
DatasetPtr concat(std::vector<DatasetPtr> sources);
// The rows of a dataset made from each row, one after the other.
DatasetPtr flat_map(DatasetPtr source, std::function<DatasetPtr(const Row&)> f);

// --- kept rows (operators/cache.cc)

// Rows are made once and kept: in memory up to `bytes` (0: no limit), the others made anew each
// time, or with `folder` in a file there, which is deleted with the dataset. ValueError: the source
// has random transforms or is a stream, so that kept rows would be wrong.
DatasetPtr cache(DatasetPtr source, size_t bytes = 0, const std::string& folder = {});

}  // namespace mycel::data
