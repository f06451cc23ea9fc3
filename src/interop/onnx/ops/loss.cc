// Losses over classes.
#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {
namespace {

// -weight[label] * log_prob[label]; where the label is to be ignored, zero.
Tensor picked_loss(Call& c, const Tensor& log_prob, const Tensor& labels, const Tensor& weight) {
  Tensor at = as(labels, DType::kInt64), ignored;
  Tensor zero = Tensor::scalar(DType::kInt64, int64_t{0});
  if (c.has_attr("ignore_index")) {
    ignored = ops::equal(at, Tensor::scalar(DType::kInt64, c.integer("ignore_index")));
    at = ops::select(ignored, zero, at);
  }
  Tensor place = ops::expand_dims(at, 1);
  Tensor y = ops::neg(ops::squeeze(ops::gather_d(log_prob, place, 1), ir::Attr(Ints{1})));
  Tensor w;
  if (weight) w = ops::gather(weight, at, 0);
  Tensor none = number_like(0, y);
  if (ignored) {
    w = ops::select(ignored, none, w ? w : ops::broadcast_to(number_like(1, y), c.dims(y)));
  }
  if (w) y = ops::mul(y, w);
  if (ignored) y = ops::select(ignored, none, y);
  std::string how = c.text("reduction", "mean");
  if (how == "none") return y;
  Tensor sum = ops::reduce_sum(y);
  if (how == "sum") return sum;
  if (how != "mean") c.fail("reduction '{}'; allowed: none, sum, mean", how);
  return w ? ops::div(sum, ops::reduce_sum(w)) : ops::reduce_mean(y);
}

Values negative_log_likelihood(Call& c) { return one(picked_loss(c, c.x(0), c.x(1), c.x_or(2))); }

Values softmax_cross_entropy(Call& c) {
  Tensor log_prob = ops::log_softmax(c.x(0), 1);
  return {Value(picked_loss(c, log_prob, c.x(1), c.x_or(2))), Value(log_prob)};
}

constexpr Record kRecords[] = {
    {"NegativeLogLikelihoodLoss", negative_log_likelihood},
    {"SoftmaxCrossEntropyLoss", softmax_cross_entropy},
};

}  // namespace

Records loss_records() { return kRecords; }

}  // namespace mycel::interop::onnx
