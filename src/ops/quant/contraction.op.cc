// Contractions of 8-bit integers, summed in int32 and so exact. Zero points are taken off on the
// way; a border of padding counts as zero points, that is, adds nothing.
#include "ir/batching.h"
#include "ops/conv/conv_loops.h"
#include "ops/conv/conv_rules.h"
#include "ops/matmul/product.h"
#include "ops/quant/quant.h"
#include "ops/quant/rooms.h"

namespace mycel::ops {

using ir::check;
using ir::LoopCtx;
using ir::no_gradient;
using ir::TypeRuleCtx;
using loops::LoopKind;
using loops::Val;

namespace {

constexpr const char* kWhole = "the operands are whole numbers";

void check_bytes(TypeRuleCtx& c) {
  for (int i = 0; i < 2; ++i) {
    if (size_of(c.dtype(i)) != 1) {
      c.fail_type("operand '{}' is {}; allowed are int8 and uint8",
                  c.op.inputs[static_cast<size_t>(i)].name, name_of(c.dtype(i)));
    }
  }
}

// A zero point: one number, or `many` of them.
void check_zero(TypeRuleCtx& c, int i, int64_t many, const char* of) {
  if (!c.has(i)) return;
  const char* name = c.op.inputs[static_cast<size_t>(i)].name.c_str();
  if (!is_int(c.dtype(i)) || size_of(c.dtype(i)) > 4)
    c.fail_type("'{}' is {}; allowed are integers up to int32", name, name_of(c.dtype(i)));
  const Shape& s = c.shape(i);
  if (s.rank() == 0 || (s.rank() == 1 && (s[0] == 1 || !dims_differ(s[0], many)))) return;
  c.fail("'{}' has shape {}; allowed are one number or {} of them, one for each {}", name, s.str(),
         many, of);
}

void conv_integer_type(TypeRuleCtx& c, int rank) {
  check_bytes(c);
  if (c.has(2) && c.dtype(2) != DType::kInt32)
    c.fail_type("the bias is {}; allowed is int32", name_of(c.dtype(2)));
  conv_type(c, rank);
  check_zero(c, 3, 1, "input");
  check_zero(c, 4, c.shape(1)[0], "output channel");
  c.out[0].dtype = DType::kInt32;
}

// What is taken off an operand: operand `i` of the record, one number or one for each of several.
class Zero {
 public:
  Zero(LoopCtx& c, int i) : c_(c), i_(i), given_(c.has(i)) {
    many_ = given_ && c.in_type(i).shape.size() > 1;
  }
  Val operator()(Val loaded, Val of) const {
    Val whole = cast(loaded, DType::kInt32);
    if (!given_) return whole;
    return whole - cast(c_.nest.load(c_.in(i_), many_ ? of : of * 0), DType::kInt32);
  }

 private:
  LoopCtx& c_;
  int i_;
  bool given_, many_;
};

void conv_integer_loops(LoopCtx& c) {
  loops::Buf bias = c.has(2) ? c.in(2) : loops::Buf{};
  Zero of_x(c, 3), of_w(c, 4);
  ConvReads read = {
      [&](Val at, Val o) { return of_x(c.nest.load(c.in(0), at), o); },
      [&](Val at, Val o) { return of_w(c.nest.load(c.in(1), at), o); },
  };
  emit_conv(c.nest,
            geometry_of(c.in_type(0).shape, c.in_type(1).shape, c.out_type().shape, c.attrs), read,
            c.has(2) ? &bias : nullptr, c.out());
}

// A batch of activations joins the batch that they have; anything else runs once per example.
bool batch_activations(ir::Batching& b) {
  for (int i = 1; i < b.inputs(); ++i) {
    if (b.batched(i)) return false;
  }
  const Shape &s = b.shape(0), &out = b.out_shape();
  if (!s.known() || !out.known()) return false;
  Shape merged{b.size * s[0]};
  for (int d = 1; d < s.rank(); ++d) merged.push_back(s[d]);
  std::vector<ir::Value> in{b.reshape(b.x(0), merged)};
  for (int i = 1; i < b.inputs(); ++i) in.push_back(b.x(i));
  b.same(in, b.node.attrs);
  b.results[0] = b.reshape(b.results[0], b.with_batch(out));
  return true;
}

void matmul_integer_type(TypeRuleCtx& c) {
  check_bytes(c);
  batch_matmul_type(c);
  const Shape y = c.out[0].shape;
  check_zero(c, 2, y[-2], "row");
  check_zero(c, 3, y[-1], "column");
  c.out[0].dtype = DType::kInt32;
}

// One dot product for each element: exact in any order, so the compiler may use every lane.
void matmul_integer_loops(LoopCtx& c) {
  Product p = product_of(c.in_type(0).shape, c.attrs.boolean("transpose_a"), c.in_type(1).shape,
                         c.attrs.boolean("transpose_b"));
  Zero of_a(c, 2), of_b(c, 3);
  emit_dot_products(
      c.nest, [&](Val at, Val i) { return of_a(c.nest.load(c.in(0), at), i); },
      [&](Val at, Val j) { return of_b(c.nest.load(c.in(1), at), j); }, c.out(), p);
}

}  // namespace

#define MYCEL_CONV_ATTRS(length)            \
  {"stride: int[" length "] = 1",           \
   "pad_mode: str(pad|same|valid) = valid", \
   "padding: int[] = 0",                    \
   "dilation: int[" length "] = 1",         \
   "groups: int = 1",                       \
   "layout: str(channel_first|channel_last) = channel_first"}
#define MYCEL_BYTES                                                                            \
  "skip dtypes: bytes alone are allowed; input dtypes int8 uint8; weight dtypes int8 uint8; "  \
  "input in ints(0, 100); "                                                                    \
  "weight in ints(0, 100); bias dtypes int32; bias in ints(-90, 90); input_zero_point dtypes " \
  "int8; "                                                                                     \
  "weight_zero_point dtypes int8; input_zero_point[]; weight_zero_point[] "

constexpr OpDef kConv1dInteger = check({
    .name = "conv1d_integer",
    .doc = "conv1d of 8-bit integers less their zero points, summed in int32.",
    .in = {"input: int[n, c, l]", "weight: int[o, c / groups, k]", "bias?: int[o]",
           "input_zero_point?: int", "weight_zero_point?: int"},
    .attr = MYCEL_CONV_ATTRS("1"),
    .type = [](TypeRuleCtx& c) { conv_integer_type(c, 1); },
    .shard = "none",
    .moves = "m . . . . -> m : layout best",
    .grad = no_gradient(kWhole),
    .loops = conv_integer_loops,
    .batch = batch_activations,
    .cases = MYCEL_BYTES
    "[6]; input[2, 4, 9]; weight[6, 2, 3]; bias[6]; groups = 2; pad_mode = "
    "pad; padding = [1, 0]; dilation = 2",
    .onnx = "ConvInteger",
});

constexpr OpDef kConv2dInteger = check({
    .name = "conv2d_integer",
    .doc = "conv2d of 8-bit integers less their zero points, summed in int32 and so exact; padding "
           "adds nothing. The bias is added to the sums; the weight's zero point is one number or "
           "one for each output channel.",
    .in = {"input: int[n, c, h, w]", "weight: int[o, c / groups, kh, kw]", "bias?: int[o]",
           "input_zero_point?: int", "weight_zero_point?: int"},
    .attr = MYCEL_CONV_ATTRS("2"),
    .type = [](TypeRuleCtx& c) { conv_integer_type(c, 2); },
    .shard = "none",
    .moves = "m . . . . -> m : layout best",
    .grad = no_gradient(kWhole),
    .loops = conv_integer_loops,
    .batch = batch_activations,
    .cases = MYCEL_BYTES
    "[4]; input[2, 3, 6, 5]; weight[4, 3, 3, 2]; bias[4]; stride = 1 2; pad_mode = same valid; bad "
    "input[3, 6, 5]; bad weight[4, 2, 3, 2]; bad bias[3]; bad weight_zero_point[3] | "
    "input[1, 4, 7, 6]; weight[6, 2, 3, 3]; bias[6]; weight_zero_point[6]; groups = 2; pad_mode = "
    "pad; padding = [0, 1, 2, 1]; stride = 2; dilation = 1 2 | "
    "input[2, 4, 5, 5]; weight[4, 1, 3, 3]; bias[4]; weight_zero_point[4]; groups = 4; pad_mode = "
    "pad; padding = 1 | "
    "input[2, 5, 6, 3]; weight[4, 3, 2, 2]; bias[4]; layout = channel_last; stride = [2, 1]",
    .onnx = "ConvInteger",
});

constexpr OpDef kConv3dInteger = check({
    .name = "conv3d_integer",
    .doc = "conv3d of 8-bit integers less their zero points, summed in int32.",
    .in = {"input: int[n, c, d, h, w]", "weight: int[o, c / groups, kd, kh, kw]", "bias?: int[o]",
           "input_zero_point?: int", "weight_zero_point?: int"},
    .attr = MYCEL_CONV_ATTRS("3"),
    .type = [](TypeRuleCtx& c) { conv_integer_type(c, 3); },
    .shard = "none",
    .moves = "m . . . . -> m : layout best",
    .grad = no_gradient(kWhole),
    .loops = conv_integer_loops,
    .batch = batch_activations,
    .cases = MYCEL_BYTES
    "[2]; input[1, 2, 4, 3, 5]; weight[2, 2, 2, 3, 2]; bias[2]; pad_mode = "
    "same valid; stride = [1, 2, 2]",
    .onnx = "ConvInteger",
});

#undef MYCEL_BYTES
#undef MYCEL_CONV_ATTRS

constexpr OpDef kMatmulInteger = check({
    .name = "matmul_integer",
    .doc =
        "Matrix products of 8-bit integers less their zero points, summed in int32 and so exact; "
        "an operand may be given transposed, and batch dims broadcast. Zero points are one "
        "number, or one for each row of the first and column of the second operand.",
    .in = {"a: int", "b: int", "a_zero_point?: int", "b_zero_point?: int"},
    .attr = {"transpose_a: bool = False", "transpose_b: bool = False"},
    .type = matmul_integer_type,
    .shard = "none",
    .grad = no_gradient(kWhole),
    .loops = matmul_integer_loops,
    .cases = "skip dtypes: bytes alone are allowed; a dtypes int8 uint8; b dtypes int8 uint8; a in "
             "ints(0, 100); b in ints(0, 100); "
             "a_zero_point dtypes int8; b_zero_point dtypes int8; a_zero_point[] [3]; "
             "b_zero_point[] [4]; a[3, 5]; b[5, 4]; bad b[4, 4]; bad b_zero_point[2] | a[2, 5, 3]; "
             "b[2, 4, 5]; transpose_a = True; transpose_b = True | a[2, 3, 37]; b[4, 37]; "
             "transpose_b = True",
    .onnx = "MatMulInteger",
});

void register_integer_contractions() {
  ir::register_ops({&kConv1dInteger, &kConv2dInteger, &kConv3dInteger, &kMatmulInteger});
}

}  // namespace mycel::ops
