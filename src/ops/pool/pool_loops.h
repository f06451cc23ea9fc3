// Loop nests of pooling. Each output position walks its window; a tie goes to the first position in
// row-major order, and a NaN beats every number.
#pragma once

#include "ir/loop_rule.h"
#include "ops/pool/window.h"

namespace mycel::ops {

// Maxima; `index` (may be null) receives the position of the maximum within its plane.
void emit_max_pool(loops::Nest& nest, const PoolGeometry& g, loops::Buf x, loops::Buf y,
                   const loops::Buf* index);
// y = v at the position of x's maximum.
void emit_max_gather(loops::Nest& nest, const PoolGeometry& g, loops::Buf x, loops::Buf v,
                     loops::Buf y);
// dx = sum of u over the windows whose maximum lies there.
void emit_max_scatter(loops::Nest& nest, const PoolGeometry& g, loops::Buf x, loops::Buf u,
                      loops::Buf dx);

// What a window's sum is divided by.
struct Divisor {
  bool count_padding = true;  // padding counts, but not what lies beyond it
  int64_t fixed = 0;          // when above 0: this
};
void emit_avg_pool(loops::Nest& nest, const PoolGeometry& g, const Divisor& divisor, loops::Buf x,
                   loops::Buf y);
void emit_avg_dx(loops::Nest& nest, const PoolGeometry& g, const Divisor& divisor, loops::Buf dy,
                 loops::Buf dx);

}  // namespace mycel::ops
