// The contents page of the room.
#include "ops/all_ops.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

void register_elementwise() {
  register_arithmetic();
  register_division();
  register_exponential();
  register_trigonometric();
  register_rounding();
  register_comparison();
  register_logic();
  register_selection();
  register_blend();
  register_complex();
  register_activation();
  register_more_activations();
  register_special();
  register_bessel();
}

}  // namespace mycel::ops
