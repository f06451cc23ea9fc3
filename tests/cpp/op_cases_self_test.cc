// The generic runner on records with planted mistakes: every column must see its own. The ops are
// not registered, so nothing else meets them.
#include <deque>

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/adjoint.h"
#include "ir/type_rule.h"
#include "op_cases.h"
#include "ops/elementwise/elementwise.h"

namespace mycel::op_cases {
namespace {

using namespace ir;  // NOLINT: the vocabulary of records

int failures(const OpDef& def, const std::string& column) {
  static int next_id = 1 << 20;
  // The dispatcher keeps a reference for its cache, so the ops live on.
  static auto* ops = new std::deque<Op>;
  const Op& op = ops->emplace_back(def, ++next_id);
  return static_cast<int>(run_column(column, read_cases(op), false, nullptr).size());
}

// Doubles its operand; `change` plants the mistake.
OpDef doubling(const char* name) {
  OpDef d;
  d.name = name;
  d.doc = "2 x.";
  d.in = {"x: float"};
  d.type = types::same_as_first;
  d.shard = "... -> ...";
  d.grad = [](Adjoint& a) { a.dx(0) += a.dy() * 2.0; };
  d.scalar = unary([](auto x) { return x + x; });
  d.cases = "at (3) -> 6";
  return d;
}

TEST(OpCasesSelf, ARightRecordPasses) {
  OpDef d = doubling("right_op");
  for (const char* column : kColumns) {
    if (std::string(column) == "text") continue;
    EXPECT_EQ(failures(d, column), 0) << column;
  }
}

TEST(OpCasesSelf, AWrongGradientFails) {
  OpDef d = doubling("wrong_gradient");
  d.grad = [](Adjoint& a) { a.dx(0) += a.dy() * 2.001; };
  EXPECT_GT(failures(d, "grad"), 0);
  EXPECT_EQ(failures(d, "points"), 0);
}

TEST(OpCasesSelf, AWrongSecondGradientFails) {
  OpDef d = doubling("wrong_second_gradient");
  // The slope of x^2 is right, but hidden from the second differentiation.
  d.scalar = unary([](auto x) { return x * x; });
  d.grad = [](Adjoint& a) { a.dx(0) += a.dy() * 2.0 * op_named("stop_gradient").def({a.x(0)}); };
  d.cases = "default";
  EXPECT_EQ(failures(d, "grad"), 0);
  EXPECT_GT(failures(d, "grad2"), 0);
}

TEST(OpCasesSelf, AWrongValueFails) {
  OpDef d = doubling("wrong_value");
  d.cases = "at (3) -> 6.0000001";
  EXPECT_EQ(failures(d, "points"), 1);
}

TEST(OpCasesSelf, AWrongTypeRuleFails) {
  OpDef d = doubling("wrong_type");
  d.type = [](TypeRuleCtx& c) {
    Shape s = c.shape(0);
    for (int i = 0; i < s.rank(); ++i) {
      if (s[i] == kUnknownDim) s.set(i, 1);  // guesses
    }
    c.result(c.dtype(0), s);
  };
  EXPECT_GT(failures(d, "type"), 0);
}

TEST(OpCasesSelf, AnAcceptedBadOperandFails) {
  OpDef d = doubling("accepts_all");
  d.cases = "bad x[2]";
  EXPECT_EQ(failures(d, "bad_input"), 1);
}

TEST(OpCasesSelf, AMalformedLineIsNamed) {
  for (const char* line :
       {"y in (0, 1)", "x[2", "x inn (0, 1)", "alpha = 3", "x[n]; when n ~ 3", "at (1) = 2"}) {
    OpDef d = doubling("malformed");
    d.cases = line;
    Op op(d, 1 << 19);
    EXPECT_THROW(read_cases(op), InternalError) << line;
  }
}

TEST(OpCasesSelf, AlternativesMultiplyAndConditionsFilter) {
  OpDef d = doubling("grid");
  d.in = {"x: float[n, m]"};
  d.attr = {"k: int = 1"};
  d.cases = "n = 1 2 3; k = 1 2; when k <= n; x in ints(k, n) | k = 2";
  Op op(d, 1 << 19);
  OpCases c = read_cases(op);
  // k = 1: n in 1..3; k = 2: n in 2..3; then the second group: k = 2 alone.
  ASSERT_EQ(c.cases.size(), 7u);
  for (const Case& one : c.cases) {
    EXPECT_EQ(one.inputs[0].dim(1), 2) << one.text;
    for (double v : one.inputs[0].data<double>()) {
      EXPECT_GE(v, static_cast<double>(one.attrs[0].integer())) << one.text;
      EXPECT_LE(v, static_cast<double>(one.inputs[0].dim(0))) << one.text;
    }
  }
}

}  // namespace
}  // namespace mycel::op_cases
