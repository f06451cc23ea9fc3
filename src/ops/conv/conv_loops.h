// Loop nests of the three convolutions: for the dtypes and shapes that no vendor kernel takes, for
// generated C, and as the reference. Every result element is one sum, so each is written once and
// in a fixed order.
#pragma once

#include <functional>

#include "ir/loop_rule.h"
#include "ops/conv/geometry.h"

namespace mycel::ops {

// How the elements of x and w are read, where it is more than a load: at an offset, for an output
// channel.
struct ConvReads {
  std::function<loops::Val(loops::Val at, loops::Val channel)> x, w;
};

// y from x and w; `bias` may be null.
void emit_conv(loops::Nest& nest, const ConvGeometry& g, const ConvReads& read,
               const loops::Buf* bias, loops::Buf y);
void emit_conv(loops::Nest& nest, const ConvGeometry& g, loops::Buf x, loops::Buf w,
               const loops::Buf* bias, loops::Buf y);
// x's gradient from y's, and w.
void emit_conv_dx(loops::Nest& nest, const ConvGeometry& g, loops::Buf dy, loops::Buf w,
                  loops::Buf dx);
// w's gradient from x and y's.
void emit_conv_dw(loops::Nest& nest, const ConvGeometry& g, loops::Buf x, loops::Buf dy,
                  loops::Buf dw);

}  // namespace mycel::ops
