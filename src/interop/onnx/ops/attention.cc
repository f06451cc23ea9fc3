// Attention in its forms: scaled dot products with masks and caches, with the user's own graphs in
// between, as a recurrence over a state; and rotary positions.
#include <cmath>
#include <limits>

#include "interop/onnx/ops/build.h"
#include "runtime/scan.h"

namespace mycel::interop::onnx {
namespace {

// [batch, time, heads * size] to [batch, heads, time, size].
Tensor heads_out(Call& c, const Tensor& x, int64_t heads) {
  Dims d = c.dims(x);
  if (d.size() != 3 || heads < 1 || d[2] % heads) c.fail("{} in {} heads", x.shape().str(), heads);
  return ops::transpose(ops::reshape(x, {d[0], d[1], heads, d[2] / heads}),
                        ir::Attr(Ints{0, 2, 1, 3}));
}
Tensor heads_back(Call& c, const Tensor& x) {
  Dims d = c.dims(x);
  return ops::reshape(ops::transpose(x, ir::Attr(Ints{0, 2, 1, 3})), {d[0], d[2], d[1] * d[3]});
}

// Each head serves a group of queries.
Tensor repeated(Call& c, const Tensor& x, int64_t heads) {
  Dims d = c.dims(x);
  if (d[1] == heads) return x;
  if (d[1] < 1 || heads % d[1]) c.fail("{} query heads for {} heads of keys", heads, d[1]);
  int64_t times = heads / d[1];
  Tensor wide = ops::broadcast_to(ops::expand_dims(x, 2), {d[0], d[1], times, d[2], d[3]});
  return ops::reshape(wide, {d[0], heads, d[2], d[3]});
}

Tensor softmax_of(const Tensor& x) { return ops::softmax(x, -1); }

constexpr double kNever = -std::numeric_limits<double>::infinity();

Tensor where_allowed(const Tensor& allowed, DType d) {
  return ops::select(allowed, number(0, d), number(kNever, d));
}

// What keeps queries from keys, added to the scores; empty when nothing does.
Tensor bias_of(Call& c, const Tensor& q, int64_t keys) {
  int64_t queries = c.dims(q)[2];
  DType d = q.dtype();
  Tensor bias;
  auto also = [&](const Tensor& t) { bias = bias ? ops::add(bias, t) : t; };
  if (c.has(3)) {
    Tensor mask = c.x(3);
    bool flags = is_bool(mask.dtype());
    if (flags) mask = where_allowed(mask, d);
    int64_t missing = keys - mask.dim(mask.rank() - 1);
    if (missing > 0) {
      Ints low(static_cast<size_t>(mask.rank()), 0), high = low;
      high.back() = missing;
      mask =
          runtime::call1(ir::op_named("pad_nd"), {mask},
                         {ir::Attr(low), ir::Attr(high), ir::Attr("constant"), ir::Attr(kNever)});
    }
    also(mask);
  }
  int64_t left = c.integer("left_window_size", -1), right = c.integer("right_window_size", -1);
  bool causal = c.flag("is_causal", false);
  if (causal || left >= 0 || right >= 0) {
    Tensor row = ops::reshape(ints_tensor(counted(queries)), {queries, 1}),
           column = ops::reshape(ints_tensor(counted(keys)), {1, keys});
    Tensor offset = Tensor::scalar(DType::kInt64, int64_t{0});
    if (c.has(4)) {
      offset = Tensor::scalar(DType::kInt64, c.dims(c.x(4))[2]);
    } else if (c.has(6)) {
      Tensor used = ops::reshape(as(c.x(6), DType::kInt64), {-1, 1, 1, 1});
      offset = ops::sub(used, Tensor::scalar(DType::kInt64, queries));
    }
    Tensor ahead = ops::sub(column, ops::add(row, offset));  // how far the key is in front
    auto limit = [&](int64_t n) { return Tensor::scalar(DType::kInt64, n); };
    if (causal) also(where_allowed(ops::less_equal(ahead, limit(0)), d));
    if (left >= 0) also(where_allowed(ops::greater_equal(ahead, limit(-left)), d));
    if (right >= 0) also(where_allowed(ops::less_equal(ahead, limit(right)), d));
  }
  if (c.has(6)) {
    Tensor used = ops::reshape(as(c.x(6), DType::kInt64), {-1, 1, 1, 1});
    also(where_allowed(ops::less(ints_tensor(counted(keys)), used), d));
  }
  return bias;
}

Values attention(Call& c) {
  Tensor q = c.x(0), k = c.x(1), v = c.x(2);
  bool packed = q.rank() == 3;
  if (packed) {
    q = heads_out(c, q, c.integer("q_num_heads"));
    k = heads_out(c, k, c.integer("kv_num_heads"));
    v = heads_out(c, v, c.integer("kv_num_heads"));
  }
  if (c.has(4)) k = ops::concat(Tensors{c.x(4), k}, 2);
  if (c.has(5)) v = ops::concat(Tensors{c.x(5), v}, 2);
  Tensor present_k = k, present_v = v;
  Dims qs = c.dims(q);
  double scale =
      c.has_attr("scale") ? c.real("scale", 1) : 1 / std::sqrt(static_cast<double>(qs[3]));
  Tensor root = number_like(std::sqrt(scale), q);
  k = repeated(c, k, qs[1]);
  v = repeated(c, v, qs[1]);
  Tensor scores = ops::matmul(ops::mul(q, root), ops::mul(k, root), false, true), shown = scores;
  int64_t mode = c.integer("qk_matmul_output_mode", 0);
  if (double cap = c.real("softcap", 0); cap > 0) {
    scores =
        ops::mul(ops::tanh(ops::div(scores, number_like(cap, scores))), number_like(cap, scores));
    // Mode 0 was the capped product too where a cap is given.
    shown = scores;
  }
  Tensor bias = bias_of(c, q, c.dims(k)[2]);
  if (bias) scores = ops::add(scores, bias);
  if (mode == 2) shown = scores;
  DType work = scores.dtype();
  if (int64_t code = c.integer("softmax_precision", 0)) work = dtype_of_code(code, c.title());
  Tensor weights = softmax_of(as(scores, work));
  if (bias) {
    // A query that may see nothing gives zeros.
    Tensor none =
        ops::equal(ops::reduce_max(bias, ir::Attr(Ints{-1}), true), number(kNever, bias.dtype()));
    weights = ops::select(none, number(0, work), weights);
  }
  if (mode == 3) shown = weights;
  Tensor y = ops::matmul(as(weights, v.dtype()), v);
  return {Value(packed ? heads_back(c, y) : y), Value(present_k), Value(present_v),
          Value(as(shown, q.dtype()))};
}

Values flex_attention(Call& c) {
  Tensor q = c.x(0), k = c.x(1), v = c.x(2);
  Dims qs = c.dims(q);
  if (qs.size() != 4 || k.rank() != 4 || v.rank() != 4) c.fail("its inputs must have 4 dims");
  double scale =
      c.has_attr("scale") ? c.real("scale", 1) : 1 / std::sqrt(static_cast<double>(qs[3]));
  Tensor root = number_like(std::sqrt(scale), q);
  k = repeated(c, k, qs[1]);
  v = repeated(c, v, qs[1]);
  DType work = q.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  if (int64_t code = c.integer("softmax_precision", 0)) work = dtype_of_code(code, c.title());
  Tensor scores = as(ops::matmul(ops::mul(q, root), ops::mul(k, root), false, true), work);
  auto changed = [&](const char* name, const Tensor& t) {
    if (!c.has_attr(name)) return t;
    return run_region(*c.graph(name), c.scope, {Value(t)}).at(0).tensor;
  };
  Tensor weights = changed("prob_mod", softmax_of(changed("score_mod", scores)));
  return one(as(ops::matmul(weights, as(v, work)), q.dtype()));
}

Values linear_attention(Call& c) {
  int64_t q_heads = c.integer("q_num_heads"), heads = c.integer("kv_num_heads");
  std::string rule = c.text("update_rule", "gated_delta");
  bool gated = rule == "gated" || rule == "gated_delta",
       delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear")
    c.fail("update_rule '{}'; allowed: linear, gated, delta, gated_delta", rule);
  DType given = c.x(0).dtype(), work = given == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  auto rows = [&](const Tensor& t) {
    return ops::transpose(t, ir::Attr(Ints{2, 0, 1, 3}));
  };  // time first
  Tensor q = rows(heads_out(c, as(c.x(0), work), q_heads)),
         k = rows(heads_out(c, as(c.x(1), work), heads));
  Tensor v = rows(heads_out(c, as(c.x(2), work), heads));
  int64_t batch = q.dim(1), dk = k.dim(3), dv = v.dim(3), group = q_heads / heads;
  Tensors xs{q, k, v};
  if (gated) {
    Tensor g = as(c.x(4), work);
    bool each = g.dim(2) != heads;  // for each dim of the key, not for each head
    xs.push_back(rows(each ? heads_out(c, g, heads)
                           : ops::expand_dims(ops::transpose(g, ir::Attr(Ints{0, 2, 1})), -1)));
  }
  if (delta)
    xs.push_back(
        rows(ops::expand_dims(ops::transpose(as(c.x(5), work), ir::Attr(Ints{0, 2, 1})), -1)));
  double scale = c.real("scale", 0);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(dk));
  Tensor state = c.has(3) ? as(c.x(3), work) : Tensor::zeros(work, Shape{batch, heads, dk, dv});
  Tensors carried{state};
  runtime::Scanned out = runtime::scan(
      [&](std::span<const Tensor> s, std::span<const Tensor> now) {
        Tensor kept = s[0], key = ops::expand_dims(now[1], -1),
               value = ops::expand_dims(now[2], -2);
        if (gated) kept = ops::mul(kept, ops::expand_dims(ops::exp(now[3]), -1));
        if (delta) {
          Tensor found = ops::matmul(key, kept, true, false);  // [b, h, 1, dv]
          value = ops::mul(ops::sub(value, found), ops::expand_dims(now[gated ? 4 : 3], -1));
        }
        kept = ops::add(kept, ops::mul(key, value));
        Tensor seen = group == 1 ? kept : repeated(c, kept, q_heads);
        Tensor y = ops::matmul(ops::expand_dims(now[0], -2), seen);
        runtime::Scanned step;
        step.carried = {kept};
        step.results = {ops::mul(ops::squeeze(y, ir::Attr(Ints{-2})), number(scale, work))};
        return step;
      },
      carried, xs);
  // [time, batch, heads, dv]
  Tensor y = ops::reshape(ops::transpose(out.results[0], ir::Attr(Ints{1, 0, 2, 3})),
                          {batch, -1, q_heads * dv});
  return {Value(as(y, given)), Value(as(out.carried[0], c.has(3) ? c.x(3).dtype() : given))};
}

Values rotary_embedding(Call& c) {
  Tensor x = c.x(0), cos = c.x(1), sin = c.x(2);
  bool packed = x.rank() == 3;
  Dims dims = c.dims(x);
  Tensor rows = packed ? ops::reshape(x, {dims[0], dims[1], c.integer("num_heads"), -1})
                       : ops::transpose(x, ir::Attr(Ints{0, 2, 1, 3}));
  int64_t size = rows.dim(3), turned = c.integer("rotary_embedding_dim", 0);
  if (turned == 0) turned = size;
  if (c.has(3)) {
    Tensor at = as(c.x(3), DType::kInt64);
    cos = ops::gather(cos, at, 0);
    sin = ops::gather(sin, at, 0);
  }
  cos = ops::expand_dims(cos, 2);
  sin = ops::expand_dims(sin, 2);
  Tensor part = ops::narrow(rows, 3, 0, turned), a, b;
  int64_t half = turned / 2;
  Dims shape = c.dims(part);
  bool interleaved = c.flag("interleaved", false);
  if (interleaved) {
    Tensor pairs = ops::reshape(part, {shape[0], shape[1], shape[2], half, 2});
    a = ops::squeeze(ops::narrow(pairs, 4, 0, 1), ir::Attr(Ints{4}));
    b = ops::squeeze(ops::narrow(pairs, 4, 1, 1), ir::Attr(Ints{4}));
  } else {
    a = ops::narrow(part, 3, 0, half);
    b = ops::narrow(part, 3, half, half);
  }
  Tensor real = ops::sub(ops::mul(a, cos), ops::mul(b, sin)),
         imag = ops::add(ops::mul(a, sin), ops::mul(b, cos));
  Tensor y = interleaved ? ops::reshape(ops::stack(Tensors{real, imag}, -1), shape)
                         : ops::concat(Tensors{real, imag}, 3);
  if (turned < size) y = ops::concat(Tensors{y, ops::narrow(rows, 3, turned, size - turned)}, 3);
  return one(packed ? ops::reshape(y, dims) : ops::transpose(y, ir::Attr(Ints{0, 2, 1, 3})));
}

constexpr Record kRecords[] = {
    {"Attention", attention},
    {"FlexAttention", flex_attention, "", "", "ai.onnx.preview"},
    {"LinearAttention", linear_attention},
    {"RotaryEmbedding", rotary_embedding},
};

}  // namespace

Records attention_records() { return kRecords; }

}  // namespace mycel::interop::onnx
