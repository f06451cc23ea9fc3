// Loop nests of resampling one axis: which input elements an output element is made of, and with
// which weights. The gradient is the transpose of the same rule.
#pragma once

#include <string>

#include "loops/nest.h"
#include "tensor/shape.h"

namespace mycel::ops {

// Position of output element i on the input axis of n elements: with `step` input elements to one
// of output, i step (asymmetric), (i + 1/2) step - 1/2 (half_pixel), or i (n - 1) / (m - 1)
// (align_corners).
struct ResampleRule {
  std::string method;       // nearest linear cubic area
  std::string coordinates;  // asymmetric half_pixel align_corners
  double scale = 0;         // output elements to one of input; 0: the ratio of the sizes
  double cubic = -0.75;     // the parameter of the cubic kernel (Keys 1981)
  // Cubic taps outside: the border's element, or left out and the other weights scaled to sum 1.
  bool drop_outside = false;
};

// Sizes of one axis of a tensor seen as [outer, n, inner].
struct ResampleSizes {
  int64_t outer, n, m, inner;
};

// y[o, i, k] = sum over taps of weight x[o, tap, k].
void emit_resample(loops::Nest& nest, const ResampleRule& rule, const ResampleSizes& s,
                   loops::Buf x, loops::Buf y);
// dx[o, tap, k] += weight dy[o, i, k].
void emit_resample_dx(loops::Nest& nest, const ResampleRule& rule, const ResampleSizes& s,
                      loops::Buf dy, loops::Buf dx);

}  // namespace mycel::ops
