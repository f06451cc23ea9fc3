#include "nn/draws.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/random_state.h"

namespace mycel::nn {
namespace {

// The standard normal quantile: Winitzki's closed approximation of the inverse error function, then
// Newton steps on erf until double precision.
double inverse_erf(double y) {
  double a = 0.147, l = std::log1p(-y * y), t = 2 / (std::numbers::pi * a) + l / 2;
  double x = std::copysign(std::sqrt(std::sqrt(t * t - l / a) - t), y);
  for (int i = 0; i < 3; ++i) {
    x -= (std::erf(x) - y) * std::sqrt(std::numbers::pi) / 2 * std::exp(x * x);
  }
  return x;
}

constexpr int kLanes = 64;

// Two numbers in [0, 1) for each element from `first`: the words of Philox's counter `element`,
// two by two. The only loop here that a compiler turns into vector code, so that it is compiled for
// several processors; integers and products with a power of two come out the same on all.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
void unit_pairs(const uint32_t key[2], uint64_t first, double* __restrict u, double* __restrict v) {
  const uint32_t key0 = key[0], key1 = key[1];
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint64_t element = first + static_cast<uint64_t>(lane);
    uint64_t c0 = static_cast<uint32_t>(element), c1 = element >> 32, c2 = 0, c3 = 0;
    uint32_t k0 = key0, k1 = key1;
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
      uint64_t p0 = 0xD2511F53ull * c0, p1 = 0xCD9E8D57ull * c2;
      c0 = (p1 >> 32) ^ c1 ^ k0;
      c2 = (p0 >> 32) ^ c3 ^ k1;
      c1 = p1 & 0xffffffffu;
      c3 = p0 & 0xffffffffu;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    u[lane] = static_cast<double>(static_cast<int64_t>((c0 << 21) ^ (c1 >> 11))) * 0x1p-53;
    v[lane] = static_cast<double>(static_cast<int64_t>((c2 << 21) ^ (c3 >> 11))) * 0x1p-53;
  }
}

// out[i] = f(u, v) of element first + i.
template <typename F>
void draw(const uint32_t key[2], int64_t first, std::span<double> out, F f) {
  double u[kLanes], v[kLanes];
  for (size_t i = 0; i < out.size(); i += kLanes) {
    unit_pairs(key, static_cast<uint64_t>(first) + i, u, v);
    size_t n = std::min<size_t>(kLanes, out.size() - i);
    for (size_t k = 0; k < n; ++k) out[i + k] = f(u[k], v[k]);
  }
}

}  // namespace

Draws::Draws() {
  Tensor key = runtime::next_key();
  key_[0] = key.data<uint32_t>()[0];
  key_[1] = key.data<uint32_t>()[1];
}

void Draws::uniform(int64_t first, std::span<double> out) const {
  draw(key_, first, out, [](double u, double) { return u; });
}

void Draws::normal(int64_t first, std::span<double> out) const {
  draw(key_, first, out, [](double u, double v) {
    return std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * v);
  });
}

void Draws::truncated_normal(int64_t first, std::span<double> out) const {
  const double span = std::erf(std::numbers::sqrt2);  // P(|x| < 2)
  draw(key_, first, out, [span](double u, double) {
    return std::numbers::sqrt2 * inverse_erf((2 * (u + 0x1p-54) - 1) * span);  // never at 0
  });
}

}  // namespace mycel::nn
