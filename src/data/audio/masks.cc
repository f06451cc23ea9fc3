// Masks over spectrograms (D. Park et al., SpecAugment, 2019, arXiv:1904.08779).
#include <algorithm>

#include "base/error.h"
#include "data/audio/audio.h"
#include "data/audio/signal.h"

namespace mycel::data {
namespace {

// Frequencies (axis 1) or times (axis 2) of spectrograms (..., freq, time) [from, to) in the
// matrix with number `m`.
void fill(Signal* s, int64_t m, int axis, int64_t from, int64_t to, double value) {
  const int64_t rows = s->shape[-2], width = s->width();
  for (int64_t r = 0; r < rows; ++r) {
    double* x = s->row(m * rows + r);
    if (axis == 2) std::fill(x + from, x + to, value);
    if (axis == 1 && r >= from && r < to) std::fill(x, x + width, value);
  }
}

int64_t length(const Signal& s, int axis) { return axis == 2 ? s.width() : s.shape[-2]; }

void mask_all(Signal* s, int axis, int64_t start, int64_t width, double value) {
  const int64_t n = length(*s, axis);
  if (start + width > n)
    value_error("a mask of {} from {} is beyond the {} of the axis", width, start, n);
  const int64_t matrices = s->rows() / s->shape[-2];
  for (int64_t m = 0; m < matrices; ++m) fill(s, m, axis, start, start + width, value);
}

// A mask of its own, up to `most` wide, for each matrix.
void mask_each(Signal* s, int axis, int64_t most, double value, Philox& draw) {
  const int64_t n = length(*s, axis);
  if (most > n) value_error("a mask of up to {} is longer than the {} of the axis", most, n);
  const int64_t matrices = s->rows() / s->shape[-2];
  for (int64_t m = 0; m < matrices; ++m) {
    const double width = draw.uniform() * static_cast<double>(most);
    const auto start = static_cast<int64_t>(draw.uniform() * (static_cast<double>(n) - width));
    fill(s, m, axis, start, start + static_cast<int64_t>(width), value);
  }
}

int axis_of(const Options& o) {
  const int64_t axis = o.integer("axis");
  if (axis != 1 && axis != 2) o.fail("axis", "must be 1 (frequency) or 2 (time), got {}", axis);
  return static_cast<int>(axis);
}

int64_t not_negative(const Options& o, std::string_view name) {
  const int64_t n = o.integer(name);
  if (n < 0) o.fail(name, "must not be negative, got {}", n);
  return n;
}

const TransformDef kMaskAlongAxis{
    .name = "audio.MaskAlongAxis",
    .doc =
        "mask_width frequencies (axis 1) or times (axis 2) from mask_start on become mask_value. "
        "Numbers (..., freq, time). ValueError: a mask beyond the axis.",
    .args = {"mask_start: int", "mask_width: int", "mask_value: number", "axis: int"},
    .make = [](const Options& o) {
      const int64_t start = not_negative(o, "mask_start"), width = o.positive("mask_width");
      return each_signal(
          [=, axis = axis_of(o), value = o.real("mask_value")](Signal s) {
            mask_all(&s, axis, start, width, value);
            return s;
          },
          2);
    }};

std::shared_ptr<Transform> random_mask(int axis, int64_t most, double value) {
  return each_value_randomly([=](const Value& v, Philox& draw) -> Value {
    Signal s = read_signal(v, 2);
    mask_each(&s, axis, most, value, draw);
    return to_value(s);
  });
}

const TransformDef kMaskAlongAxisIID{
    .name = "audio.MaskAlongAxisIID",
    .doc =
        "Up to mask_param frequencies (axis 1) or times (axis 2), drawn for each spectrogram by "
        "itself, become mask_value. Numbers (..., freq, time). ValueError: a mask_param beyond "
        "the axis.",
    .args = {"mask_param: int", "mask_value: number", "axis: int"},
    .make = [](const Options& o) {
      return random_mask(axis_of(o), not_negative(o, "mask_param"), o.real("mask_value"));
    }};

std::shared_ptr<Transform> masking(const Options& o, int axis, const char* param) {
  const int64_t most = not_negative(o, param), start = not_negative(o, "mask_start");
  const double value = o.real("mask_value");
  if (o.boolean("iid_masks")) return random_mask(axis, most, value);
  return each_signal(
      [=](Signal s) {
        mask_all(&s, axis, start, most, value);
        return s;
      },
      2);
}

const TransformDef kTimeMasking{
    .name = "audio.TimeMasking",
    .doc =
        "time_mask_param times from mask_start on become mask_value; with iid_masks up to that "
        "many, drawn for each spectrogram by itself. Numbers (..., freq, time). ValueError: a mask "
        "beyond the axis. Source: D. Park et al., 2019, arXiv:1904.08779.",
    .args = {"iid_masks: bool = False", "time_mask_param: int = 0", "mask_start: int = 0",
             "mask_value: number = 0.0"},
    .make = [](const Options& o) { return masking(o, 2, "time_mask_param"); }};

const TransformDef kFrequencyMasking{
    .name = "audio.FrequencyMasking",
    .doc =
        "freq_mask_param frequencies from mask_start on become mask_value; with iid_masks up to "
        "that many, drawn for each spectrogram by itself. Numbers (..., freq, time). ValueError: "
        "a mask beyond the axis. Source: D. Park et al., 2019, arXiv:1904.08779.",
    .args = {"iid_masks: bool = False", "freq_mask_param: int = 0", "mask_start: int = 0",
             "mask_value: number = 0.0"},
    .make = [](const Options& o) { return masking(o, 1, "freq_mask_param"); }};

}  // namespace

TransformDefs mask_transforms() {
  return {&kMaskAlongAxis, &kMaskAlongAxisIID, &kTimeMasking, &kFrequencyMasking};
}

}  // namespace mycel::data
