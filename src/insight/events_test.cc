#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "insight/distribution.h"
#include "insight/events/framing.h"
#include "insight/events/read.h"
#include "insight/events/write.h"

namespace mycel::insight {
namespace {

std::vector<std::string> split(const std::string& file, RecordSplitter* s, size_t piece) {
  std::vector<std::string> out;
  for (size_t at = 0; at < file.size(); at += piece) {
    s->add(std::string_view(file).substr(at, piece));
    while (auto record = s->next()) out.emplace_back(*record);
  }
  return out;
}

TEST(Framing, MatchesAFileOfTensorFlow) {
  // The first record of an event file that TensorFlow 2 wrote: "brain.Event:2" at time 1.0.
  const std::string event(
      "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x1a\x0d"
      "brain.Event:2",
      24);
  std::string file;
  append_record(event, &file);
  ASSERT_EQ(file.size(), 24u + 16u);
  EXPECT_EQ(file.substr(0, 8), std::string("\x18\0\0\0\0\0\0\0", 8));
  // Masked CRC-32C of the length 24, as in every such file.
  EXPECT_EQ(file.substr(8, 4), std::string("\xa3\x7f\x4b\x22", 4));
}

TEST(Framing, PiecesAndDamage) {
  std::string file;
  for (int i = 0; i < 5; ++i) append_record(std::string(static_cast<size_t>(i * 7), 'a'), &file);
  for (size_t piece : {1u, 3u, 1000u}) {
    RecordSplitter s;
    EXPECT_EQ(split(file, &s, piece).size(), 5u);
    EXPECT_EQ(s.position(), file.size());
  }
  std::string damaged = file;
  damaged[16 + 16 + 7 + 12 + 3] ^= 1;  // in the third record's bytes
  RecordSplitter s;
  EXPECT_EQ(split(damaged, &s, 1000).size(), 4u);
  EXPECT_EQ(s.damaged(), 1);
  EXPECT_FALSE(s.lost());
  damaged = file;
  damaged[16] ^= 1;  // the second record's length
  RecordSplitter t;
  EXPECT_EQ(split(damaged, &t, 1000).size(), 1u);
  EXPECT_TRUE(t.lost());
}

Recorded only(const std::string& event) {
  Recorded out;
  int count = 0;
  EXPECT_TRUE(read_event(event, [&](const Recorded& r) {
    out = r;
    ++count;
  }));
  EXPECT_EQ(count, 1);
  return out;
}

TEST(Events, ComeBack) {
  const Place at{12.5, 7, "a/b"};
  std::string e = scalar_event(at, 0.25);
  Recorded r = only(e);
  EXPECT_EQ(r.kind, Kind::kScalar);
  EXPECT_EQ(r.tag, "a/b");
  EXPECT_EQ(r.step, 7);
  EXPECT_EQ(r.when, 12.5);
  EXPECT_EQ(r.scalar, 0.25);

  const Distribution d{-1, 2, 3, 4, 5, {0, 1, 2}, {1, 0, 2}};
  e = histogram_event(at, d);
  r = only(e);
  EXPECT_EQ(r.distribution.limits, d.limits);
  EXPECT_EQ(r.distribution.buckets, d.buckets);
  EXPECT_EQ(r.distribution.sum_squares, 5);

  e = text_event(at, "words", kTextPlugin);
  r = only(e);
  EXPECT_EQ(r.kind, Kind::kText);
  EXPECT_EQ(r.content, "words");

  const Tensor t = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  e = tensor_event(at, t);
  r = only(e);
  EXPECT_EQ(r.kind, Kind::kTensor);
  EXPECT_EQ(r.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(r.content, std::string_view(static_cast<const char*>(t.raw()), t.bytes()));

  e = session_start_event(1, {{"lr", 0.5}, {"net", std::string("x")}, {"amp", true}}, "");
  r = only(e);
  EXPECT_EQ(r.kind, Kind::kHParams);
  EXPECT_EQ(r.params, (HParams{{"lr", 0.5}, {"net", std::string("x")}, {"amp", true}}));
}

TEST(Events, DamagedBytesAreRefusedOrRead) {
  const std::string whole = histogram_event({1, 2, "tag"}, {-1, 2, 3, 4, 5, {0, 1, 2}, {1, 0, 2}});
  for (size_t n = 0; n < whole.size(); ++n) read_event(whole.substr(0, n), [](const Recorded&) {});
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = whole;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      read_event(bad, [](const Recorded& r) {
        ASSERT_EQ(r.distribution.limits.size(), r.distribution.buckets.size());
      });
    }
  }
}

TEST(DistributionOf, CountsWhatIsFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor t =
      Tensor::from(std::vector<float>{0, 1, 2, 3, 4, 4, std::nanf(""), inf, -inf}, {9});
  const Measured m = distribution_of(t, 4);
  EXPECT_EQ(m.nan, 1);
  EXPECT_EQ(m.inf, 2);
  EXPECT_EQ(m.distribution.count, 6);
  EXPECT_EQ(m.distribution.sum, 14);
  EXPECT_EQ(m.distribution.sum_squares, 46);
  EXPECT_EQ(m.distribution.limits, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(m.distribution.buckets, (std::vector<double>{1, 1, 1, 3}));
}

TEST(DistributionOf, OtherTypes) {
  const Tensor ints = Tensor::from(std::vector<int64_t>{5, 5, 5}, {3});
  EXPECT_EQ(distribution_of(ints).distribution.buckets, std::vector<double>{3});
  EXPECT_EQ(distribution_of(Tensor::zeros(DType::kFloat32, {0})).distribution.count, 0);
  const Tensor half = Tensor::full(DType::kFloat16, {5000}, 0.5);
  EXPECT_EQ(distribution_of(half).distribution.sum, 2500);
  const double most = std::numeric_limits<double>::max();
  const Tensor wide = Tensor::from(std::vector<double>{-most, most}, {2});
  const Distribution d = distribution_of(wide, 2).distribution;
  EXPECT_EQ(d.count, 2);
  EXPECT_EQ(d.buckets.front() + d.buckets.back(), 2);
}

TEST(PictureOf, PutsImagesSideBySide) {
  const Picture p = picture_of(Tensor::zeros(DType::kFloat32, {9, 3, 4, 5}));
  EXPECT_EQ(p.height, 8);
  EXPECT_EQ(p.width, 40);
  EXPECT_EQ(p.png.substr(1, 3), "PNG");
  EXPECT_ANY_THROW(picture_of(Tensor::zeros(DType::kFloat32, {9, 2, 4, 5})));
}

}  // namespace
}  // namespace mycel::insight
