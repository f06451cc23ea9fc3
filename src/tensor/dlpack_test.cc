#include "tensor/dlpack.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"

namespace mycel::dlpack {
namespace {

// A foreign tensor over `values`; counts how often it is released.
struct Foreign {
  explicit Foreign(std::vector<int64_t> shape_, std::vector<int64_t> strides_ = {})
      : shape(std::move(shape_)), strides(std::move(strides_)) {
    std::iota(values, values + 64, 0.0f);
    m.view = {values,
              {1, 0},
              static_cast<int32_t>(shape.size()),
              {kFloat, 32, 1},
              shape.data(),
              strides.empty() ? nullptr : strides.data(),
              0};
    m.context = this;
    m.deleter = [](Managed* self) { ++static_cast<Foreign*>(self->context)->released; };
  }
  std::string error() {
    try {
      import_tensor(&m);
    } catch (const UserError& e) {
      EXPECT_EQ(released, 0) << "after an error the caller keeps it";
      return e.what();
    }
    return "no error";
  }
  float values[64];
  std::vector<int64_t> shape, strides;
  Managed m{};
  int released = 0;
};

std::vector<float> values_of(const Tensor& t) {
  return {t.data<float>().begin(), t.data<float>().end()};
}

TEST(DLPack, RoundTripOfEveryTypeSharesMemory) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const Tensor t = Tensor::full(static_cast<DType>(i), {2, 3}, 1);
    const Tensor back = import_tensor(export_tensor(t));
    EXPECT_EQ(back.raw(), t.raw());
    EXPECT_EQ(back.describe(), t.describe());
    EXPECT_FALSE(t.sole_owner() || back.sole_owner());
    const Tensor versioned = import_tensor(export_versioned(t));
    EXPECT_EQ(versioned.raw(), t.raw());
    EXPECT_EQ(versioned.describe(), t.describe());
  }
}

TEST(DLPack, ExportFillsTheStruct) {
  Tensor t = Tensor::zeros(DType::kBFloat16, {2, 3, 4}).view({3, 4}, 12);
  ManagedVersioned* m = export_versioned(t);
  EXPECT_EQ(m->version.major, 1u);
  EXPECT_EQ(m->flags, kReadOnly);
  EXPECT_EQ(m->view.ndim, 2);
  EXPECT_EQ(m->view.dtype.code, kBfloat);
  EXPECT_EQ(m->view.dtype.bits, 16);
  EXPECT_EQ(m->view.strides[0], 4);
  EXPECT_EQ(m->view.strides[1], 1);
  EXPECT_EQ(static_cast<const char*>(m->view.data) + m->view.byte_offset, t.raw());
  const void* raw = t.raw();
  t = Tensor();
  EXPECT_EQ(m->view.data, raw);  // keeps the memory alive
  m->deleter(m);
  EXPECT_THROW(export_tensor(Tensor::abstract(DType::kFloat32, {2})), UserError);
}

TEST(DLPack, ImportIsReleasedWithTheLastTensor) {
  Foreign f({2, 3});
  {
    const Tensor view = import_tensor(&f.m).view({3}, 3);
    EXPECT_EQ(f.released, 0);
    EXPECT_EQ(values_of(view), (std::vector<float>{3, 4, 5}));
  }
  EXPECT_EQ(f.released, 1);
}

TEST(DLPack, OffsetAndUnitDims) {
  Foreign f({1, 4, 1}, {99, 1, 77});  // strides of dims of extent 1 mean nothing
  f.m.view.byte_offset = 8;
  const Tensor t = import_tensor(&f.m);
  EXPECT_EQ(t.raw(), f.values + 2);
  EXPECT_EQ(values_of(t), (std::vector<float>{2, 3, 4, 5}));
}

TEST(DLPack, StridedIsCopiedAndReleasedAtOnce) {
  Foreign transposed({3, 2}, {1, 3});
  EXPECT_EQ(values_of(import_tensor(&transposed.m)), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(transposed.released, 1);
  Foreign reversed({3}, {-1});
  reversed.m.view.byte_offset = 8;
  EXPECT_EQ(values_of(import_tensor(&reversed.m)), (std::vector<float>{2, 1, 0}));
  Foreign repeated({2, 2}, {0, 1});
  EXPECT_EQ(values_of(import_tensor(&repeated.m)), (std::vector<float>{0, 1, 0, 1}));
  Foreign rows({2, 2}, {4, 1});
  EXPECT_EQ(values_of(import_tensor(&rows.m)), (std::vector<float>{0, 1, 4, 5}));
}

TEST(DLPack, UnalignedIsCopied) {
  Foreign f({2});
  f.m.view.byte_offset = 2;
  const Tensor t = import_tensor(&f.m);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.raw()) % 4, 0u);
  EXPECT_EQ(f.released, 1);
}

TEST(DLPack, EmptyAndScalar) {
  Foreign empty({0, 3}, {3, 1});
  empty.m.view.data = nullptr;
  EXPECT_EQ(import_tensor(&empty.m).describe(), "float32(0, 3)");
  EXPECT_EQ(empty.released, 1);
  Foreign scalar({});
  EXPECT_EQ(import_tensor(&scalar.m).item(), 0);
}

TEST(DLPack, RefusalsSayWhy) {
  Foreign gpu({2});
  gpu.m.view.device = {2, 0};
  EXPECT_EQ(
      gpu.error(),
      "from_dlpack: the tensor is on device 2 (CUDA); only CPU memory (device 1) can be shared");
  Foreign narrow({2});
  narrow.m.view.dtype = {kFloat, 8, 1};
  EXPECT_EQ(narrow.error(),
            "from_dlpack: elements of type code 2 with 8 bits and 1 lanes are not supported");
  Foreign lanes({2});
  lanes.m.view.dtype.lanes = 4;
  EXPECT_NE(lanes.error(), "no error");
  Foreign deep({1, 1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(deep.error(), "from_dlpack: the tensor has 9 dims; 0 to 8 are supported");
  Foreign negative({-1});
  EXPECT_EQ(negative.error(), "from_dlpack: dim 0 has extent -1");
  Foreign null({2});
  null.m.view.data = nullptr;
  EXPECT_EQ(null.error(), "from_dlpack: the tensor has no memory");
  ManagedVersioned future{};
  future.version = {2, 0};
  EXPECT_THROW(import_tensor(&future), UserError);
}

}  // namespace
}  // namespace mycel::dlpack
