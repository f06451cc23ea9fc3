#include "loops/reduce.h"

#include <cmath>

#include <gtest/gtest.h>

#include "loops/check_nest.h"

namespace mycel::loops {
namespace {

Reduction sum(DType t, DType accumulate) {
  Reduction r;
  r.name = "sum";
  r.in = {{t}};
  r.out = {t};
  r.accumulators = {{accumulate, 0}};
  r.lift = [accumulate](std::span<const Val> in, Val, std::span<Val> e) {
    e[0] = cast(in[0], accumulate);
  };
  r.combine = [](std::span<const Val> a, std::span<const Val> b, std::span<Val> e) {
    e[0] = a[0] + b[0];
  };
  r.finish = [](std::span<const Val> e, std::span<const Val>, Val, std::span<Val> out) {
    out[0] = e[0];
  };
  return r;
}

Reduction maximum(DType t) {
  Reduction r = sum(t, t);
  r.accumulators = {{t, -HUGE_VAL}};
  r.combine = [](std::span<const Val> a, std::span<const Val> b, std::span<Val> e) {
    e[0] = max(a[0], b[0]);
  };
  return r;
}

// The first position of the largest value.
Reduction argmax(DType t) {
  Reduction r;
  r.name = "argmax";
  r.in = {{t}};
  r.out = {DType::kInt64, t};
  r.accumulators = {{t, -HUGE_VAL}, {DType::kInt64, 0}};
  r.lift = [](std::span<const Val> in, Val at, std::span<Val> e) {
    e[0] = in[0];
    e[1] = at;
  };
  r.combine = [](std::span<const Val> a, std::span<const Val> b, std::span<Val> e) {
    const Val later = b[0] > a[0];
    e[0] = select(later, b[0], a[0]);
    e[1] = select(later, b[1], a[1]);
  };
  r.finish = [](std::span<const Val> e, std::span<const Val>, Val, std::span<Val> out) {
    out[0] = e[1];
    out[1] = e[0];
  };
  return r;
}

struct View {
  int64_t outer, n, inner;
};
const View kViews[] = {{1, 1, 1},    {5, 3, 1},     {1, 8, 100},    {4, 5, 17},
                       {30, 100, 1}, {2, 33000, 1}, {1, 20000, 3},  {3, 50, 70},
                       {2, 9, 2500}, {70, 20, 65},  {1, 200, 1100}, {4, 0, 3}};

void check(const Reduction& r, DType t, double tolerance) {
  for (const View& v : kViews) {
    const int64_t results = v.outer * v.inner;
    if (v.n == 0 && r.name == "argmax") continue;
    EXPECT_EQ(check_nest(reduce(r, v.outer, v.n, v.inner), {random_bytes(t, results * v.n, 3)},
                         std::vector<int64_t>(r.out.size(), results), tolerance),
              "");
  }
}

TEST(Reduce, Sums) {
  check(sum(DType::kFloat32, DType::kFloat32), DType::kFloat32, 1e-3);
  check(sum(DType::kFloat32, DType::kFloat64), DType::kFloat32, 1e-6);
  check(sum(DType::kInt32, DType::kInt32), DType::kInt32, 0);
  check(sum(DType::kBFloat16, DType::kFloat32), DType::kBFloat16, 1e-2);
  check(sum(DType::kComplex64, DType::kComplex64), DType::kComplex64, 1e-3);
}

TEST(Reduce, Extremes) {
  check(maximum(DType::kFloat32), DType::kFloat32, 0);
  check(maximum(DType::kInt8), DType::kInt8, 0);
  check(maximum(DType::kUInt16), DType::kUInt16, 0);
  check(argmax(DType::kFloat32), DType::kFloat32, 0);
}

TEST(Reduce, NanWinsInExtremes) {
  for (const View& v : {View{1, 100, 1}, View{1, 100000, 1}, View{1, 100, 40}, View{4, 4, 1}}) {
    Bytes x = random_bytes(DType::kFloat32, v.outer * v.n * v.inner, 1);
    reinterpret_cast<float*>(x.data())[(v.n / 2) * v.inner] = NAN;
    EXPECT_EQ(check_nest(reduce(maximum(DType::kFloat32), v.outer, v.n, v.inner), {x},
                         {v.outer * v.inner}, 0),
              "");
  }
}

// The second half of a softmax: sum of exp(x - max), with max given for each result.
TEST(Reduce, PerResultInputs) {
  Reduction r = sum(DType::kFloat32, DType::kFloat32);
  r.in = {{DType::kFloat32}, {DType::kFloat32, true}};
  r.lift = [](std::span<const Val> in, Val, std::span<Val> e) { e[0] = exp(in[0] - in[1]); };
  r.finish = [](std::span<const Val> e, std::span<const Val> in, Val n, std::span<Val> out) {
    out[0] = log(e[0]) + in[1] - log(cast(n, DType::kFloat32));
  };
  for (const View& v : kViews) {
    if (v.n == 0) continue;
    const int64_t results = v.outer * v.inner;
    EXPECT_EQ(check_nest(reduce(r, v.outer, v.n, v.inner),
                         {random_bytes(DType::kFloat32, results * v.n, 3),
                          random_bytes(DType::kFloat32, results, 4)},
                         {results}, 1e-4),
              "");
  }
}

}  // namespace
}  // namespace mycel::loops
