#include "ops/quant/quant.h"

#include "ops/all_ops.h"
#include "ops/quant/rooms.h"

namespace mycel::ops {

void register_quant() {
  register_affine();
  register_fixed_point();
  register_fake_quantize();
  register_integer_contractions();
}

}  // namespace mycel::ops
