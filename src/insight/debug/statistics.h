// Statistics of a tensor's elements in one pass, and what changed against another tensor: what
// watchpoints look at.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::insight::debug {

// Of the finite elements unless it says otherwise; 0 where there are none. A complex number counts
// as two.
struct Statistics {
  int64_t count = 0;  // all elements
  int64_t nan = 0, positive_inf = 0, negative_inf = 0, zero = 0, negative = 0;
  double min = 0, max = 0, mean = 0, sum = 0, deviation = 0, abs_mean = 0, l2 = 0;
  int64_t not_finite() const { return nan + positive_inf + negative_inf; }
  double abs_max() const { return max > -min ? max : -min; }
};
Statistics statistics_of(const Tensor& t);

// The elements as doubles, spread evenly over the tensor when there are more than `most`.
std::vector<double> elements_of(const Tensor& t, int64_t most);
// At each q in [0, 1], by linear interpolation, of finite elements (of a million of them when there
// are more); empty when there are none.
std::vector<double> quantiles_of(const Tensor& t, const std::vector<double>& at);
// The share of elements, in percent, that lie in [low, high]; NaN never does.
double percent_inside(const Tensor& t, double low, double high);

// Against the same tensor of the step before. 0 elements when the shapes differ.
struct Change {
  int64_t count = 0;       // elements that are finite in both
  double abs_mean = 0;     // of the difference
  double before_mean = 0;  // abs mean before
  double max = 0;          // largest absolute difference
};
Change change_of(const Tensor& now, const Tensor& before);
// Elements with |now - before| > atol + rtol |before|, not-finite ones that are not the same too;
// -1 when the shapes differ.
int64_t changed_elements(const Tensor& now, const Tensor& before, double rtol, double atol);

}  // namespace mycel::insight::debug
