#include "ops/pool/pool.h"

#include "ops/all_ops.h"
#include "ops/pool/rooms.h"

namespace mycel::ops {

void register_pool() {
  register_max_pools();
  register_avg_pools();
  register_adaptive_pools();
  register_pool_classes();
  register_placed_pools();
}

}  // namespace mycel::ops
