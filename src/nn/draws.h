// Random numbers for first values of parameters, computed on the host: the same bits on every
// backend and at every thread count. Philox 4x32-10 (Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011), keyed by runtime::next_key.
#pragma once

#include <cstdint>
#include <span>

namespace mycel::nn {

// One stream under a fresh key. Each call gives elements first, first + 1, … of it; an element does
// not depend on what else is drawn, so that threads may share the work.
class Draws {
 public:
  Draws();
  // [0, 1) with 53 bits.
  void uniform(int64_t first, std::span<double> out) const;
  // Mean 0, deviation 1 (Box-Muller).
  void normal(int64_t first, std::span<double> out) const;
  // The same cut to [-2, 2], by inversion.
  void truncated_normal(int64_t first, std::span<double> out) const;

 private:
  uint32_t key_[2];
};

}  // namespace mycel::nn
