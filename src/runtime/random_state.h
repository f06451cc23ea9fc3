// The process's random state: a seed and a counter. Every random op draws a fresh key (seed,
// counter++), so that a run is a function of the seed and the order of draws, never of threads or
// time. Saved with checkpoints; restoring it continues the same stream.
#pragma once

#include <cstdint>
#include <functional>

#include "tensor/tensor.h"

namespace mycel::runtime {

struct RandomState {
  uint64_t seed = 0;
  uint64_t counter = 0;
};

// Starts the stream over. The default seed is 0: runs repeat unless the user asks otherwise.
void set_seed(uint64_t seed);
RandomState random_state();
void set_random_state(RandomState state);

// The next key, uint32[2], for the random room's ops. `op_seed` (published seed attributes) is
// mixed in.
Tensor next_key(uint64_t op_seed = 0);

// While one of these lives, next_key in this thread asks `draw` instead: a compiled function takes
// the keys of its random ops as inputs, so that it draws the same bits as the same code run
// eagerly.
class KeySource {
 public:
  explicit KeySource(std::function<Tensor(uint64_t op_seed)> draw);
  ~KeySource();
  KeySource(const KeySource&) = delete;
  // The key that would be drawn without this source.
  Tensor outer_key(uint64_t op_seed);

 private:
  friend Tensor next_key(uint64_t);
  std::function<Tensor(uint64_t)> draw_;
  KeySource* outer_;
};

// A key that depends only on the arguments: for initializers and data order.
Tensor derive_key(uint64_t seed, uint64_t stream);

}  // namespace mycel::runtime
