#include "ir/diff.h"

#include <gtest/gtest.h>

#include "ir/text.h"

namespace mycel::ir {
namespace {

std::string diff_of(const std::string& a, const std::string& b) {
  std::string out;
  for (const DiffLine& l : diff(*parse(a), *parse(b)))
    out += std::string(1, l.mark) + " " + l.text + "\n";
  return out;
}

const char* const kNet = R"(graph net(%0: float32[2, 3] "x", %1: float32[3]) {
  %2 = add(%0, %1) : float32[2, 3] @"net.py:3"
  %3 = tanh(%2) : float32[2, 3]
  %4 = constant() {value=tensor float32[] "0000803f"} : float32[]
  %5 = mul(%3, %4) : float32[2, 3]
  %6 = reduce_sum(%5) {axis=[1]} : float32[2]
  return %6
})";

std::string with(std::string text, const std::string& old, const std::string& by) {
  size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), by);
}

TEST(Diff, NamesPlacesAndOrderDoNotCount) {
  EXPECT_EQ(diff_of(kNet, with(kNet, "net.py:3", "other.py:8")), "");
  EXPECT_EQ(diff_of(kNet, with(kNet, "graph net", "graph other")), "");
  EXPECT_EQ(diff_of(kNet, R"(graph net(%0: float32[2, 3] "x", %1: float32[3]) {
  %2 = constant() {value=tensor float32[] "0000803f"} : float32[]
  %3 = add(%0, %1) : float32[2, 3]
  %4 = tanh(%3) : float32[2, 3]
  %5 = mul(%4, %2) : float32[2, 3]
  %6 = reduce_sum(%5) {axis=[1]} : float32[2]
  return %6
})"),
            "");
}

TEST(Diff, AChangeIsSaidOnceWhereItIsMade) {
  EXPECT_EQ(diff_of(kNet, with(kNet, "tanh", "sigmoid")),
            "- %3 = tanh(%2) : float32[2, 3]\n"
            "+ %3 = sigmoid(%2) : float32[2, 3]\n"
            "~ %5 mul: operand 0: %3 (tanh) -> %3 (sigmoid)\n");
  EXPECT_EQ(diff_of(kNet, with(kNet, "add(%0, %1)", "add(%1, %0)")),
            "~ %2 add: operand 0: %0 (x) -> %1; operand 1: %1 -> %0 (x)\n");
  EXPECT_EQ(
      diff_of(kNet, with(with(kNet, "axis=[1]", "axis=[0]"), ": float32[2]\n", ": float32[3]\n")),
      "~ %6 reduce_sum: axis=[1] -> [0]; float32[2] -> float32[3]\n");
  EXPECT_EQ(diff_of(kNet, with(kNet, "0000803f", "00000040")),
            "~ %4 constant: value=tensor float32[] -> another one\n");
}

TEST(Diff, ParametersAndResults) {
  EXPECT_EQ(diff_of(kNet, with(kNet, "\"x\"", "\"y\"")),
            "~ parameter %0 (x): float32[2, 3] -> parameter %0 (y): float32[2, 3]\n");
  EXPECT_EQ(diff_of(kNet, with(kNet, "return %6", "return %5, %6")),
            "~ result 0: %6 (reduce_sum) -> %5 (mul)\n+ result 1: %6 (reduce_sum)\n");
  EXPECT_EQ(diff_of("graph g(%0: float32[?, 2], %1: int32[]) {\n  return %0\n}\n",
                    "graph g(%0: float32[4, 2]) {\n  return %0\n}\n"),
            "~ parameter %0: float32[?, 2] -> parameter %0: float32[4, 2]\n"
            "- parameter %1: int32[]\n");
}

TEST(Diff, RegionsAndFunctions) {
  const char* loop = R"(graph g(%0: int32[], %1: float32[]) {
  %2, %3 = while_loop(%0, %1) {condition=graph condition(%0: int32[], %1: float32[]) {
    %2 = less(%0, %0) : bool[]
    return %2
  }, body=graph body(%0: int32[], %1: float32[]) {
    %2 = cond(%0, %1) {then=graph then(%0: float32[]) {
      %1 = exp(%0) : float32[]
      return %1
    }, otherwise=graph otherwise(%0: float32[]) {
      return %0
    }} : float32[]
    return %0, %2
  }} : int32[], float32[]
  %4 = call(%3) {function=@f} : float32[]
  return %4
}
@f(float32[]) -> float32[] = graph f(%0: float32[]) {
  %1 = sin(%0) : float32[]
  return %1
}
)";
  std::string text = with(loop, "cond(%0, %1)", "cond(%2, %1)");
  text = with(text, "    %2 = cond", "    %2 = less(%0, %0) : bool[]\n    %3 = cond");
  text = with(text, "return %0, %2", "return %0, %3");
  EXPECT_EQ(diff_of(text, text), "");
  EXPECT_EQ(diff_of(text, with(text, "exp(%0)", "log(%0)")),
            "  in %2, %3 while_loop, body:\n"
            "    in %3 cond, then:\n"
            "-     %1 = exp(%0) : float32[]\n"
            "+     %1 = log(%0) : float32[]\n"
            "~     result 0: %1 (exp) -> %1 (log)\n");
  EXPECT_EQ(diff_of(text, with(text, "sin(%0)", "neg(%0)")),
            "  function @f:\n"
            "-   %1 = sin(%0) : float32[]\n"
            "+   %1 = neg(%0) : float32[]\n"
            "~   result 0: %1 (sin) -> %1 (neg)\n");
}

}  // namespace
}  // namespace mycel::ir
