#include "interop/tensorflow/ops/build.h"

#include "runtime/dispatch.h"

namespace mycel::interop::tensorflow {

Tensor padded(const Tensor& x, const Ints& low, const Ints& high, double value) {
  static const ir::Op& op = ir::op_named("pad_nd");
  return runtime::call1(op, {x},
                        {ir::Attr(low), ir::Attr(high), ir::Attr("constant"), ir::Attr(value)});
}

Tensor widened_weight(Call& c, int i) {
  Tensor w = c.x(i);
  const DType to = is_float(c.x(0).dtype()) ? c.x(0).dtype() : DType::kFloat32;
  if (is_float(w.dtype())) return as(w, to);
  const Quantization& q = c.in_slot(i).quantization;
  if (q.scale.empty()) c.fail("input {} is {} without a scale", i, w.describe());
  Ints shape(static_cast<size_t>(w.rank()), 1);
  if (q.by_channel()) {
    if (w.dim(q.axis) != static_cast<int64_t>(q.scale.size()))
      c.fail("{} scales for {}", q.scale.size(), w.describe());
    shape[static_cast<size_t>(q.axis)] = -1;
  }
  const auto n = static_cast<int64_t>(q.scale.size());
  Tensor scale = ops::reshape(Tensor::from(q.scale, Shape{n}), shape);
  Tensor zero = ops::reshape(as(ints_tensor(q.zero), DType::kFloat32), shape);
  return as(ops::mul(ops::sub(as(w, DType::kFloat32), zero), scale), to);
}

Tensor activated(Call& c, const Tensor& y) {
  const std::string a = c.text("activation", "");
  if (a.empty()) return y;
  if (a == "RELU") return ops::maximum(y, number_like(0, y));
  if (a == "RELU6") return ops::minimum(ops::maximum(y, number_like(0, y)), number_like(6, y));
  if (a == "RELU_N1_TO_1")
    return ops::minimum(ops::maximum(y, number_like(-1, y)), number_like(1, y));
  if (a == "TANH") return ops::tanh(y);
  c.unsupported("activation {}", a);
}

bool channels_first(const Call& c) {
  const std::string f = c.text("data_format", "NHWC");
  if (f == "NHWC" || f == "NDHWC" || f == "NWC") return false;
  if (f == "NCHW" || f == "NCDHW" || f == "NCW") return true;
  c.unsupported("data_format {}; NHWC and NCHW are allowed", f);
}

Ints spatial(const Call& c, const char* name, size_t rank, Ints otherwise) {
  Ints v = c.ints(name, otherwise);
  if (v.size() == rank) return v;
  if (v.size() != rank + 2) c.fail("attribute '{}' has {} numbers", name, v.size());
  const size_t first = channels_first(c) ? 2 : 1, channel = channels_first(c) ? 1 : rank + 1;
  if (v[0] != 1 || v[channel] != 1)
    c.unsupported("attribute '{}' is {} for the batch, {} for channels; 1 is allowed", name, v[0],
                  v[channel]);
  return {v.begin() + static_cast<int64_t>(first), v.begin() + static_cast<int64_t>(first + rank)};
}

Ints pads_of(const Call& c, const Ints& in, const Ints& kernel, const Ints& stride,
             const Ints& dilation) {
  const std::string mode = c.text("padding", "");
  const size_t n = in.size();
  Ints pads;
  if (mode == "EXPLICIT") {
    Ints given = c.ints("explicit_paddings");
    if (given.size() != 2 * (n + 2)) c.fail("{} explicit paddings", given.size());
    const size_t first = channels_first(c) ? 4 : 2;
    pads.assign(given.begin() + static_cast<int64_t>(first),
                given.begin() + static_cast<int64_t>(first + 2 * n));
    return pads;
  }
  if (mode != "SAME" && mode != "VALID") c.fail("padding '{}'; SAME and VALID are allowed", mode);
  for (size_t d = 0; d < n; ++d) {
    if (stride.at(d) < 1 || dilation.at(d) < 1 || kernel.at(d) < 1)
      c.fail("kernel {}, stride {}, dilation {} in spatial dim {}", kernel[d], stride[d],
             dilation[d], d);
    int64_t total = 0;
    if (mode == "SAME") {
      const int64_t out = (in[d] + stride[d] - 1) / stride[d];
      total =
          std::max<int64_t>((out - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1 - in[d], 0);
    }
    pads.insert(pads.end(), {total / 2, total - total / 2});
  }
  return pads;
}

}  // namespace mycel::interop::tensorflow
