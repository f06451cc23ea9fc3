#include "ops/all_kernels.cpu.h"

#include <mutex>

#include "backend/cpu/kernel.h"

namespace mycel::cpu {

void ensure_kernels() {
  static std::once_flag once;
  std::call_once(once, [] {
    ops::register_matmul_kernels();
    ops::register_linalg_kernels();
    ops::register_fft_kernels();
    ops::register_conv_kernels();
    ops::register_loss_kernels();
    ops::register_shape_kernels();
    ops::register_index_kernels();
    ops::register_recurrent_kernels();
    ops::register_image_kernels();
    ops::register_sparse_kernels();
    ops::register_attention_kernels();
    ops::register_quant_kernels();
  });
}

}  // namespace mycel::cpu
