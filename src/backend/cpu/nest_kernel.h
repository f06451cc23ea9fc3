// Turns a record's loop rule or scalar formula into a kernel: through the JIT, or interpreted (the
// reference for tests).
#pragma once

#include <memory>

#include "backend/cpu/kernel.h"
#include "loops/nest.h"

namespace mycel::cpu {

// The nest of an op with a loop rule or a scalar formula.
loops::Nest build_nest(const Problem& problem);
std::unique_ptr<Prepared> prepare_nest(const Problem& problem);
std::unique_ptr<Prepared> prepare_interpreted_nest(const Problem& problem);

}  // namespace mycel::cpu
