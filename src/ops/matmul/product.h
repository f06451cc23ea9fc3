// The loop nest of a batched matrix product: for the dtypes that no vendor library takes (float64,
// integers, complex), and the reference for those that one does.
#pragma once

#include <functional>
#include <vector>

#include "ir/loop_rule.h"
#include "ir/type_rule.h"

namespace mycel::ops {

// y[b, i, j] = Σ_k a[b, i, k] b[b, k, j] (+ bias[j]). Strides count elements; a batch stride of 0
// repeats the operand. The result is dense.
struct Product {
  std::vector<int64_t> batch, a_batch, b_batch;  // extents and strides, outermost first
  int64_t m = 1, n = 1, k = 1;
  int64_t a_row = 1, a_col = 1;  // strides of a along i and k
  int64_t b_row = 1, b_col = 1;  // strides of b along k and j
};

// The product of operands 0 and 1 under NumPy's matmul rules, given concrete shapes.
Product product_of(const Shape& a, bool transpose_a, const Shape& b, bool transpose_b);

// Emits the stages; `bias` is null or an operand of n elements.
void emit_product(loops::Nest& nest, loops::Buf a, loops::Buf b, loops::Buf y,
                  const loops::Buf* bias, const Product& p);

// The same from elements that are read in another way than by a load: at an offset, for a row of a
// or a column of b. One dot product for each element of y.
using ProductRead = std::function<loops::Val(loops::Val at, loops::Val of)>;
void emit_dot_products(loops::Nest& nest, const ProductRead& a, const ProductRead& b, loops::Buf y,
                       const Product& p);

// The type rule of products of matrices: operands 0 and 1, attributes transpose_a, transpose_b.
void batch_matmul_type(ir::TypeRuleCtx& c);

}  // namespace mycel::ops
