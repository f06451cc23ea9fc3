// Quantized ops of one operand. Of 8 bits: what TFLite gives for each of the 256 values is computed
// here, and the graph looks it up. Of 16 bits: fixed-point ops, for those that are so defined.
#include <cmath>
#include <functional>
#include <limits>

#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {
namespace {

// Of the real values: TFLite's own table, in float32.
int32_t by_formula(int32_t stored, const Scale& x, const Scale& y, float (*f)(float)) {
  const float inverse = 1.0f / y.scale;
  const float value = f(x.scale * static_cast<float>(stored - x.zero));
  const int64_t q = int64_t{rounded(value * inverse)} + y.zero;
  return static_cast<int32_t>(std::clamp<int64_t>(q, y.low, y.high));
}

int16_t high_half16(int16_t a, int16_t b, bool round) {
  if (a == b && a == std::numeric_limits<int16_t>::min())
    return std::numeric_limits<int16_t>::max();
  const int32_t product = int32_t{a} * b;
  const int32_t nudge = !round ? 0 : product >= 0 ? 1 << 14 : 1 - (1 << 14);
  return static_cast<int16_t>((product + nudge) / (1 << 15));
}
int16_t shifted16(int16_t v, int n) {
  return static_cast<int16_t>(std::clamp<int64_t>(static_cast<int64_t>(v) << n, -32768, 32767));
}
int16_t to_16_bits(int32_t v) {
  if (v >= std::numeric_limits<int32_t>::max() - (1 << 15)) return 32767;
  return static_cast<int16_t>((v + (1 << 15)) >> 16);
}

// Products of 16 bits: x on a finer scale, times relu6(x + 3) / 6.
int32_t hard_swish(int32_t stored, const Scale& x, const Scale& y) {
  const float fine = x.scale / 128.0f, gate_scale = 3.0f / 32768.0f;
  Multiplier out = multiplier_of(static_cast<double>(fine / y.scale));
  Multiplier gate = multiplier_of(static_cast<double>(fine / gate_scale));
  const auto wide = static_cast<int16_t>((stored - x.zero) * 128);
  const int16_t at_output = high_half16(wide, to_16_bits(out.value), true);
  int16_t g = wide;
  if (gate.shift > 0) g = shifted16(g, gate.shift - 1);
  g = high_half16(g, to_16_bits(gate.value), true);
  if (gate.shift > 0) g = shifted16(g, 1);
  if (gate.shift < 0) g = static_cast<int16_t>(rounding_shift(g, -gate.shift));
  g = static_cast<int16_t>((g + (1 << 15)) >> 1);
  const int16_t product = high_half16(g, at_output, false);
  const int32_t v = rounding_shift(product, -out.shift) + y.zero;
  return std::clamp(v, y.low, y.high);
}

int32_t leaky_relu(int32_t stored, const Scale& x, const Scale& y, float alpha) {
  const int32_t v = stored - x.zero;
  const float factor = v > 0 ? x.scale / y.scale : x.scale * alpha / y.scale;
  const bool negative = factor < 0;
  const int32_t m = multiplied(v, multiplier_of(std::fabs(static_cast<double>(factor))));
  return std::clamp(y.zero + (negative ? -m : m), y.low, y.high);
}

int32_t absolute(int32_t stored, const Scale& x, const Scale& y) {
  const int32_t v = std::abs(stored - x.zero);
  if (x.scale == y.scale) return std::clamp(v + y.zero, y.low, y.high);
  return std::clamp(multiplied(v, multiplier_of(static_cast<double>(x.scale / y.scale))) + y.zero,
                    y.low, y.high);
}

std::function<int32_t(int32_t)> formula(Call& c, const Scale& x, const Scale& y) {
  const std::string& op = c.node.op;
  auto real = [&](float (*f)(float)) { return [=](int32_t v) { return by_formula(v, x, y, f); }; };
  if (op == "LOGISTIC") return real([](float v) { return 1.0f / (1.0f + std::exp(-v)); });
  if (op == "TANH") return real([](float v) { return std::tanh(v); });
  if (op == "ELU") return real([](float v) { return v < 0.0f ? std::expm1(v) : v; });
  if (op == "EXP") return real([](float v) { return std::exp(v); });
  if (op == "GELU" && c.flag("approximate", false)) {
    return real([](float v) {
      constexpr float kRoot = 0.797884560802865355879892f;  // sqrt(2 / pi)
      return 0.5f * v * (1 + std::tanh(kRoot * (v + 0.044715f * v * v * v)));
    });
  }
  if (op == "GELU") {
    return real([](float v) { return 0.5f * v * std::erfc(v * -0.707106781186547524401f); });
  }
  if (op == "LOG") {
    // What has no logarithm becomes the smallest number.
    return [=](int32_t v) {
      const float in = x.scale * static_cast<float>(v - x.zero);
      if (in <= 0) return y.low;
      return by_formula(v, x, y, [](float r) { return std::log(r); });
    };
  }
  if (op == "HARD_SWISH") return [=](int32_t v) { return hard_swish(v, x, y); };
  if (op == "LEAKY_RELU") {
    const auto alpha = static_cast<float>(c.real("alpha", 0));
    return [=](int32_t v) { return leaky_relu(v, x, y, alpha); };
  }
  if (op == "ABS") return [=](int32_t v) { return absolute(v, x, y); };
  c.unsupported("it has no quantized form");
}

Tensors from_table(Call& c, const Scale& x, const Scale& y,
                   const std::function<int32_t(int32_t)>& f) {
  if (size_of(y.dtype) != 1 || size_of(x.dtype) != 1)
    c.unsupported("{} to {}; 8-bit integers are allowed", name_of(x.dtype), name_of(y.dtype));
  std::vector<int8_t> table;
  for (int32_t v = x.low; v <= x.high; ++v) table.push_back(static_cast<int8_t>(f(v)));
  return {looked_up(c, c.x(0), table, y.dtype)};
}

}  // namespace

Tensors quantized_unary(Call& c) {
  Scale x = in_scale(c, 0), y = out_scale(c);
  return from_table(c, x, y, formula(c, x, y));
}

Tensors quantized_relu(Call& c) {
  Scale x = in_scale(c, 0), y = out_scale(c);
  const std::string& op = c.node.op;
  const bool bounded = op != "RELU";
  const float low = op == "RELU_N1_TO_1" ? -1.0f : 0.0f, high = op == "RELU6" ? 6.0f : 1.0f;
  auto at = [&](float v) {
    return static_cast<int32_t>(
        std::clamp<int64_t>(int64_t{y.zero} + rounded(v / y.scale), y.low, y.high));
  };
  Limits l{at(low), bounded ? at(high) : y.high};
  Multiplier m = multiplier_of(static_cast<double>(x.scale / y.scale));
  return {stored(times(centred(c.x(0), x.zero), m), y, l)};
}

}  // namespace mycel::interop::tensorflow
