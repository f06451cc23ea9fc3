// The probe counts every step of compiled programs, those of loops too, each once.
#include "runtime/probe.h"

#include <string>

#include <gtest/gtest.h>

#include "runtime/control.h"
#include "runtime/jit.h"
#include "runtime/op_calls.h"

namespace mycel::runtime {
namespace {

using op_calls::run1;

Tensor i32(int64_t v) { return Tensor::scalar(DType::kInt32, v); }

const ProbeRow* row(const ProbeReport& r, const std::string& op) {
  for (const ProbeRow& x : r.rows) {
    if (x.op == op) return &x;
  }
  return nullptr;
}

TEST(Probe, CountsKernelsWithTheirWork) {
  Jit f([](std::span<const Tensor> x) { return Tensors{run1("matmul", {x[0], x[1]})}; });
  Tensor a = op_calls::counting({64, 32}), b = op_calls::counting({32, 48});
  const Tensor in[] = {a, b};
  f(in);
  probe_start();
  for (int i = 0; i < 3; ++i) f(in);
  ProbeReport report = probe_stop();
  f(in);  // no longer counted
  const ProbeRow* product = row(report, "batch_matmul");
  ASSERT_TRUE(product) << report.str();
  EXPECT_EQ(product->runs, 2) << "the first run meets cold memory";
  EXPECT_EQ(product->flops, 2 * 64 * 32 * 48);
  EXPECT_EQ(product->bytes, 4 * (64 * 32 + 32 * 48 + 64 * 48));
  EXPECT_EQ(report.plan_runs, 2);
  int64_t steps = 0;
  for (const ProbeRow& r : report.rows) steps += r.ns;
  EXPECT_LE(steps + report.between_ns, report.plan_ns);
  EXPECT_GT(product->ns, 0);
  EXPECT_TRUE(probe_stop().rows.empty());
  EXPECT_NE(report.str(40, {100, 10}).find("% "), std::string::npos);
}

TEST(Probe, StepsInsideALoopAreNotCountedTwice) {
  Jit f([](std::span<const Tensor> x) {
    Fn condition = [](std::span<const Tensor> v) { return Tensors{run1("less", {v[0], i32(10)})}; };
    Fn body = [](std::span<const Tensor> v) {
      return Tensors{run1("add", {v[0], i32(1)}), run1("matmul", {v[1], v[1]})};
    };
    return while_loop(condition, body, x);
  });
  const Tensor in[] = {i32(0), op_calls::counting({8, 8})};
  f(in);
  probe_start();
  f(in);
  ProbeReport report = probe_stop();
  const ProbeRow *product = row(report, "batch_matmul"), *loop = row(report, "while_loop");
  ASSERT_TRUE(product && loop) << report.str();
  EXPECT_EQ(product->runs, 9);
  EXPECT_EQ(loop->runs, 1);
  EXPECT_LE(loop->ns + product->ns, report.plan_ns);
}

}  // namespace
}  // namespace mycel::runtime
