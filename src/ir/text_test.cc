// The text form refuses what is no graph; tests/cpp/random_graph_test.cc takes it there and back.
#include "ir/text.h"

#include <gtest/gtest.h>

namespace mycel::ir {
namespace {

TEST(Text, RefusesWhatIsNoGraph) {
  for (const char* bad :
       {"", "graph", "graph g() {", "graph g() { %1 = exp(%0) : float32[2] return %1 }",
        "graph g(%0: float32[2]) { %1 = nosuch(%0) : float32[2] return %1 }",
        "graph g(%0: float32[2]) { %1 = exp(%0) : float32[3] return %1 }",
        "graph g(%0: float33[2]) { return %0 }"}) {
    EXPECT_THROW(parse(bad), std::exception) << bad;
  }
}

}  // namespace
}  // namespace mycel::ir
