// Batching rules shared by the rooms, for records whose sharding line does not tell enough (what a
// rule sees: ir/batching.h). Each gives false for the cases that it leaves to the loop over
// examples.
#pragma once

namespace mycel::ir {
class Batching;
}

namespace mycel::ops {

// Views: the elements of one example stay together.
bool batch_view(ir::Batching& b);
// The attribute `axis`, `dim` or the like moves by one; all operands take the batch.
bool batch_axis(ir::Batching& b);
// Works on the last dims of any number; all operands take the batch.
bool batch_leading(ir::Batching& b);
// The first dim of every batched operand already is a batch, and of the results too; the others
// stay as they are.
bool batch_merge(ir::Batching& b);
// The same where all operands belong together.
bool batch_merge_all(ir::Batching& b);

}  // namespace mycel::ops
