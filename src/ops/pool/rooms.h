// The registration functions of the files of this room, called by register_pool.
#pragma once

namespace mycel::ops {

void register_max_pools();
void register_avg_pools();
void register_adaptive_pools();
void register_pool_classes();
void register_placed_pools();

}  // namespace mycel::ops
