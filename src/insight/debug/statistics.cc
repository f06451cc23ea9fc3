#include "insight/debug/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/element.h"

namespace mycel::insight::debug {
namespace {

// Complex numbers as twice as many real ones.
Tensor real_parts(const Tensor& t) {
  if (!is_complex(t.dtype())) return t;
  auto impl = make_ref<TensorImpl>();
  impl->storage = t.impl()->storage;
  impl->data = t.impl()->data;
  impl->dtype = t.dtype() == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
  impl->shape = Shape{t.size() * 2};
  return Tensor(impl);
}

// f(load, n): load(i) is element i as a double.
template <typename F>
void with_elements(const Tensor& given, F&& f) {
  const Tensor t = real_parts(given);
  with_real_element(t.dtype(), [&](auto e) {
    using E = decltype(e);
    const auto* p = static_cast<const typename E::Stored*>(t.raw());
    f([p](int64_t i) { return static_cast<double>(E::load(p[i])); }, t.size());
  });
}

bool comparable(const Tensor& a, const Tensor& b) {
  return a && b && a.shape() == b.shape() && is_complex(a.dtype()) == is_complex(b.dtype());
}

}  // namespace

Statistics statistics_of(const Tensor& t) {
  Statistics s;
  with_elements(t, [&](auto load, int64_t n) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    constexpr double kMost = std::numeric_limits<double>::max();
    double low = kInf, high = -kInf, sum = 0, absolute = 0, squares = 0;
    int64_t nan = 0, up = 0, down = 0, zero = 0, negative = 0, finite = 0;
#pragma omp simd reduction(min : low) reduction(max : high) \
    reduction(+ : sum, absolute, squares, nan, up, down, zero, negative, finite)
    for (int64_t i = 0; i < n; ++i) {
      const double v = load(i), size = std::abs(v);
      const bool ok = size <= kMost;
      const double x = ok ? v : 0;
      low = std::min(low, ok ? v : kInf);
      high = std::max(high, ok ? v : -kInf);
      sum += x;
      absolute += std::abs(x);
      squares += x * x;
      finite += ok;
      nan += v != v;
      up += v > kMost;
      down += v < -kMost;
      zero += v == 0;
      negative += v < 0;
    }
    s.count = n;
    s.nan = nan;
    s.positive_inf = up;
    s.negative_inf = down;
    s.zero = zero;
    s.negative = negative;
    if (finite == 0) return;
    const auto many = static_cast<double>(finite);
    s.min = low;
    s.max = high;
    s.sum = sum;
    s.mean = sum / many;
    s.abs_mean = absolute / many;
    s.l2 = std::sqrt(squares);
    // Of what is left of the squares; rounding must not make it negative.
    s.deviation = std::sqrt(std::max(0.0, squares / many - s.mean * s.mean));
  });
  return s;
}

std::vector<double> elements_of(const Tensor& t, int64_t most) {
  std::vector<double> out;
  with_elements(t, [&](auto load, int64_t n) {
    const int64_t taken = std::min(n, most);
    out.reserve(static_cast<size_t>(taken));
    for (int64_t i = 0; i < taken; ++i)
      out.push_back(load(static_cast<int64_t>(static_cast<__int128>(i) * n / taken)));
  });
  return out;
}

std::vector<double> quantiles_of(const Tensor& t, const std::vector<double>& at) {
  std::vector<double> all = elements_of(t, 1'000'000);
  std::erase_if(all, [](double v) { return !std::isfinite(v); });
  if (all.empty()) return {};
  std::sort(all.begin(), all.end());
  std::vector<double> out;
  for (double q : at) {
    const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(all.size() - 1);
    const auto low = static_cast<size_t>(place);
    const size_t high = std::min(low + 1, all.size() - 1);
    out.push_back(all[low] + (all[high] - all[low]) * (place - static_cast<double>(low)));
  }
  return out;
}

double percent_inside(const Tensor& t, double low, double high) {
  int64_t inside = 0, all = 0;
  with_elements(t, [&](auto load, int64_t n) {
    all = n;
    for (int64_t i = 0; i < n; ++i) {
      const double v = load(i);
      inside += v >= low && v <= high;
    }
  });
  return all ? 100.0 * static_cast<double>(inside) / static_cast<double>(all) : 0;
}

Change change_of(const Tensor& now, const Tensor& before) {
  Change c;
  if (!comparable(now, before)) return c;
  with_elements(now, [&](auto a, int64_t n) {
    with_elements(before, [&](auto b, int64_t) {
      double sum = 0, was = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double x = a(i), y = b(i);
        if (!std::isfinite(x) || !std::isfinite(y)) continue;
        ++c.count;
        sum += std::abs(x - y);
        was += std::abs(y);
        c.max = std::max(c.max, std::abs(x - y));
      }
      if (c.count) {
        c.abs_mean = sum / static_cast<double>(c.count);
        c.before_mean = was / static_cast<double>(c.count);
      }
    });
  });
  return c;
}

int64_t changed_elements(const Tensor& now, const Tensor& before, double rtol, double atol) {
  if (!comparable(now, before)) return -1;
  int64_t changed = 0;
  with_elements(now, [&](auto a, int64_t n) {
    with_elements(before, [&](auto b, int64_t) {
      for (int64_t i = 0; i < n; ++i) {
        const double x = a(i), y = b(i);
        if (std::isfinite(x) && std::isfinite(y)) {
          changed += std::abs(x - y) > atol + rtol * std::abs(y);
        } else {
          changed += !(x == y || (x != x && y != y));
        }
      }
    });
  });
  return changed;
}

}  // namespace mycel::insight::debug
