#include "backend/cpu/onednn/convolution_desc.h"

namespace mycel::cpu::onednn {

using dnnl::memory;
using Dims = memory::dims;

namespace {

memory::desc dense_desc(const Dims& dims, memory::data_type type) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return {dims, type, strides};
}

memory::desc any_of(const memory::desc& md) {
  return {md.get_dims(), md.get_data_type(), memory::format_tag::any};
}

dnnl::algorithm binary_of(PostOp::Kind kind) {
  switch (kind) {
    case PostOp::Kind::kAdd:
      return dnnl::algorithm::binary_add;
    case PostOp::Kind::kSub:
      return dnnl::algorithm::binary_sub;
    case PostOp::Kind::kMul:
      return dnnl::algorithm::binary_mul;
    default:
      return dnnl::algorithm::binary_div;
  }
}

dnnl::primitive_attr attributes_of(const Convolution& c) {
  dnnl::primitive_attr attr = user_scratchpad();
  attr.set_post_ops(post_ops_of(c.post, [&](const PostOp& p) { return operand_desc(c, p); }));
  if (const auto& q = c.integers) {
    const int by_channel = c.groups > 1 ? 3 : 1;
    if (q->scale_at >= 0)
      attr.set_scales_mask(DNNL_ARG_WEIGHTS, q->scale_by_channel ? by_channel : 0);
    if (q->x_zero_at >= 0) attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
    if (q->y_zero != 0) attr.set_zero_points_mask(DNNL_ARG_DST, 0);
  }
  return attr;
}

}  // namespace

dnnl::post_ops post_ops_of(const std::vector<PostOp>& post,
                           const std::function<memory::desc(const PostOp&)>& desc_of) {
  dnnl::post_ops ops;
  for (const PostOp& p : post) {
    auto a = static_cast<float>(p.a), b = static_cast<float>(p.b);
    if (p.at >= 0) {
      ops.append_binary(binary_of(p.kind), desc_of(p));
    } else if (p.kind == PostOp::Kind::kRound) {
      ops.append_eltwise(dnnl::algorithm::eltwise_round, 0.0f, 0.0f);
    } else if (p.kind == PostOp::Kind::kRange) {
      ops.append_eltwise(dnnl::algorithm::eltwise_clip, a, b);
    } else if (p.kind == PostOp::Kind::kRelu) {
      ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    } else if (p.kind == PostOp::Kind::kClip) {
      ops.append_eltwise(dnnl::algorithm::eltwise_clip, 0.0f, a);
    } else {
      ops.append_eltwise(dnnl::algorithm::eltwise_linear, a, b);
    }
  }
  return ops;
}

memory::desc activation_desc(int64_t n, int64_t channels, const Dims& spatial,
                             memory::data_type type, bool channel_last, int64_t all_channels) {
  Dims dims = {n, channels};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  Dims strides(dims.size());
  int64_t stride = channel_last ? all_channels : 1;
  for (size_t d = dims.size(); d-- > 2;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  strides[1] = channel_last ? 1 : stride;
  strides[0] = channel_last ? stride : stride * all_channels;
  return {dims, type, strides};
}

// A post-op's operand: given with channels last, described as n, c, spatial….
memory::desc operand_desc(const Convolution& c, const PostOp& p) {
  Dims spatial(p.dims.begin() + 1, p.dims.end() - 1);
  auto type = c.integers ? stored_type_of(p.dtype) : data_type_of(c.dtype);
  return activation_desc(p.dims.front(), p.dims.back(), spatial, type, true, p.dims.back());
}

Layouts layouts_of(const Convolution& c) {
  using Type = memory::data_type;
  const Type type = data_type_of(c.integers ? DType::kFloat32 : c.dtype);
  const Type x_type = c.integers ? stored_type_of(c.integers->x) : type;
  const Type w_type = c.integers ? stored_type_of(c.integers->w) : type;
  const Type y_type = c.integers ? stored_type_of(c.integers->y) : type;
  Dims w = {c.out_channels / c.groups, c.in_channels / c.groups};
  if (c.groups > 1) w.insert(w.begin(), c.groups);
  w.insert(w.end(), c.kernel.begin(), c.kernel.end());
  Layouts l;
  l.x = activation_desc(c.batch, c.in_channels, c.in, x_type, c.channel_last, c.in_channels);
  l.y = activation_desc(c.batch, c.out_channels, c.out, y_type, c.channel_last, c.out_channels);
  l.w = dense_desc(w, w_type);
  if (c.bias) l.bias = memory::desc({c.out_channels}, type, memory::format_tag::a);
  // Channel-last activations stay as they are; plain ones go into whatever oneDNN likes best.
  l.any_x = c.channel_last ? l.x : any_of(l.x);
  l.any_y = c.channel_last ? l.y : any_of(l.y);
  l.any_w = any_of(l.w);
  return l;
}

Dims minus_one(Dims dilation) {
  for (int64_t& d : dilation) --d;
  return dilation;
}

dnnl::convolution_forward::primitive_desc forward_desc(const Convolution& c, const Layouts& l,
                                                       dnnl::prop_kind kind) {
  auto algorithm = dnnl::algorithm::convolution_direct;
  return {engine(),    kind,      algorithm,
          l.any_x,     l.any_w,   l.bias,
          l.any_y,     c.stride,  minus_one(c.dilation),
          c.pad_begin, c.pad_end, attributes_of(c)};
}

double flops_of(const Convolution& c) {
  double f = 2.0 * static_cast<double>(c.batch * c.out_channels) *
             static_cast<double>(c.in_channels / c.groups);
  for (int64_t n : c.out) f *= static_cast<double>(n);
  for (int64_t n : c.kernel) f *= static_cast<double>(n);
  return f;
}

}  // namespace mycel::cpu::onednn
