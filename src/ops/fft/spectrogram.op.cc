// The short-time Fourier transform.
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/fft/fft.h"
#include "ops/fft/rooms.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records
using Ints = Attr::Ints;

namespace {

// An optional int that must lie in [1, most].
int64_t length(const Expansion& e, const char* name, int64_t otherwise, int64_t most) {
  const Attr& a = e.attrs[name];
  int64_t n = a.none() ? otherwise : a.integer();
  if (n < 1 || n > most) value_error("stft: '{}' must lie in [1, {}], got {}", name, most, n);
  return n;
}

// The window with as many zeros before it as behind it, n_fft long.
Value window_of(Expansion& e, Value x, int64_t n_fft, int64_t win) {
  Value w = e.has(1) ? e.x(1) : filled(e.graph, 1, {win}, x.dtype());
  if (w.rank() != 1 || (w.shape()[0] != win && w.shape()[0] != kUnknownDim))
    value_error("stft: the window must be a vector of win_length {}, got {}", win, w.type().str());
  int64_t low = (n_fft - win) / 2;
  return win == n_fft ? w : kPadNd({w}, {Ints{low}, Ints{n_fft - win - low}});
}

// Windows of n_fft samples, one every `hop`, as a new dim before the last.
Value frames_of(Expansion& e, Value x, int64_t n_fft, int64_t hop) {
  int64_t samples = x.shape()[-1];
  if (samples < n_fft) value_error("stft: {} samples are fewer than n_fft {}", samples, n_fft);
  int64_t count = 1 + (samples - n_fft) / hop;
  auto steps = [&](int64_t n, int64_t step) {
    return e.graph
        .add(op_of(kArange), {},
             {0.0, static_cast<double>(n * step), static_cast<double>(step), DType::kInt64})
        ->out();
  };
  Value places = kExpandDims({steps(count, hop)}, {1}) + steps(n_fft, 1);
  return kGather({x, places}, {-1});
}

void expand_stft(Expansion& e) {
  Value x = e.x(0);
  if (x.rank() != 1 && x.rank() != 2)
    value_error("stft: the operand must have 1 or 2 dims, got {}", x.type().str());
  if (x.shape()[-1] == kUnknownDim)
    value_error("stft: the number of samples must be known, got {}", x.type().str());
  int64_t n_fft = e.attrs.integer("n_fft");
  if (n_fft < 1) value_error("stft: 'n_fft' must be at least 1, got {}", n_fft);
  int64_t hop = length(e, "hop_length", std::max<int64_t>(1, n_fft / 4), INT64_MAX);
  int64_t win = length(e, "win_length", n_fft, n_fft);
  bool complex = is_complex(x.dtype()) || (e.has(1) && is_complex(e.x(1).dtype()));
  auto choice = [&](const char* name, bool otherwise) {
    return e.attrs[name].none() ? otherwise : e.attrs.boolean(name);
  };
  bool onesided = choice("onesided", !complex);
  if (onesided && complex)
    value_error("stft: onesided is for real operands and windows, got {}", x.type().str());
  if (e.attrs.boolean("center")) {
    std::string mode = e.attrs.string("pad_mode");
    for (char& c : mode) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    Ints sides(x.rank(), 0);
    sides.back() = n_fft / 2;
    x = kPadNd({x}, {sides, sides, mode});
  }
  Value frames = frames_of(e, x, n_fft, hop) * window_of(e, x, n_fft, win);
  double scale = e.attrs.boolean("normalized") ? 1 / std::sqrt(static_cast<double>(n_fft)) : 1.0;
  Value y;
  if (onesided) {
    y = kRealDft({frames}, {Ints{-1}, scale});
  } else {
    DType d =
        real_part_of(frames.dtype()) == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
    y = kDft({cast_to(frames, d)}, {Ints{-1}, false, scale});
  }
  y = kSwapaxes({y}, {-2, -1});
  e.result(choice("return_complex", complex) ? y : kViewAsReal({y}));
}

}  // namespace

constexpr OpDef kStft = check({
    .name = "stft",
    .doc = "Fourier transforms of windows of n_fft samples, one every hop_length (n_fft // 4 "
           "unless given): [..., frequencies, windows]. The window function, win_length long (ones "
           "unless given), is centred in n_fft. center pads n_fft // 2 samples on both sides as "
           "pad_mode says; normalized divides by sqrt(n_fft); onesided (of real samples unless "
           "told otherwise) leaves out mirror images; without return_complex a last dim holds "
           "real and imaginary parts.",
    .in = {"x: inexact", "window?: inexact[w]"},
    .attr = {"n_fft: int", "hop_length: int? = None", "win_length: int? = None",
             "center: bool = True",
             "pad_mode: str(REFLECT|CONSTANT|SYMMETRIC|reflect|constant|symmetric) = REFLECT",
             "normalized: bool = False", "onesided: bool? = None", "return_complex: bool? = None"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_stft,
    .cases =
        "x[2, 24] [20]; x dtypes float32 float64; window[6]; win_length = 6; n_fft = 8; "
        "hop_length = None 3; normalized = False True; return_complex = None True; bad "
        "window[5]; bad win_length = 9; bad hop_length = 0; skip zero_size: samples are "
        "needed; skip dtypes: operand and window have one dtype; skip scalar: samples are "
        "needed | x[20]; without window; n_fft = 8 7; center = False True; pad_mode = CONSTANT "
        "SYMMETRIC; onesided = False True | x[20]; x dtypes complex64 complex128; without "
        "window; n_fft = 8; bad onesided = True",
});

constexpr OpDef kStftWindowed = check({
    .name = "stft_windowed",
    .doc = "stft without padding, the window given.",
    .in = {"x: inexact", "window: inexact[w]"},
    .attr = {"n_fft: int", "hop_length: int", "win_length: int", "normalized: bool",
             "onesided: bool", "return_complex: bool"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.result(kStft(
              {e.x(0), e.x(1)},
              {e.attrs["n_fft"], e.attrs["hop_length"], e.attrs["win_length"], false, "REFLECT",
               e.attrs["normalized"], e.attrs["onesided"], e.attrs["return_complex"]}));
        },
    .cases = "x[2, 24]; x dtypes float32 float64; window[6]; win_length = 6; n_fft = 8; hop_length "
             "= 3; normalized = False; onesided = True; return_complex = False True; skip "
             "zero_size: samples are needed; skip dtypes: operand and window have one dtype; skip "
             "scalar: samples are needed; skip bad_input: stft names itself",
    .primitive = "STFT(n_fft, hop_length, win_length, normalized, onesided, return_complex)",
    .internal = true,
});

void register_spectrogram() { register_ops({&kStft, &kStftWindowed}); }

}  // namespace mycel::ops
