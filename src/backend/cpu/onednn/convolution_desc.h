// How oneDNN sees a convolution: memory layouts of its operands, its description, and the
// computation as a program with reorders around it. Shared by the passes of convolution.cc and by
// the gradient of the weights.
#pragma once

#include <functional>

#include "backend/cpu/onednn/convolution.h"
#include "backend/cpu/onednn/recipe.h"

namespace mycel::cpu::onednn {

// Activations: logical n, c, spatial…; in memory as the user has them. `all_channels`: of the
// tensor that these channels are a part of.
dnnl::memory::desc activation_desc(int64_t n, int64_t channels, const std::vector<int64_t>& spatial,
                                   dnnl::memory::data_type type, bool channel_last,
                                   int64_t all_channels);
// A post-op's operand: given with channels last, described as n, c, spatial….
dnnl::memory::desc operand_desc(const Convolution& c, const PostOp& p);

dnnl::post_ops post_ops_of(const std::vector<PostOp>& post,
                           const std::function<dnnl::memory::desc(const PostOp&)>& desc_of);

struct Layouts {
  dnnl::memory::desc x, w, y, bias;  // as the user has them
  dnnl::memory::desc any_x, any_w, any_y;
};
Layouts layouts_of(const Convolution& c);

double flops_of(const Convolution& c);

std::vector<int64_t> minus_one(std::vector<int64_t> dilation);
dnnl::convolution_forward::primitive_desc forward_desc(const Convolution& c, const Layouts& l,
                                                       dnnl::prop_kind kind);

// Adds the one computation with reorders around it. `out` is the argument that it writes.
template <typename Primitive>
void add_computation(Program& program, const typename Primitive::primitive_desc& pd,
                     const std::vector<std::pair<int, int>>& inputs, std::pair<int, int> out) {
  std::vector<std::pair<int, int>> args;
  for (auto [arg, slot] : inputs) {
    bool as_it_is = arg >= DNNL_ARG_ATTR_SCALES;
    if (!as_it_is) slot = program.reordered(slot, pd.query_md(dnnl::query::exec_arg_md, arg));
    args.emplace_back(arg, slot);
  }
  int target = program.target(out.second, pd.query_md(dnnl::query::exec_arg_md, out.first));
  args.emplace_back(out.first, target);
  program.add(Primitive(pd), pd, std::move(args));
  program.finish(target, out.second);
  program.set_implementation(pd.impl_info_str());
}

}  // namespace mycel::cpu::onednn
