#include "tensor/shape.h"

#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"

namespace mycel {
namespace {

template <typename F>
std::string error_of(F f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Shape, TextAndSize) {
  EXPECT_EQ(Shape().str(), "()");
  EXPECT_EQ(Shape({3}).str(), "(3,)");
  EXPECT_EQ(Shape({2, kUnknownDim, 4}).str(), "(2, ?, 4)");
  EXPECT_EQ(Shape().size(), 1);
  EXPECT_EQ(Shape({2, 3, 4}).size(), 24);
  EXPECT_EQ(Shape({2, 3, 4}).size(1, 3), 12);
  EXPECT_EQ(Shape({2, 0, 4}).size(), 0);
  EXPECT_EQ(Shape({INT64_MAX, INT64_MAX, 0}).size(), 0);
  EXPECT_TRUE(Shape({2, 3}).known());
  EXPECT_FALSE(Shape({2, kUnknownDim}).known());
  EXPECT_THROW(Shape({2, kUnknownDim}).size(), InternalError);
}

TEST(Shape, Editing) {
  Shape s{2, 4};
  s.insert(1, 3);
  s.push_back(5);
  EXPECT_EQ(s, Shape({2, 3, 4, 5}));
  s.erase(-2);
  EXPECT_EQ(s, Shape({2, 3, 5}));
  s.set(-1, 7);
  EXPECT_EQ(s[2], 7);
  EXPECT_EQ(s[-3], 2);
  EXPECT_NE(Shape({2, 3}), Shape({2, 3, 0}));
  EXPECT_THROW(s.insert(5, 1), InternalError);
}

TEST(Shape, ErrorsNameTheShape) {
  EXPECT_EQ(error_of([] { Shape({1, 2, 3, 4, 5, 6, 7, 8, 9}); }),
            "shape (1, 2, 3, 4, 5, 6, 7, 8, 9) has 9 dims; at most 8 are supported");
  EXPECT_EQ(error_of([] { Shape({2, -3}); }), "shape (2, -3) has a negative dimension");
  EXPECT_EQ(error_of([] { Shape({1, 1, 1, 1, 1, 1, 1, 1}).push_back(1); }),
            "shape (1, 1, 1, 1, 1, 1, 1, 1) cannot get a dim more: at most 8");
  EXPECT_EQ(error_of([] { Shape({INT64_MAX, 2}).size(); }),
            "shape (9223372036854775807, 2) has more elements than 9223372036854775807");
  EXPECT_EQ(error_of([] { Shape().push_back(-2); }), "dimension -2 is negative");
}

TEST(Shape, HashTellsShapesApart) {
  std::unordered_set<size_t> hashes;
  int shapes = 0;
  for (int64_t a = -1; a < 20; ++a) {
    hashes.insert(Shape({a}).hash());
    for (int64_t b = -1; b < 20; ++b, ++shapes) hashes.insert(Shape({a, b}).hash());
    ++shapes;
  }
  EXPECT_EQ(hashes.size(), static_cast<size_t>(shapes));
  EXPECT_EQ(Shape({2, 3}).hash(), Shape({2, 3}).hash());
}

TEST(Shape, Broadcast) {
  struct Case {
    Shape a, b, want;
  };
  const Case kCases[] = {{{}, {}, {}},
                         {{3}, {}, {3}},
                         {{2, 1}, {3}, {2, 3}},
                         {{1}, {0}, {0}},
                         {{4, 1, 3}, {2, 1}, {4, 2, 3}},
                         {{kUnknownDim}, {1}, {kUnknownDim}},
                         {{kUnknownDim}, {kUnknownDim}, {kUnknownDim}},
                         {{kUnknownDim, 2}, {5, 1}, {5, 2}}};
  for (const Case& c : kCases) {
    Shape out;
    ASSERT_TRUE(broadcast(c.a, c.b, &out)) << c.a.str() << c.b.str();
    EXPECT_EQ(out, c.want) << out.str();
    ASSERT_TRUE(broadcast(c.b, c.a, &out));
    EXPECT_EQ(out, c.want) << out.str();
  }
  Shape out{9};
  EXPECT_FALSE(broadcast({2}, {3}, &out));
  EXPECT_FALSE(broadcast({2, 3}, {2, 1, 4}, &out));
  EXPECT_EQ(out, Shape({9}));
}

TEST(Shape, NormalizeAxis) {
  EXPECT_EQ(normalize_axis(-1, 3, "sum"), 2);
  EXPECT_EQ(normalize_axis(0, 3, "sum"), 0);
  EXPECT_EQ(error_of([] { normalize_axis(3, 3, "sum"); }),
            "sum: axis 3 is outside [-3, 2] for 3 dims");
  EXPECT_EQ(error_of([] { normalize_axis(0, 0, "sum"); }),
            "sum: axis 0 given for a scalar, which has none");
}

}  // namespace
}  // namespace mycel
