#include "data/permuted_run.h"

#include <algorithm>
#include <array>

#include "data/each_cpu.h"

namespace mycel {

// The passes of Permutation over many numbers.
struct PermutedRun {
  static constexpr size_t kBlock = 2048;  // stays in the first cache
  using Block = std::array<uint64_t, kBlock>;
  struct Network {
    uint64_t low_bits, high_mask, low_mask;
    std::array<uint64_t, Permutation::kRounds> keys;
    uint64_t n;
  };
  static Network of(const Permutation& p) {
    return {static_cast<uint64_t>(p.low_bits_), p.high_mask_, p.low_mask_, p.keys_, p.n_};
  }
};

namespace {

using Network = PermutedRun::Network;

// Permutation::forward of each number.
MYCEL_FOR_EACH_CPU void pass(const Network& net, uint64_t* x, size_t count) {
  const Network p = net;  // a copy that x cannot alias
  const auto finished = [](uint64_t v) {
    v = (v ^ v >> 30) * 0xBF58476D1CE4E5B9u;
    v = (v ^ v >> 27) * 0x94D049BB133111EBu;
    return v ^ v >> 31;
  };
  for (size_t i = 0; i < count; ++i) {
    uint64_t high = x[i] >> p.low_bits, low = x[i] & p.low_mask;
    high ^= finished(low + p.keys[0]) & p.high_mask;
    low ^= finished(high + p.keys[1]) & p.low_mask;
    high ^= finished(low + p.keys[2]) & p.high_mask;
    low ^= finished(high + p.keys[3]) & p.low_mask;
    high ^= finished(low + p.keys[4]) & p.high_mask;
    low ^= finished(high + p.keys[5]) & p.low_mask;
    x[i] = high << p.low_bits | low;
  }
}

}  // namespace

namespace data {

void permuted_run(const Permutation& order, uint64_t first, std::span<int64_t> out) {
  const Network net = PermutedRun::of(order);
  PermutedRun::Block block;
  std::array<uint32_t, PermutedRun::kBlock> places;  // of the numbers in `block`
  for (size_t begin = 0; begin < out.size(); begin += block.size()) {
    size_t count = std::min(block.size(), out.size() - begin);
    for (size_t k = 0; k < count; ++k) {
      block[k] = first + begin + k;
      places[k] = static_cast<uint32_t>(k);
    }
    int64_t* to = out.data() + begin;
    // Numbers that landed outside walk on, together.
    while (count > 0) {
      pass(net, block.data(), count);
      size_t outside = 0;
      for (size_t k = 0; k < count; ++k) {
        const uint64_t v = block[k];
        const uint32_t place = places[k];
        to[place] = static_cast<int64_t>(v);  // overwritten later where it is outside
        block[outside] = v;
        places[outside] = place;
        outside += v >= net.n;
      }
      count = outside;
    }
  }
}

}  // namespace data
}  // namespace mycel
