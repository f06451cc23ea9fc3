#include "loops/elementwise.h"

#include <gtest/gtest.h>

#include "loops/check_nest.h"

namespace mycel::loops {
namespace {

std::string text(const Walk& w) {
  std::string s;
  for (size_t d = 0; d < w.extent.size(); ++d) {
    s += std::to_string(w.extent[d]) + ":";
    for (const auto& stride : w.stride) s += " " + std::to_string(stride[d]);
    s += "; ";
  }
  return s;
}

TEST(Elementwise, CollapsesDims) {
  const Shape full{2, 3, 4, 5};
  EXPECT_EQ(text(collapse({{full, full}}, full)), "120: 1 1; ");
  EXPECT_EQ(text(collapse({{full, Shape{}}}, full)), "120: 1 0; ");
  EXPECT_EQ(text(collapse({{full, Shape{4, 5}}}, full)), "6: 20 0; 20: 1 1; ");
  EXPECT_EQ(text(collapse({{full, Shape{3, 1, 1}}}, full)), "2: 60 0; 3: 20 1; 20: 1 0; ");
  EXPECT_EQ(text(collapse({{full, Shape{2, 1, 4, 1}}}, full)),
            "2: 60 4; 3: 20 0; 4: 5 1; 5: 1 0; ");
  EXPECT_EQ(text(collapse({{Shape{4, 1}, Shape{5}}}, Shape{4, 5})), "4: 1 0; 5: 0 1; ");
  EXPECT_EQ(text(collapse({{Shape{1, 1}}}, Shape{1, 1})), "");
}

void check(const std::vector<Shape>& shapes, const Shape& out, DType t) {
  std::vector<DType> types(shapes.size(), t);
  Nest nest = elementwise("mix", types, shapes, {{t, DType::kFloat32}}, out,
                          [&](std::span<const Val> in, std::span<Val> result) {
                            Val sum = in[0];
                            for (size_t k = 1; k < in.size(); ++k) sum = sum * 2 + in[k];
                            result[0] = sum;
                            result[1] = cast(real(sum), DType::kFloat32) + 0.5;
                          });
  std::vector<Bytes> data;
  for (size_t k = 0; k < shapes.size(); ++k)
    data.push_back(random_bytes(t, shapes[k].size(), 7 + k));
  EXPECT_EQ(check_nest(nest, data, {out.size(), out.size()}, 0), "");
}

TEST(Elementwise, ShapesAndDTypes) {
  for (DType t : {DType::kFloat32, DType::kBFloat16, DType::kInt8, DType::kInt64, DType::kComplex64,
                  DType::kFloat64}) {
    check({Shape{1000}, Shape{1000}}, Shape{1000}, t);
    check({Shape{7, 33}, Shape{33}, Shape{7, 1}}, Shape{7, 33}, t);
    check({Shape{2, 3, 4, 5}, Shape{3, 1, 1}}, Shape{2, 3, 4, 5}, t);
    check({Shape{9, 1, 5}, Shape{1, 20, 1}, Shape{}}, Shape{9, 20, 5}, t);
    check({Shape{3, 1}, Shape{1, 40000}}, Shape{3, 40000}, t);  // long rows are cut
    check({Shape{70, 2, 1, 3}, Shape{70, 1, 6, 1}}, Shape{70, 2, 6, 3}, t);
    check({Shape{}}, Shape{}, t);
    check({Shape{0, 4}, Shape{4}}, Shape{0, 4}, t);
  }
}

TEST(Elementwise, RandomBroadcasts) {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    Shape out;
    const int rank = static_cast<int>(random() % 5);
    for (int d = 0; d < rank; ++d) out.push_back(1 + random() % 9);
    std::vector<Shape> shapes;
    for (int k = 0; k < 3; ++k) {
      Shape s;
      for (int d = random() % (rank + 1); d < rank; ++d) s.push_back(random() % 3 ? out[d] : 1);
      shapes.push_back(s);
    }
    check(shapes, out, DType::kFloat32);
  }
}

TEST(Elementwise, InPlaceEqualsOutOfPlace) {
  const Shape shape{3, 1001}, row{1001};
  Nest nest = elementwise("two", {{DType::kFloat32, DType::kFloat32, DType::kFloat32}},
                          {{shape, shape, row}}, {{DType::kFloat32, DType::kFloat32}}, shape,
                          [](std::span<const Val> in, std::span<Val> out) {
                            out[0] = in[0] * in[2] + in[1];
                            out[1] = exp(in[0]) - in[1];
                          });
  Bytes a = random_bytes(DType::kFloat32, 3003, 1), b = random_bytes(DType::kFloat32, 3003, 2);
  Bytes r = random_bytes(DType::kFloat32, 1001, 3), y0(3003 * 4), y1(3003 * 4);
  void* apart[] = {a.data(), b.data(), r.data(), y0.data(), y1.data()};
  run(nest, apart);
  Bytes a2 = a, b2 = b;
  void* crossed[] = {a2.data(), b2.data(), r.data(), b2.data(), a2.data()};
  run(nest, crossed);
  EXPECT_EQ(0, std::memcmp(b2.data(), y0.data(), y0.size()));
  EXPECT_EQ(0, std::memcmp(a2.data(), y1.data(), y1.size()));
}

TEST(Elementwise, ShapesOfOnePatternShareOneKernel) {
  auto build = [](int64_t rows, int64_t cols) {
    return elementwise("bias", {{DType::kFloat32, DType::kFloat32}},
                       {{Shape{rows, cols}, Shape{cols}}}, {{DType::kFloat32}}, Shape{rows, cols},
                       [](std::span<const Val> in, std::span<Val> out) { out[0] = in[0] + in[1]; });
  };
  EXPECT_EQ(build(3, 5).structure(), build(1000, 99).structure());
  EXPECT_EQ(jit(build(3, 5)), jit(build(1000, 99)));
  EXPECT_NE(build(3, 5).structure(), build(3, 1).structure());
}

}  // namespace
}  // namespace mycel::loops
