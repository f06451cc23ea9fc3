// The registration functions of the files of this room, called by register_elementwise.
#pragma once

namespace mycel::ops {

void register_arithmetic();
void register_division();
void register_exponential();
void register_trigonometric();
void register_rounding();
void register_comparison();
void register_logic();
void register_activation();
void register_selection();
void register_blend();
void register_more_activations();
void register_complex();
void register_special();
void register_bessel();

}  // namespace mycel::ops
