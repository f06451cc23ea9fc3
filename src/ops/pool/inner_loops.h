// Maxima over windows that lie wholly inside the operand, as those without padding do: a window's
// elements stand at constant distances, so that a row of windows (or, where channels come last, a
// row of channels) is one vector loop without a branch. pool_loops.h has the general form.
#pragma once

#include "loops/nest.h"
#include "ops/pool/window.h"

namespace mycel::ops {

// Whether every window is inside and small enough to be written out.
bool windows_inside(const PoolGeometry& g);
// Whether no two windows share an element.
bool windows_apart(const PoolGeometry& g);

// As emit_max_pool without indices. Needs windows_inside.
void emit_inner_max(loops::Nest& nest, const PoolGeometry& g, loops::Buf x, loops::Buf y);
// As emit_max_scatter. Needs windows_inside and windows_apart.
void emit_inner_scatter(loops::Nest& nest, const PoolGeometry& g, loops::Buf x, loops::Buf u,
                        loops::Buf dx);

}  // namespace mycel::ops
