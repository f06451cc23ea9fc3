// Attention and the layers of transformers made of it (Vaswani et al. 2017). Sequences are
// [length, batch, features] inside; batch_first turns them on the way in and out.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"
#include "nn/random.h"

namespace mycel::nn {
namespace {

using Ints = ir::Attr::Ints;

Tensor optional_input(Inputs x, size_t i) { return x.size() > i ? x[i] : Tensor(); }

// -- multi-head attention
// ---------------------------------------------------------------------------

// A linear layer with the first values that the projections of transformers take.
std::shared_ptr<Layer> linear(int64_t in, int64_t out, bool has_bias = true) {
  Init bias = Init::named("Uniform", {1 / std::sqrt(static_cast<double>(in))});
  return make("Dense", {in, out},
              {{"weight_init", Init::named("HeUniform", {std::sqrt(5.0)})},
               {"bias_init", bias},
               {"has_bias", has_bias}});
}

struct Attention {
  int64_t features, heads, key_features, value_features;
  double dropout;
  bool batch_first, zero_entry;
};

void setup_attention(Layer& l) {
  Attention a;
  a.features = l.args.positive("embed_dim"), a.heads = l.args.positive("num_heads");
  if (a.features % a.heads)
    l.fail("'num_heads' {} must divide 'embed_dim' {}", a.heads, a.features);
  a.key_features = l.args.none("kdim") ? a.features : l.args.positive("kdim");
  a.value_features = l.args.none("vdim") ? a.features : l.args.positive("vdim");
  a.dropout = l.args.within("dropout", 0, 1, "[)");
  a.batch_first = l.args.boolean("batch_first");
  a.zero_entry = l.args.boolean("add_zero_attn");
  bool has_bias = l.args.boolean("has_bias");
  Init xavier = Init::named("XavierUniform");
  if (a.key_features == a.features && a.value_features == a.features) {
    l.add("in_proj_weight", Shape{3 * a.features, a.features}, xavier);
  } else {
    l.add("q_proj_weight", Shape{a.features, a.features}, xavier);
    l.add("k_proj_weight", Shape{a.features, a.key_features}, xavier);
    l.add("v_proj_weight", Shape{a.features, a.value_features}, xavier);
  }
  if (has_bias) l.add("in_proj_bias", Shape{3 * a.features}, Init("zeros"));
  l.add("out_proj", linear(a.features, a.features, has_bias));
  if (l.args.boolean("add_bias_kv")) {
    l.add("bias_k", Shape{1, 1, a.features}, Init::named("XavierNormal"));
    l.add("bias_v", Shape{1, 1, a.features}, Init::named("XavierNormal"));
  }
  l.keep(a);
}

void check_sequences(const Layer& l, const Attention& a, const Tensor& q, const Tensor& k,
                     const Tensor& v) {
  bool fits = (q.rank() == 2 || q.rank() == 3) && k.rank() == q.rank() && v.rank() == q.rank() &&
              q.dim(-1) == a.features && k.dim(-1) == a.key_features &&
              v.dim(-1) == a.value_features;
  int along = q.rank() == 3 && a.batch_first ? 1 : 0;
  if (fits) fits = k.dim(along) == v.dim(along);
  if (fits && q.rank() == 3) {
    int batch = 1 - along;
    fits = k.dim(batch) == q.dim(batch) && v.dim(batch) == q.dim(batch);
  }
  if (fits) return;
  const char* form = a.batch_first ? "[batch, length, features]" : "[length, batch, features]";
  l.fail(
      "query, key and value must be {} (or without the batch) with {}, {} and {} features, one "
      "batch, and key as long as value; got {}, {} and {}",
      form, a.features, a.key_features, a.value_features, q.describe(), k.describe(), v.describe());
}

// What a mask adds to the scores: a bool one forbids where it holds, a float one is added.
Tensor penalty(const Layer& l, const char* name, const Tensor& mask, const Tensor& like) {
  if (mask.dtype() == DType::kBool) {
    return ops::select(mask, number(like, -std::numeric_limits<double>::infinity()),
                       number(like, 0));
  }
  if (!is_float(mask.dtype())) l.fail("'{}' must be bool or float, got {}", name, mask.describe());
  return ops::cast(mask, like.dtype());
}

// Query, key and value after the input projections, each [length, batch, features].
Tensors project(const Layer& l, const Attention& a, const Tensor& q, const Tensor& k,
                const Tensor& v) {
  Tensor bias = l.has("in_proj_bias") ? l.value("in_proj_bias") : Tensor();
  auto third = [&](const Tensor& t, int64_t i) {
    return t ? ops::narrow(t, 0, i * a.features, a.features) : Tensor();
  };
  if (!l.has("in_proj_weight")) {
    return {ops::dense(q, l.value("q_proj_weight"), third(bias, 0)),
            ops::dense(k, l.value("k_proj_weight"), third(bias, 1)),
            ops::dense(v, l.value("v_proj_weight"), third(bias, 2))};
  }
  const Tensor& w = l.value("in_proj_weight");
  if (q.same(k) && k.same(v)) {  // one product instead of three
    Tensor all = ops::dense(q, w, bias);
    Tensors parts;
    for (int64_t i = 0; i < 3; ++i)
      parts.push_back(ops::narrow(all, -1, i * a.features, a.features));
    return parts;
  }
  return {ops::dense(q, third(w, 0), third(bias, 0)), ops::dense(k, third(w, 1), third(bias, 1)),
          ops::dense(v, third(w, 2), third(bias, 2))};
}

// [length, batch, features] as [batch, heads, length, features / heads].
Tensor split_heads(const Tensor& x, int64_t heads) {
  Tensor cut = ops::reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads});
  return ops::transpose(cut, ir::Attr(Ints{1, 2, 0, 3}));
}

// The masks together, broadcasting against scores [batch, heads, target, source]; empty without
// any. `extra` keys behind the source are always allowed.
Tensor joined_masks(const Layer& l, const Attention& a, const Tensor& padding, const Tensor& mask,
                    int64_t extra, const Tensor& q, const Tensor& k) {
  int64_t batch = q.dim(1), target = q.dim(0), source = k.dim(0) - extra;
  Tensor sum;
  if (mask) {
    bool per_head = mask.rank() == 3;
    bool fits = per_head ? mask.shape() == Shape{batch * a.heads, target, source}
                         : mask.shape() == Shape{target, source};
    if (!fits) {
      l.fail("'attn_mask' must be [{}, {}] or [{}, {}, {}], got {}", target, source,
             batch * a.heads, target, source, mask.describe());
    }
    sum = penalty(l, "attn_mask", mask, q);
    if (per_head) sum = ops::reshape(sum, {batch, a.heads, target, source});
  }
  if (padding) {
    if (padding.shape() != Shape{batch, source}) {
      l.fail("'key_padding_mask' must be [{}, {}], got {}", batch, source, padding.describe());
    }
    Tensor p = ops::reshape(penalty(l, "key_padding_mask", padding, q), {batch, 1, 1, source});
    sum = sum ? sum + p : p;
  }
  if (!sum || extra == 0) return sum;
  std::vector<int64_t> shape(sum.shape().begin(), sum.shape().end());
  shape.back() = extra;
  return ops::concat(Tensors{sum, ops::zeros(shape, sum.dtype())}, -1);
}

// One more key and value behind the others.
Tensor with_entry(const Tensor& x, const Tensor& entry) {
  return ops::concat(Tensors{x, ops::broadcast_to(entry, {1, x.dim(1), x.dim(2)})}, 0);
}

// Operands: query, key, value, key_padding_mask, attn_mask; the masks may be absent. Results:
// output, weights of each head [batch, heads, target, source].
Tensors attend(Layer& l, Inputs in) {
  const auto& a = l.kept<Attention>();
  Tensor query = in[0], key = in[1], value = in[2];
  Tensor padding = optional_input(in, 3), mask = optional_input(in, 4);
  check_sequences(l, a, query, key, value);
  bool batched = query.rank() == 3;
  auto turned = [&](const Tensor& x) {
    if (!batched) return ops::expand_dims(x, 1);
    return a.batch_first ? ops::transpose(x, ir::Attr(Ints{1, 0, 2})) : x;
  };
  bool one = query.same(key) && key.same(value), pair = key.same(value);
  query = turned(query), key = one ? query : turned(key);
  value = pair ? key : turned(value);
  if (!batched && padding) padding = ops::expand_dims(padding, 0);

  Tensors p = project(l, a, query, key, value);
  Tensor q = p[0], k = p[1], v = p[2];
  int64_t extra = 0;
  if (l.has("bias_k")) {
    k = with_entry(k, l.value("bias_k")), v = with_entry(v, l.value("bias_v"));
    ++extra;
  }
  if (a.zero_entry) {
    Tensor zero = Tensor::zeros(k.dtype(), Shape{1, 1, a.features});
    k = with_entry(k, zero), v = with_entry(v, zero);
    ++extra;
  }
  Tensor masks = joined_masks(l, a, padding, mask, extra, q, k);
  double scale = 1 / std::sqrt(static_cast<double>(a.features / a.heads));
  Tensor scores =
      ops::matmul(split_heads(q * scale, a.heads), split_heads(k, a.heads), false, true);
  if (masks) scores = scores + masks;
  Tensor weights = ops::softmax(scores, -1);
  if (a.dropout > 0 && l.training()) weights = random_dropout(weights, a.dropout);
  Tensor out =
      ops::transpose(ops::matmul(weights, split_heads(v, a.heads)), ir::Attr(Ints{2, 0, 1, 3}));
  out = l.children()[0].second(ops::reshape(out, {q.dim(0), q.dim(1), a.features}));
  if (!batched) {
    out = ops::squeeze(out, ir::Attr(Ints{1}));
    weights = ops::squeeze(weights, ir::Attr(Ints{0}));
  } else if (a.batch_first) {
    out = ops::transpose(out, ir::Attr(Ints{1, 0, 2}));
  }
  return {out, weights};
}

constexpr LayerDef kMultiheadAttention = check({
    .name = "MultiheadAttention",
    .doc = "Attention of num_heads heads side by side: softmax(Q K^T / sqrt(d) + masks) V of "
           "projected query, key and value, joined by out_proj. Sequences: [length, batch, "
           "features], with batch_first [batch, length, features], or without a batch. A bool mask "
           "forbids where it is True, a float one is added: attn_mask [target, source] or [batch * "
           "heads, target, source], key_padding_mask [batch, source]. Gives the output and the "
           "weights (Vaswani et al. 2017).",
    .args = {"embed_dim: int", "num_heads: int", "dropout: float = 0.0", "has_bias: bool = True",
             "add_bias_kv: bool = False", "add_zero_attn: bool = False", "kdim: int? = None",
             "vdim: int? = None", "batch_first: bool = False"},
    .in = {"query", "key", "value", "key_padding_mask?", "attn_mask?"},
    .setup = setup_attention,
    .construct = attend,
});

// -- layers of encoders and decoders
// ----------------------------------------------------------------

// Children in the published order and under the published names.
void setup_block(Layer& l, int attentions) {
  int64_t d = l.args.positive("d_model"), heads = l.args.positive("nhead"),
          wide = l.args.positive("dim_feedforward");
  double dropout = l.args.within("dropout", 0, 1, "[)");
  double eps = l.args.positive_real("layer_norm_eps");
  auto drop = [&] { return CellPtr(make("Dropout", {}, {{"p", dropout}})); };
  const char* names[] = {"self_attn", "multihead_attn"};
  for (int i = 0; i < attentions; ++i) {
    l.add(names[i], CellPtr(make("MultiheadAttention", {d, heads, dropout},
                                 {{"batch_first", l.args["batch_first"]}})));
  }
  l.add("linear1", CellPtr(linear(d, wide)));
  l.add("dropout", drop());
  l.add("linear2", CellPtr(linear(wide, d)));
  for (int i = 0; i <= attentions; ++i) {
    l.add(fmt::format("norm{}", i + 1), CellPtr(make("LayerNorm", {Ints{d}}, {{"epsilon", eps}})));
  }
  for (int i = 0; i <= attentions; ++i) l.add(fmt::format("dropout{}", i + 1), drop());
  l.add("activation", l.args.cell("activation"));
}

// x plus what `part` makes of it, normalised before or after.
template <typename F>
Tensor residual(bool norm_first, const CellPtr& norm, const Tensor& x, F part) {
  return norm_first ? x + part(norm(x)) : norm(x + part(x));
}

// Operands: x, (memory,) masks of x, (of memory,) padding of x, (of memory).
Tensor run_block(Layer& l, Inputs in, int attentions) {
  bool norm_first = l.args.boolean("norm_first");
  const auto& c = l.children();
  auto child = [&](int i) { return c[i].second; };
  int linear1 = attentions, norms = attentions + 3, drops = norms + attentions + 1;
  auto attention = [&](int i, const Tensor& x, const Tensor& memory) {
    int first = attentions;  // of the masks
    Tensor operands[] = {x, memory, memory, optional_input(in, first + attentions + i),
                         optional_input(in, first + i)};
    return child(drops + i)(child(i)->run(operands)[0]);
  };
  Tensor x = in[0];
  x = residual(norm_first, child(norms), x, [&](const Tensor& v) { return attention(0, v, v); });
  if (attentions == 2) {
    x = residual(norm_first, child(norms + 1), x,
                 [&](const Tensor& v) { return attention(1, v, in[1]); });
  }
  return residual(norm_first, child(norms + attentions), x, [&](const Tensor& v) {
    Tensor hidden = child(drops + attentions + 1)(child(linear1)(v));
    return child(drops + attentions)(child(linear1 + 2)(child(linear1 + 1)(hidden)));
  });
}

#define MYCEL_BLOCK_ARGS           \
  {"d_model: int",                 \
   "nhead: int",                   \
   "dim_feedforward: int = 2048",  \
   "dropout: float = 0.1",         \
   "activation: cell = relu",      \
   "layer_norm_eps: float = 1e-5", \
   "batch_first: bool = False",    \
   "norm_first: bool = False"}

constexpr LayerDef kTransformerEncoderLayer = check({
    .name = "TransformerEncoderLayer",
    .doc = "Self-attention, then two dense layers on each position; both with dropout, a residual "
           "and layer normalization behind the sum, or with norm_first before. Masks as in "
           "MultiheadAttention (Vaswani et al. 2017).",
    .args = MYCEL_BLOCK_ARGS,
    .in = {"src", "src_mask?", "src_key_padding_mask?"},
    .setup = [](Layer& l) { setup_block(l, 1); },
    .construct = [](Layer& l, Inputs x) { return run_block(l, x, 1); },
});

constexpr LayerDef kTransformerDecoderLayer = check({
    .name = "TransformerDecoderLayer",
    .doc = "TransformerEncoderLayer with attention to the encoder's memory between self-attention "
           "and dense layers (Vaswani et al. 2017).",
    .args = MYCEL_BLOCK_ARGS,
    .in = {"tgt", "memory", "tgt_mask?", "memory_mask?", "tgt_key_padding_mask?",
           "memory_key_padding_mask?"},
    .setup = [](Layer& l) { setup_block(l, 2); },
    .construct = [](Layer& l, Inputs x) { return run_block(l, x, 2); },
});

#undef MYCEL_BLOCK_ARGS

}  // namespace

LayerDefs attention_layers() {
  return {&kMultiheadAttention, &kTransformerEncoderLayer, &kTransformerDecoderLayer};
}

}  // namespace mycel::nn
