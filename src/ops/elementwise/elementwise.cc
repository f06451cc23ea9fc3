// The contents page of the room.
#include "ops/all_ops.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

void register_elementwise() {
  register_arithmetic();
  register_exponential();
  register_comparison();
  register_selection();
  register_activation();
}

}  // namespace mycel::ops
