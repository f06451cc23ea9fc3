// The contents page of the room.
#include "ops/all_ops.h"
#include "ops/reduce/rooms.h"

namespace mycel::ops {

void register_reduce() {
  register_sums();
  register_extremes();
  register_positions();
  register_truth();
  register_scans();
  register_softmax();
  register_statistics();
  register_norms();
  register_differences();
  register_pair_distances();
}

}  // namespace mycel::ops
