// What stands around a signal.
#pragma once

#include <cstdint>
#include <string>

#include "data/audio/samples.h"

namespace mycel::data {

// `n` samples with `before` and `behind` more around them, by a member of the choice BorderType;
// mirrored as often as it takes.
Samples padded(const double* x, int64_t n, int64_t before, int64_t behind,
               const std::string& border);

}  // namespace mycel::data
