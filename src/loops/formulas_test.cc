// Accuracy of the mathematical functions against the C library in long double.
#include "loops/formulas.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "loops/check_nest.h"

namespace mycel::loops {
namespace {

struct Function {
  const char* name;
  Val (*formula)(Val);
  long double (*exact)(long double);
  double low, high;     // where samples are dense
  double ulp32, ulp64;  // allowed error
};
#define MYCEL_FUNCTION(name, low, high, ulp32, ulp64) \
  {#name, loops::name, ::name##l, low, high, ulp32, ulp64}
const Function kFunctions[] = {
    MYCEL_FUNCTION(exp, -90, 90, 1.5, 1.5), MYCEL_FUNCTION(exp2, -130, 130, 1.5, 1.5),
    MYCEL_FUNCTION(expm1, -2, 2, 2, 2),     MYCEL_FUNCTION(log, 0, 4, 1.5, 1.5),
    MYCEL_FUNCTION(log2, 0, 4, 2, 2),       MYCEL_FUNCTION(log10, 0, 4, 2, 2),
    MYCEL_FUNCTION(log1p, -1, 3, 2, 2),     MYCEL_FUNCTION(sin, -50, 50, 2.5, 1),
    MYCEL_FUNCTION(cos, -50, 50, 2.5, 1),   MYCEL_FUNCTION(tan, -50, 50, 4, 1),
    MYCEL_FUNCTION(asin, -1, 1, 2.5, 2.5),  MYCEL_FUNCTION(acos, -1, 1, 1.5, 1.5),
    MYCEL_FUNCTION(atan, -6, 6, 2, 2),      MYCEL_FUNCTION(sinh, -4, 4, 2, 2),
    MYCEL_FUNCTION(cosh, -4, 4, 2, 2),      MYCEL_FUNCTION(tanh, -4, 4, 2.5, 2.5),
    MYCEL_FUNCTION(asinh, -4, 4, 2.5, 2.5), MYCEL_FUNCTION(acosh, 1, 5, 2.5, 2.5),
    MYCEL_FUNCTION(atanh, -1, 1, 2.5, 2.5), MYCEL_FUNCTION(erf, -4, 4, 1.5, 1.5),
    MYCEL_FUNCTION(erfc, -4, 12, 1, 4),     MYCEL_FUNCTION(lgamma, 0, 20, 1, 4),
    MYCEL_FUNCTION(sqrt, 0, 9, 0.5, 0.5),
};

template <typename T>
double error_in_ulp(T got, long double exact) {
  const T want = static_cast<T>(exact);
  if (std::isnan(want)) return std::isnan(got) ? 0 : HUGE_VAL;
  if (std::isinf(want) || std::isinf(got)) {
    // At the edge of overflow the largest number and infinity are neighbours.
    const long double near = std::isinf(got) ? exact : static_cast<long double>(got);
    const bool edge = std::fabs(near) > 0.999999L * std::numeric_limits<T>::max() &&
                      std::signbit(got) == std::signbit(want);
    return got == want ? 0 : edge ? 1 : HUGE_VAL;
  }
  if (std::isnan(got)) return HUGE_VAL;
  if (want == 0 && got == 0) return std::signbit(got) == std::signbit(want) ? 0 : HUGE_VAL;
  int exponent;
  std::frexp(want, &exponent);
  constexpr bool kWide = sizeof(T) == 8;
  const T ulp = std::ldexp(T{1}, std::max(exponent - (kWide ? 53 : 24), kWide ? -1074 : -149));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) / ulp);
}

template <typename T>
std::vector<T> samples(const Function& f, int64_t dense) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x = {T{0},
                      -T{0},
                      T(1),
                      T(-1),
                      T(0.5),
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::quiet_NaN(),
                      Limits::min(),
                      -Limits::min(),
                      Limits::denorm_min(),
                      -Limits::denorm_min(),
                      Limits::max(),
                      Limits::lowest(),
                      Limits::epsilon()};
  for (int64_t i = 0; i <= dense; ++i)
    x.push_back(static_cast<T>(f.low + (f.high - f.low) * i / dense));
  std::mt19937_64 random(1);
  for (int64_t i = 0; i < dense; ++i) {  // any bit pattern: all magnitudes alike
    const uint64_t bits = random();
    T v;
    std::memcpy(&v, &bits, sizeof v);
    x.push_back(v);
  }
  return x;
}

template <typename T>
void check_function(const Function& f, int64_t dense) {
  const DType t = dtype_of<T>();
  std::vector<T> x = samples<T>(f, dense), y(x.size());
  Nest nest(f.name);
  Buf in = nest.input(t), out = nest.output(t);
  nest.parallel(static_cast<int64_t>(x.size()), 0,
                [&](Val i) { nest.store(out, i, f.formula(nest.load(in, i))); });
  void* buffers[] = {x.data(), y.data()};
  run(nest, buffers);
  const double allowed = sizeof(T) == 8 ? f.ulp64 : f.ulp32;
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::string_view(f.name) == "lgamma" && x[i] < 0 && sizeof(T) == 8)
      continue;  // ill-conditioned at its zeros
    const double e = error_in_ulp(y[i], f.exact(x[i]));
    worst = std::fmax(worst, e);
    ASSERT_LE(e, allowed) << f.name << "(" << x[i] << ") = " << y[i] << ", expected "
                          << static_cast<double>(f.exact(x[i]));
  }
}

TEST(Formulas, WithinAFewUlp) {
  for (const Function& f : kFunctions) {
    check_function<float>(f, 20000);
    check_function<double>(f, 10000);
  }
}
TEST(CiFormulas, WithinAFewUlpDensely) {
  for (const Function& f : kFunctions) {
    check_function<float>(f, 1000000);
    check_function<double>(f, 300000);
  }
}

template <typename T>
void check_two(Val (*formula)(Val, Val), long double (*exact)(long double, long double),
               double allowed, bool positive) {
  const DType t = dtype_of<T>();
  using Limits = std::numeric_limits<T>;
  const T edges[] = {T{0},
                     -T{0},
                     T(1),
                     T(-1),
                     T(2),
                     T(-2),
                     T(3),
                     T(-3),
                     T(0.5),
                     T(-0.5),
                     Limits::infinity(),
                     -Limits::infinity(),
                     Limits::quiet_NaN(),
                     Limits::min(),
                     Limits::max(),
                     T(1e-20),
                     T(1e20)};
  std::vector<T> a, b;
  for (T x : edges) {
    for (T y : edges) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  std::mt19937 random(3);
  std::uniform_real_distribution<double> real(-20, 20);
  for (int i = 0; i < 20000; ++i) {
    a.push_back(static_cast<T>(positive ? std::fabs(real(random)) : real(random)));
    b.push_back(static_cast<T>(real(random)));
  }
  std::vector<T> y(a.size());
  Nest nest("two");
  Buf in = nest.input(t), second = nest.input(t), out = nest.output(t);
  nest.parallel(static_cast<int64_t>(a.size()), 0, [&](Val i) {
    nest.store(out, i, formula(nest.load(in, i), nest.load(second, i)));
  });
  void* buffers[] = {a.data(), b.data(), y.data()};
  run(nest, buffers);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_LE(error_in_ulp(y[i], exact(a[i], b[i])), allowed)
        << a[i] << ", " << b[i] << ": " << y[i] << ", expected "
        << static_cast<double>(exact(a[i], b[i]));
  }
}

TEST(Formulas, OfTwoArguments) {
  check_two<float>(pow, ::powl, 1, true);
  check_two<double>(pow, ::powl, 1, true);
  check_two<float>(atan2, ::atan2l, 2.5, false);
  check_two<double>(atan2, ::atan2l, 2.5, false);
}

}  // namespace
}  // namespace mycel::loops
