// The registration functions of the files of this room, called by register_norm.
#pragma once

namespace mycel::ops {

void register_layer_norm();
void register_batch_norm();
void register_norm_forms();

}  // namespace mycel::ops
