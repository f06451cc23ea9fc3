#include "ops/matmul/matmul.h"

#include "ops/all_ops.h"
#include "ops/matmul/rooms.h"

namespace mycel::ops {

void register_matmul() {
  register_products();
  register_product_forms();
  register_einsum();
  register_vector_forms();
}

}  // namespace mycel::ops
