#include "ops/all_kernels.cpu.h"
#include "ops/index/index_tables.h"

namespace mycel::ops {

void register_index_kernels() {
  register_gather_kernels();
  register_scatter_kernels();
  register_order_kernels();
  register_dynamic_kernels();
  register_sequence_kernels();
}

}  // namespace mycel::ops
