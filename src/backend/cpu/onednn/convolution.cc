#include "backend/cpu/onednn/convolution.h"

#include <algorithm>

#include "backend/cpu/onednn/convolution_desc.h"
#include "backend/cpu/onednn/integers.h"
#include "backend/cpu/onednn/restore_nan.h"
#include "backend/cpu/onednn/weight_gradient.h"

namespace mycel::cpu::onednn {
namespace {

using dnnl::memory;

using ForwardDesc = dnnl::convolution_forward::primitive_desc;

// `w`: the weights as they are given.
Recipe forward_program(const Convolution& c, const Layouts& l, const ForwardDesc& pd,
                       const memory::desc& w) {
  auto program = std::make_shared<Program>();
  std::vector<std::pair<int, int>> in = {{DNNL_ARG_SRC, program->operand(l.x, c.x_at)},
                                         {DNNL_ARG_WEIGHTS, program->operand(w, c.w_at)}};
  if (c.bias) in.emplace_back(DNNL_ARG_BIAS, program->operand(l.bias, c.bias_at));
  for (size_t k = 0; k < c.post.size(); ++k) {
    if (c.post[k].at < 0) continue;
    in.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(k)) | DNNL_ARG_SRC_1,
                    program->operand(operand_desc(c, c.post[k]), c.post[k].at));
  }
  if (const auto& q = c.integers) add_quantization(*program, *q, c.out_channels, in);
  add_computation<dnnl::convolution_forward>(*program, pd, in,
                                             {DNNL_ARG_DST, program->operand(l.y, c.y_at)});
  Recipe recipe;
  recipe.program = program;
  auto loses = std::find_if(c.post.begin(), c.post.end(), loses_nan);
  if (loses == c.post.end() || c.integers) return recipe;  // sums of integers are numbers
  // For the rare case, the result as it is before the first step that loses a NaN.
  recipe.restore = [c, l, w, steps = loses - c.post.begin()] {
    Convolution first = c;
    first.post.resize(static_cast<size_t>(steps));
    auto pd = forward_desc(first, l, dnnl::prop_kind::forward_inference);
    return restore_nan(c, forward_program(first, l, pd, w).program);
  };
  return recipe;
}

PackedOperand packed_weights(const Convolution& c, const Layouts& l, const ForwardDesc& pd) {
  memory::desc wanted = pd.weights_desc();
  if (wanted == l.w) return {};
  Recipe whole = forward_program(c, l, pd, wanted);
  return {wanted.get_size(), reorder(l.w, wanted), whole.program, whole.restore};
}

Recipe forward(const Convolution& c, const Layouts& l) {
  auto pd = forward_desc(c, l, dnnl::prop_kind::forward_inference);
  if (!skip_reference(pd)) return refuse("oneDNN has only its reference convolution for this");
  Recipe recipe = forward_program(c, l, pd, l.w);
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

Recipe recipe_of_convolution(const Convolution& c) {
  Key key(kConvolutionRecipe);
  key.add(static_cast<int64_t>(c.pass)).add(static_cast<int64_t>(c.dtype));
  key.add(c.batch).add(c.groups).add(c.in_channels).add(c.out_channels);
  for (const auto* list :
       {&c.in, &c.kernel, &c.out, &c.stride, &c.dilation, &c.pad_begin, &c.pad_end}) {
    key.add(*list);
  }
  key.add(c.integers.has_value());
  if (const auto& q = c.integers) add_to_key(key, *q);
  key.add(c.bias).add(c.channel_last).add(c.x_at).add(c.w_at).add(c.bias_at).add(c.y_at);
  for (const PostOp& p : c.post) add_to_key(key, p);
  const double work = c.integers ? flops_of(c) / kIntegerSpeed : flops_of(c);
  return recipe_of(key, work, [&] {
    Layouts l = layouts_of(c);
    switch (c.pass) {
      case Convolution::Pass::kForward:
        return forward(c, l);
      case Convolution::Pass::kBackwardData:
        return backward_data(c, l);
      default:
        return weight_gradient(c);
    }
  });
}

}  // namespace

std::string refuses(const Convolution& c) { return recipe_of_convolution(c).refusal; }
std::unique_ptr<Prepared> prepare(const Convolution& c) {
  return kernel_of(recipe_of_convolution(c));
}

}  // namespace mycel::cpu::onednn
