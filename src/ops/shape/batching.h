// Batching rules of the shape room.
#pragma once

namespace mycel::ir {
class Batching;
}

namespace mycel::ops {

bool batch_broadcast(ir::Batching& b);
bool batch_sum_to(ir::Batching& b);
bool batch_tile(ir::Batching& b);
bool batch_pad(ir::Batching& b);
bool batch_slice(ir::Batching& b);  // basic_slice and slice_update

}  // namespace mycel::ops
