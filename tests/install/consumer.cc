// A program outside the tree: it sees only installed headers and libmycel. Compiles a loop,
// differentiates it, maps it, and runs an exported network, against closed forms.
#include <cmath>
#include <cstdio>

#include <base/error.h>
#include <mycel/mycel.h>
#include <mycel/tensor/shape.h>

namespace {

using mycel::Tensor, mycel::Tensors;
using Args = std::span<const Tensor>;

// x doubled until it is 100 or more, then its sine.
Tensors grow(Args x) {
  Tensors y = mycel::while_loop([](Args v) { return Tensors{v[0] < 100.0}; },
                                [](Args v) { return Tensors{v[0] * 2.0}; }, x);
  return {mycel::ops::sin(y[0])};
}

bool near(const Tensor& t, double want) { return std::abs(t.item() - want) < 1e-9; }

int check() {
  const Tensor x[] = {Tensor::scalar(mycel::DType::kFloat64, 3.0)};
  auto compiled = mycel::jit(grow);
  if (!near(compiled(x)[0], std::sin(192))) return 1;
  mycel::Fn slope = [](Args v) { return mycel::grad(grow, v); };
  if (!near(mycel::jit(slope)(x)[0], 64 * std::cos(192))) return 2;
  const Tensor many[] = {Tensor::from(std::vector<double>{3, 30, 200}, {3})};
  Tensor each = mycel::vmap(slope, many)[0];
  const double want[] = {64 * std::cos(192), 4 * std::cos(120), std::cos(200)};
  for (int i = 0; i < 3; ++i) {
    if (std::abs(each.data<double>()[i] - want[i]) > 1e-9) return 3;
  }
  mycel::Tensors sum = mycel::fori_loop(
      0, 10,
      [](const Tensor& i, Args c) {
        return Tensors{c[0] + mycel::ops::cast(i, mycel::DType::kFloat64)};
      },
      x);
  if (!near(sum[0], 48)) return 4;
  mycel::runtime::save_model("grow.mindir", mycel::runtime::trace_model(grow, x));
  if (!near(mycel::Model::load("grow.mindir")(x)[0], std::sin(192))) return 5;
  return 0;
}

}  // namespace

int main() {
  mycel::Shape shape{2, 3};
  if (shape.size() != 6) return 1;
  if (int failed = check()) {
    std::printf("check %d failed\n", failed);
    return 1;
  }
  try {
    mycel::normalize_axis(5, shape.rank(), "consumer");
    return 1;
  } catch (const mycel::UserError& e) {  // thrown in libmycel, caught here
    std::printf("mycel %s, shape %s, error: %s\n", mycel::version(), shape.str().c_str(), e.what());
  }
  return 0;
}
