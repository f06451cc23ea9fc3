// Sparse tensors from C++: against sums written out, compiled and differentiated.
#include "nn/sparse.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "mycel/ops.h"
#include "runtime/jit.h"
#include "runtime/transforms.h"

namespace mycel::nn {
namespace {

Tensor reals(std::vector<double> v, Shape s) { return Tensor::from(v, s); }
std::vector<double> list(const Tensor& t) {
  return {t.data<double>().begin(), t.data<double>().end()};
}

// [[0, 1, 0], [2, 0, 3]].
CsrMatrix sample() {
  return {Tensor::from(std::vector<int64_t>{0, 1, 3}, {3}),
          Tensor::from(std::vector<int64_t>{1, 0, 2}, {3}), reals({1, 2, 3}, {3}), Shape{2, 3}};
}

TEST(Sparse, FormsAgree) {
  std::vector<double> dense{0, 1, 0, 2, 0, 3};
  CsrMatrix a = sample();
  EXPECT_EQ(list(a.to_dense()), dense);
  EXPECT_EQ(list(a.to_coo().to_dense()), dense);
  EXPECT_EQ(list(a.to_coo().to_csr().to_dense()), dense);
  EXPECT_EQ(list(to_csr(reals(dense, {2, 3})).values), (std::vector<double>{1, 2, 3}));
}

TEST(Sparse, Products) {
  CsrMatrix a = sample();
  Tensor x = reals({1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_EQ(list(a.mm(x)), (std::vector<double>{3, 4, 17, 22}));
  EXPECT_EQ(list(a.to_coo().mm(x)), (std::vector<double>{3, 4, 17, 22}));
  EXPECT_EQ(list(a.mv(reals({1, 10, 100}, {3}))), (std::vector<double>{10, 302}));
  EXPECT_EQ(list(a.to_coo().mm(reals({1, 10}, {2, 1}), true)), (std::vector<double>{20, 1, 30}));
  EXPECT_EQ(list(a.mm(to_csr(x)).to_dense()), (std::vector<double>{3, 4, 17, 22}));
  EXPECT_EQ(list(a.sum(1)), (std::vector<double>{1, 5}));
  EXPECT_EQ(list(a.sum(0)), (std::vector<double>{2, 1, 3}));
}

TEST(Sparse, Sums) {
  CsrMatrix a = sample();
  EXPECT_EQ(list(add(a, a, 2, -1).values), (std::vector<double>{1, 2, 3}));
  CooTensor c = a.to_coo();
  EXPECT_EQ(list(add(c, c, 3).values), (std::vector<double>{4, 6}));
  CooTensor twice{Tensor::from(std::vector<int64_t>{0, 1, 0, 1}, {2, 2}), reals({4, 5}, {2}),
                  Shape{2, 2}};
  EXPECT_EQ(list(twice.coalesce().values), (std::vector<double>{9}));
}

TEST(Sparse, CompiledAndDifferentiated) {
  runtime::Fn f = [](std::span<const Tensor> x) {
    CsrMatrix a = sample();
    a.values = x[0];
    return Tensors{ops::reduce_sum(ops::square(a.mm(x[1])))};
  };
  std::vector<Tensor> args{reals({1, 2, 3}, {3}), reals({1, 2, 3}, {3, 1})};
  EXPECT_EQ(runtime::Jit(f, "sparse")(args)[0].item(), 4 + 121);
  runtime::GradOptions both;
  both.wrt = {0, 1};
  Tensors g = runtime::value_and_grad(f, args, both).inputs;
  EXPECT_EQ(list(g[0]), (std::vector<double>{2 * 2 * 2, 2 * 11 * 1, 2 * 11 * 3}));
  EXPECT_EQ(list(g[1]), (std::vector<double>{2 * 11 * 2, 2 * 2 * 1, 2 * 11 * 3}));
}

TEST(Sparse, ShapesMustMeet) {
  CsrMatrix other = to_csr(reals({1, 0, 0, 1}, {2, 2}));
  EXPECT_THROW(add(sample(), other), UserError);
  EXPECT_THROW(sample().mm(other), UserError);
}

}  // namespace
}  // namespace mycel::nn
