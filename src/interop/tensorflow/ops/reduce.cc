// Reductions, positions of extremes, running sums.
#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {

Ints reduced_axes(Call& c) {
  const int rank = c.x(0).rank();
  Ints axes;
  for (int64_t a : c.known_ints(1)) {
    const int64_t axis = axis_of(c, a, rank);
    if (rank && std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

namespace {

using Reduce = Tensor (*)(const Tensor&, const ir::Attr&, bool);

template <Reduce F>
Tensors reduce(Call& c) {
  Ints axes = reduced_axes(c);
  Tensor x = c.x(0);
  if (axes.empty()) return {x};  // no axis: nothing is reduced
  const DType d = x.dtype();
  return {as(F(x, ir::Attr(axes), c.flag("keep_dims", false)), d)};
}

Tensors mean(Call& c) {
  Tensor x = c.x(0);
  if (!is_int(x.dtype())) return reduce<ops::reduce_mean>(c);
  // Integers: the sum divided, without its fraction.
  Ints axes = reduced_axes(c);
  if (axes.empty()) return {x};
  int64_t n = 1;
  Dims dims = c.dims(x);
  for (int64_t a : axes) n *= dims[static_cast<size_t>(a)];
  Tensor sum = ops::reduce_sum(x, ir::Attr(axes), c.flag("keep_dims", false));
  return {as(ops::truncate_div(sum, number_like(static_cast<double>(std::max<int64_t>(n, 1)), sum)),
             x.dtype())};
}

Tensors any(Call& c) {
  Ints axes = reduced_axes(c);
  if (axes.empty()) return {c.x(0)};
  return {ops::reduce_any(c.x(0), ir::Attr(axes), c.flag("keep_dims", false))};
}
Tensors every(Call& c) {
  Ints axes = reduced_axes(c);
  if (axes.empty()) return {c.x(0)};
  return {ops::reduce_all(c.x(0), ir::Attr(axes), c.flag("keep_dims", false))};
}

template <Tensor (*F)(const Tensor&, const ir::Attr&, bool)>
Tensors position(Call& c) {
  Tensor x = c.x(0);
  const int64_t axis = axis_of(c, c.known_int(1), x.rank());
  return {as(F(x, ir::Attr(axis), false), c.dtype("output_type", DType::kInt64))};
}

Tensors cumsum(Call& c) {
  Tensor x = c.x(0);
  const int axis = axis_of(c, c.known_int(1), x.rank());
  return {as(ops::cumsum(x, axis, {}, c.flag("exclusive", false), c.flag("reverse", false)),
             x.dtype())};
}

Tensors l2_loss(Call& c) { return {ops::l2_loss(c.x(0))}; }

constexpr Record kRecords[] = {
    {40, "MEAN", "Mean", mean, quantized_mean, "1"},
    {74, "SUM", "Sum", reduce<ops::reduce_sum>, nullptr, "1"},
    {82, "REDUCE_MAX", "Max", reduce<ops::reduce_max>, moves, "1"},
    {89, "REDUCE_MIN", "Min", reduce<ops::reduce_min>, moves, "1"},
    {81, "REDUCE_PROD", "Prod", reduce<ops::reduce_prod>, nullptr, "1"},
    {91, "REDUCE_ANY", "Any", any, nullptr, "1"},
    {140, "REDUCE_ALL", "All", every, nullptr, "1"},
    {56, "ARG_MAX", "ArgMax", position<ops::argmax>, moves, "1"},
    {79, "ARG_MIN", "ArgMin", position<ops::argmin>, moves, "1"},
    {128, "CUMSUM", "Cumsum", cumsum, nullptr, "1"},
    {-1, "", "L2Loss", l2_loss},
};

}  // namespace

Records reduce_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
