// Builders for integers with a scale: each gives what TFLite's reference kernel gives, bit for bit,
// from integer ops.
#pragma once

#include "interop/tensorflow/call.h"
#include "interop/tensorflow/ops/fixed_point.h"

namespace mycel::interop::tensorflow {

// Scale and zero point of a tensor that has one of each.
struct Scale {
  float scale = 1;
  int32_t zero = 0;
  DType dtype = DType::kInt8;
  int32_t low = -128, high = 127;  // of the dtype
};
Scale scale_of(const Call& c, const Slot& s);
inline Scale in_scale(const Call& c, int i) { return scale_of(c, c.in_slot(i)); }
inline Scale out_scale(const Call& c, int i = 0) { return scale_of(c, c.out_slot(i)); }

// What a result may be after the activation that is joined to an op.
struct Limits {
  int32_t low, high;
};
Limits limits_of(const Call& c, const Scale& out);

Tensor int32_number(int32_t v);
// x - zero in int32.
Tensor centred(const Tensor& x, int32_t zero);
// x m in fixed point.
Tensor times(const Tensor& x, Multiplier m);
// x + zero held in the limits, as `dtype`.
Tensor stored(const Tensor& x, const Scale& to, Limits l);
// Half away from zero, as TFLite rounds; exact.
Tensor rounded_away(const Tensor& x);
// Of every value of an 8-bit operand.
Tensor looked_up(Call& c, const Tensor& x, const std::vector<int8_t>& table, DType result);

// Floats beside a weight of integers with a scale: rounded to 8 bits by the range that each batch
// element has at that moment. `whole`: integers as floats, less their zero point.
struct Rounded {
  Tensor whole, scale;
};
Rounded rounded_by_range(const Tensor& x, bool symmetric);
// Whether a weight beside float activations is stored so.
bool is_hybrid(const Call& c, int weight);
// The weight's integers as floats that hold sums of `count` products exactly; its scales.
Tensor whole_weight(Call& c, int weight, int64_t count);
Tensor weight_scales(Call& c, int weight);

Tensors quantized_convolution(Call& c, bool depthwise);
Tensors quantized_transposed(Call& c);
Tensors quantized_fully_connected(Call& c);
Tensors quantized_batch_matmul(Call& c);
Tensors quantized_max_pool(Call& c);
Tensors quantized_avg_pool(Call& c);
Tensors quantized_add(Call& c);
Tensors quantized_sub(Call& c);
Tensors quantized_mul(Call& c);
Tensors quantized_maximum(Call& c);
Tensors quantized_minimum(Call& c);
Tensors quantized_squared_difference(Call& c);
Tensors quantized_compare(Call& c);
Tensors quantized_unary(Call& c);
Tensors quantized_relu(Call& c);
Tensors quantized_prelu(Call& c);
Tensors quantized_softmax(Call& c);
Tensors quantized_mean(Call& c);
Tensors quantized_concat(Call& c);
Tensors quantized_bilinear(Call& c);
Tensors quantize(Call& c);
Tensors dequantize(Call& c);

Ints reduced_axes(Call& c);  // reduce.cc

}  // namespace mycel::interop::tensorflow
