// Transforms of images from C++: closed forms, joined steps against single ones, errors. What they
// give compared with other programs: tests/python/dataset.
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "data/transform.h"

namespace mycel::data {
namespace {

// A picture of slopes, [h, w, 3].
Tensor picture(int64_t h, int64_t w) {
  std::vector<uint8_t> p;
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x)
      for (int64_t k = 0; k < 3; ++k)
        p.push_back(
            static_cast<uint8_t>(128 + 100 * std::sin(0.05 * static_cast<double>(x + 7 * k)) *
                                           std::cos(0.04 * static_cast<double>(y + 3 * k))));
  return Tensor::from(p, {h, w, 3});
}

Tensor run(const std::vector<TransformPtr>& steps, const Tensor& t, uint64_t seed = 0) {
  Row row{t};
  Philox draw(seed);
  run_all(steps, &row, draw);
  return row[0].tensor();
}

double farthest(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  EXPECT_EQ(a.dtype(), b.dtype());
  double most = 0;
  for (int64_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(element_as_double(a.raw(), a.dtype(), i) -
                                   element_as_double(b.raw(), b.dtype(), i)));
  return most;
}

TEST(Vision, ResizeKeepsProportions) {
  const Tensor t = run({make_transform("vision.Resize", {{"size", 30}})}, picture(60, 91));
  EXPECT_EQ(t.shape(), (Shape{30, 45, 3}));
}

// Loops over whole pixels read and write in vectors: every size, up to the last byte of a row.
TEST(Vision, ThreeChannelsAreResizedAsThreePlanes) {
  for (const char* inter : {"NEAREST", "BILINEAR", "BICUBIC", "AREA", "ANTIALIAS", "PILCUBIC"}) {
    for (int64_t from = 1; from < 30; from += 3) {
      for (int64_t to = 1; to < 40; to += 4) {
        const Tensor whole = picture(from, from + 2);
        const std::vector<TransformPtr> change = {make_transform(
            "vision.Resize", {{"size", Option::List{to, to + 1}}, {"interpolation", inter}})};
        const Tensor got = run(change, whole);
        for (int64_t k = 0; k < 3; ++k) {
          std::vector<uint8_t> plane;
          for (int64_t i = k; i < whole.size(); i += 3)
            plane.push_back(whole.data<uint8_t>()[static_cast<size_t>(i)]);
          const Tensor want = run(change, Tensor::from(plane, {from, from + 2}));
          for (int64_t i = 0; i < want.size(); ++i)
            ASSERT_EQ(got.data<uint8_t>()[static_cast<size_t>(3 * i + k)],
                      want.data<uint8_t>()[static_cast<size_t>(i)])
                << inter << " " << from << " to " << to << " at " << i;
        }
      }
    }
  }
}

TEST(Vision, EncodedPngIsThePicture) {
  const Tensor t = picture(33, 20);
  EXPECT_EQ(
      farthest(run({make_transform("vision.encode_png"), make_transform("vision.Decode")}, t), t),
      0);
}

TEST(Vision, JoinedStepsDrawTheSame) {
  const Option mean = Option::List{120.0, 110.0, 100.0}, std = Option::List{60.0, 61.0, 62.0};
  const Tensor file =
      run({make_transform("vision.encode_jpeg", {{"quality", 90}})}, picture(90, 120));
  const std::vector<TransformPtr> steps = {
      make_transform("vision.Decode"),
      make_transform("vision.RandomResizedCrop", {{"size", Option::List{64, 63}}}),
      make_transform("vision.RandomHorizontalFlip"),
      make_transform("vision.Normalize", {{"mean", mean}, {"std", std}}),
      make_transform("vision.HWC2CHW")};
  const auto joined = fused(steps);
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_TRUE(joined[0]->random());
  for (uint64_t seed = 0; seed < 40; ++seed)
    EXPECT_LT(farthest(run(joined, file, seed), run(steps, file, seed)), 1e-5);
}

// Half the size on both sides is decoded from half of the frequencies: near, and not moved.
TEST(Vision, JoinedStepsOfASmoothLargePicture) {
  const Tensor large = picture(240, 320);
  const Tensor file = run({make_transform("vision.encode_jpeg", {{"quality", 95}})}, large);
  const std::vector<TransformPtr> steps = {make_transform("vision.Decode"),
                                           make_transform("vision.Resize", {{"size", 50}}),
                                           make_transform("vision.HWC2CHW")};
  EXPECT_LT(farthest(run(fused(steps), file), run(steps, file)), 4);
}

TEST(Vision, JoinedStepsReportTheSameError) {
  const std::vector<TransformPtr> steps = {make_transform("vision.Decode"),
                                           make_transform("vision.RandomCrop", {{"size", 500}}),
                                           make_transform("vision.HWC2CHW")};
  const Tensor file = run({make_transform("vision.encode_png")}, picture(9, 9));
  const auto text = [&](const std::vector<TransformPtr>& all) -> std::string {
    try {
      run(all, file);
    } catch (const UserError& e) {
      return e.message();
    }
    return "";
  };
  EXPECT_EQ(text(fused(steps)), text(steps));
  EXPECT_NE(text(steps).find("500 x 500"), std::string::npos) << text(steps);
}

TEST(Vision, StepsThatCannotBeJoinedStayApart) {
  const auto decode = make_transform("vision.Decode");
  const auto resize = make_transform("vision.Resize", {{"size", 5}});
  const auto flip = make_transform("vision.HorizontalFlip");
  const auto equalize = make_transform("vision.Equalize");
  EXPECT_EQ(fused({decode, equalize, resize}).size(), 3U);
  EXPECT_EQ(fused({decode, resize, equalize, flip}).size(), 3U);
  EXPECT_EQ(fused({decode, resize, resize}).size(), 2U);  // one resize a pass
  EXPECT_EQ(fused({flip, resize}).size(), 2U);            // a flip is not resized
}

TEST(Vision, UnknownNameIsGuessed) {
  try {
    make_transform("vision.Rezise", {{"size", 5}});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(e.hint().find("vision.Resize"), std::string::npos);
  }
}

}  // namespace
}  // namespace mycel::data
