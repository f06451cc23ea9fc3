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

constexpr cpu::KernelDef kKernels[] = {
    {"batch_matmul", "small", too_large, cpu::prepare_nest},
    {"batch_matmul", "onednn", onednn::matmul_refuses, onednn::matmul},
    {"matmul", "onednn", onednn::matmul_refuses, onednn::matmul},
    {"dense", "onednn", onednn::dense_refuses, onednn::dense},
};

}  // namespace

void register_matmul_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
