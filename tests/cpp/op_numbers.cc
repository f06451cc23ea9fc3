#include "op_numbers.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "op_cases.h"

namespace mycel::op_cases {

std::vector<double> numbers_of(const Tensor& t) {
  DType d = real_part_of(t.dtype());
  int64_t n = t.size() * (is_complex(t.dtype()) ? 2 : 1);
  std::vector<double> v(n);
  for (int64_t i = 0; i < n; ++i) {
    // Whole numbers of 64 bits do not fit a double; they are compared modulo 2^52.
    bool wide = d == DType::kInt64 || d == DType::kUInt64;
    int64_t whole = wide ? element_as_int(t.raw(), d, i) : 0;
    bool exact = whole >= -(int64_t{1} << 53) && whole <= (int64_t{1} << 53);
    v[i] = !wide ? element_as_double(t.raw(), d, i)
                 : static_cast<double>(exact ? whole : whole % (int64_t{1} << 52));
  }
  return v;
}

bool identical(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

std::string differ(const std::vector<double>& got, const std::vector<double>& want,
                   double tolerance) {
  if (got.size() != want.size())
    return fmt::format("{} elements, expected {}", got.size(), want.size());
  double worst = 0;
  std::string text;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i]) && std::isnan(want[i])) continue;
    if (got[i] == want[i]) continue;
    double allowed = tolerance * std::max({1.0, std::fabs(got[i]), std::fabs(want[i])});
    double gap = std::fabs(got[i] - want[i]);
    bool near = std::isfinite(got[i]) && std::isfinite(want[i]) && gap <= allowed;
    if (near) continue;
    double badness = std::isfinite(gap) ? gap / allowed : HUGE_VAL;
    if (badness <= worst) continue;
    worst = badness;
    text = fmt::format("element {}: {} instead of {} (off by {:.3g}, allowed {:.3g})", i, got[i],
                       want[i], gap, allowed);
  }
  return text;
}

Tensor repeated(const Tensor& t, const Shape& shape) {
  Tensor out = Tensor::empty(t.dtype(), shape);
  size_t bytes = size_of(t.dtype());
  int lead = shape.rank() - t.rank();
  for (int64_t i = 0; i < out.size(); ++i) {
    int64_t rest = i, from = 0, stride = 1;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      int64_t at = rest % shape[d];
      rest /= shape[d];
      if (d < lead) continue;
      if (t.dim(d - lead) != 1) from += at * stride;
      stride *= t.dim(d - lead);
    }
    std::memcpy(static_cast<char*>(out.mutable_raw()) + i * bytes,
                static_cast<const char*>(t.raw()) + from * bytes, bytes);
  }
  return out;
}

Tensor moved(const Tensor& t, const Tensor& direction, double step) {
  Tensor out = Tensor::empty(t.dtype(), t.shape());
  DType d = real_part_of(t.dtype());
  std::vector<double> a = numbers_of(t), b = numbers_of(direction);
  for (size_t i = 0; i < a.size(); ++i) {
    set_element(out.mutable_raw(), d, static_cast<int64_t>(i), a[i] + step * b[i]);
  }
  return out;
}

double dot(const Tensor& a, const Tensor& b) {
  // Re(conj(a) b) is the sum over both parts.
  std::vector<double> x = numbers_of(a), y = numbers_of(b);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

double dot_size(const Tensor& a, const Tensor& b) {
  std::vector<double> x = numbers_of(a), y = numbers_of(b);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += std::fabs(x[i] * y[i]);
  return sum;
}

Tensor noise(DType dtype, const Shape& shape, uint64_t seed) {
  Domain d;
  d.kind = Domain::kUniform;
  d.low = -1;
  d.high = 1;
  return make_values(d, "any", dtype, shape, seed);
}

}  // namespace mycel::op_cases
