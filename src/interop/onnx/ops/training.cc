// The optimizers of the preview domain: one step for any number of tensors.
#include <cmath>

#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {
namespace {

// (r, t, x…, g…, state…): input k of group `which` of `groups`.
struct Groups {
  Call& c;
  int groups, each;
  Groups(Call& call, int n) : c(call), groups(n), each((call.inputs() - 2) / n) {
    if (c.inputs() < 2 + n || (c.inputs() - 2) % n) c.fail("{} inputs", c.inputs());
  }
  Tensor at(int which, int k) const { return c.x(2 + which * each + k); }
};

Tensor times(double a, const Tensor& x) { return ops::mul(x, number_like(a, x)); }
Tensor rate_of(Call& c, const Tensor& like) { return as(ops::reshape(c.x(0), {}), like.dtype()); }
Tensor count_of(Call& c, const Tensor& like) { return as(ops::reshape(c.x(1), {}), like.dtype()); }

Values adagrad(Call& c) {
  Groups in(c, 3);
  double decay = c.real("decay_factor", 0), epsilon = c.real("epsilon", 0),
         norm = c.real("norm_coefficient", 0);
  Tensors fresh, sums;
  for (int k = 0; k < in.each; ++k) {
    Tensor x = in.at(0, k), g = ops::add(in.at(1, k), times(norm, x)),
           h = ops::add(in.at(2, k), ops::square(g));
    Tensor one_x = number_like(1, x);
    Tensor rate = ops::div(rate_of(c, x), ops::add(one_x, times(decay, count_of(c, x))));
    fresh.push_back(
        ops::sub(x, ops::div(ops::mul(rate, g), ops::add(ops::sqrt(h), number_like(epsilon, h)))));
    sums.push_back(h);
  }
  fresh.insert(fresh.end(), sums.begin(), sums.end());
  return many(fresh);
}

Values momentum(Call& c) {
  Groups in(c, 3);
  double alpha = c.real("alpha", 0), beta = c.real("beta", 0), norm = c.real("norm_coefficient", 0);
  bool nesterov = c.text("mode", "standard") == "nesterov";
  Tensors fresh, sums;
  for (int k = 0; k < in.each; ++k) {
    Tensor x = in.at(0, k), g = ops::add(in.at(1, k), times(norm, x));
    // The first step takes the whole gradient.
    Tensor first = ops::greater(count_of(c, x), number_like(0, x));
    Tensor share = ops::select(first, number_like(beta, x), number_like(1, x));
    Tensor v = ops::add(times(alpha, in.at(2, k)), ops::mul(share, g));
    Tensor move = nesterov ? ops::add(g, times(alpha, v)) : v;
    fresh.push_back(ops::sub(x, ops::mul(rate_of(c, x), move)));
    sums.push_back(v);
  }
  fresh.insert(fresh.end(), sums.begin(), sums.end());
  return many(fresh);
}

Values adam(Call& c) {
  Groups in(c, 4);
  double alpha = c.real("alpha", 0.9), beta = c.real("beta", 0.999), epsilon = c.real("epsilon", 0);
  double norm = c.real("norm_coefficient", 0), after = c.real("norm_coefficient_post", 0);
  Tensors fresh, first, second;
  for (int k = 0; k < in.each; ++k) {
    Tensor x = in.at(0, k), g = ops::add(in.at(1, k), times(norm, x));
    Tensor v = ops::add(times(alpha, in.at(2, k)), times(1 - alpha, g));
    Tensor h = ops::add(times(beta, in.at(3, k)), times(1 - beta, ops::square(g)));
    Tensor t = count_of(c, x), one_x = number_like(1, x);
    Tensor unbias = ops::div(ops::sqrt(ops::sub(one_x, ops::pow(number_like(beta, x), t))),
                             ops::sub(one_x, ops::pow(number_like(alpha, x), t)));
    Tensor rate =
        ops::mul(rate_of(c, x), ops::select(ops::greater(t, number_like(0, x)), unbias, one_x));
    Tensor y =
        ops::sub(x, ops::div(ops::mul(rate, v), ops::add(ops::sqrt(h), number_like(epsilon, h))));
    fresh.push_back(times(1 - after, y));
    first.push_back(v);
    second.push_back(h);
  }
  fresh.insert(fresh.end(), first.begin(), first.end());
  fresh.insert(fresh.end(), second.begin(), second.end());
  return many(fresh);
}

constexpr const char* kDomain = "ai.onnx.preview.training";
constexpr Record kRecords[] = {
    {"Adagrad", adagrad, "", "", kDomain},
    {"Momentum", momentum, "", "", kDomain},
    {"Adam", adam, "", "", kDomain},
};

}  // namespace

Records training_records() { return kRecords; }

}  // namespace mycel::interop::onnx
