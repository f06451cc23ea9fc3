// Windows around points of each image, and images scaled and moved by operands.
#include <numbers>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/image/image.h"
#include "ops/image/rooms.h"
#include "ops/image/sample.h"
#include "ops/matmul/matmul.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using Ints = Attr::Ints;

namespace {

void need_images(const Expansion& e) {
  if (e.x(0).rank() != 4)
    value_error("{}: '{}' must be [n, h, w, c], got {}", e.op.name, e.op.inputs[0].name,
                e.x(0).type().str());
}

Value counted(Expansion& e, int64_t n, DType dtype) {
  return e.graph.add(ir::op_of(kArange), {}, {0.0, static_cast<double>(n), 1.0, dtype})->out();
}

// The first row or column of each window, int64 [n].
Value first_of(const Expansion& e, Value offset, Value length, int64_t window) {
  Value at = offset;
  if (e.attrs.boolean("normalized")) at = at * length;
  if (e.attrs.boolean("centered")) at = at * 0.5 + length * 0.5;
  at = at - static_cast<double>(window) * 0.5;
  return cast_to(kTrunc({at}), DType::kInt64);
}

void expand_glimpse(Expansion& e) {
  need_images(e);
  Value x = e.x(0), offsets = e.x(1);
  const Ints& size = e.attrs.ints("size");
  if (size[0] < 1 || size[1] < 1)
    value_error("glimpse: 'size' must be positive, got {}", e.attrs["size"].str());
  if (offsets.rank() != 2 || (offsets.shape()[1] != 2 && offsets.shape()[1] != kUnknownDim))
    value_error("glimpse: 'offsets' must be [n, 2], got {}", offsets.type().str());
  Value place[2], inside;
  for (int d = 0; d < 2; ++d) {
    Value length = axis_size(x, d + 1, DType::kInt64);
    Value first = first_of(e, sliced(offsets, 1, d, 1), cast_to(length, offsets.dtype()), size[d]);
    Value at = first + counted(e, size[d], DType::kInt64);  // [n, window]
    at = kExpandDims({at}, {d == 0 ? 2 : 1});
    Value in = kLogicalAnd({kGreaterEqual({at, number(at, 0)}), kLess({at, length})});
    inside = inside ? kLogicalAnd({inside, in}) : in;
    place[d] = at;
  }
  Value y = Field(x, false).at({place[0], place[1]});
  if (e.has(2)) y = where(kExpandDims({inside}, {-1}), y, cast_to(e.x(2), y.dtype()));
  e.result(y);
}

// -- scale and translate

Value windowed_sinc(Value x, double radius) {
  Value t = x * std::numbers::pi, safe = where(equal(t, 0.0), 1.0, t);
  Value v = kSin({safe}) * kSin({safe * (1 / radius)}) / (safe * safe * (1 / radius));
  return where(equal(t, 0.0), 1.0, v);
}

// Keys's cubic with a = -1/2.
Value keys_cubic(Value x) {
  Value near = ((1.5 * x - 2.5) * x) * x + 1.0, far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0;
  return where(less(x, 1.0), near, far);
}

// The kernel at distances x >= 0, 0 from its radius on.
Value kernel_at(const std::string& type, Value x) {
  double radius = type == "lanczos5"   ? 5
                  : type == "lanczos3" ? 3
                  : type == "lanczos1" ? 1
                  : type == "gaussian" ? 1.5
                  : type == "triangle" ? 1
                  : type == "box"      ? 0.5
                                       : 2;
  Value v;
  if (type.starts_with("lanczos")) {
    v = windowed_sinc(x, radius);
  } else if (type == "gaussian") {
    v = kExp({x * x * -2.0});
  } else if (type == "triangle") {
    v = 1.0 - x;
  } else if (type == "box") {
    // Halfway elements count half.
    v = where(less(x, 0.5), ones_of(x), 0.5);
    return where(greater(x, 0.5), 0.0, v);
  } else if (type == "keyscubic") {
    v = keys_cubic(x);
  } else {  // Mitchell and Netravali 1988
    Value near = ((7.0 * x - 12.0) * x * x + 16.0 / 3) * (1.0 / 6);
    Value far = (((-7.0 / 3 * x + 12.0) * x - 20.0) * x + 32.0 / 3) * (1.0 / 6);
    v = where(less(x, 1.0), near, far);
  }
  return where(less(x, radius), v, 0.0);
}

// Weights [to, from] of one dim.
Value spans(Expansion& e, int d, Value scale, Value move, int64_t from, int64_t to) {
  DType t = DType::kFloat32;
  Value back = 1.0 / scale;
  Value at = (kExpandDims({counted(e, to, t)}, {-1}) + 0.5 - move) * back;  // [to, 1]
  Value distance = kAbs({counted(e, from, t) + 0.5 - at});
  if (e.attrs.boolean("antialias")) {
    distance = distance / where(greater(back, 1.0), back, 1.0);
  }
  Value w = kernel_at(e.attrs.string("kernel_type"), distance);
  Value sum = kReduceSum({w}, {Ints{1}, true});
  Value small = less(kAbs({sum}), 1e-4);
  w = where(small, 0.0, w / where(small, 1.0, sum));
  Value outside = kLogicalOr({less(at, 0.0), greater(at, static_cast<double>(from))});
  (void)d;
  return where(outside, 0.0, w);
}

void expand_scale(Expansion& e) {
  need_images(e);
  Value x = e.x(0);
  const Ints& size = e.attrs.ints("size");
  if (size[0] < 1 || size[1] < 1)
    value_error("scale_and_translate: 'size' must be positive, got {}", e.attrs["size"].str());
  for (int i = 1; i < 3; ++i) {
    if (e.x(i).rank() != 1 || (e.x(i).shape()[0] != 2 && e.x(i).shape()[0] != kUnknownDim))
      value_error("scale_and_translate: '{}' must hold two numbers, got {}", e.op.inputs[i].name,
                  e.x(i).type().str());
  }
  const Shape& s = x.shape();
  if (!s.known())
    value_error("scale_and_translate: the shape of the images must be known, got {}",
                x.type().str());
  auto weights = [&](int d) {
    auto of = [&](int i) {
      return kReshape({sliced(cast_to(e.x(i), DType::kFloat32), 0, d, 1)}, {Ints{}});
    };
    return spans(e, d, of(1), of(2), s[d + 1], size[d]);
  };
  Value y = cast_to(x, DType::kFloat32);
  y = kMatmul({weights(0), kReshape({y}, {Ints{s[0], s[1], s[2] * s[3]}})});
  y = kReshape({y}, {Ints{s[0], size[0], s[2], s[3]}});
  e.result(kMatmul({weights(1), y}));
}

}  // namespace

constexpr OpDef kGlimpse = check({
    .name = "glimpse",
    .doc = "Windows of `size` rows and columns of images [n, h, w, c] around offsets (y, x): "
           "centered counts from the middle in half sizes, normalized in parts of the size. What "
           "lies outside is taken from noise, without it 0.",
    .in = {"x: float[n, h, w, c]", "offsets: float[n, 2]", "noise?: float[n, i, j, c]"},
    .attr = {"size: int[2]", "centered: bool = True", "normalized: bool = True"},
    .shard = "none",
    .expand = expand_glimpse,
    .cases = "x[2, 4, 5, 3]; offsets[2, 2]; offsets in (-0.6, 0.6); noise[2, 2, 3, 3]; size = [2, "
             "3]; centered = True False; normalized = True False; no grad of offsets: windows lie "
             "on whole pixels; bad offsets[2, 3]; bad x[4, 5, 3]; bad size = [0, 1]; skip "
             "zero_size: images have elements; skip scalar: images have dims; skip dtypes: "
             "rounding moves windows",
    .internal = true,
});

constexpr OpDef kScaleAndTranslate = check({
    .name = "scale_and_translate",
    .doc = "Images [n, h, w, c] scaled by `scale` (y, x) and moved by `translation` into images of "
           "`size`: each pixel is the weighted mean of those around its place, with the kernel's "
           "weights (lanczos, gaussian, box, triangle, keyscubic, mitchellcubic), widened by "
           "antialias where the image shrinks; float32.",
    .in = {"images: real[n, h, w, c]", "scale: float[2]", "translation: float[2]"},
    .attr = {"size: int[2]",
             "kernel_type: str(lanczos1|lanczos3|lanczos5|gaussian|box|triangle|keyscubic|"
             "mitchellcubic) = lanczos3",
             "antialias: bool = True"},
    .shard = "none",
    .expand = expand_scale,
    .cases = "images[2, 4, 5, 3]; scale[2]; scale in {0.7, 1.3}; translation[2]; translation in "
             "{0.1, -0.2}; size = [3, 6]; kernel_type = lanczos1 lanczos3 gaussian triangle "
             "keyscubic mitchellcubic; antialias = True False; in float32; bad scale[3]; bad "
             "images[4, 5, 3]; "
             "bad size = [0, 1]; skip zero_size: images have elements; skip scalar: images have "
             "dims; skip dtypes: computed in float32; skip grad: computed in float32; skip grad2: "
             "the same",
    .internal = true,
});

void register_glimpses() { ir::register_ops({&kGlimpse, &kScaleAndTranslate}); }

}  // namespace mycel::ops
