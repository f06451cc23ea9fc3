// Damaged files must end in a UserError or load; never in a crash, a hang or another exception. The
// coverage-guided twin is tests/fuzz/safetensors_fuzz.cc, for any number of files with sanitizers
// tests/fuzz/safetensors_damage.cc.
#include <gtest/gtest.h>

#include "base/error.h"
#include "mutated_safetensors.h"
#include "tensor/safetensors.h"

namespace mycel {
namespace {

TEST(CiSafetensorsFuzz, MutatedFiles) {
  const std::vector<Bytes> whole = whole_safetensors();
  ASSERT_EQ(whole[0].size(), 1075u);
  Philox draw(20240607);
  int loaded = 0, refused = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    const Bytes b = damaged_safetensors(whole, i, &draw);
    try {
      const Checkpoint c = parse_safetensors(std::as_bytes(std::span(b)), "f");
      ++loaded;
      for (const auto& [name, t] : c.tensors) (void)t.str();
    } catch (const UserError& e) {
      ++refused;
      ASSERT_TRUE(std::string(e.what()).starts_with("f: ")) << e.what();
    }
  }
  EXPECT_GT(loaded, 200);  // otherwise the mutations are too coarse to reach anything
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace mycel
