#include "backend/cpu/onednn/convolution.h"

#include <algorithm>
#include <bit>

#include "backend/cpu/onednn/recipe.h"

namespace mycel::cpu::onednn {
namespace {

using dnnl::memory;
using Dims = memory::dims;

memory::desc dense_desc(const Dims& dims, memory::data_type type) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return {dims, type, strides};
}

// Activations: logical n, c, spatial…; in memory as the user has them.
memory::desc activation_desc(int64_t n, int64_t channels, const Dims& spatial,
                             memory::data_type type, bool channel_last) {
  Dims dims = {n, channels};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  if (!channel_last) return dense_desc(dims, type);
  Dims strides(dims.size());
  int64_t stride = channels;
  strides[1] = 1;
  for (size_t d = dims.size(); d-- > 2;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  strides[0] = stride;
  return {dims, type, strides};
}

struct Layouts {
  memory::desc x, w, y, bias;  // as the user has them
  memory::desc any_x, any_w, any_y;
};

memory::desc any_of(const memory::desc& md) {
  return {md.get_dims(), md.get_data_type(), memory::format_tag::any};
}

Layouts layouts_of(const Convolution& c) {
  memory::data_type type = data_type_of(c.dtype);
  Dims w = {c.out_channels / c.groups, c.in_channels / c.groups};
  if (c.groups > 1) w.insert(w.begin(), c.groups);
  w.insert(w.end(), c.kernel.begin(), c.kernel.end());
  Layouts l;
  l.x = activation_desc(c.batch, c.in_channels, c.in, type, c.channel_last);
  l.y = activation_desc(c.batch, c.out_channels, c.out, type, c.channel_last);
  l.w = dense_desc(w, type);
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

// A post-op's operand: given with channels last, described as n, c, spatial….
memory::desc operand_desc(const Convolution& c, const PostOp& p) {
  Dims spatial(p.dims.begin() + 1, p.dims.end() - 1);
  return activation_desc(p.dims.front(), p.dims.back(), spatial, data_type_of(c.dtype), true);
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
  dnnl::post_ops ops;
  for (const PostOp& p : c.post) {
    auto a = static_cast<float>(p.a), b = static_cast<float>(p.b);
    if (p.at >= 0) {
      ops.append_binary(binary_of(p.kind), operand_desc(c, p));
    } else if (p.kind == PostOp::Kind::kRelu) {
      // oneDNN's ReLU makes 0 of a NaN. x clip(2^126 x, 0, 1) is as exact and keeps it.
      ops.append_eltwise(dnnl::algorithm::eltwise_hardswish, 0x1p126f, 0.0f);
    } else {
      ops.append_eltwise(dnnl::algorithm::eltwise_linear, a, b);
    }
  }
  attr.set_post_ops(ops);
  return attr;
}

dnnl::convolution_forward::primitive_desc forward_desc(const Convolution& c, const Layouts& l,
                                                       dnnl::prop_kind kind) {
  auto algorithm = dnnl::algorithm::convolution_direct;
  return {engine(),    kind,      algorithm,
          l.any_x,     l.any_w,   l.bias,
          l.any_y,     c.stride,  minus_one(c.dilation),
          c.pad_begin, c.pad_end, attributes_of(c)};
}

int64_t pixels_of(const Convolution& c) {
  int64_t n = c.batch;
  for (int64_t d : c.out) n *= d;
  return n;
}

// Adds the one computation with reorders around it. `out` is the argument that it writes.
template <typename Primitive>
void add_computation(Program& program, const typename Primitive::primitive_desc& pd,
                     const std::vector<std::pair<int, int>>& inputs, std::pair<int, int> out) {
  std::vector<std::pair<int, int>> args;
  for (auto [arg, slot] : inputs) {
    bool of_post_op = arg >= DNNL_ARG_ATTR_MULTIPLE_POST_OP_BASE;  // as it is
    if (!of_post_op) slot = program.reordered(slot, pd.query_md(dnnl::query::exec_arg_md, arg));
    args.emplace_back(arg, slot);
  }
  int target = program.target(out.second, pd.query_md(dnnl::query::exec_arg_md, out.first));
  args.emplace_back(out.first, target);
  program.add(Primitive(pd), pd, std::move(args));
  program.finish(target, out.second);
  program.set_implementation(pd.impl_info_str());
}

using ForwardDesc = dnnl::convolution_forward::primitive_desc;

// `w`: the weights as they are given.
std::shared_ptr<const Program> forward_program(const Convolution& c, const Layouts& l,
                                               const ForwardDesc& pd, const memory::desc& w) {
  auto program = std::make_shared<Program>();
  std::vector<std::pair<int, int>> in = {{DNNL_ARG_SRC, program->operand(l.x, c.x_at)},
                                         {DNNL_ARG_WEIGHTS, program->operand(w, c.w_at)}};
  if (c.bias) in.emplace_back(DNNL_ARG_BIAS, program->operand(l.bias, c.bias_at));
  for (size_t k = 0; k < c.post.size(); ++k) {
    if (c.post[k].at < 0) continue;
    in.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(k)) | DNNL_ARG_SRC_1,
                    program->operand(operand_desc(c, c.post[k]), c.post[k].at));
  }
  add_computation<dnnl::convolution_forward>(*program, pd, in,
                                             {DNNL_ARG_DST, program->operand(l.y, c.y_at)});
  return program;
}

PackedOperand packed_weights(const Convolution& c, const Layouts& l, const ForwardDesc& pd) {
  memory::desc wanted = pd.weights_desc();
  if (wanted == l.w) return {};
  return {wanted.get_size(), reorder(l.w, wanted), forward_program(c, l, pd, wanted)};
}

Recipe forward(const Convolution& c, const Layouts& l) {
  auto pd = forward_desc(c, l, dnnl::prop_kind::forward_inference);
  if (!skip_reference(pd)) return refuse("oneDNN has only its reference convolution for this");
  Recipe recipe;
  recipe.program = forward_program(c, l, pd, l.w);
  recipe.packs = c.w_at;
  recipe.packed = [c, l, pd] { return packed_weights(c, l, pd); };
  return recipe;
}

Recipe backward_data(const Convolution& c, const Layouts& l) {
  auto hint = forward_desc(c, l, dnnl::prop_kind::forward_training);
  dnnl::convolution_backward_data::primitive_desc pd(
      engine(), dnnl::algorithm::convolution_direct, l.any_x, l.any_w, l.any_y, c.stride,
      minus_one(c.dilation), c.pad_begin, c.pad_end, hint, user_scratchpad());
  if (!skip_reference(pd)) return refuse("oneDNN has only its reference convolution for this");
  auto program = std::make_shared<Program>();
  add_computation<dnnl::convolution_backward_data>(
      *program, pd,
      {{DNNL_ARG_DIFF_DST, program->operand(l.y, c.y_at)},
       {DNNL_ARG_WEIGHTS, program->operand(l.w, c.w_at)}},
      {DNNL_ARG_DIFF_SRC, program->operand(l.x, c.x_at)});
  return {program, ""};
}

// Pixel for pixel with channels last, the gradient of the weights is one product, yᵀ x. oneDNN's
// matmul computes it faster than its convolution where there are many weights, and writes them as
// they are wanted. Measured with AVX-512 and AMX on 2 threads, GFLOP/s of convolution and product,
// float32: 7x7 2048 to 512 channels 155, 273; 14x14 1024 to 256 240, 262; bfloat16: 603, 1003; 891,
// 1282. With fewer weights matmul shares out the pixels, and the sums depend on the threads.
bool is_one_product(const Convolution& c) {
  auto all = [](const std::vector<int64_t>& list, int64_t n) {
    return std::all_of(list.begin(), list.end(), [n](int64_t v) { return v == n; });
  };
  if (!c.channel_last || c.groups != 1 || !all(c.kernel, 1) || !all(c.stride, 1)) return false;
  if (!all(c.pad_begin, 0) || !all(c.pad_end, 0)) return false;
  constexpr int64_t kChannels = 128, kWeights = 1 << 17;
  return std::min(c.in_channels, c.out_channels) >= kChannels &&
         c.in_channels * c.out_channels >= kWeights;
}

Recipe product_of_weights(const Convolution& c) {
  const int64_t rows = c.out_channels, cols = c.in_channels, depth = pixels_of(c);
  memory::data_type type = data_type_of(c.dtype);
  memory::desc y({rows, depth}, type, Dims{1, rows}), x({depth, cols}, type, Dims{cols, 1}),
      w({rows, cols}, type, Dims{cols, 1});
  dnnl::matmul::primitive_desc pd(engine(), y, x, w, user_scratchpad());
  if (!skip_reference(pd)) return refuse("oneDNN has only its reference matmul for this");
  auto program = std::make_shared<Program>();
  program->add(dnnl::matmul(pd), pd,
               {{DNNL_ARG_SRC, program->operand(y, c.y_at)},
                {DNNL_ARG_WEIGHTS, program->operand(x, c.x_at)},
                {DNNL_ARG_DST, program->operand(w, c.w_at)}});
  program->set_implementation(pd.impl_info_str());
  return {program, ""};
}

Recipe backward_weights(const Convolution& c, const Layouts& l) {
  if (is_one_product(c)) {
    Recipe product = product_of_weights(c);
    if (product.refusal.empty()) return product;
  }
  auto hint = forward_desc(c, l, dnnl::prop_kind::forward_training);
  dnnl::convolution_backward_weights::primitive_desc pd(
      engine(), dnnl::algorithm::convolution_direct, l.any_x, l.any_w, l.any_y, c.stride,
      minus_one(c.dilation), c.pad_begin, c.pad_end, hint, user_scratchpad());
  if (!skip_reference(pd)) return refuse("oneDNN has only its reference convolution for this");
  auto program = std::make_shared<Program>();
  add_computation<dnnl::convolution_backward_weights>(
      *program, pd,
      {{DNNL_ARG_SRC, program->operand(l.x, c.x_at)},
       {DNNL_ARG_DIFF_DST, program->operand(l.y, c.y_at)}},
      {DNNL_ARG_DIFF_WEIGHTS, program->operand(l.w, c.w_at)});
  return {program, ""};
}

double flops_of(const Convolution& c) {
  double f = 2.0 * static_cast<double>(c.batch * c.out_channels) *
             static_cast<double>(c.in_channels / c.groups);
  for (int64_t n : c.out) f *= static_cast<double>(n);
  for (int64_t n : c.kernel) f *= static_cast<double>(n);
  return f;
}

Recipe recipe_of_convolution(const Convolution& c) {
  Key key(kConvolutionRecipe);
  key.add(static_cast<int64_t>(c.pass)).add(static_cast<int64_t>(c.dtype));
  key.add(c.batch).add(c.groups).add(c.in_channels).add(c.out_channels);
  for (const auto* list :
       {&c.in, &c.kernel, &c.out, &c.stride, &c.dilation, &c.pad_begin, &c.pad_end}) {
    key.add(*list);
  }
  key.add(c.bias).add(c.channel_last).add(c.x_at).add(c.w_at).add(c.bias_at).add(c.y_at);
  for (const PostOp& p : c.post) {
    key.add(static_cast<int64_t>(p.kind)).add(p.at).add(p.dims);
    key.add(std::bit_cast<int64_t>(p.a)).add(std::bit_cast<int64_t>(p.b));
  }
  return recipe_of(key, flops_of(c), [&] {
    Layouts l = layouts_of(c);
    switch (c.pass) {
      case Convolution::Pass::kForward:
        return forward(c, l);
      case Convolution::Pass::kBackwardData:
        return backward_data(c, l);
      default:
        return backward_weights(c, l);
    }
  });
}

}  // namespace

std::string refuses(const Convolution& c) { return recipe_of_convolution(c).refusal; }
std::unique_ptr<Prepared> prepare(const Convolution& c) {
  return kernel_of(recipe_of_convolution(c));
}

}  // namespace mycel::cpu::onednn
