// The contents page of the op library: one registration function per room, called by
// ir::ensure_ops.
#pragma once

namespace mycel::ops {

void register_elementwise();
void register_reduce();
void register_shape();
void register_index();
void register_random();
void register_matmul();
void register_linalg();
void register_fft();
void register_conv();
void register_pool();
void register_norm();
void register_loss();
void register_control();
void register_fused();
void register_embedding();
void register_image();
void register_sparse();
void register_update();
void register_collective();
void register_recurrent();
void register_attention();
void register_quant();

}  // namespace mycel::ops
