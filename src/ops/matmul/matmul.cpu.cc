#include "backend/cpu/onednn/matmul.h"

#include "ops/all_kernels.cpu.h"

namespace mycel::ops {
namespace {

namespace onednn = cpu::onednn;

constexpr cpu::KernelDef kKernels[] = {
    {"batch_matmul", "onednn", onednn::matmul_refuses, onednn::matmul},
    {"matmul", "onednn", onednn::matmul_refuses, onednn::matmul},
    {"dense", "onednn", onednn::dense_refuses, onednn::dense},
};

}  // namespace

void register_matmul_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
