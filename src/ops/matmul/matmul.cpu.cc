#include "backend/cpu/onednn/matmul.h"

#include "backend/cpu/nest_kernel.h"
#include "ops/all_kernels.cpu.h"
#include "ops/matmul/product.h"

namespace mycel::ops {
namespace {

namespace onednn = cpu::onednn;

// Below this many multiplications a call of the library costs more than the product.
constexpr int64_t kSmall = 20'000;

std::string too_large(const cpu::Problem& p) {
  Product whole = product_of(p.in[0]->shape, p.view().boolean("transpose_a"), p.in[1]->shape,
                             p.view().boolean("transpose_b"));
  return p.out[0].shape.size() * whole.k <= kSmall ? "" : "the product is large";
}

// One row of x meets every weight once: memory sets the pace, and reading the weights in order,
// four rows at a time, keeps to it; oneDNN takes up to twice as long. Measured with 2 threads, ms:
// 1000 x 1280 0.53, 0.27; 1000 x 2048 0.45, 0.30; but 4096 x 4096 2.9, 5.0.
std::string not_one_row(const cpu::Problem& p) {
  constexpr int64_t kMostWeights = 1 << 22;
  const Shape& x = p.in[0]->shape;
  bool one = x.rank() > 0 && x.size() == x[-1] && p.in[1]->shape.size() <= kMostWeights;
  if (!one) return "there are several rows, or many weights";
  for (const ir::Type* t : p.in) {
    if (t && t->dtype != DType::kFloat32) return "an operand is not float32";
  }
  return "";
}

constexpr cpu::KernelDef kKernels[] = {
    {"dense", "row", not_one_row, cpu::prepare_nest},
    {"batch_matmul", "small", too_large, cpu::prepare_nest},
    {"batch_matmul", "onednn", onednn::matmul_refuses, onednn::matmul},
    {"matmul", "onednn", onednn::matmul_refuses, onednn::matmul},
    {"dense", "onednn", onednn::dense_refuses, onednn::dense},
};

}  // namespace

void register_matmul_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
