#include "ops/index/index_kernels.h"
#include "ops/index/index_tables.h"

namespace mycel::ops {

void register_index_kernels() {
  register_gather_kernels();
  register_scatter_kernels();
}

}  // namespace mycel::ops
