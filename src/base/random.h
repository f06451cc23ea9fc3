// Random numbers on the host: the counter-based generator Philox-4x32-10 (J. Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011), which draws number i of a stream without
// its predecessors, and a keyed permutation of [0, n) in constant memory for shuffling data sets.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace mycel {

using uint32x2 = std::array<uint32_t, 2>;
using uint32x4 = std::array<uint32_t, 4>;

// One block of four random words.
constexpr uint32x4 philox(uint32x2 key, uint32x4 counter) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

// A sequence of draws: key = seed, upper half of the counter = stream. Streams of one seed never
// meet.
class Philox {
 public:
  constexpr explicit Philox(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  constexpr uint32_t next32() {
    if (used_ == 4) {
      block_ = philox(halves(seed_), {halves(position_)[0], halves(position_)[1],
                                      halves(stream_)[0], halves(stream_)[1]});
      ++position_;
      used_ = 0;
    }
    return block_[used_++];
  }
  constexpr uint64_t next64() {
    const uint64_t low = next32();
    return low | static_cast<uint64_t>(next32()) << 32;
  }
  // In [0, 1), a multiple of 2^-53.
  constexpr double uniform() { return static_cast<double>(next64() >> 11) * 0x1p-53; }
  // Mean 0, variance 1 (Box-Muller; the second value of a pair is kept for the next call).
  double normal() {
    if (have_spare_) {
      have_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // 1 - u is never 0
    const double angle = 2 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    have_spare_ = true;
    return radius * std::cos(angle);
  }
  // In [0, n), every value equally likely; n >= 1 (D. Lemire, "Fast random integer generation in an
  // interval", 2019).
  constexpr uint64_t below(uint64_t n) {
    unsigned __int128 product = static_cast<unsigned __int128>(next64()) * n;
    if (static_cast<uint64_t>(product) < n) {
      const uint64_t floor = (0 - n) % n;
      while (static_cast<uint64_t>(product) < floor) {
        product = static_cast<unsigned __int128>(next64()) * n;
      }
    }
    return static_cast<uint64_t>(product >> 64);
  }

 private:
  static constexpr uint32x2 halves(uint64_t v) {
    return {static_cast<uint32_t>(v), static_cast<uint32_t>(v >> 32)};
  }

  uint64_t seed_, stream_;
  uint64_t position_ = 0;
  uint32x4 block_{};
  int used_ = 4;
  bool have_spare_ = false;
  double spare_ = 0;
};

// A bijection of [0, n) chosen by a seed: a Feistel network over the next power of two (M. Luby,
// C. Rackoff, "How to construct pseudorandom permutations", 1988), walked until it lands inside.
// O(1) memory; fewer than two network passes a lookup on average for n > 128. Making one costs less
// than a lookup.
class Permutation {
 public:
  constexpr Permutation(uint64_t n, uint64_t seed, uint64_t stream = 0) : n_(n) {
    // Eight bits at least: smaller networks reach too few of the permutations.
    const int bits = n <= 256 ? 8 : std::bit_width(n - 1);
    low_bits_ = bits / 2;
    high_mask_ = (uint64_t{1} << (bits - low_bits_)) - 1;
    low_mask_ = (uint64_t{1} << low_bits_) - 1;
    Philox draw(seed, stream);
    const uint64_t start = draw.next64(), step = draw.next64() | 1;
    for (size_t r = 0; r < kRounds; ++r) keys_[r] = finished(start + r * step);
  }
  constexpr uint64_t size() const { return n_; }

  // Where position i < size() goes.
  constexpr uint64_t operator()(uint64_t i) const {
    do i = forward(i);
    while (i >= n_);
    return i;
  }
  // The position that goes to j < size().
  constexpr uint64_t inverse(uint64_t j) const {
    do j = backward(j);
    while (j >= n_);
    return j;
  }

 private:
  friend struct PermutedRun;  // many neighbouring positions at once (data/permuted_run.cc)
  static constexpr size_t kRounds = 6;

  static constexpr uint64_t finished(uint64_t x) {  // the finisher of splitmix64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
  }
  // Each round changes one half by the other: the upper one first, then in turns.
  constexpr uint64_t forward(uint64_t x) const {
    uint64_t high = x >> low_bits_, low = x & low_mask_;
    for (size_t r = 0; r < kRounds; r += 2) {
      high ^= finished(low + keys_[r]) & high_mask_;
      low ^= finished(high + keys_[r + 1]) & low_mask_;
    }
    return high << low_bits_ | low;
  }
  constexpr uint64_t backward(uint64_t x) const {
    uint64_t high = x >> low_bits_, low = x & low_mask_;
    for (size_t r = kRounds; r > 0; r -= 2) {
      low ^= finished(high + keys_[r - 1]) & low_mask_;
      high ^= finished(low + keys_[r - 2]) & high_mask_;
    }
    return high << low_bits_ | low;
  }

  uint64_t n_;
  int low_bits_ = 4;
  uint64_t high_mask_ = 0, low_mask_ = 0;
  std::array<uint64_t, kRounds> keys_{};
};

}  // namespace mycel
