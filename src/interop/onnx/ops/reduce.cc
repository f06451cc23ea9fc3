// Reductions, cumulative ops, positions of extremes.
#include <limits>

#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {
namespace {

using Reduce = Tensor (*)(const Tensor&, const ir::Attr&, bool);

// Axes were an attribute before they became an input, sooner for ReduceSum than for the others;
// none means all, or nothing where `noop_with_empty_axes` says so. `then` is done also where
// nothing is reduced.
Values reduced(Call& c, Reduce f, double empty, Tensor (*then)(const Tensor&) = nullptr,
               Tensor (*first)(const Tensor&) = nullptr) {
  Tensor x = c.x(0);
  Ints axes = c.ints("axes");
  if (c.has(1)) axes = c.known_ints(1);
  bool keep = c.flag("keepdims", true);
  if (first) x = first(x);
  if (axes.empty() && c.flag("noop_with_empty_axes", false)) return one(then ? then(x) : x);
  if (axes.empty()) axes = counted(x.rank());
  axes = axes_of(c, axes, x.rank());
  bool nothing = false;
  for (int64_t a : axes) nothing = nothing || x.dim(static_cast<int>(a)) == 0;
  Tensor y;
  if (nothing) {
    Dims dims = c.dims(x), out;
    for (int64_t d = 0; d < x.rank(); ++d) {
      bool gone = std::ranges::find(axes, d) != axes.end();
      if (!gone)
        out.push_back(dims[static_cast<size_t>(d)]);
      else if (keep)
        out.push_back(1);
    }
    y = ops::broadcast_to(number_like(empty, x), out);
  } else if (axes.empty()) {
    y = x;
  } else {
    y = f(x, ir::Attr(axes), keep);
  }
  return one(then ? then(y) : y);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double lowest(DType d) {
  if (is_float(d)) return -kInfinity;
  if (d == DType::kInt8) return -128;
  if (d == DType::kInt32) return std::numeric_limits<int32_t>::min();
  if (d == DType::kInt64) return static_cast<double>(std::numeric_limits<int64_t>::min());
  return 0;
}
double highest(DType d) {
  if (is_float(d)) return kInfinity;
  if (d == DType::kInt8) return 127;
  if (d == DType::kUInt8) return 255;
  if (d == DType::kInt32) return std::numeric_limits<int32_t>::max();
  if (d == DType::kInt64) return 9223372036854774784.0;
  return d == DType::kBool ? 1 : static_cast<double>(std::numeric_limits<uint32_t>::max());
}

Tensor through_bytes(const Tensor& x, Reduce f, const ir::Attr& a, bool k) {
  return as(f(as(x, DType::kUInt8), a, k), DType::kBool);
}
Tensor largest(const Tensor& x, const ir::Attr& a, bool k) {
  return is_bool(x.dtype()) ? through_bytes(x, largest, a, k) : ops::reduce_max(x, a, k);
}
Tensor smallest(const Tensor& x, const ir::Attr& a, bool k) {
  return is_bool(x.dtype()) ? through_bytes(x, smallest, a, k) : ops::reduce_min(x, a, k);
}
Tensor total(const Tensor& x, const ir::Attr& a, bool k) {
  return as(ops::reduce_sum(x, a, k), x.dtype());
}
Tensor product(const Tensor& x, const ir::Attr& a, bool k) {
  return as(ops::reduce_prod(x, a, k), x.dtype());
}
// Integers are rounded towards zero.
Tensor average(const Tensor& x, const ir::Attr& a, bool k) {
  if (!is_int(x.dtype())) return ops::reduce_mean(x, a, k);
  return as(ops::reduce_mean(as(x, DType::kFloat64), a, k), x.dtype());
}
Tensor log_total(const Tensor& x, const ir::Attr& a, bool k) {
  if (is_float(x.dtype())) return ops::logsumexp(x, a, k);
  return as(ops::logsumexp(as(x, DType::kFloat64), a, k), x.dtype());
}
Tensor root(const Tensor& x) {
  return as(ops::sqrt(is_int(x.dtype()) ? as(x, DType::kFloat64) : x), x.dtype());
}
Tensor logarithm(const Tensor& x) {
  return as(ops::log(is_int(x.dtype()) ? as(x, DType::kFloat64) : x), x.dtype());
}

Values reduce_sum(Call& c) { return reduced(c, total, 0); }
Values reduce_mean(Call& c) {
  return reduced(c, average, std::numeric_limits<double>::quiet_NaN());
}
Values reduce_max(Call& c) { return reduced(c, largest, lowest(c.x(0).dtype())); }
Values reduce_min(Call& c) { return reduced(c, smallest, highest(c.x(0).dtype())); }
Values reduce_prod(Call& c) { return reduced(c, product, 1); }
Values reduce_l1(Call& c) { return reduced(c, total, 0, nullptr, ops::abs); }
Values reduce_l2(Call& c) { return reduced(c, total, 0, root, ops::square); }
Values reduce_sum_square(Call& c) { return reduced(c, total, 0, nullptr, ops::square); }
Values reduce_log_sum(Call& c) { return reduced(c, total, 0, logarithm); }
Values reduce_log_sum_exp(Call& c) { return reduced(c, log_total, -kInfinity); }

// The first of equal ones, or the last.
Values position(Call& c, Tensor (*f)(const Tensor&, int64_t)) {
  Tensor x = c.x(0);
  int axis = axis_of(c, c.integer("axis", 0), x.rank());
  if (is_bool(x.dtype())) x = as(x, DType::kUInt8);
  bool last = c.flag("select_last_index", false);
  if (last) x = ops::flip(x, {axis});
  Tensor at = as(f(x, axis), DType::kInt64);
  if (last)
    at = ops::sub(
        number(static_cast<double>(c.dims(x)[static_cast<size_t>(axis)] - 1), DType::kInt64), at);
  return one(c.flag("keepdims", true) ? ops::expand_dims(at, axis) : at);
}
Values arg_max(Call& c) {
  return position(c, [](const Tensor& x, int64_t a) { return ops::argmax(x, ir::Attr(a)); });
}
Values arg_min(Call& c) {
  return position(c, [](const Tensor& x, int64_t a) { return ops::argmin(x, ir::Attr(a)); });
}

template <typename F>
Values running(Call& c, F f) {
  Tensor x = c.x(0);
  Ints at = c.known_ints(1);
  if (at.size() != 1) c.fail("the axis must be one number; {} are given", at.size());
  return one(
      as(f(x, axis_of(c, at[0], x.rank()), c.flag("exclusive", false), c.flag("reverse", false)),
         x.dtype()));
}
Values cum_sum(Call& c) {
  return running(
      c, [](const Tensor& x, int64_t a, bool e, bool r) { return ops::cumsum(x, a, {}, e, r); });
}
Values cum_prod(Call& c) {
  return running(
      c, [](const Tensor& x, int64_t a, bool e, bool r) { return ops::cumprod(x, a, {}, e, r); });
}

constexpr Record kRecords[] = {
    {"ReduceSum", reduce_sum, "1"},
    {"ReduceMean", reduce_mean, "1"},
    {"ReduceMax", reduce_max, "1"},
    {"ReduceMin", reduce_min, "1"},
    {"ReduceProd", reduce_prod, "1"},
    {"ReduceL1", reduce_l1, "1"},
    {"ReduceL2", reduce_l2, "1"},
    {"ReduceSumSquare", reduce_sum_square, "1"},
    {"ReduceLogSum", reduce_log_sum, "1"},
    {"ReduceLogSumExp", reduce_log_sum_exp, "1"},
    {"ArgMax", arg_max},
    {"ArgMin", arg_min},
    {"CumSum", cum_sum, "1"},
    {"CumProd", cum_prod, "1"},
};

}  // namespace

Records reduce_records() { return kRecords; }

}  // namespace mycel::interop::onnx
