// Short forms for the tables of families and bijectors.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layers/calls.h"
#include "nn/probability/family.h"

namespace mycel::nn::probability {

inline constexpr double kPi = std::numbers::pi, kEuler = std::numbers::egamma;
inline constexpr double kInf = std::numeric_limits<double>::infinity(),
                        kNaN = std::numeric_limits<double>::quiet_NaN();

inline Tensor choose(const Tensor& where, const Tensor& x, const Tensor& y) {
  return ops::select(where, x, y);
}
inline Tensor choose(const Tensor& where, const Tensor& x, double y) {
  return ops::select(where, x, number(x, y));
}
inline Tensor choose(const Tensor& where, double x, const Tensor& y) {
  return ops::select(where, number(y, x), y);
}
// (x - location) / scale, of the two leading parameters.
inline Tensor standard(const Tensor& x, Params p) { return (x - p[0]) / p[1]; }

// Standard draws in the dtype of the parameters. A uniform one lies inside (0, 1): the least is
// half a step, so that its logarithm is finite.
inline Tensor draw(const char* op, const Shape& shape, Params p, const Tensor& key) {
  return run_op(op, {key}, {shape, p[0].dtype()});
}
inline Tensor draw_normal(const Shape& shape, Params p, const Tensor& key) {
  return draw("keyed_normal", shape, p, key);
}
inline Tensor draw_uniform(const Shape& shape, Params p, const Tensor& key) {
  return draw("keyed_uniform", shape, p, key);
}
inline Tensor draw_open_uniform(const Shape& shape, Params p, const Tensor& key) {
  int bits = p[0].dtype() == DType::kFloat64    ? 54
             : p[0].dtype() == DType::kFloat16  ? 12
             : p[0].dtype() == DType::kBFloat16 ? 9
                                                : 25;
  Tensor u = draw_uniform(shape, p, key);
  return choose(u > 0.0, u, std::ldexp(1.0, -bits));
}

}  // namespace mycel::nn::probability
