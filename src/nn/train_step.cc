#include "nn/train_step.h"

#include "base/error.h"
#include "mycel/ops.h"
#include "nn/arith.h"

namespace mycel::nn {
namespace {

Tensor one_number(const Tensor& scale) {
  return scale.rank() == 0 ? scale : ops::reshape(scale, {});
}

// The number to differentiate in front of the results themselves.
Tensors scaled_total(const Tensors& values, const Tensor& scale) {
  Tensors out(1);
  for (const Tensor& v : values) {
    if (!is_float(v.dtype())) continue;
    bool whole = scale.size() == 1 && !(scale.shape() == v.shape());
    Tensor term = v * (whole ? one_number(scale) : scale);
    if (values.size() > 1) term = ops::reduce_sum(ops::cast(term, DType::kFloat32));
    out[0] = out[0] ? out[0] + term : term;
  }
  if (!out[0]) type_error("the network gives no floating-point tensor to differentiate");
  out.insert(out.end(), values.begin(), values.end());
  return out;
}

}  // namespace

ValueAndGrads value_and_grads(const runtime::Fn& function, const std::vector<Parameter>& params,
                              Inputs inputs, const Tensor& scale) {
  runtime::GradOptions o;
  o.wrt.clear();
  for (const Parameter& p : params) o.variables.push_back(&p->value);
  if (!scale) {
    runtime::Grads g = runtime::value_and_grad(function, inputs, o);
    return {std::move(g.values), std::move(g.variables)};
  }
  o.has_aux = true;
  runtime::Grads g = runtime::value_and_grad(
      [&](Inputs in) { return scaled_total(function(in), scale); }, inputs, o);
  g.values.erase(g.values.begin());
  return {std::move(g.values), std::move(g.variables)};
}

Tensors train_step(Cell& network, Optimizer& optimizer, Inputs inputs, const Tensor& scale,
                   const GradientRule& rule) {
  auto forward = [&](Inputs in) { return network.run(in); };
  ValueAndGrads r = value_and_grads(forward, optimizer.params(), inputs, scale);
  if (rule) r.grads = rule(std::move(r.grads));
  optimizer.step(r.grads);
  return r.values;
}

Tensor any_nonfinite(std::span<const Tensor> tensors) {
  Tensor bad = Tensor::scalar(DType::kFloat32, 0.0);
  for (const Tensor& t : tensors) {
    if (!is_float(t.dtype()) || t.size() == 0) continue;
    Tensor here = ops::cast(ops::logical_not(ops::isfinite(t)), DType::kFloat32);
    bad = ops::maximum(bad, ops::reduce_max(here));
  }
  return ops::greater(bad, number(bad, 0));
}

Tensor unscaled(const Tensor& gradient, const Tensor& scale) {
  Tensor wide =
      ops::cast(gradient, gradient.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32);
  return ops::cast(wide / one_number(scale), gradient.dtype());
}

}  // namespace mycel::nn
