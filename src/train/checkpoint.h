// Checkpoints: parameters, optimizer state and, for training, where the run stands, in one
// safetensors file that is replaced atomically. A run that is killed and resumed from its last
// checkpoint computes the same bits as one that was not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nn/parameter.h"
#include "runtime/random_state.h"
#include "tensor/safetensors.h"

namespace mycel::train {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// Where a training run stands between two steps.
struct Progress {
  int64_t epoch = 0;     // epochs that are complete
  int64_t position = 0;  // batches of the next one that are done
  int64_t step = 0;      // steps since the start
  runtime::RandomState random;
  NamedTensors state = {};  // the last loss and what callbacks keep (RunContext::progress)
};

// A checkpoint file, read. Entry names are parameter names.
struct Loaded {
  std::string file;
  NamedTensors tensors;
  std::map<std::string, std::string> metadata;  // texts of whoever saved it
  std::vector<std::string> extra;    // entries that are not the network's: optimizer state, numbers
  std::optional<Progress> progress;  // of a training checkpoint
};

struct SaveOptions {
  std::vector<std::string> extra = {};  // names of entries that are not the network's
  std::optional<Progress> progress = {};
  std::map<std::string, std::string> metadata = {};
};

// Writes `path`. ValueError when two entries have one name; OSError for the file; the old file
// stays then.
void save_checkpoint(const std::string& path, const NamedTensors& tensors,
                     const SaveOptions& options = {});
// ValueError naming file and entry when it is malformed (truncated, foreign, checksum); OSError
// when it cannot be read.
Loaded load_checkpoint(const std::string& path);

struct LoadOptions {
  // Names and dtypes must be the same. Otherwise dtypes of a kind (two floats, two integers) are
  // converted, and entries may have one common prefix in front of the parameters' names.
  bool strict = false;
  // Parameters without an entry stay as they are, and entries without a parameter are left out;
  // otherwise both are errors. Extra entries need no parameter in any case.
  bool partial = false;
};

// Sets parameters by name; gives the names of those that got no value. ValueError naming file,
// entry and shapes; nothing is changed then.
std::vector<std::string> load_parameters(const std::vector<nn::Parameter>& into, const Loaded& from,
                                         const LoadOptions& options = {});

// Entries of parameters, by the names they carry.
NamedTensors entries_of(const std::vector<nn::Parameter>& parameters);

}  // namespace mycel::train
