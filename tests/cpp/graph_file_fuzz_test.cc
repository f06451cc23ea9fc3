// Damaged model files, a small number; tests/fuzz/graph_file_fuzz.cc runs any number.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "mutated_graph_files.h"

namespace mycel {
namespace {

TEST(CiGraphFileFuzz, DamagedFilesAreRefusedOrSound) {
  fuzz::Outcome o = fuzz::mutate_graph_files(20240607, 100000, [](const ir::Graph& g) {
    // What was accepted can be written down and read again.
    EXPECT_EQ(ir::parse(g.str())->str(), g.str());
  });
  EXPECT_EQ(o.failure, "");
  EXPECT_GT(o.loaded, 1000);  // otherwise the mutations are too coarse to reach anything
  EXPECT_GT(o.refused, 25000);
}

}  // namespace
}  // namespace mycel
