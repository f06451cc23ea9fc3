// Passes on small graphs in text form: what goes in, what comes out, and that a second run changes
// nothing.
#include <gtest/gtest.h>

#include "ir/structural.h"
#include "ir/text.h"
#include "passes/pass.h"

namespace mycel::passes {
namespace {

void expect_pass(GraphOut (*pass)(const ir::Graph&), const std::string& in,
                 const std::string& out) {
  GraphOut got = pass(*ir::parse(in));
  EXPECT_EQ(got->str(), out);
  EXPECT_TRUE(ir::structurally_equal(*pass(*got), *got)) << "not idempotent";
}

TEST(EliminateDeadCode, DropsWhatNobodyReads) {
  expect_pass(
      eliminate_dead_code,
      "graph g(%0: float32[2], %1: float32[2]) {\n  %2 = exp(%0) : float32[2]\n"
      "  %3 = neg(%1) : float32[2]\n  return %2\n}\n",
      "graph g(%0: float32[2], %1: float32[2]) {\n  %2 = exp(%0) : float32[2]\n  return %2\n}\n");
}

TEST(MergeDuplicates, SharesEqualNodes) {
  expect_pass(
      merge_duplicates,
      "graph g(%0: float32[2]) {\n  %1 = exp(%0) : float32[2]\n  %2 = exp(%0) : float32[2]\n"
      "  %3 = mul(%1, %2) : float32[2]\n  return %3\n}\n",
      "graph g(%0: float32[2]) {\n  %1 = exp(%0) : float32[2]\n"
      "  %2 = mul(%1, %1) : float32[2]\n  return %2\n}\n");
}

TEST(FuseElementwise, JoinsAChainAndKeepsResults) {
  expect_pass(
      fuse_elementwise,
      "graph g(%0: float32[2, 3], %1: float32[3]) {\n  %2 = add(%0, %1) : float32[2, 3]\n"
      "  %3 = exp(%2) : float32[2, 3]\n  %4 = neg(%3) : float32[2, 3]\n  return %4, %2\n}\n",
      "graph g(%0: float32[2, 3], %1: float32[3]) {\n"
      "  %2, %3 = fused(%0, %1) {body=graph fused(%0: float32[2, 3], %1: float32[3]) {\n"
      "    %2 = add(%0, %1) : float32[2, 3]\n    %3 = exp(%2) : float32[2, 3]\n"
      "    %4 = neg(%3) : float32[2, 3]\n    return %2, %4\n  }} : float32[2, 3], float32[2, 3]\n"
      "  return %3, %2\n}\n");
}

TEST(FuseElementwise, AUseOutsideTheGroupKeepsAProducerApart) {
  // exp feeds both the chain and a reduction that the chain waits for: it cannot join.
  GraphOut got = fuse_elementwise(*ir::parse(
      "graph g(%0: float32[4]) {\n  %1 = exp(%0) : float32[4]\n  %2 = reduce_sum(%1) : float32[]\n"
      "  %3 = sub(%1, %2) : float32[4]\n  %4 = neg(%3) : float32[4]\n  return %4\n}\n"));
  EXPECT_NE(got->str().find("%1 = exp(%0)"), std::string::npos) << got->str();
}

TEST(Text, RefusesWhatIsNoGraph) {
  for (const char* bad :
       {"", "graph", "graph g() {", "graph g() { %1 = exp(%0) : float32[2] return %1 }",
        "graph g(%0: float32[2]) { %1 = nosuch(%0) : float32[2] return %1 }",
        "graph g(%0: float32[2]) { %1 = exp(%0) : float32[3] return %1 }",
        "graph g(%0: float33[2]) { return %0 }"}) {
    EXPECT_THROW(ir::parse(bad), std::exception) << bad;
  }
}

}  // namespace
}  // namespace mycel::passes
