#include "ops/norm/norm.h"

#include "ops/all_ops.h"
#include "ops/norm/rooms.h"

namespace mycel::ops {

void register_norm() {
  register_layer_norm();
  register_batch_norm();
  register_norm_forms();
}

}  // namespace mycel::ops
