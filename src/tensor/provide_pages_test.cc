#include "tensor/provide_pages.h"

#include <vector>

#include <gtest/gtest.h>

#include "tensor/storage.h"

namespace mycel {
namespace {

constexpr size_t kBytes = size_t{48} << 20;

TEST(ProvidePages, KeepsWhatTheBufferHolds) {
  std::vector<unsigned char> bytes(kBytes + 1, 0);
  for (size_t i = 0; i < bytes.size(); i += 4093) bytes[i] = static_cast<unsigned char>(i % 251);
  const std::vector<unsigned char> before = bytes;
  provide_pages(bytes.data() + 1, kBytes);  // at no page's beginning
  EXPECT_EQ(bytes, before);
  provide_pages(bytes.data(), 0);
  provide_pages(nullptr, 0);
  EXPECT_EQ(bytes, before);
}

TEST(ProvidePages, FreshBlockIsWritableAndKeepsWhatIsWritten) {
  release_cached_memory();
  Ref<Storage> block = Storage::allocate(kBytes);
  provide_pages(block->data(), kBytes);
  auto* at = static_cast<unsigned char*>(block->data());
  for (size_t i = 0; i < kBytes; i += 4096) at[i] = static_cast<unsigned char>(i >> 12);
  at[kBytes - 1] = 7;
  provide_pages(at, kBytes);
  for (size_t i = 0; i < kBytes; i += 4096)
    ASSERT_EQ(at[i], static_cast<unsigned char>(i >> 12)) << i;
  EXPECT_EQ(at[kBytes - 1], 7);
}

}  // namespace
}  // namespace mycel
