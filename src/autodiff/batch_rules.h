// Batching rules that follow from what a record says anyway: its scalar formula, its sharding line.
// An axis attribute named there moves by one; a leading label that only batched operands have takes
// the batch into itself ("n c h w, o c i j -> n o h w"); "..." takes it as one more dim.
#pragma once

#include "ir/batching.h"

namespace mycel::autodiff {

// Emits the op on whole batches; false when the record does not tell how.
bool batch_by_record(ir::Batching& b);

}  // namespace mycel::autodiff
