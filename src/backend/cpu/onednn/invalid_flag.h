// The processor's Invalid flag (IEEE 754-2019, 7.2): set by every operation on the way to a NaN,
// and on x86 by minimum and maximum when they meet one. oneDNN's ReLU and clipping make a number of
// a NaN; with the flag, a kernel that used them knows afterwards whether that may have happened.
#pragma once

namespace mycel::cpu::onednn {

// Of the calling thread.
void clear_invalid();
// Whether a thread of the team (alone: the calling thread) has the flag set; clears it there.
// Always true where there is no such flag.
bool take_invalid(bool alone);

}  // namespace mycel::cpu::onednn
