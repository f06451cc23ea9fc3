// SourceDef: the one record of a dataset that is read from files. From it come data::open_source by
// name, the Python class with its signature and docstring, the reference page and the tests' list.
//
//   const SourceDef kMnist{
//       .name = "MnistDataset",
//       .doc = "Handwritten digits in the IDX files of Y. LeCun. Columns: image uint8 [28, 28, 1],
//       …", .args = {"dataset_dir: string", "usage: string? = None", "num_samples: int? = None",
//       …}, .open = [](const Options& o) -> DatasetPtr {…},
//   };
//
// Arguments that every source has (num_samples, shuffle, sampler, num_shards, shard_id,
// num_parallel_workers, cache) stand in the record for their place in the signature; `open` leaves
// them alone: open_source asks for the threads, the pipeline applies the others.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/option.h"

namespace mycel::data {

struct SourceDef {
  const char* name = "";  // "MnistDataset"
  const char* doc = "";   // the files, then columns with dtypes and shapes; ends with a full stop
  std::vector<const char*> args = {};
  DatasetPtr (*open)(const Options&) = nullptr;
};

// By name, from arguments by name. AttributeError when there is none; OsError naming a file that is
// missing or broken.
DatasetPtr open_source(const std::string& name, const NamedOptions& args = {});

const SourceDef* find_source(const std::string& name);
const std::vector<const SourceDef*>& all_sources();
std::shared_ptr<const OptionSpecs> specs_of(const SourceDef& def);

}  // namespace mycel::data
