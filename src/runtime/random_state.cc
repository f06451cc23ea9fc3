#include "runtime/random_state.h"

#include <mutex>

namespace mycel::runtime {
namespace {

std::mutex g_mutex;
RandomState g_state;
thread_local KeySource* g_source = nullptr;

// Finalizer of splitmix64: a bijection of 64-bit words that spreads neighbouring counters (Steele
// et al., "Fast splittable pseudorandom number generators", 2014).
uint64_t spread(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

void set_seed(uint64_t seed) {
  std::lock_guard lock(g_mutex);
  g_state = {seed, 0};
}

RandomState random_state() {
  std::lock_guard lock(g_mutex);
  return g_state;
}

void set_random_state(RandomState state) {
  std::lock_guard lock(g_mutex);
  g_state = state;
}

Tensor derive_key(uint64_t seed, uint64_t stream) {
  uint64_t k = spread(spread(seed) ^ stream);
  uint32_t words[2] = {static_cast<uint32_t>(k), static_cast<uint32_t>(k >> 32)};
  return Tensor::from(std::span<const uint32_t>(words, 2), Shape{2});
}

KeySource::KeySource(std::function<Tensor(uint64_t)> draw)
    : draw_(std::move(draw)), outer_(g_source) {
  g_source = this;
}
KeySource::~KeySource() { g_source = outer_; }

Tensor KeySource::outer_key(uint64_t op_seed) {
  KeySource* here = g_source;
  g_source = outer_;
  Tensor key;
  try {
    key = next_key(op_seed);
  } catch (...) {
    g_source = here;
    throw;
  }
  g_source = here;
  return key;
}

Tensor next_key(uint64_t op_seed) {
  if (g_source) return g_source->draw_(op_seed);
  RandomState now;
  {
    std::lock_guard lock(g_mutex);
    now = g_state;
    ++g_state.counter;
  }
  return derive_key(now.seed ^ spread(op_seed), now.counter);
}

}  // namespace mycel::runtime
