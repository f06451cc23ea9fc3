// The registration functions of the files of this room, called by register_reduce.
#pragma once

namespace mycel::ops {

void register_sums();
void register_extremes();
void register_positions();
void register_truth();
void register_scans();
void register_softmax();
void register_statistics();
void register_norms();
void register_differences();
void register_pair_distances();

}  // namespace mycel::ops
