#include "loops/nest.h"

#include <complex>

#include <gtest/gtest.h>

#include "base/error.h"
#include "loops/check_nest.h"

namespace mycel::loops {
namespace {

constexpr DType kF32 = DType::kFloat32;

Nest axpy(double a, int64_t n) {
  Nest nest("axpy");
  Buf x = nest.input(kF32), y = nest.output(kF32);
  const Val factor = nest.number(a, kF32);
  nest.parallel(n, 2, [&](Val i) { nest.store(y, i, nest.load(x, i) * factor + 1); });
  return nest;
}

TEST(Nest, StructureIgnoresNumbers) {
  EXPECT_EQ(axpy(2, 10).structure(), axpy(3.5, 99).structure());
  Nest other("axpy");
  Buf x = other.input(kF32), y = other.output(kF32);
  other.parallel(10, 2, [&](Val i) { other.store(y, i, other.load(x, i) * 2 + 1); });
  EXPECT_NE(axpy(2, 10).structure(), other.structure());
}

TEST(Nest, ReadsWell) {
  EXPECT_EQ(axpy(2, 10).str(),
            "nest axpy(in b0: float32, out b1: float32)\n"
            "parallel i0 in 0..10 {  # cost 2\n"
            "  %2: float32 = b0[i0]\n"
            "  b1[i0] = ((%2 * n0:2) + 1)\n"
            "}\n");
}

TEST(Nest, IndexArithmeticFolds) {
  Nest nest("fold");
  const Val n = nest.number(int64_t{5});
  EXPECT_EQ((n * 1 + 0).n, n.n);
  EXPECT_EQ((n * 0).n, nest.index(0).n);
  EXPECT_EQ((nest.index(6) * 7 - 2).n, nest.index(40).n);
  EXPECT_EQ((n / 1).n, n.n);
}

TEST(Nest, TypeErrorsAreFound) {
  Nest nest("wrong"), elsewhere("elsewhere");
  const Val f = nest.literal(kF32, 1.0), i = nest.index(1), b = f < 2;
  EXPECT_THROW(f + i, InternalError);
  EXPECT_THROW(f + elsewhere.literal(kF32, 1.0), InternalError);
  EXPECT_THROW(f & f, InternalError);
  EXPECT_THROW(exp(i), InternalError);
  EXPECT_THROW(b + b, InternalError);
  EXPECT_THROW(i + 0.5, InternalError);
  EXPECT_THROW(select(f, f, f), InternalError);
  EXPECT_THROW(bitcast(f, DType::kInt64), InternalError);
  EXPECT_THROW(mul_hi(i, i), InternalError);
  EXPECT_THROW(Val() + f, InternalError);
  EXPECT_THROW(nest.store(nest.output(kF32), i, f), InternalError);  // outside a stage
}

TEST(Nest, ValuesStayInTheirBlock) {
  Nest nest("scope");
  Buf y = nest.output(kF32);
  EXPECT_THROW(nest.parallel(1, 1,
                             [&](Val i) {
                               Val inside;
                               nest.loop(i + 1, LoopKind::kSequential,
                                         [&](Val j) { inside = cast(j, kF32) + 1; });
                               nest.store(y, i, inside);
                             }),
               InternalError);
}

TEST(Nest, ComplexFunctions) {
  for (DType t : {DType::kComplex64, DType::kComplex128}) {
    const int64_t n = 200;
    Nest nest("complex");
    Buf x = nest.input(t), z = nest.input(t);
    std::vector<Buf> out;
    for (int k = 0; k < 8; ++k) out.push_back(nest.output(t));
    nest.parallel(n, 0, [&](Val i) {
      const Val a = nest.load(x, i), b = nest.load(z, i);
      const Val results[] = {
          a * b, a / b, exp(a), log(a), sqrt(a), pow(a, b), conj(a) * 2.0 - b, cast(abs(a), t)};
      for (int k = 0; k < 8; ++k) nest.store(out[k], i, results[k]);
    });
    const double tolerance = t == DType::kComplex64 ? 1e-5 : 1e-13;
    EXPECT_EQ(check_nest(nest, {random_bytes(t, n, 1), random_bytes(t, n, 2)},
                         std::vector<int64_t>(8, n), tolerance),
              "");
    Operands data{{random_bytes(t, n, 1), random_bytes(t, n, 2)},
                  std::vector<Bytes>(8, Bytes(16 * n))};
    run(nest, data.pointers().data());
    auto at = [&](const Bytes& b, int64_t i) {
      const DType part = real_part_of(t);
      return std::complex<double>(element_as_double(b.data(), part, 2 * i),
                                  element_as_double(b.data(), part, 2 * i + 1));
    };
    for (int64_t i = 0; i < n; ++i) {
      const auto a = at(data.in[0], i), b = at(data.in[1], i);
      const std::complex<double> want[] = {a * b,
                                           a / b,
                                           std::exp(a),
                                           std::log(a),
                                           std::sqrt(a),
                                           std::pow(a, b),
                                           std::conj(a) * 2.0 - b,
                                           std::abs(a)};
      for (int k = 0; k < 8; ++k) {
        EXPECT_LE(std::abs(at(data.out[k], i) - want[k]), tolerance * (1 + std::abs(want[k])))
            << k << " of " << a;
      }
    }
  }
}

}  // namespace
}  // namespace mycel::loops
