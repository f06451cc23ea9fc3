// What plans keep from run to run, and what fused epilogues do to numbers that are none.
#include "runtime/plan.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ir/text.h"
#include "runtime/dispatch.h"

namespace mycel::runtime {
namespace {

Tensor filled(const Shape& s, double seed) {
  Tensor t = Tensor::empty(DType::kFloat32, s);
  for (int64_t i = 0; i < t.size(); ++i) {
    t.mutable_data<float>()[i] = static_cast<float>(std::sin(0.7 * static_cast<double>(i) + seed));
  }
  return t;
}

// A scaled weight, a convolution and a product, whose weights kernels want packed.
std::shared_ptr<ir::Graph> network() {
  return ir::parse(
      "graph net(%0: float32[1, 5, 6, 6], %1: float32[32, 5, 3, 3], %2: float32[32], %3: "
      "float32[48, 32]) {\n"
      "  %4 = reshape(%2) {shape=[32, 1, 1, 1]} : float32[32, 1, 1, 1]\n"
      "  %5 = mul(%1, %4) : float32[32, 5, 3, 3]\n"
      "  %6 = conv2d(%0, %5, %2) : float32[1, 32, 4, 4]\n"
      "  %7 = relu(%6) : float32[1, 32, 4, 4]\n"
      "  %8 = reduce_mean(%7) {axis=[2, 3]} : float32[1, 32]\n"
      "  %9 = dense(%8, %3, _) : float32[1, 48]\n"
      "  return %9\n}\n");
}

void expect_near(const Tensor& got, const Tensor& want) {
  for (int64_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(got.data<float>()[i], want.data<float>()[i], 1e-4) << "at " << i;
  }
}

// Each op on its own, by the kernel that serves as the reference of all others.
Tensor one_by_one(const Tensors& in) {
  const ir::Op& reshape = ir::op_named("reshape");
  Tensor scale = call1(reshape, {in[2]}, {ir::Attr(Shape{32, 1, 1, 1})});
  Tensor w = call1(ir::op_named("mul"), {in[1], scale});
  Tensor y = call1(ir::op_named("relu"), {call1(ir::op_named("conv2d"), {in[0], w, in[2]})});
  Tensor m = call1(ir::op_named("reduce_mean"), {y}, {ir::Attr(ir::Attr::Ints{2, 3})});
  return call1(ir::op_named("dense"), {m, in[3]});
}

Tensors operands() {
  return {filled({1, 5, 6, 6}, 0.1), filled({32, 5, 3, 3}, 1), filled({32}, 2),
          filled({48, 32}, 3)};
}

TEST(Plan, WhatFollowsFromWeightsIsKeptUntilTheyAreOthers) {
  PlanOptions options;
  options.steady = {false, true, true, true};
  auto plan = Plan::build(*network(), options);
  EXPECT_NE(plan->str().find("when weights change: mul"), std::string::npos) << plan->str();
  Tensors in = operands();
  for (int turn = 0; turn < 6; ++turn) {
    if (turn == 2) in[0] = filled({1, 5, 6, 6}, 5);
    if (turn == 3) in[1] = filled({32, 5, 3, 3}, 6);
    if (turn == 4) in[3] = filled({48, 32}, 7);
    expect_near(plan->run(in)[0], one_by_one(in));
  }
}

TEST(Plan, MemoryThatOthersMayWriteToIsReadEveryTime) {
  PlanOptions options;
  options.steady = {false, true, true, true};
  auto plan = Plan::build(*network(), options);
  Tensors in = operands();
  std::vector<float> outside(in[1].data<float>().begin(), in[1].data<float>().end());
  in[1] = Tensor::wrap(outside.data(), DType::kFloat32, {32, 5, 3, 3}, [] {});
  for (int turn = 0; turn < 3; ++turn) {
    for (float& v : outside) v = v * 0.5f + 0.25f;
    expect_near(plan->run(in)[0], one_by_one(in));
  }
}

TEST(Plan, NotANumberGoesThroughAConvolutionWithReLU) {
  for (const char* op : {"relu", "relu6"}) {
    auto g =
        ir::parse(std::string("graph net(%0: float32[1, 1, 1, 5], %1: float32[16, 1, 1, 1]) {\n"
                              "  %2 = conv2d(%0, %1, _) : float32[1, 16, 1, 5]\n  %3 = ") +
                  op + "(%2) : float32[1, 16, 1, 5]\n  return %3\n}\n");
    Tensor x = Tensor::from(
        std::vector<float>{-2.5f, std::numeric_limits<float>::quiet_NaN(), 0.125f, 7.5f, 1e-30f},
        {1, 1, 1, 5});
    auto plan = Plan::build(*g);
    Tensor y =
        plan->run(std::vector<Tensor>{x, Tensor::full(DType::kFloat32, {16, 1, 1, 1}, 1)})[0];
    for (int64_t c = 0; c < 16; ++c) {
      auto at = [&](int64_t i) { return y.data<float>()[c * 5 + i]; };
      EXPECT_EQ(at(0), 0.0f) << plan->str();
      EXPECT_TRUE(std::isnan(at(1))) << plan->str();
      EXPECT_NEAR(at(2), 0.125f, 5e-7);
      EXPECT_EQ(at(3), std::string(op) == "relu" ? 7.5f : 6.0f);
      EXPECT_NEAR(at(4), 0, 5e-7);
    }
  }
}

}  // namespace
}  // namespace mycel::runtime
