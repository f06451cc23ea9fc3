// The linear recursive filter that the others are made of.
#pragma once

#include <cstdint>
#include <vector>

namespace mycel::data {

// a[0] y[i] = sum_k b[k] x[i-k] - sum_{k>0} a[k] y[i-k], in place; a and b are of one length.
void filter(const std::vector<double>& b, const std::vector<double>& a, double* x, int64_t n);

}  // namespace mycel::data
