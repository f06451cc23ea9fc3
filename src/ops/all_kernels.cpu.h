// The contents page of the CPU kernels: one function per room that has vendor or host kernels.
// Called by cpu::ensure_kernels; rooms whose records are loop rules and formulas alone need none.
#pragma once

namespace mycel::ops {

void register_matmul_kernels();
void register_linalg_kernels();
void register_fft_kernels();
void register_conv_kernels();
void register_pool_kernels();
void register_loss_kernels();
void register_shape_kernels();
void register_index_kernels();
void register_recurrent_kernels();
void register_image_kernels();
void register_sparse_kernels();
void register_attention_kernels();
void register_quant_kernels();

}  // namespace mycel::ops
