// Quantized tensors: what was written as "dequantize, compute, quantize again", the form that
// exporters use, becomes computing on the integers themselves. Products of 8-bit integers are
// summed in int32, exactly; the scales come after the sum, so that results differ from the written
// form by the rounding of its float32 sums.
#include "passes/simplify.h"

namespace mycel::passes {
namespace {

using ir::Attr;
using ir::Value;
using ir::ValueList;
using Ints = Attr::Ints;

bool is_byte(const Value& v) { return is_int(v.dtype()) && size_of(v.dtype()) == 1; }

// What a dequantized value was made of.
struct Parts {
  Value q, scale;
  int64_t zero;
  bool one_scale() const { return scale.rank() == 0; }
};

std::optional<Parts> dequantized(const Value& v) {
  if (!made_by(v, "dequantize_elements") || v.dtype() != DType::kFloat32) return {};
  const ir::Node& n = *v.node;
  if (!(n.inputs[0].shape() == v.shape())) return {};
  return Parts{n.inputs[0], n.inputs[1], n.attrs[0].integer()};
}

// 8-bit activations: one scale.
std::optional<Parts> activations(const Value& v) {
  auto p = dequantized(v);
  return p && is_byte(p->q) && p->one_scale() ? p : std::nullopt;
}

// int8 weights around 0, with one scale or one for each index of `axis`.
std::optional<Parts> weights(const Value& v, int axis) {
  auto p = dequantized(v);
  if (!p || p->q.dtype() != DType::kInt8 || p->zero != 0) return {};
  if (p->one_scale()) return p;
  const Shape& s = p->scale.shape();
  if (!s.known() || s.rank() != v.rank() || s.size() != s[axis]) return {};
  return p;
}

// The zero point as an operand; absent where it is 0.
Value zero_of(const Site& s, const Parts& p) {
  if (p.zero == 0) return {};
  return s.filled(static_cast<double>(p.zero), {DType::kInt32, Shape()});
}

// Sums of products of x and w as the reals they stand for. `shape`: of one scale for each channel.
Value scaled(const Site& s, const Value& sums, const Parts& x, const Parts& w, const Ints& shape) {
  Value of_w = w.one_scale() ? w.scale : s.emit("reshape", {w.scale}, {shape});
  Value factor = s.emit("mul", {x.scale, of_w});
  return s.emit("mul", {s.emit("cast", {sums}, {DType::kFloat32}), factor});
}

Value contract_convolution(const Site& s) {
  auto x = activations(s.x(0)), w = weights(s.x(1), 0);
  if (!x || !w) return {};
  const bool last = s.view().string("layout") == "channel_last";
  Ints shape(static_cast<size_t>(s.x(0).rank()), 1);
  shape[last ? shape.size() - 1 : 1] = -1;
  Value sums =
      s.emit((s.op.name + "_integer").c_str(), {x->q, w->q, {}, zero_of(s, *x), {}}, s.attrs);
  Value y = scaled(s, sums, *x, *w, shape);
  if (s.in.size() < 3 || !s.x(2)) return y;
  return s.emit("add", {y, s.emit("reshape", {s.x(2)}, {shape})});
}

Value contract_dense(const Site& s) {
  auto x = activations(s.x(0)), w = weights(s.x(1), 0);
  if (!x || !w || s.x(0).rank() < 2) return {};
  Value sums = s.emit("matmul_integer", {x->q, w->q, zero_of(s, *x), {}}, {false, true});
  Value y = scaled(s, sums, *x, *w, {-1});
  return s.in.size() < 3 || !s.x(2) ? y : s.emit("add", {y, s.x(2)});
}

Value contract_product(const Site& s) {
  auto x = activations(s.x(0));
  const bool transposed = s.attrs[1].boolean();
  const int rank = s.x(1).rank();
  auto w = weights(s.x(1), transposed ? rank - 2 : rank - 1);
  if (!x || !w || (rank != 2 && !w->one_scale())) return {};
  Value sums = s.emit("matmul_integer", {x->q, w->q, zero_of(s, *x), {}}, s.attrs);
  return scaled(s, sums, *x, *w, {-1});
}

// Ops that only choose or move elements, of what is quantized by one scale.
Value move_integers(const Site& s) {
  auto x = dequantized(s.x(0));
  if (!x || !x->one_scale() || s.type.dtype != DType::kFloat32) return {};
  ValueList in(s.in.begin(), s.in.end());
  in[0] = x->q;
  Value q = s.emit(s.op.name.c_str(), in, s.attrs);
  return s.emit("dequantize_elements", {q, x->scale}, {x->zero});
}

bool same_number(const Value& a, const Value& b) {
  auto n = uniform(a);
  return a.same(b) || (n && a.shape() == b.shape() && n == uniform(b));
}

// (q - z) s / s is q - z up to half a unit in the last place: it rounds to it.
Value quantize_again(const Site& s) {
  auto x = dequantized(s.x(0));
  if (!x || x->q.dtype() != s.type.dtype || size_of(s.type.dtype) > 2) return {};
  return same_number(x->scale, s.x(1)) && x->zero == s.attrs[0].integer() ? x->q : Value();
}

constexpr Pattern kPatterns[] = {
    {"conv1d", "a convolution of dequantized tensors", contract_convolution},
    {"conv2d", "a convolution of dequantized tensors", contract_convolution},
    {"conv3d", "a convolution of dequantized tensors", contract_convolution},
    {"dense", "a product of dequantized tensors", contract_dense},
    {"batch_matmul", "a product of dequantized tensors", contract_product},
    {"view", "a view of a dequantized tensor", move_integers},
    {"max_pool1d", "the largest of dequantized elements", move_integers},
    {"max_pool2d", "the largest of dequantized elements", move_integers},
    {"max_pool3d", "the largest of dequantized elements", move_integers},
    {"quantize_elements", "quantize(dequantize(x)) with equal scales", quantize_again},
};

}  // namespace

std::span<const Pattern> quantized_patterns() { return kPatterns; }

}  // namespace mycel::passes
