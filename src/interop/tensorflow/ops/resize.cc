// Resizing of images with channels last: rows, then columns, picked by index and weighed, as the
// published kernels compute places in float32.
#include "interop/tensorflow/ops/resize.h"

#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {

Resize resize_of(Call& c) {
  Resize r;
  Dims d = c.dims(c.x(0));
  if (d.size() != 4) c.fail("an input with {} dims; 4 are allowed", d.size());
  Ints to = c.known_ints(1);
  if (to.size() != 2 || to[0] < 1 || to[1] < 1 || d[1] < 1 || d[2] < 1)
    c.fail("sizes of {} numbers for {}", to.size(), c.x(0).shape().str());
  r.in = {d[1], d[2]};
  r.out = to;
  r.align_corners = c.flag("align_corners", false);
  r.half_pixel = c.flag("half_pixel_centers", false);
  if (r.align_corners && r.half_pixel) c.fail("align_corners and half_pixel_centers together");
  return r;
}

float Resize::scale(int d) const {
  const auto k = static_cast<size_t>(d);
  if (align_corners && out[k] > 1)
    return static_cast<float>(in[k] - 1) / static_cast<float>(out[k] - 1);
  return static_cast<float>(in[k]) / static_cast<float>(out[k]);
}

Lines lines_of(const Resize& r, int d) {
  const auto k = static_cast<size_t>(d);
  const float s = r.scale(d);
  Lines l;
  for (int64_t i = 0; i < r.out[k]; ++i) {
    const auto at = static_cast<float>(i);
    const float place = r.half_pixel ? (at + 0.5f) * s - 0.5f : at * s;
    const float low = std::floor(place);
    l.low.push_back(std::max<int64_t>(static_cast<int64_t>(low), 0));
    l.high.push_back(std::min<int64_t>(static_cast<int64_t>(std::ceil(place)), r.in[k] - 1));
    l.low.back() = std::min(l.low.back(), r.in[k] - 1);
    l.high.back() = std::max<int64_t>(l.high.back(), 0);
    l.weight.push_back(place - low);
  }
  return l;
}

Ints nearest_of(const Resize& r, int d) {
  const auto k = static_cast<size_t>(d);
  const float s = r.scale(d), offset = r.half_pixel ? 0.5f : 0.0f;
  Ints at;
  for (int64_t i = 0; i < r.out[k]; ++i) {
    const float place = (static_cast<float>(i) + offset) * s;
    int64_t v = r.align_corners ? static_cast<int64_t>(std::round(place))
                                : static_cast<int64_t>(std::floor(place));
    at.push_back(std::clamp<int64_t>(v, 0, r.in[k] - 1));
  }
  return at;
}

Tensor picked(const Tensor& x, const Ints& at, int axis) {
  bool same = static_cast<int64_t>(at.size()) == x.dim(axis);
  for (size_t i = 0; same && i < at.size(); ++i) same = at[i] == static_cast<int64_t>(i);
  return same ? x : ops::gather(x, ints_tensor(at, DType::kInt32), axis);
}

namespace {

Tensors bilinear(Call& c) {
  Resize r = resize_of(c);
  Tensor x = c.x(0);
  if (!is_float(x.dtype())) x = as(x, DType::kFloat32);
  for (int d = 0; d < 2; ++d) {
    Lines l = lines_of(r, d);
    Ints shape(4, 1);
    shape[static_cast<size_t>(d) + 1] = -1;
    const auto n = static_cast<int64_t>(l.weight.size());
    Tensor w = as(ops::reshape(Tensor::from(l.weight, Shape{n}), shape), x.dtype());
    Tensor low = picked(x, l.low, d + 1), high = picked(x, l.high, d + 1);
    x = ops::add(ops::mul(low, ops::sub(number_like(1, w), w)), ops::mul(high, w));
  }
  return {x};
}

Tensors nearest(Call& c) {
  Resize r = resize_of(c);
  Tensor x = c.x(0);
  for (int d = 0; d < 2; ++d) x = picked(x, nearest_of(r, d), d + 1);
  return {x};
}

constexpr Record kRecords[] = {
    {23, "RESIZE_BILINEAR", "ResizeBilinear", bilinear, quantized_bilinear, "1"},
    {97, "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor", nearest, moves, "1"},
};

}  // namespace

Records resize_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
