// Short forms that call ops by name and give numbers: for tests.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "runtime/dispatch.h"
#include "runtime/transforms.h"
#include "tensor/tensor.h"

namespace mycel::op_calls {

using Ints = ir::Attr::Ints;

inline Tensors run(const char* op, std::vector<Tensor> in, ir::Attrs attrs = {}) {
  return runtime::call(ir::op_named(op), in, attrs);
}
inline Tensor run1(const char* op, std::vector<Tensor> in, ir::Attrs attrs = {}) {
  return run(op, std::move(in), std::move(attrs)).at(0);
}

template <typename T>
Tensor of(std::vector<T> values, Shape shape) {
  return Tensor::from(values, shape);
}
template <typename T>
Tensor of(std::vector<T> values) {
  int64_t n = static_cast<int64_t>(values.size());
  return Tensor::from(values, Shape{n});
}
// 0, 1, 2, … in row-major order.
inline Tensor counting(Shape shape, DType dtype = DType::kFloat32) {
  Tensor t = Tensor::empty(dtype, shape);
  for (int64_t i = 0; i < t.size(); ++i) set_element(t.mutable_raw(), dtype, i, i);
  return t;
}

template <typename T>
std::vector<T> list(const Tensor& t) {
  auto d = t.data<T>();
  return {d.begin(), d.end()};
}
inline std::vector<int64_t> ints(const Tensor& t) {
  std::vector<int64_t> v;
  for (int64_t i = 0; i < t.size(); ++i) v.push_back(element_as_int(t.raw(), t.dtype(), i));
  return v;
}
inline std::vector<double> reals(const Tensor& t) {
  std::vector<double> v;
  for (int64_t i = 0; i < t.size(); ++i) v.push_back(element_as_double(t.raw(), t.dtype(), i));
  return v;
}

// The text of the error that the call ends with, "" when there is none.
inline std::string error_of(const char* op, std::vector<Tensor> in, ir::Attrs attrs = {}) {
  try {
    run(op, std::move(in), std::move(attrs));
  } catch (const UserError& e) {
    return e.message();
  }
  return "";
}

// Gradient of sum(seed · op(in)) for operand `wrt`.
inline Tensor gradient(const char* op, std::vector<Tensor> in, ir::Attrs attrs, int wrt,
                       Tensor seed) {
  runtime::GradOptions o;
  o.wrt = {wrt};
  o.seeds = {seed};
  runtime::Fn f = [&](std::span<const Tensor> x) {
    return Tensors{runtime::call(ir::op_named(op), x, attrs).at(0)};
  };
  return runtime::value_and_grad(f, in, o).inputs[0];
}

}  // namespace mycel::op_calls
