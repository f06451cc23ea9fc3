// Activations and softmax.
#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {
namespace {

Tensor clipped(const Tensor& x, double low, double high) {
  return ops::minimum(ops::maximum(x, number_like(low, x)), number_like(high, x));
}

Tensors relu(Call& c) { return {ops::maximum(c.x(0), number_like(0, c.x(0)))}; }
Tensors relu6(Call& c) { return {clipped(c.x(0), 0, 6)}; }
Tensors relu_n1(Call& c) { return {clipped(c.x(0), -1, 1)}; }
Tensors relu_01(Call& c) { return {clipped(c.x(0), 0, 1)}; }
Tensors leaky_relu(Call& c) {
  Tensor x = c.x(0);
  // The defaults of the two formats differ; TFLite always writes its own.
  Tensor low = ops::mul(x, number_like(c.real("alpha", c.lite() ? 0.0 : 0.2), x));
  return {ops::select(ops::greater(x, number_like(0, x)), x, low)};
}
Tensors prelu(Call& c) {
  Tensor x = c.x(0);
  return {ops::select(ops::less(x, number_like(0, x)), ops::mul(x, c.x(1)), x)};
}
Tensors elu(Call& c) {
  Tensor x = c.x(0);
  return {ops::select(ops::less(x, number_like(0, x)), ops::expm1(x), x)};
}
Tensors selu(Call& c) {
  Tensor x = c.x(0);
  constexpr double kAlpha = 1.6732632423543772, kScale = 1.0507009873554805;
  return {ops::select(ops::less(x, number_like(0, x)),
                      ops::mul(ops::expm1(x), number_like(kAlpha * kScale, x)),
                      ops::mul(x, number_like(kScale, x)))};
}
Tensors gelu(Call& c) {
  return {ops::gelu(c.x(0), c.flag("approximate", false) ? "tanh" : "none")};
}
Tensors sigmoid(Call& c) { return {ops::sigmoid(c.x(0))}; }
Tensors tanh(Call& c) { return {ops::tanh(c.x(0))}; }
Tensors softplus(Call& c) { return {ops::softplus(c.x(0))}; }
Tensors softsign(Call& c) {
  Tensor x = c.x(0);
  return {ops::div(x, ops::add(ops::abs(x), number_like(1, x)))};
}
Tensors hard_swish(Call& c) {
  Tensor x = c.x(0);
  return {ops::mul(
      x, ops::mul(clipped(ops::add(x, number_like(3, x)), 0, 6), number_like(1.0 / 6, x)))};
}
Tensors softmax(Call& c) {
  Tensor x = c.x(0);
  const double beta = c.lite() ? c.real("beta", 1) : 1;
  if (beta != 1) x = ops::mul(x, number_like(beta, x));
  return {ops::softmax(x, -1)};
}
Tensors log_softmax(Call& c) { return {ops::log_softmax(c.x(0), -1)}; }

constexpr Record kRecords[] = {
    {19, "RELU", "Relu", relu, quantized_relu},
    {21, "RELU6", "Relu6", relu6, quantized_relu},
    {20, "RELU_N1_TO_1", "", relu_n1, quantized_relu},
    {152, "RELU_0_TO_1", "", relu_01, quantized_relu},
    {98, "LEAKY_RELU", "LeakyRelu", leaky_relu, quantized_unary},
    {54, "PRELU", "", prelu, quantized_prelu},
    {111, "ELU", "Elu", elu, quantized_unary},
    {-1, "", "Selu", selu},
    {150, "GELU", "", gelu, quantized_unary},
    {14, "LOGISTIC", "Sigmoid", sigmoid, quantized_unary},
    {28, "TANH", "Tanh", tanh, quantized_unary},
    {-1, "", "Softplus", softplus},
    {-1, "", "Softsign", softsign},
    {117, "HARD_SWISH", "", hard_swish, quantized_unary},
    {25, "SOFTMAX", "Softmax", softmax, quantized_softmax},
    {50, "LOG_SOFTMAX", "LogSoftmax", log_softmax},
};

}  // namespace

Records activation_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
