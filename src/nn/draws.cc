#include "nn/draws.h"

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

double to_unit(uint32_t high, uint32_t low) {
  return static_cast<double>((static_cast<uint64_t>(high) << 21) ^ (low >> 11)) * 0x1p-53;
}

}  // namespace

Draws::Draws() {
  Tensor key = runtime::next_key();
  key_[0] = key.data<uint32_t>()[0];
  key_[1] = key.data<uint32_t>()[1];
}

void Draws::block(uint64_t i, uint32_t c[4]) const {
  c[0] = static_cast<uint32_t>(i);
  c[1] = static_cast<uint32_t>(i >> 32);
  c[2] = c[3] = 0;
  uint32_t k0 = key_[0], k1 = key_[1];
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = 0xD2511F53ull * c[0], p1 = 0xCD9E8D57ull * c[2];
    uint32_t next[4] = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
                        static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    for (int j = 0; j < 4; ++j) c[j] = next[j];
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

double Draws::uniform(int64_t i) const {
  uint32_t c[4];
  block(static_cast<uint64_t>(i), c);
  return to_unit(c[0], c[1]);
}

double Draws::normal(int64_t i) const {
  uint32_t c[4];
  block(static_cast<uint64_t>(i), c);
  double u = 1 - to_unit(c[0], c[1]), v = to_unit(c[2], c[3]);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

double Draws::truncated_normal(int64_t i) const {
  double span = std::erf(std::numbers::sqrt2);  // P(|x| < 2)
  double u = uniform(i) + 0x1p-54;              // never 0
  return std::numbers::sqrt2 * inverse_erf((2 * u - 1) * span);
}

}  // namespace mycel::nn
