// What the generic cases cannot say: errors for labels, extreme logits, and published numbers.
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/op.h"
#include "runtime/dispatch.h"

namespace mycel::ops {
namespace {

double get(const Tensor& t, int64_t i) { return element_as_double(t.raw(), t.dtype(), i); }

Tensor labels_of(std::vector<int32_t> v) {
  int64_t n = static_cast<int64_t>(v.size());
  return Tensor::from(v, {n});
}

TEST(Loss, ALabelOutOfRangeIsNamed) {
  Tensor x = Tensor::zeros(DType::kFloat32, {3, 4});
  for (const char* op :
       {"sparse_softmax_cross_entropy", "pick_class", "nll_loss", "cross_entropy"}) {
    try {
      Tensor in[] = {x, labels_of({0, 3, 4})};
      runtime::call(ir::op_named(op), in);
      FAIL() << op << " accepted label 4 of 4 classes";
    } catch (const UserError& e) {
      EXPECT_NE(e.message().find("label 4 at position 2 is outside [0, 4)"), std::string::npos)
          << e.message();
    }
  }
}

TEST(Loss, IgnoredLabelsCountNothing) {
  Tensor x = Tensor::from(std::vector<double>{0, 0, 5, -3, 1, 1}, {3, 2});
  Tensor all = runtime::call1(ir::op_named("cross_entropy"), {x, labels_of({0, -100, 1})});
  EXPECT_NEAR(all.item(), std::log(2.0), 1e-12);  // rows 0 and 2 have equal logits
}

TEST(Loss, LargeLogitsDoNotOverflow) {
  Tensor x = Tensor::from(std::vector<float>{1000, -1000, -1000, 1000}, {2, 2});
  Tensor in[] = {x, labels_of({0, 0})};
  Tensors y = runtime::call(ir::op_named("sparse_softmax_cross_entropy"), in);
  EXPECT_EQ(get(y[0], 0), 0);
  EXPECT_EQ(get(y[0], 1), 2000);
}

// loss = -Σ y log softmax(x), computed here in double.
TEST(Loss, SoftmaxCrossEntropyIsItsDefinition) {
  std::vector<double> x = {0.5, -1, 2, 3, 0, -2}, y = {0.2, 0.3, 0.5, 0, 1, 0};
  Tensor in[] = {Tensor::from(x, {2, 3}), Tensor::from(y, {2, 3})};
  Tensors out = runtime::call(ir::op_named("softmax_cross_entropy_with_logits"), in);
  for (int r = 0; r < 2; ++r) {
    double sum = 0, loss = 0;
    for (int c = 0; c < 3; ++c) sum += std::exp(x[3 * r + c]);
    for (int c = 0; c < 3; ++c) {
      double p = std::exp(x[3 * r + c]) / sum;
      loss -= y[3 * r + c] * std::log(p);
      EXPECT_NEAR(get(out[1], 3 * r + c), p - y[3 * r + c], 1e-12);
    }
    EXPECT_NEAR(get(out[0], r), loss, 1e-12);
  }
}

}  // namespace
}  // namespace mycel::ops
