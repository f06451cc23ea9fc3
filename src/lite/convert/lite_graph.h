// A network as .lite files hold it: the compiler's passes have run, whatever follows from weights
// alone is computed, and every op that is left has loops of its own.
#pragma once

#include "runtime/model_file.h"

namespace mycel::lite {

// Inputs as before; weights are those that the graph still reads, "folded.N" where they were
// computed.
runtime::TracedModel lite_graph(const runtime::TracedModel& model);

}  // namespace mycel::lite
