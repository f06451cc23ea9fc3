#include "nn/probability/distribution.h"

#include "base/error.h"
#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/probability/derive.h"
#include "runtime/random_state.h"
#include "tensor/element.h"

namespace mycel::nn::probability {
namespace {

// Every parameter in the shape of all.
Tensors together(const Family& f, Tensors params) {
  if (params.size() != f.arity()) {
    type_error("{}: {} parameters are needed, got {}", f.name, f.arity(), params.size());
  }
  Shape shape = params[0].shape();
  for (size_t i = 0; i < params.size(); ++i) {
    const Tensor& p = params[i];
    if (!is_float(p.dtype()) || p.dtype() != params[0].dtype()) {
      type_error("{}: parameters must be of one float dtype, got {}", f.name, p.describe());
    }
    if (!broadcast(shape, p.shape(), &shape)) {
      value_error("{}: the parameter '{}' has shape {}, which does not broadcast with {}", f.name,
                  f.params[i].name, p.shape().str(), shape.str());
    }
  }
  if (!shape.known()) return params;  // formulas broadcast by themselves
  for (Tensor& p : params) {
    if (p.shape() != shape) p = ops::broadcast_to(p, {shape.begin(), shape.end()});
  }
  return params;
}

void check_order(const Family& f, size_t i, const Tensor& below, const Tensor& above) {
  if (!below.concrete() || !above.concrete()) return;
  for (int64_t k = 0; k < above.size(); ++k) {
    double low = element_as_double(below.raw(), below.dtype(), k),
           high = element_as_double(above.raw(), above.dtype(), k);
    if (!(low < high)) {
      value_error("{}: '{}' must be below '{}', got {} and {}", f.name, f.params[i - 1].name,
                  f.params[i].name, low, high);
    }
  }
}

}  // namespace

Distribution::Distribution(std::string_view name, Tensors params)
    : family_(&probability::family(name)), params_(together(*family_, std::move(params))) {
  for (size_t i = 0; i < params_.size(); ++i) {
    check_parameter(family_->name, family_->params[i], params_[i]);
    if (family_->params[i].domain == Domain::kAbovePrevious) {
      check_order(*family_, i, params_[i - 1], params_[i]);
    }
  }
  for (const Tensor& p : params_) broadcast(batch_shape_, p.shape(), &batch_shape_);
  if (family_->category) batch_shape_.erase(-1);
}

void Distribution::no_formula(std::string_view quantity) const {
  if (family_->no_moments && (quantity == "mean" || quantity == "sd" || quantity == "var")) {
    value_error("{}: {} is undefined for this distribution", family_->name, quantity);
  }
  fail(ErrorKind::kUnsupported, "{}: there is no formula for {}", family_->name, quantity);
}

Tensor Distribution::of(std::string_view quantity) const {
  Tensor t = derive(quantity, [&](std::string_view q) {
    Family::Of f = family_->of(q);
    return f ? f(params_) : Tensor();
  });
  if (!t) no_formula(quantity);
  return t;
}

Tensor Distribution::at(std::string_view quantity, const Tensor& x) const {
  DType d = params_[0].dtype();
  Tensor value = x.dtype() == d ? x : ops::cast(x, d);
  Tensor t = derive(quantity, [&](std::string_view q) {
    Family::At f = family_->at(q);
    return f ? f(value, params_) : Tensor();
  });
  if (!t) no_formula(quantity);
  return t;
}

Tensor Distribution::kl_loss(const Distribution& other) const {
  if (other.family_ != family_) {
    value_error("{}: the other distribution must be of the same family, got {}", family_->name,
                other.family_->name);
  }
  if (!family_->kl_loss) no_formula("kl_loss");
  return family_->kl_loss(params_, other.params_);
}

Tensor Distribution::sample(const Shape& shape, uint64_t seed) const {
  if (!family_->sample) no_formula("sample");
  if (!batch_shape_.known()) {
    value_error("{}: samples need parameters of known shape, got {}", family_->name,
                batch_shape_.str());
  }
  Shape full = shape;
  for (int64_t n : batch_shape_) full.push_back(n);
  return family_->sample(full, params_, runtime::next_key(seed));
}

}  // namespace mycel::nn::probability
