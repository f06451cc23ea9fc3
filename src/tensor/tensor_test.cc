#include "tensor/tensor.h"

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

TEST(Tensor, ConstructorsFill) {
  EXPECT_EQ(Tensor::zeros(DType::kInt32, {2, 2}).data<int32_t>()[3], 0);
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    const Tensor x = Tensor::full(t, {3, 7}, 1);
    for (int64_t k = 0; k < x.size(); ++k) ASSERT_EQ(element_as_double(x.raw(), t, k), 1);
    EXPECT_EQ(Tensor::scalar(t, 1.0).item(), 1);
    EXPECT_EQ(Tensor::scalar(t, int64_t{1}).item_int(), 1);
    EXPECT_EQ(Tensor::scalar(t, 1.0).rank(), 0);
    EXPECT_EQ(Tensor::full(t, {0, 5}, 1).bytes(), 0u);
    EXPECT_TRUE(Tensor::full(t, {0, 5}, 1).concrete());
  }
  const Tensor x = Tensor::from(std::vector<int16_t>{1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(x.dtype(), DType::kInt16);
  EXPECT_EQ(x.dim(-1), 3);
  EXPECT_EQ(x.data<int16_t>()[5], 6);
}

TEST(Tensor, States) {
  EXPECT_FALSE(Tensor());
  const Tensor a = Tensor::abstract(DType::kFloat32, {2, kUnknownDim});
  EXPECT_TRUE(a);
  EXPECT_FALSE(a.concrete());
  EXPECT_EQ(a.describe(), "float32(2, ?)");
  EXPECT_EQ(a.str(), "float32(2, ?)");
  EXPECT_THROW(a.raw(), InternalError);
  EXPECT_EQ(Tensor().describe(), "no tensor");
}

TEST(Tensor, ViewsShareStorage) {
  const Tensor x = Tensor::from(std::vector<float>{0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_TRUE(x.sole_owner());
  const Tensor v = x.view({2, 2}, 2);
  EXPECT_EQ(v.data<float>()[0], 2);
  EXPECT_FALSE(x.sole_owner());
  EXPECT_FALSE(v.sole_owner());
  EXPECT_TRUE(x.same(Tensor(x)));
  EXPECT_FALSE(x.same(v));
  EXPECT_EQ(x.bitcast(DType::kInt32).data<int32_t>()[1], 0x3F800000);
  EXPECT_EQ(x.view({0}, 6).size(), 0);
  EXPECT_EQ(error_of([&] { x.view({7}); }),
            "view of shape (7,) at element 0 reaches outside float32(2, 3)");
  EXPECT_THROW(x.view({1}, -1), UserError);
  EXPECT_THROW(x.view({2}, INT64_MAX), UserError);
}

TEST(Tensor, SoleOwnerFollowsCopies) {
  Tensor x = Tensor::zeros(DType::kFloat32, {4});
  {
    const Tensor copy = x;
    EXPECT_FALSE(x.sole_owner());
  }
  EXPECT_TRUE(x.sole_owner());
  EXPECT_FALSE(Tensor::abstract(DType::kFloat32, {4}).sole_owner());
}

TEST(Tensor, ErrorsNameTheTensor) {
  const Tensor x = Tensor::zeros(DType::kFloat32, {2, 3});
  EXPECT_EQ(error_of([&] { x.data<double>(); }),
            "float32(2, 3) read as float64: the element types differ");
  EXPECT_EQ(error_of([&] { x.item(); }), "item: float32(2, 3) has 6 elements; exactly 1 is needed");
  EXPECT_EQ(error_of([&] { x.bitcast(DType::kFloat64); }),
            "bitcast of float32(2, 3) to float64: elements have 4 and 8 bytes");
  EXPECT_EQ(error_of([] { Tensor::from(std::vector<float>{1, 2}, {3}); }),
            "2 values given for shape (3,), which holds 3");
}

TEST(Tensor, HugeShapesAreRefused) {
  const std::string bytes = error_of([] { Tensor::empty(DType::kFloat64, {int64_t{1} << 61}); });
  EXPECT_TRUE(bytes.starts_with("out of memory: float64(2305843009213693952,) needs 16.00 EiB"))
      << bytes;
  const std::string memory = error_of([] { Tensor::empty(DType::kUInt8, {int64_t{1} << 45}); });
  EXPECT_TRUE(memory.starts_with("uint8(35184372088832,): out of memory: 32.00 TiB asked"))
      << memory;
  EXPECT_THROW(Tensor::empty(DType::kFloat32, {INT64_MAX, INT64_MAX}), UserError);
}

}  // namespace
}  // namespace mycel
