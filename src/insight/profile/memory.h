// The memory of tensors over time, and what is alive at the peak: blocks by the op that made them,
// the arena of a compiled program by what its plan keeps in it at its fullest step.
#pragma once

#include "insight/profile/analysis.h"

namespace mycel::insight::profile {

Memory memory_of(const timeline::Recording& recording);

}  // namespace mycel::insight::profile
