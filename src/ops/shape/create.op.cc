// Tensors made from attributes alone, or from the type of an operand.
#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::Attrs;
using ir::check;
using ir::Expansion;
using ir::LoopCtx;
using ir::no_gradient;
using ir::TypeRuleCtx;
using ir::Value;
using loops::Val;

namespace {

constexpr const char* kNoOperand = "it has no operand to differentiate";

// A shape attribute in which every entry must be a size.
Shape shape_attr(TypeRuleCtx& c, std::string_view name) {
  const Attr::Ints& dims = c.attrs.ints(name);
  for (int64_t d : dims) {
    if (d < 0) c.fail("{} must have no negative entries, got {}", name, c.attrs[name].str());
  }
  return Shape(dims);
}

void fill_loops(LoopCtx& c, double value) {
  constexpr int64_t kChunk = 4096;
  DType d = c.out_type().dtype;
  int64_t size = c.out_type().shape.size();
  Val v{}, n = c.nest.number(size);
  c.nest.parallel((size + kChunk - 1) / kChunk, kChunk, [&](Val chunk) {
    if (is_float(d) || is_complex(d)) {
      DType part = real_part_of(d) == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
      v = c.nest.number(value, part);
      if (is_complex(d)) v = make_complex(v, c.nest.literal(part, 0.0));
    } else {
      v = c.nest.number(is_bool(d) ? static_cast<int64_t>(value != 0)
                                   : static_cast<int64_t>(value));
      if (is_bool(d)) v = v != 0;
    }
    Val start = chunk * kChunk;
    c.nest.loop(min(n - start, kChunk), loops::LoopKind::kVector,
                [&](Val i) { c.nest.store(c.out(), start + i, v); });
  });
}

void like_type(TypeRuleCtx& c) {
  const Attr& d = c.attrs["dtype"];
  c.result(d.none() ? c.dtype(0) : d.dtype(), c.shape(0));
}

// ones/zeros(shape, dtype): a fill with a fixed value.
template <int value>
void expand_filled(Expansion& e) {
  e.result(filled(e.graph, value, Shape(e.attrs.ints("shape")), e.attrs.dtype("dtype")));
}
void filled_type(TypeRuleCtx& c) { c.result(c.attrs.dtype("dtype"), shape_attr(c, "shape")); }

}  // namespace

Value filled(ir::Graph& g, double value, const Shape& shape, DType dtype) {
  return g.add(op_of(kFillConstant), {}, {Attr(value), Attr(shape), Attr(dtype)})->out();
}

constexpr OpDef kConstant = check({
    .name = "constant",
    .doc = "A tensor whose values are known while compiling.",
    .attr = {"value: tensor"},
    .type =
        [](TypeRuleCtx& c) {
          const Tensor& t = c.attrs["value"].tensor();
          c.result(t.dtype(), t.shape());
        },
    .shard = "-> none",
    .grad = no_gradient(kNoOperand),
    .cases = "value = float32[2, 3]",
    .internal = true,
});

constexpr OpDef kFillConstant = check({
    .name = "fill_constant",
    .doc = "A tensor of one value: y[...] = value, converted to dtype as C does.",
    .attr = {"value: float", "shape: int[]", "dtype: dtype = float32"},
    .type = filled_type,
    .shard = "-> none",
    .grad = no_gradient(kNoOperand),
    .loops = [](LoopCtx& c) { fill_loops(c, c.attrs.real("value")); },
    .cases =
        "value = 2.5 -3.0; shape = [] [2, 3] [0, 4]; dtype = float32 int8 bool complex64 bfloat16; "
        "bad shape = [2, -1]",
    .internal = true,
});

constexpr OpDef kFull = check({
    .name = "full",
    .doc = "A tensor of shape `size` filled with fill_value.",
    .attr = {"size: int[]", "fill_value: float", "dtype: dtype = float32"},
    .type = [](TypeRuleCtx& c) { c.result(c.attrs.dtype("dtype"), shape_attr(c, "size")); },
    .shard = "-> none",
    .expand =
        [](Expansion& e) {
          e.result(filled(e.graph, e.attrs.real("fill_value"), Shape(e.attrs.ints("size")),
                          e.attrs.dtype("dtype")));
        },
    .cases = "size = [] [2, 3]; fill_value = 1.5; bad size = [-1]",
    .onnx = "ConstantOfShape",
});

constexpr OpDef kZeros = check({
    .name = "zeros",
    .doc = "A tensor of zeros.",
    .attr = {"shape: int[]", "dtype: dtype = float32"},
    .type = filled_type,
    .shard = "-> none",
    .expand = expand_filled<0>,
    .cases = "shape = [] [2, 3]; dtype = float32 int32; bad shape = [-1]",
    .primitive = "Zeros()",
});

constexpr OpDef kOnes = check({
    .name = "ones",
    .doc = "A tensor of ones.",
    .attr = {"shape: int[]", "dtype: dtype = float32"},
    .type = filled_type,
    .shard = "-> none",
    .expand = expand_filled<1>,
    .cases = "shape = [] [2, 3]; dtype = float32 int32; bad shape = [-1]",
    .primitive = "Ones()",
});

// The *_like ops are no composites of fill_constant: they must work when the shape is not known
// yet.
constexpr OpDef kZerosLike = check({
    .name = "zeros_like",
    .doc = "Zeros of the operand's shape, and of its dtype unless another is given.",
    .in = {"input: any"},
    .attr = {"dtype: dtype? = None"},
    .type = like_type,
    .shard = "... -> ... : like",
    .grad = [](ir::Adjoint&) {},
    .loops = [](LoopCtx& c) { fill_loops(c, 0); },
    .cases = "dtype = None float16 int64",
    .onnx = "ConstantOfShape",
    .primitive = "ZerosLike()",
});

constexpr OpDef kOnesLike = check({
    .name = "ones_like",
    .doc = "Ones of the operand's shape, and of its dtype unless another is given.",
    .in = {"input: any"},
    .attr = {"dtype: dtype? = None"},
    .type = like_type,
    .shard = "... -> ... : like",
    .grad = [](ir::Adjoint&) {},
    .loops = [](LoopCtx& c) { fill_loops(c, 1); },
    .cases = "dtype = None float16 int64",
    .onnx = "ConstantOfShape",
    .primitive = "OnesLike()",
});

constexpr OpDef kFullLike = check({
    .name = "full_like",
    .doc = "fill_value in the operand's shape, and in its dtype unless another is given.",
    .in = {"input: any"},
    .attr = {"fill_value: float", "dtype: dtype? = None"},
    .type = like_type,
    .shard = "... -> ... : like",
    .grad = [](ir::Adjoint&) {},
    .loops = [](LoopCtx& c) { fill_loops(c, c.attrs.real("fill_value")); },
    .cases = "fill_value = 2.5; dtype = None float16 int64",
    .onnx = "ConstantOfShape",
    .primitive = "Fills(fill_value)",
    .method = "fills",
});

Value zeros_of(Adjoint& a, int i) {
  const ir::Type& t = a.x_type(i);
  if (t.shape.known()) return filled(a.graph(), 0, t.shape, t.dtype);
  return kZerosLike({a.x(i)});
}

}  // namespace mycel::ops
