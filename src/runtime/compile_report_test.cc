#include "runtime/compile_report.h"

#include <regex>

#include <gtest/gtest.h>

#include "base/log.h"
#include "runtime/dispatch.h"
#include "runtime/jit.h"

namespace mycel::runtime {
namespace {

using Kind = Signature::Kind;

Signature sample() {
  return {{{"argument 'x'", Kind::kTensor, "float32[2, 3]"},
           {"argument 'n'", Kind::kValue, "2"},
           {"argument 'p'", Kind::kStructure, "(tensor, tensor)"},
           {"argument 'p'[0]", Kind::kTensor, "float32[]"},
           {"argument 'p'[1]", Kind::kTensor, "int32[]"},
           {"Net", Kind::kMode, "training"}}};
}

std::string reason_with(size_t part, Kind kind, const std::string& text) {
  Signature before[] = {sample()}, now = sample();
  now.parts[part].kind = kind;
  now.parts[part].text = text;
  return reason_to_compile(now, before);
}

TEST(CompileReport, SaysWhatChanged) {
  EXPECT_EQ(reason_to_compile(sample(), {}), "first call");
  EXPECT_EQ(reason_with(0, Kind::kTensor, "float32[4, 3]"),
            "argument 'x' has another shape: [4, 3] instead of [2, 3]");
  EXPECT_EQ(reason_with(0, Kind::kTensor, "int8[2, 3]"),
            "argument 'x' has another dtype: int8 instead of float32");
  EXPECT_EQ(reason_with(0, Kind::kTensor, "int8[]"),
            "argument 'x' has another dtype and shape: int8[] instead of float32[2, 3]");
  EXPECT_EQ(reason_with(1, Kind::kValue, "'a'"),
            "argument 'n' has another value: 'a' instead of 2");
  EXPECT_EQ(reason_with(1, Kind::kTensor, "int64[]"), "argument 'n' is int64[] instead of 2");
  EXPECT_EQ(reason_with(5, Kind::kMode, "evaluation"),
            "Net has another mode: evaluation instead of training");
}

TEST(CompileReport, AStructureIsOneChange) {
  Signature before[] = {sample()}, now = sample();
  now.parts[2].text = "(tensor, tensor, tensor)";
  now.parts.push_back({"argument 'p'[2]", Kind::kTensor, "int32[]"});
  EXPECT_EQ(reason_to_compile(now, before),
            "argument 'p' has another structure: (tensor, tensor, tensor) instead of (tensor, "
            "tensor)");
}

TEST(CompileReport, ComparesWithTheProgramMostAlike) {
  Signature a = sample(), b = sample(), now = sample();
  for (auto& p : b.parts) p.text += "?";
  a.parts[1].text = "7";
  Signature before[] = {a, b};
  EXPECT_EQ(reason_to_compile(now, before), "argument 'n' has another value: 2 instead of 7");
  Signature far[] = {b};
  EXPECT_EQ(reason_to_compile(now, far).substr(0, 20), "argument 'x' has ano");
  EXPECT_NE(reason_to_compile(now, far).find(" and 1 more"), std::string::npos);
  now.parts.erase(now.parts.begin());
  Signature one[] = {sample()};
  EXPECT_EQ(reason_to_compile(now, one), "argument 'x' is not given: float32[2, 3] before");
  EXPECT_EQ(reason_to_compile(sample(), std::vector<Signature>{now}),
            "argument 'x' is new: float32[2, 3]");
}

TEST(CompileReport, OneLineForEachProgramOfAJit) {
  set_log({.all = false, .channels = {"compile"}});
  Jit f([](std::span<const Tensor> x) { return Tensors{call1(ir::op_named("mul"), {x[0], x[0]})}; },
        "square");
  auto lines = [&](const Tensor& x, const std::string& key = "") {
    testing::internal::CaptureStderr();
    f(std::span(&x, 1), key);
    return testing::internal::GetCapturedStderr();
  };
  std::string first = lines(Tensor::full(DType::kFloat32, {2, 3}, 3));
  std::string again = lines(Tensor::full(DType::kFloat32, {2, 3}, 4));
  std::string shape = lines(Tensor::full(DType::kFloat32, {4, 3}, 4));
  std::string key = lines(Tensor::full(DType::kFloat32, {4, 3}, 4), "k");
  set_log({});
  auto says = [](const std::string& line, const std::string& what) {
    return std::regex_match(line,
                            std::regex("[0-9:.]+ info compile: square: " + what +
                                       "; trace [0-9.]+ s, passes [0-9.]+ s, kernels [0-9.]+ s\n"));
  };
  EXPECT_TRUE(says(first, "program 1: first call")) << first;
  EXPECT_EQ(again, "");
  EXPECT_TRUE(
      says(shape, "program 2: argument 0 has another shape: \\[4, 3\\] instead of \\[2, 3\\]"))
      << shape;
  EXPECT_TRUE(says(key, "program 3: the static key is new: k")) << key;
}

}  // namespace
}  // namespace mycel::runtime
