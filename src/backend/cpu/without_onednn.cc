// In the place of src/backend/cpu/onednn where the build leaves oneDNN out (-DMYCEL_ONEDNN=OFF):
// its kernels refuse every problem, so that the next ones of each list, our own loops, take it.
#include "backend/cpu/onednn/convolution.h"
#include "backend/cpu/onednn/integer_matmul.h"
#include "backend/cpu/onednn/matmul.h"
#include "backend/cpu/onednn/unsuited.h"
#include "base/error.h"

namespace mycel::cpu::onednn {
namespace {

constexpr const char* kAbsent = "this build of Mycel has no oneDNN";

// Rows of y gather multiples of rows of b: contiguous, so compilers vectorize it.
class TileLoops final : public Prepared {
 public:
  explicit TileLoops(const Tile& tile) : t_(tile) {}
  const char* implementation() const override { return "loops"; }
  void run(void* const* buffers) const override {
    const auto* a = static_cast<const float*>(buffers[0]);
    const auto* b = static_cast<const float*>(buffers[1]);
    auto* y = static_cast<float*>(buffers[2]);
    for (int64_t i = 0; i < t_.rows; ++i) {
      float* row = y + i * t_.y_row;
      for (int64_t j = 0; !t_.add && j < t_.cols; ++j) row[j] = 0;
      for (int64_t k = 0; k < t_.depth; ++k) {
        const float x = a[i * t_.a_row + k * t_.a_col];
        const float* from = b + k * t_.b_row;
        for (int64_t j = 0; j < t_.cols; ++j) row[j] += x * from[j * t_.b_col];
      }
    }
  }

 private:
  Tile t_;
};

std::unique_ptr<Prepared> never() {
  MYCEL_CHECK(false, "a refused problem was prepared all the same: {}", kAbsent);
}

}  // namespace

std::string unsuited(const Problem&, int) { return kAbsent; }
std::string matmul_refuses(const Problem&) { return kAbsent; }
std::unique_ptr<Prepared> matmul(const Problem&) { return never(); }
std::string dense_refuses(const Problem&) { return kAbsent; }
std::unique_ptr<Prepared> dense(const Problem&) { return never(); }
std::string refuses(const Convolution&) { return kAbsent; }
std::unique_ptr<Prepared> prepare(const Convolution&) { return never(); }
std::string refuses(const IntegerMatmul&) { return kAbsent; }
std::unique_ptr<Prepared> prepare(const IntegerMatmul&) { return never(); }
std::shared_ptr<const Prepared> tile_product(const Tile& tile) {
  return std::make_shared<TileLoops>(tile);
}

}  // namespace mycel::cpu::onednn
