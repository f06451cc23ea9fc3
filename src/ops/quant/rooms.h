// The registration functions of the files of this room, called by register_quant.
#pragma once

namespace mycel::ops {

void register_affine();
void register_fixed_point();
void register_fake_quantize();
void register_integer_contractions();

}  // namespace mycel::ops
