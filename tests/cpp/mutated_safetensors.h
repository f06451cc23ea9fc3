// Checkpoint files to be damaged, and the damage: for the test and the fuzzer of the reader.
#pragma once

#include <cstddef>
#include <vector>

#include "base/random.h"

namespace mycel {

using Bytes = std::vector<char>;

// Whole files: tests/data/every_dtype.safetensors, and one with metadata.
std::vector<Bytes> whole_safetensors();
// One of them with one to three changes; in half of the cases the length of the header fits again,
// so that the damage is found deeper inside.
Bytes damaged_safetensors(const std::vector<Bytes>& whole, uint64_t at, Philox* draw);

}  // namespace mycel
