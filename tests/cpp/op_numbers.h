// Small arithmetic on concrete tensors for the generic op tests: everything here is plain C++ on
// doubles, so that what an op is compared with does not come from an op.
#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::op_cases {

// Elements as doubles; a complex one gives two.
std::vector<double> numbers_of(const Tensor& t);
// The same dtype, shape and bits.
bool identical(const Tensor& a, const Tensor& b);
// The worst difference when some |a - b| > tolerance * max(1, |a|, |b|), described; "" when all are
// near. NaN equals NaN.
std::string differ(const std::vector<double>& got, const std::vector<double>& want,
                   double tolerance);
// `t` repeated to `shape`.
Tensor repeated(const Tensor& t, const Shape& shape);
// t + step * direction; direction has t's shape and dtype.
Tensor moved(const Tensor& t, const Tensor& direction, double step);
// Sum of Re(conj(a) * b).
double dot(const Tensor& a, const Tensor& b);
// Values in (-1, 1).
Tensor noise(DType dtype, const Shape& shape, uint64_t seed);
// Sum of |a|*|b|: the size of the terms of dot(a, b).
double dot_size(const Tensor& a, const Tensor& b);

}  // namespace mycel::op_cases
