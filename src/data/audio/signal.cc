#include "data/audio/signal.h"

#include <algorithm>

#include "base/error.h"
#include "data/cast.h"

namespace mycel::data {

Signal read_signal(const Value& v, int rank, Accepts accepts) {
  const Tensor& t = v.tensor();
  if (is_complex(t.dtype()))
    type_error("expected real numbers, got {}: complex ones have a last dim of 2", t.describe());
  if (accepts == Accepts::kFloats && !is_float(t.dtype()))
    type_error("expected floats, got {}", t.describe());
  if (t.rank() < rank) value_error("expected {} dims or more, got {}", rank, t.describe());
  if (t.size() == 0) value_error("there is nothing in {}", t.describe());
  Signal s;
  s.shape = t.shape();
  const bool keeps =
      t.dtype() == DType::kFloat64 || (accepts == Accepts::kFloats && is_float(t.dtype()));
  s.dtype = keeps ? t.dtype() : DType::kFloat32;
  if (t.dtype() == DType::kFloat32) {
    s.x.assign(t.data<float>().begin(), t.data<float>().end());
    return s;
  }
  const Tensor wide = cast(t, DType::kFloat64);
  s.x.assign(wide.data<double>().begin(), wide.data<double>().end());
  return s;
}

Value to_value(const Signal& s) {
  if (s.dtype != DType::kFloat32) return cast(Tensor::from(std::span(s.x), s.shape), s.dtype);
  Tensor t = Tensor::empty(DType::kFloat32, s.shape);
  const std::span<float> to = t.mutable_data<float>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(s.x[i]);
  return t;
}

Signal resized(const Signal& s, int64_t width) {
  Signal out;
  out.shape = s.shape;
  out.shape.set(-1, width);
  out.dtype = s.dtype;
  out.x.resize(static_cast<size_t>(s.rows() * width));
  return out;
}

std::shared_ptr<Transform> each_signal(std::function<Signal(Signal)> f, int rank, Accepts accepts) {
  return each_value([f = std::move(f), rank, accepts](const Value& v) -> Value {
    return to_value(f(read_signal(v, rank, accepts)));
  });
}

std::shared_ptr<Transform> each_row(std::function<void(double*, int64_t)> f, Accepts accepts) {
  return each_signal(
      [f = std::move(f)](Signal s) {
        for (int64_t r = 0; r < s.rows(); ++r) f(s.row(r), s.width());
        return s;
      },
      1, accepts);
}

std::shared_ptr<Transform> each_sample(std::function<double(double)> f) {
  return each_row([f = std::move(f)](double* x, int64_t n) { std::transform(x, x + n, x, f); });
}

void clamp(double* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = std::clamp(x[i], -1.0, 1.0);
}

}  // namespace mycel::data
