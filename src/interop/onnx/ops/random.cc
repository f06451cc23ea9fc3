// Random numbers, drawn from Mycel's stream: `seed` makes one node's draws its own.
#include <cmath>

#include "interop/onnx/ops/build.h"
#include "runtime/random_state.h"

namespace mycel::interop::onnx {
namespace {

Tensor key_of(Call& c) {
  const pb::Attribute* seed = c.attr("seed");  // a float, of Dropout an integer
  if (seed && seed->has_i()) return runtime::next_key(static_cast<uint64_t>(seed->i()));
  return runtime::next_key(static_cast<uint64_t>(std::llround(c.real("seed", 0) * 1e6)));
}

Tensor draw(Call& c, const char* op, const Ints& shape, DType d, ir::Attr first, ir::Attr second) {
  return runtime::call1(ir::op_named(op), {key_of(c)},
                        {ir::Attr(shape), ir::Attr(d), first, second});
}
DType dtype_attr(Call& c, DType otherwise) {
  return c.has_attr("dtype") ? dtype_of_code(c.integer("dtype"), c.title()) : otherwise;
}
Tensor normal_of(Call& c, const Ints& shape, DType d) {
  return draw(c, "keyed_normal", shape, d, ir::Attr(c.real("mean", 0)),
              ir::Attr(c.real("scale", 1)));
}
Tensor uniform_of(Call& c, const Ints& shape, DType d) {
  return draw(c, "keyed_uniform", shape, d, ir::Attr(c.real("low", 0)),
              ir::Attr(c.real("high", 1)));
}

Values random_normal(Call& c) {
  return one(normal_of(c, c.ints("shape"), dtype_attr(c, DType::kFloat32)));
}
Values random_uniform(Call& c) {
  return one(uniform_of(c, c.ints("shape"), dtype_attr(c, DType::kFloat32)));
}
Values random_normal_like(Call& c) {
  return one(normal_of(c, c.dims(c.x(0)), dtype_attr(c, c.x(0).dtype())));
}
Values random_uniform_like(Call& c) {
  return one(uniform_of(c, c.dims(c.x(0)), dtype_attr(c, c.x(0).dtype())));
}

Values bernoulli(Call& c) {
  Tensor p = c.x(0);
  Tensor u = draw(c, "keyed_uniform", c.dims(p), p.dtype(), ir::Attr(0.0), ir::Attr(1.0));
  return one(as(ops::less(u, p), dtype_attr(c, p.dtype())));
}

Values multinomial(Call& c) {
  DType d = dtype_attr(c, DType::kInt32);
  return one(runtime::call1(ir::op_named("keyed_categorical"), {key_of(c), c.x(0)},
                            {ir::Attr(c.integer("sample_size", 1)), ir::Attr(d)}));
}

// Elements are dropped in training mode alone.
Values dropout(Call& c) {
  Tensor x = c.x(0);
  double ratio = c.opset < 12 ? c.real("ratio", 0.5) : c.has(1) ? c.known_reals(1).at(0) : 0.5;
  bool training = c.opset >= 12 && c.has(2) && c.known_ints(2).at(0) != 0;
  if (!training || ratio == 0) {
    Tensor all = ops::broadcast_to(number(1, DType::kBool), c.dims(x));
    if (c.opset < 10) all = as(all, x.dtype());
    return {Value(x), Value(all)};
  }
  Tensor u = draw(c, "keyed_uniform", c.dims(x), DType::kFloat32, ir::Attr(0.0), ir::Attr(1.0));
  Tensor keep = ops::greater_equal(u, number(ratio, DType::kFloat32));
  Tensor y = ops::select(keep, ops::mul(x, number_like(1 / (1 - ratio), x)), number_like(0, x));
  return {Value(y), Value(keep)};
}

constexpr Record kRecords[] = {
    {"RandomNormal", random_normal},
    {"RandomUniform", random_uniform},
    {"RandomNormalLike", random_normal_like},
    {"RandomUniformLike", random_uniform_like},
    {"Bernoulli", bernoulli},
    {"Multinomial", multinomial},
    {"Dropout", dropout, "1 2"},
};

}  // namespace

Records random_records() { return kRecords; }

}  // namespace mycel::interop::onnx
