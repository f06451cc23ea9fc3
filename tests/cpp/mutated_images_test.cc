#include "mutated_images.h"

#include <gtest/gtest.h>

namespace mycel {
namespace {

TEST(MutatedImages, SamplesDecode) {
  const auto samples = sample_images();
  ASSERT_GE(samples.size(), 16U);
  for (const auto& s : samples) EXPECT_TRUE(decodes(s));
}

// Many more: build/tests/mycel_image_fuzz.
TEST(MutatedImages, DecodeOrAreRefused) {
  const auto samples = sample_images();
  int good = 0;
  for (uint64_t i = 0; i < 1500; ++i) good += decodes(mutated_image(samples, i)) ? 1 : 0;
  EXPECT_GT(good, 100);  // not all are found out by their first bytes
  EXPECT_LT(good, 1400);
}

TEST(MutatedImages, EveryCutIsAnErrorOrAnImage) {
  for (const auto& s : sample_images()) {
    for (size_t n = 0; n < s.size(); n += 7) decodes(s.substr(0, n));
    EXPECT_FALSE(decodes(s.substr(0, s.size() / 3)));
  }
}

}  // namespace
}  // namespace mycel
