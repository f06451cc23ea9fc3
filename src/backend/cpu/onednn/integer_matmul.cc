#include "backend/cpu/onednn/integer_matmul.h"

#include "backend/cpu/onednn/convolution_desc.h"
#include "backend/cpu/onednn/integers.h"

namespace mycel::cpu::onednn {
namespace {

using dnnl::memory;
using Desc = dnnl::matmul::primitive_desc;

struct Sides {
  memory::desc a, b, any_b, bias, y;
};

// Without a batch the products have two dims.
memory::desc dense(std::vector<int64_t> dims, memory::data_type type, bool batch,
                   bool transposed = false) {
  if (!batch) dims.erase(dims.begin());
  std::vector<int64_t> strides(dims.size(), 1);
  const size_t last = dims.size() - 1;
  strides[last] = transposed ? dims[last - 1] : 1;
  strides[last - 1] = transposed ? 1 : dims[last];
  if (batch) strides[0] = dims[1] * dims[2];
  return {dims, type, strides};
}

Sides sides_of(const IntegerMatmul& p) {
  const Integers& q = p.integers;
  const bool batch = p.batch != 1;
  Sides l;
  l.a = dense({p.batch, p.m, p.k}, stored_type_of(q.x), batch);
  l.b = dense({p.batch, p.k, p.n}, stored_type_of(q.w), batch, p.transposed);
  l.y = dense({p.batch, p.m, p.n}, stored_type_of(q.y), batch);
  l.any_b = {l.b.get_dims(), l.b.get_data_type(), memory::format_tag::any};
  if (p.bias) l.bias = dense({1, 1, p.n}, memory::data_type::f32, batch);
  return l;
}

dnnl::primitive_attr attributes_of(const IntegerMatmul& p) {
  dnnl::primitive_attr attr = user_scratchpad();
  attr.set_post_ops(post_ops_of(p.post, [&](const PostOp& op) {
    return dense(op.dims, stored_type_of(op.dtype), p.batch != 1);
  }));
  const Integers& q = p.integers;
  const int by_channel = p.batch != 1 ? 4 : 2;
  if (q.scale_at >= 0) attr.set_scales_mask(DNNL_ARG_WEIGHTS, q.scale_by_channel ? by_channel : 0);
  if (q.x_zero_at >= 0) attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (q.y_zero != 0) attr.set_zero_points_mask(DNNL_ARG_DST, 0);
  return attr;
}

// `b`: as it is given.
std::shared_ptr<const Program> program_of(const IntegerMatmul& p, const Sides& l, const Desc& pd,
                                          const memory::desc& b) {
  auto program = std::make_shared<Program>();
  std::vector<std::pair<int, int>> in = {{DNNL_ARG_SRC, program->operand(l.a, p.a_at)},
                                         {DNNL_ARG_WEIGHTS, program->operand(b, p.b_at)}};
  if (p.bias) in.emplace_back(DNNL_ARG_BIAS, program->operand(l.bias, p.bias_at));
  for (size_t k = 0; k < p.post.size(); ++k) {
    if (p.post[k].at < 0) continue;
    auto md = dense(p.post[k].dims, stored_type_of(p.post[k].dtype), p.batch != 1);
    in.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(k)) | DNNL_ARG_SRC_1,
                    program->operand(md, p.post[k].at));
  }
  add_quantization(*program, p.integers, p.n, in);
  add_computation<dnnl::matmul>(*program, pd, in, {DNNL_ARG_DST, program->operand(l.y, p.y_at)});
  return program;
}

Recipe build(const IntegerMatmul& p) {
  Sides l = sides_of(p);
  auto attr = attributes_of(p);
  auto make = [&](const memory::desc& b) { return Desc(engine(), l.a, b, l.bias, l.y, attr); };
  Desc packed = make(l.any_b);
  if (!skip_reference(packed)) return refuse("oneDNN has only its reference product for this");
  Desc plain = make(l.b);
  Recipe recipe;
  recipe.program = program_of(p, l, skip_reference(plain) ? plain : packed, l.b);
  recipe.packs = p.b_at;
  recipe.packed = [p, l, packed] {
    memory::desc wanted = packed.weights_desc();
    if (wanted == l.b) return PackedOperand{};
    return PackedOperand{wanted.get_size(), reorder(l.b, wanted), program_of(p, l, packed, wanted)};
  };
  return recipe;
}

Recipe recipe_of(const IntegerMatmul& p) {
  Key key(kIntegerMatmulRecipe);
  key.add(p.batch).add(p.m).add(p.n).add(p.k).add(p.transposed).add(p.bias);
  key.add(p.a_at).add(p.b_at).add(p.bias_at).add(p.y_at);
  add_to_key(key, p.integers);
  for (const PostOp& op : p.post) add_to_key(key, op);
  const double flops = 2.0 * static_cast<double>(p.batch * p.m) * static_cast<double>(p.n * p.k);
  return recipe_of(key, flops / kIntegerSpeed, [&] { return build(p); });
}

}  // namespace

std::string refuses(const IntegerMatmul& p) { return recipe_of(p).refusal; }
std::unique_ptr<Prepared> prepare(const IntegerMatmul& p) { return kernel_of(recipe_of(p)); }

}  // namespace mycel::cpu::onednn
