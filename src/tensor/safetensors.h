// Checkpoints in the safetensors format (https://github.com/huggingface/safetensors): named tensors
// in one file. Saving replaces the file atomically (base/file_io.h) and stores an xxh3-64 checksum
// of the data; loading verifies it and reads into fresh memory rather than mapping the file, so
// that a file that is overwritten or truncated later can never harm a tensor or kill the process.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace mycel {

struct Checkpoint {
  std::vector<std::pair<std::string, Tensor>> tensors;  // in the file's order
  // Texts of the user. Two names are the format's own and never appear here:
  //   mycel.checksum   xxh3-64 of the data section, 16 hexadecimal digits
  //   mycel.complex    JSON list of the entries that are complex, stored as floats with a last dim
  //   of 2
  std::map<std::string, std::string> metadata;
};

// UserError kValue for a name given twice, an abstract or traced tensor, a reserved metadata name;
// kOs for the file. On any error the old file stays as it was.
void save_safetensors(const std::string& path, const Checkpoint& checkpoint);

// UserError kOs when the file cannot be read, kValue naming file and entry when it is malformed.
Checkpoint load_safetensors(const std::string& path);

// The same from bytes in memory; `name` stands for the file in messages.
Checkpoint parse_safetensors(std::span<const std::byte> bytes, const std::string& name);

}  // namespace mycel
