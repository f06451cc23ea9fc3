// Deformable convolution (Dai et al. 2017; Zhu et al. 2019): the elements of every window are read
// at places moved by offsets.
#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/image/image.h"
#include "ops/image/rooms.h"
#include "ops/image/sample.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using Ints = Attr::Ints;

namespace {

Value constant_of(Expansion& e, const std::vector<double>& v, DType d) {
  return cast_to(e.graph.constant(Tensor::from(v, Shape{static_cast<int64_t>(v.size())})), d);
}

// Row or column of each element of each window, [out, 1, k, 1] or [1, out, 1, k].
Value regular(Expansion& e, int d, int64_t out, int64_t k, DType dtype) {
  double stride = static_cast<double>(e.attrs.ints("strides")[d]);
  double pad = static_cast<double>(e.attrs.ints("pads")[2 * d]);
  double rate = static_cast<double>(e.attrs.ints("dilations")[d]);
  std::vector<double> windows, within;
  for (int64_t i = 0; i < out; ++i) windows.push_back(static_cast<double>(i) * stride - pad);
  for (int64_t i = 0; i < k; ++i) within.push_back(static_cast<double>(i) * rate);
  Ints a{1, 1, 1, 1}, b{1, 1, 1, 1};
  a[d] = out, b[2 + d] = k;
  return kReshape({constant_of(e, windows, dtype)}, {a}) +
         kReshape({constant_of(e, within, dtype)}, {b});
}

void expand_deformable(Expansion& e) {
  Value x = e.x(0), offsets = e.x(1);
  const Shape &s = x.shape(), &o = offsets.shape();
  const Ints &kernel = e.attrs.ints("ksize"), &stride = e.attrs.ints("strides"),
             &pads = e.attrs.ints("pads"), &rate = e.attrs.ints("dilations");
  int64_t groups = e.attrs.integer("deformable_groups");
  int64_t parts = e.attrs.boolean("modulated") ? 3 : 2;
  if (s.rank() != 4 || !s.known())
    value_error("deformable_offsets: x must be [n, c, h, w] of known size, got {}", x.type().str());
  if (groups < 1 || s[1] % groups != 0)
    value_error("deformable_offsets: {} deformable_groups must divide the channels of {}", groups,
                x.type().str());
  int64_t out[2];
  for (int d = 0; d < 2; ++d) {
    if (kernel[d] < 1 || stride[d] < 1 || rate[d] < 1)
      value_error("deformable_offsets: ksize, strides and dilations must be 1 or more");
    int64_t room = s[2 + d] + pads[2 * d] + pads[2 * d + 1] - rate[d] * (kernel[d] - 1) - 1;
    if (room < 0) value_error("deformable_offsets: the window is larger than x with its pads");
    out[d] = room / stride[d] + 1;
  }
  Shape want{s[0], groups * parts * kernel[0] * kernel[1], out[0], out[1]};
  if (!(o == want))
    value_error("deformable_offsets: the offsets must be {} and their shape known, got {}",
                want.str(), offsets.type().str());
  // [parts, n, groups, oh, ow, kh, kw]
  Value moved =
      kReshape({offsets}, {Ints{s[0], parts, groups, kernel[0], kernel[1], out[0], out[1]}});
  moved = kTranspose({moved}, {Ints{1, 0, 2, 5, 6, 3, 4}});
  int64_t maps = s[0] * groups;
  auto part = [&](int64_t i) {
    return kReshape({sliced(moved, 0, i, 1)}, {Ints{maps, out[0], out[1], kernel[0], kernel[1]}});
  };
  DType d = offsets.dtype();
  // Offsets come as columns, rows and weights.
  Value column = regular(e, 1, out[1], kernel[1], d) + part(0);
  Value row = regular(e, 0, out[0], kernel[0], d) + part(1);
  // Each group is a map of its own, channels last.
  int64_t c = s[1] / groups;
  Value field = kTranspose({kReshape({x}, {Ints{maps, c, s[2], s[3]}})}, {Ints{0, 2, 3, 1}});
  Value y = Field(field, false).linear({row, column});
  if (parts == 3) y = y * kExpandDims({part(2)}, {-1});
  // [n g, oh, ow, kh, kw, c] to [n, g c, oh kh, ow kw]
  y = kTranspose({y}, {Ints{0, 5, 1, 3, 2, 4}});
  e.result(kReshape({y}, {Ints{s[0], s[1], out[0] * kernel[0], out[1] * kernel[1]}}));
}

}  // namespace

constexpr OpDef kDeformableOffsets = check({
    .name = "deformable_offsets",
    .doc = "The elements of all windows of x [n, c, h, w], read bilinearly at places moved by "
           "offsets: [n, c, oh kh, ow kw], on which a convolution with stride ksize is a "
           "deformable convolution. offsets: [n, (columns, rows and, modulated, weights) groups kh "
           "kw, oh, ow]; pads (top, bottom, left, right); outside x there are zeros (Zhu et al. "
           "2019).",
    .in = {"x: float[n, c, h, w]", "offsets: float[n, o, i, j]"},
    .attr = {"strides: int[2]", "pads: int[4]", "ksize: int[2]", "dilations: int[2] = 1",
             "deformable_groups: int = 1", "modulated: bool = True"},
    .promote = ir::Promote::kCommon,
    .shard = "none",
    .expand = expand_deformable,
    .cases = "x[2, 2, 4, 5]; offsets[2, 12, 3, 4]; offsets in (0.1, 0.4); strides = 1; pads = 0; "
             "ksize = 2; bad offsets[2, 8, 3, 4]; bad x[2, 4, 5]; bad ksize = 9; skip zero_size: "
             "windows must fit; skip scalar: images have dims; skip dtypes: rounding moves places "
             "| x[1, 2, 4, 5]; offsets[1, 16, 3, 3]; offsets in (0.1, 0.4); strides = [2, 2]; pads "
             "= [1, 1, 1, 1]; ksize = 2; modulated = False; deformable_groups = 2; skip zero_size: "
             "windows must fit; skip scalar: images have dims; skip dtypes: rounding moves places",
    .internal = true,
});

void register_deformable() { ir::register_ops({&kDeformableOffsets}); }

}  // namespace mycel::ops
