// Values for operands, by the domain that a case asks for.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "op_cases.h"

namespace mycel::op_cases {
namespace {

// splitmix64: small, and the same everywhere.
class Stream {
 public:
  explicit Stream(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  double unit() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }
  double uniform(double a, double b) { return a + (b - a) * unit(); }
  int64_t below(int64_t n) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(n)); }

 private:
  uint64_t state_;
};

void shuffle(std::vector<double>& v, Stream& s) {
  for (size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[s.below(static_cast<int64_t>(i))]);
}

std::vector<double> default_values(const std::string& cls, DType d, int64_t n, Stream& s) {
  std::vector<double> v(n);
  for (double& x : v) {
    if (is_bool(d)) {
      x = static_cast<double>(s.below(2));
    } else if (cls == "index") {
      x = static_cast<double>(s.below(2));
    } else if (is_unsigned_int(d)) {
      x = static_cast<double>(s.below(10));
    } else if (is_int(d)) {
      x = static_cast<double>(s.below(11) - 5);
    } else {
      x = s.uniform(-2, 2);
    }
  }
  return v;
}

std::vector<double> uniform_values(const Domain& m, DType d, int64_t n, Stream& s) {
  std::vector<double> v(n);
  double low = is_unsigned_int(d) ? std::max(0.0, m.low) : m.low;
  for (double& x : v) {
    if (is_int(d) || is_bool(d)) {
      auto a = static_cast<int64_t>(std::ceil(low)), b = static_cast<int64_t>(std::floor(m.high));
      x = static_cast<double>(a >= b ? b : a + s.below(b - a + 1));
    } else {
      x = s.uniform(m.low, m.high);
    }
  }
  return v;
}

std::vector<double> set_values(const Domain& m, DType d, int64_t n, Stream& s) {
  std::vector<double> usable;
  for (double x : m.set) {
    bool fits = is_float(d) || is_complex(d) || (std::isfinite(x) && x == std::trunc(x));
    if (fits && !(is_unsigned_int(d) && x < 0)) usable.push_back(x);
  }
  if (usable.empty()) usable.push_back(1);
  std::vector<double> v(n);
  for (double& x : v) x = usable[s.below(static_cast<int64_t>(usable.size()))];
  return v;
}

// Values of each row along the last axis.
template <typename F>
std::vector<double> by_rows(const Shape& shape, F&& fill) {
  int64_t n = shape.size(), row = shape.rank() ? shape[-1] : 1;
  std::vector<double> v(n);
  std::vector<double> one(row);
  for (int64_t r = 0; row && r < n / row; ++r) {
    fill(one);
    std::copy(one.begin(), one.end(), v.begin() + r * row);
  }
  return v;
}

// Square matrices in the last two axes: a + b^T b and the like.
std::vector<double> matrices(const Shape& shape, Domain::Kind kind, Stream& s) {
  MYCEL_CHECK(shape.rank() >= 2, "matrices need two axes, got {}", shape.str());
  int64_t m = shape[-2], n = shape[-1], count = m * n != 0 ? shape.size() / (m * n) : 0;
  std::vector<double> v(shape.size());
  for (int64_t k = 0; k < count; ++k) {
    double* a = v.data() + k * m * n;
    std::vector<double> b(m * n);
    for (double& x : b) x = s.uniform(-1, 1);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double& out = a[i * n + j];
        if (m != n) {  // of a call that is to be refused
          out = b[i * n + j];
        } else if (kind == Domain::kSpd) {
          out = i == j ? 1.0 : 0.0;
          for (int64_t l = 0; l < m; ++l) out += b[l * n + i] * b[l * n + j];
        } else if (kind == Domain::kRegular) {
          out = b[i * n + j] + (i == j ? static_cast<double>(n) : 0.0);
        } else {
          bool kept = kind == Domain::kLower ? j < i : j > i;
          out = i == j ? s.uniform(1, 2) : kept ? b[i * n + j] : 0.0;
        }
      }
    }
  }
  return v;
}

std::vector<double> real_values(const Domain& m, const std::string& cls, DType d,
                                const Shape& shape, Stream& s) {
  int64_t n = shape.size();
  switch (m.kind) {
    case Domain::kDefault:
      return default_values(cls, d, n, s);
    case Domain::kUniform:
    case Domain::kInts:
      if (m.kind == Domain::kInts) return uniform_values(m, DType::kInt64, n, s);
      return uniform_values(m, d, n, s);
    case Domain::kSet:
      return set_values(m, d, n, s);
    case Domain::kDistinct: {
      std::vector<double> v(n);
      double step = n > 1 ? (m.high - m.low) / static_cast<double>(n) : 0;
      // Whole numbers where the dtype has no others (they may then leave the range).
      if (is_int(d)) step = std::max(1.0, std::ceil(step));
      double start = is_int(d) ? std::ceil(is_unsigned_int(d) ? std::max(0.0, m.low) : m.low)
                               : m.low + step / 2;
      for (int64_t i = 0; i < n; ++i) v[i] = start + step * static_cast<double>(i);
      shuffle(v, s);
      return v;
    }
    case Domain::kSorted:
      return by_rows(shape, [&](std::vector<double>& row) {
        row = uniform_values(m, d, static_cast<int64_t>(row.size()), s);
        std::sort(row.begin(), row.end());
      });
    case Domain::kPermutation:
      return by_rows(shape, [&](std::vector<double>& row) {
        for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<double>(i);
        shuffle(row, s);
      });
    case Domain::kProb:
      return by_rows(shape, [&](std::vector<double>& row) {
        double sum = 0;
        for (double& x : row) sum += x = s.uniform(0.2, 1);
        for (double& x : row) x /= sum;
      });
    default:
      return matrices(shape, m.kind, s);
  }
}

}  // namespace

bool Domain::special() const {
  return kind == kSet &&
         std::any_of(set.begin(), set.end(), [](double v) { return !std::isfinite(v); });
}

Tensor make_values(const Domain& domain, const std::string& cls, DType dtype, const Shape& shape,
                   uint64_t seed) {
  Stream s(seed);
  Tensor t = Tensor::empty(dtype, shape);
  if (is_complex(dtype)) {
    DType part = real_part_of(dtype);
    std::vector<double> re = real_values(domain, cls, part, shape, s),
                        im = real_values(domain, cls, part, shape, s);
    for (int64_t i = 0; i < t.size(); ++i) {
      set_element(t.mutable_raw(), part, 2 * i, re[i]);
      set_element(t.mutable_raw(), part, 2 * i + 1, im[i]);
    }
    return t;
  }
  std::vector<double> v = real_values(domain, cls, dtype, shape, s);
  for (int64_t i = 0; i < t.size(); ++i) set_element(t.mutable_raw(), dtype, i, v[i]);
  return t;
}

}  // namespace mycel::op_cases
