// Rows of Arrow batches that are made group by group: the row groups of Parquet files, the batches
// of IPC (Feather) files. Who reads the files gives groups through the Arrow C data interface, so
// that nothing here depends on the version or the ABI of an Arrow library: Python gives those of
// pyarrow, a C++ program those of the libarrow it is linked with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/arrow/columns.h"
#include "data/dataset.h"

namespace mycel::data {

class ArrowGroups {
 public:
  virtual ~ArrowGroups() = default;
  // How many rows each group has.
  virtual const std::vector<int64_t>& rows() const = 0;
  // "data.parquet, row group 3", for messages.
  virtual std::string name(size_t group) const = 0;
  // The batches of a group, one after the other; from many threads, each group by one at a time.
  virtual std::vector<ArrowBatch> read(size_t group) const = 0;
};

struct ArrowRowsOptions {
  std::string owner = "ArrowDataset";  // for messages
  ArrowFill fill;
  // Groups that were read are kept up to so many bytes, those of the last use first; at least
  // `groups_kept`, so that neighbouring rows do not read theirs again and again.
  size_t memory = size_t{1} << 30;
  size_t groups_kept = 2;
  int workers = 0;  // threads asked for
};

// Row i is the i-th of all groups in order. ValueError: no rows, types that rows cannot hold; while
// reading: a group with other columns than `schema`, or another number of rows.
DatasetPtr arrow_rows(const ArrowSchema& schema, std::shared_ptr<const ArrowGroups> groups,
                      ArrowRowsOptions options = {});

}  // namespace mycel::data
