// Between floats and integers with a scale.
#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {
namespace {

// Of floats of 16 bits, which carry no scale.
Tensors widen(Call& c) { return {as(c.x(0), DType::kFloat32)}; }

Tensors no_scale(Call& c) { c.fail("neither its input nor its result has a scale"); }

// Rounded to one of 2^bits numbers in [min, max], which is moved so that 0 is one of them.
Tensor fake_quantized(Call& c, double low, double high) {
  Tensor x = c.x(0);
  const auto bits = static_cast<int>(c.integer("num_bits", 8));
  if (bits < 2 || bits > 16) c.fail("num_bits {}", bits);
  const float first = c.flag("narrow_range", false) ? 1 : 0;
  const auto last = static_cast<float>((1 << bits) - 1);
  const auto min = static_cast<float>(low), max = static_cast<float>(high);
  if (!(min < max)) c.fail("a range from {} to {}", low, high);
  const float scale = (max - min) / (last - first), zero = first - min / scale;
  const float moved = zero < first ? first : zero > last ? last : std::round(zero);
  const float from = (first - moved) * scale, to = (last - moved) * scale;
  Tensor y = ops::minimum(ops::maximum(x, number_like(from, x)), number_like(to, x));
  y = ops::mul(ops::sub(y, number_like(from, x)), number_like(1.0f / scale, x));
  y = ops::floor(ops::add(y, number_like(0.5, x)));
  return ops::add(ops::mul(y, number_like(scale, x)), number_like(from, x));
}
Tensors fake_quant(Call& c) { return {fake_quantized(c, c.real("min", -6), c.real("max", 6))}; }
Tensors fake_quant_vars(Call& c) {
  auto at = [&](int i) { return element_as_double(c.known(i).raw(), c.known(i).dtype(), 0); };
  return {fake_quantized(c, at(1), at(2))};
}

constexpr Record kRecords[] = {
    {114, "QUANTIZE", "", no_scale, quantize},
    {6, "DEQUANTIZE", "", widen, dequantize},
    {80, "FAKE_QUANT", "FakeQuantWithMinMaxArgs", fake_quant},
    {-1, "", "FakeQuantWithMinMaxVars", fake_quant_vars, nullptr, "1 2"},
};

}  // namespace

Records quantize_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
