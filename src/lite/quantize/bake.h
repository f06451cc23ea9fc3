// A network as it is computed at inference: composite ops expanded, normalizations folded into the
// convolutions before them, and whatever follows from weights alone computed once.
#pragma once

#include <memory>

#include "runtime/model_file.h"

namespace mycel::lite {

// Constants of one element stand in the graph, larger ones among the weights.
runtime::TracedModel baked(const runtime::TracedModel& model);

}  // namespace mycel::lite
