// Window functions of signal processing. They are tensors of known positions, so each is a formula
// over arange, folded while compiling; float32 unless dtype is given. periodic: the window of
// length n + 1 without its last point.
#include <algorithm>
#include <numbers>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/bessel.h"
#include "ops/elementwise/elementwise.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;
using ir::Value;

namespace {

DType dtype_of(const Expansion& e) {
  return e.attrs["dtype"].none() ? DType::kFloat32 : e.attrs.dtype("dtype");
}

// The places i / last in [0, 1] of the window's points.
Value places(Expansion& e) {
  int64_t n = e.attrs.integer("window_length");
  if (n < 0) value_error("{}: window_length must not be negative, got {}", e.op.name, n);
  if (!is_float(dtype_of(e)))
    value_error("{}: dtype must be a float type, got {}", e.op.name, name_of(dtype_of(e)));
  double last = static_cast<double>(e.attrs.boolean("periodic") ? n : n - 1);
  Value i =
      e.graph.add(op_of(kArange), {}, {0.0, static_cast<double>(n), 1.0, DType::kFloat64})->out();
  return i / std::max(last, 1.0);
}

// A window of one point is 1.
void window(Expansion& e, Value (*formula)(const Expansion&, Value)) {
  Value at = places(e);
  Value y = e.attrs.integer("window_length") == 1 ? at * 0.0 + 1.0 : formula(e, at);
  e.result(cast_to(y, dtype_of(e)));
}

Value wave(Value at, double turns) { return kCos({at * (2 * std::numbers::pi * turns)}); }

Value triangle(const Expansion&, Value at) { return 1.0 - kAbs({at * 2.0 - 1.0}); }
Value hann(const Expansion&, Value at) { return 0.5 - wave(at, 1) * 0.5; }
Value blackman(const Expansion&, Value at) { return 0.42 - wave(at, 1) * 0.5 + wave(at, 2) * 0.08; }
Value hamming(const Expansion& e, Value at) {
  return e.attrs.real("alpha") - wave(at, 1) * e.attrs.real("beta");
}
Value kaiser(const Expansion& e, Value at) {
  double beta = e.attrs.real("beta");
  Value t = at * 2.0 - 1.0, inside = 1.0 - t * t;
  Value root = kSqrt({kMaximum({inside, number(at, 0)})});
  return kBesselI0({root * beta}) / kBesselI0({at * 0.0 + beta});
}

}  // namespace

constexpr OpDef kBartlettWindow = check({
    .name = "bartlett_window",
    .doc = "The triangle 1 - |2 i / n - 1|; n is the length, less 1 unless periodic. float32 "
           "unless dtype is given.",
    .attr = {"window_length: int", "periodic: bool = True", "dtype: dtype? = None"},
    .shard = "-> none",
    .expand = [](Expansion& e) { window(e, triangle); },
    .cases = "window_length = 0 1 2 5 8; periodic = True False; dtype = None float64; bad "
             "window_length = -1; bad dtype = int32",
});

constexpr OpDef kHannWindow = check({
    .name = "hann_window",
    .doc = "(1 - cos(2 pi i / n)) / 2; n is the length, less 1 unless periodic. float32 unless "
           "dtype is given.",
    .attr = {"window_length: int", "periodic: bool = True", "dtype: dtype? = None"},
    .shard = "-> none",
    .expand = [](Expansion& e) { window(e, hann); },
    .cases = "window_length = 0 1 2 5 8; periodic = True False; dtype = None float64; bad "
             "window_length = -1; bad dtype = int32",
});

constexpr OpDef kBlackmanWindow = check({
    .name = "blackman_window",
    .doc = "0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n); n is the length, less 1 unless "
           "periodic.",
    .attr = {"window_length: int", "periodic: bool = True", "dtype: dtype? = None"},
    .shard = "-> none",
    .expand = [](Expansion& e) { window(e, blackman); },
    .cases = "window_length = 0 1 2 5 8; periodic = True False; dtype = None float64; bad "
             "window_length = -1; bad dtype = int32",
});

constexpr OpDef kHammingWindow = check({
    .name = "hamming_window",
    .doc = "alpha - beta cos(2 pi i / n); n is the length, less 1 unless periodic. float32 unless "
           "dtype is given.",
    .attr = {"window_length: int", "periodic: bool = True", "alpha: float = 0.54",
             "beta: float = 0.46", "dtype: dtype? = None"},
    .shard = "-> none",
    .expand = [](Expansion& e) { window(e, hamming); },
    .cases = "window_length = 0 1 2 5 8; periodic = True False; alpha = 0.54 0.5; beta = 0.46; "
             "dtype = None float64; bad window_length = -1; bad dtype = int32",
});

constexpr OpDef kKaiserWindow = check({
    .name = "kaiser_window",
    .doc = "I0(beta sqrt(1 - (2 i / n - 1)^2)) / I0(beta); n is the length, less 1 unless "
           "periodic.",
    .attr = {"window_length: int", "periodic: bool = True", "beta: float = 12.0",
             "dtype: dtype? = None"},
    .shard = "-> none",
    .expand = [](Expansion& e) { window(e, kaiser); },
    .cases = "window_length = 0 1 2 5 8; periodic = True False; beta = 12.0 0.0; dtype = None "
             "float64; bad window_length = -1; bad dtype = int32",
});

}  // namespace mycel::ops
