#include "runtime/dispatch.h"

#include <gtest/gtest.h>

namespace mycel::runtime {
namespace {

// The cache of signatures is emptied when it is full, also while an op that is made of others runs.
TEST(Dispatch, TheCacheOverflowsInsideAComposite) {
  clear_dispatch_cache();
  const ir::Op& huber = ir::op_named("huber_loss");
  size_t before = 0, emptied = 0;
  for (int64_t n = 1; emptied < 2; ++n) {
    Tensor x = Tensor::full(DType::kFloat32, {n}, 2), zero = Tensor::full(DType::kFloat64, {n}, 0);
    Tensor y = call1(huber, {x, zero}, {ir::Attr("none"), ir::Attr(0.5)});
    ASSERT_EQ(element_as_double(y.raw(), y.dtype(), n - 1), 0.5 * (2 - 0.25));
    size_t now = dispatch_stats().signatures;
    emptied += now < before;
    before = now;
    ASSERT_LT(n, 40000);
  }
}

}  // namespace
}  // namespace mycel::runtime
