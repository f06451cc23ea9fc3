// Random numbers for first values of parameters, computed on the host: the same bits on every
// backend and at every thread count. Philox 4x32-10 (Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011), keyed by runtime::next_key.
#pragma once

#include <cstdint>
#include <vector>

namespace mycel::nn {

// One stream under a fresh key; element i does not depend on how many are drawn.
class Draws {
 public:
  Draws();
  // [0, 1) with 53 bits.
  double uniform(int64_t i) const;
  // Mean 0, deviation 1 (Box-Muller).
  double normal(int64_t i) const;
  // The same cut to [-2, 2], by inversion.
  double truncated_normal(int64_t i) const;

 private:
  void block(uint64_t i, uint32_t out[4]) const;
  uint32_t key_[2];
};

}  // namespace mycel::nn
