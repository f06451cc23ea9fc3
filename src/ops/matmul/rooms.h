// The registration functions of the files of this room, called by register_matmul.
#pragma once

namespace mycel::ops {

void register_products();
void register_product_forms();
void register_einsum();
void register_vector_forms();

}  // namespace mycel::ops
