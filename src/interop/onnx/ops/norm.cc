// Normalizations.
#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {
namespace {

// A vector of channels, for axis 1 of `x`.
Tensor by_channel(const Tensor& v, const Tensor& x) {
  Ints shape(static_cast<size_t>(x.rank()), 1);
  if (x.rank() > 1) shape[1] = -1;
  return ops::reshape(v, shape);
}

Values batch_normalization(Call& c) {
  Tensor x = c.x(0), scale = c.x(1), bias = c.x(2), mean = c.x(3), variance = c.x(4);
  double epsilon = c.real("epsilon", 1e-5), momentum = c.real("momentum", 0.9);
  if (!c.flag("training_mode", false)) {
    if (x.rank() >= 2 && scale.dtype() == x.dtype() && mean.dtype() == x.dtype())
      return one(ops::batch_norm(x, mean, variance, scale, bias, false, 0.1, epsilon));
    Tensor wide = widened(x);
    auto v = [&](const Tensor& t) { return by_channel(as(t, wide.dtype()), x); };
    Tensor y = ops::div(ops::sub(wide, v(mean)),
                        ops::sqrt(ops::add(v(variance), number_like(epsilon, wide))));
    return one(as(ops::add(ops::mul(y, v(scale)), v(bias)), x.dtype()));
  }
  Ints axes = counted(x.rank());
  axes.erase(axes.begin() + 1);
  Tensor wide = widened(x);
  Tensor now = ops::reduce_mean(wide, ir::Attr(axes), true);
  Tensor centred = ops::sub(wide, now);
  Tensor spread = ops::reduce_mean(ops::square(centred), ir::Attr(axes), true);
  Tensor y = ops::div(centred, ops::sqrt(ops::add(spread, number_like(epsilon, wide))));
  y = ops::add(ops::mul(y, by_channel(as(scale, wide.dtype()), x)),
               by_channel(as(bias, wide.dtype()), x));
  auto moved = [&](const Tensor& old, const Tensor& fresh) {
    Tensor f = as(ops::reshape(fresh, {-1}), old.dtype());
    return ops::add(ops::mul(old, number_like(momentum, old)),
                    ops::mul(f, number_like(1 - momentum, old)));
  };
  return {Value(as(y, x.dtype())), Value(moved(mean, now)), Value(moved(variance, spread))};
}

Ints spatial_axes(const Tensor& x) {
  Ints axes = counted(x.rank());
  axes.erase(axes.begin(), axes.begin() + std::min(2, x.rank()));
  return axes;
}

Values instance_normalization(Call& c) {
  Tensor x = c.x(0), wide = widened(x);
  Tensor mean = ops::reduce_mean(wide, ir::Attr(spatial_axes(x)), true);
  Tensor centred = ops::sub(wide, mean);
  Tensor spread = ops::reduce_mean(ops::square(centred), ir::Attr(spatial_axes(x)), true);
  Tensor y =
      ops::div(centred, ops::sqrt(ops::add(spread, number_like(c.real("epsilon", 1e-5), wide))));
  auto v = [&](int i) { return by_channel(as(c.x(i), wide.dtype()), x); };
  return one(as(ops::add(ops::mul(y, v(1)), v(2)), x.dtype()));
}

// Scale and bias came by the group before opset 21, by the channel since.
Values group_normalization(Call& c) {
  Tensor x = c.x(0), scale = c.x(1), bias = c.x(2);
  int64_t groups = c.integer("num_groups");
  Dims dims = c.dims(x);
  if (dims.size() < 2 || groups < 1 || dims[1] % groups)
    c.fail("{} in {} groups", x.shape().str(), groups);
  DType work = widened(x).dtype();
  Tensor parts = ops::reshape(as(x, work), {dims[0], groups, -1});
  Tensor mean = ops::reduce_mean(parts, ir::Attr(Ints{2}), true);
  Tensor centred = ops::sub(parts, mean);
  Tensor spread = ops::reduce_mean(ops::square(centred), ir::Attr(Ints{2}), true);
  Tensor y =
      ops::div(centred, ops::sqrt(ops::add(spread, number_like(c.real("epsilon", 1e-5), centred))));
  auto spread_out = [&](const Tensor& v) {
    Tensor w = as(v, work);
    if (c.opset >= 21) return by_channel(w, x);
    Tensor each = ops::broadcast_to(ops::reshape(w, {groups, 1}), {groups, dims[1] / groups});
    return by_channel(ops::reshape(each, {-1}), x);
  };
  y = ops::reshape(y, dims);
  return one(as(ops::add(ops::mul(y, spread_out(scale)), spread_out(bias)), x.dtype()));
}

Values layer_normalization(Call& c) {
  Tensor x = c.x(0), scale = c.x_or(1), bias = c.x_or(2);
  int axis = axis_of(c, c.integer("axis", -1), x.rank());
  double epsilon = c.real("epsilon", 1e-5);
  Ints axes;
  for (int64_t a = axis; a < x.rank(); ++a) axes.push_back(a);
  DType work =
      c.integer("stash_type", 1) == 1 && x.dtype() != DType::kFloat64 ? DType::kFloat32 : x.dtype();
  bool whole =
      scale && scale.rank() == x.rank() - axis && scale.dtype() == x.dtype() && work == x.dtype();
  for (int d = 0; whole && d < scale.rank(); ++d) whole = scale.dim(d) == x.dim(axis + d);
  if (whole && !c.wants(1) && !c.wants(2)) {
    static const ir::Op& op = ir::op_named("layer_norm");
    return one(
        runtime::call(op, Tensors{x, scale, bias},
                      {ir::Attr(int64_t{axis}), ir::Attr(int64_t{axis}), ir::Attr(epsilon)})[0]);
  }
  Tensor wide = as(x, work);
  Tensor mean = ops::reduce_mean(wide, ir::Attr(axes), true);
  Tensor centred = ops::sub(wide, mean);
  Tensor spread = ops::reduce_mean(ops::square(centred), ir::Attr(axes), true);
  Tensor inverse = ops::reciprocal(ops::sqrt(ops::add(spread, number_like(epsilon, wide))));
  Tensor y = as(ops::mul(centred, inverse), x.dtype());
  if (scale) y = ops::mul(y, scale);
  if (bias) y = ops::add(y, bias);
  return {Value(y), Value(mean), Value(inverse)};
}

Values rms_normalization(Call& c) {
  Tensor x = c.x(0), scale = c.x(1);
  int axis = axis_of(c, c.integer("axis", -1), x.rank());
  Ints axes;
  for (int64_t a = axis; a < x.rank(); ++a) axes.push_back(a);
  DType work =
      c.integer("stash_type", 1) == 1 && x.dtype() != DType::kFloat64 ? DType::kFloat32 : x.dtype();
  Tensor wide = as(x, work);
  Tensor power = ops::reduce_mean(ops::square(wide), ir::Attr(axes), true);
  Tensor y = ops::div(wide, ops::sqrt(ops::add(power, number_like(c.real("epsilon", 1e-5), wide))));
  return one(ops::mul(as(y, scale.dtype()), scale));
}

Values lp_normalization(Call& c) {
  Tensor x = c.x(0);
  Ints axis{axis_of(c, c.integer("axis", -1), x.rank())};
  Tensor size = c.integer("p", 2) == 1
                    ? ops::reduce_sum(ops::abs(x), ir::Attr(axis), true)
                    : ops::sqrt(ops::reduce_sum(ops::square(x), ir::Attr(axis), true));
  Tensor zero = number_like(0, x);
  return one(ops::select(ops::equal(size, zero), zero, ops::div(x, size)));
}

Values mean_variance_normalization(Call& c) {
  Tensor x = c.x(0);
  Ints axes = c.ints("axes", {0, 2, 3});
  Tensor centred = ops::sub(x, ops::reduce_mean(x, ir::Attr(axes), true));
  Tensor spread = ops::sqrt(ops::reduce_mean(ops::square(centred), ir::Attr(axes), true));
  return one(ops::div(centred, ops::add(spread, number_like(1e-9, x))));
}

// Sums of squares over neighbouring channels, as a difference of running sums would lose digits, by
// adding shifted copies.
Values lrn(Call& c) {
  Tensor x = c.x(0);
  int64_t size = c.integer("size"), before = (size - 1) / 2;
  double alpha = c.real("alpha", 1e-4), beta = c.real("beta", 0.75), bias = c.real("bias", 1);
  Ints low(static_cast<size_t>(x.rank()), 0), high = low;
  low.at(1) = before;
  high[1] = size - 1 - before;
  static const ir::Op& op = ir::op_named("pad_nd");
  Tensor squares = runtime::call1(
      op, {ops::square(x)}, {ir::Attr(low), ir::Attr(high), ir::Attr("constant"), ir::Attr(0.0)});
  int64_t channels = x.dim(1);
  Tensor total = ops::narrow(squares, 1, 0, channels);
  for (int64_t k = 1; k < size; ++k) total = ops::add(total, ops::narrow(squares, 1, k, channels));
  Tensor base = ops::add(ops::mul(total, number_like(alpha / static_cast<double>(size), x)),
                         number_like(bias, x));
  return one(ops::div(x, ops::pow(base, number_like(beta, x))));
}

constexpr Record kRecords[] = {
    {"BatchNormalization", batch_normalization, "", "3 4"},
    {"InstanceNormalization", instance_normalization},
    {"GroupNormalization", group_normalization},
    {"LayerNormalization", layer_normalization},
    {"RMSNormalization", rms_normalization},
    {"LpNormalization", lp_normalization},
    {"MeanVarianceNormalization", mean_variance_normalization},
    {"LRN", lrn},
};

}  // namespace

Records norm_records() { return kRecords; }

}  // namespace mycel::interop::onnx
