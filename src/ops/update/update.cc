#include "ops/update/update.h"

#include <fmt/format.h>

#include "base/error.h"
#include "ops/all_ops.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Expansion;
using ir::Value;
using Values = std::vector<Value>;

namespace {

bool may_agree(const Shape& a, const Shape& b, int from) {
  if (a.rank() != b.rank()) return false;
  for (int d = from; d < a.rank(); ++d)
    if (dims_differ(a[d], b[d])) return false;
  return true;
}

// Half precision is computed in float32; every state keeps its own dtype.
DType computed(DType d) { return size_of(d) == 2 ? DType::kFloat32 : d; }

std::vector<Value> stored(const Expansion& e, Values fresh) {
  for (size_t i = 0; i < fresh.size(); ++i)
    fresh[i] = cast_to(fresh[i], e.x(static_cast<int>(i)).dtype());
  return fresh;
}

// The first `count` operands: of the shape of the first, or numbers. `rows` has any number of rows.
Values checked(const Expansion& e, int count, int rows = -1) {
  const Shape& s = e.x(0).shape();
  Values x;
  for (int i = 0; i < count; ++i) {
    Value v = e.x(i);
    bool fits = v.rank() == 0 || may_agree(v.shape(), s, i == rows ? 1 : 0);
    if ((i == 0 || i == rows) && v.rank() != s.rank()) fits = false;
    if (!fits) {
      value_error("{}: '{}' must fit '{}' of {}, got {}", e.op.name, e.op.inputs[i].name,
                  e.op.inputs[0].name, e.x(0).type().str(), v.type().str());
    }
    x.push_back(cast_to(v, computed(e.x(0).dtype())));
  }
  return x;
}

}  // namespace

void expand_update(Expansion& e, UpdateFormula formula) {
  e.results = stored(e, formula(e, checked(e, e.inputs())));
}

namespace {

struct Sparse {
  Values x;  // grad spread over all rows, 0 elsewhere
  int grad;
  Value indices;
};

Sparse spread(const Expansion& e) {
  int last = e.inputs() - 1, grad = last - 1;
  Value indices = e.x(last);
  if (e.x(0).rank() == 0)
    value_error("{}: '{}' needs a dim of rows", e.op.name, e.op.inputs[0].name);
  Values x = checked(e, last, grad);
  int64_t k = x[grad].shape()[0], n = indices.rank() == 1 ? indices.shape()[0] : -2;
  if (n == -2 || dims_differ(k, n)) {
    value_error("{}: 'indices' must name the row of each row of {}, got {}", e.op.name,
                e.x(grad).type().str(), indices.type().str());
  }
  x[grad] = kAxisScatterAdd({kZerosLike({x[0]}), indices, x[grad]}, {0});
  return {x, grad, indices};
}

}  // namespace

void expand_sparse_update(Expansion& e, UpdateFormula formula) {
  size_t states = e.op.outputs.size();
  Sparse s = spread(e);
  // Rows named twice: each occurrence sees the sum, and writes the same.
  Values rows = s.x;
  rows[s.grad] = kGather({s.x[s.grad], s.indices}, {0});
  for (size_t i = 0; i < states; ++i) rows[i] = kGather({s.x[i], s.indices}, {0});
  Values fresh = formula(e, rows);
  Value tuples = kExpandDims({s.indices}, {-1});
  Values all;
  for (size_t i = 0; i < states; ++i)
    all.push_back(kTensorScatterUpdate({s.x[i], tuples, fresh[i]}));
  e.results = stored(e, all);
}

void expand_spread_update(Expansion& e, UpdateFormula formula) {
  e.results = stored(e, formula(e, spread(e).x));
}

Value factor(const Expansion& e, const Values& x, std::string_view name) {
  for (size_t i = 0; i < x.size(); ++i)
    if (e.op.inputs[i].name == name) return x[i];
  return e.op.attr_index(name) >= 0 ? number(x[0], e.attrs.real(name)) : Value();
}

Values adagrad(const Expansion& e, const Values& x) {
  Value grad = factor(e, x, "grad"), lr = factor(e, x, "lr"), epsilon = factor(e, x, "epsilon");
  Value accum = e.attrs.boolean("update_slots") ? x[1] + grad * grad : x[1];
  Value root = kSqrt({accum});
  return {x[0] - lr * grad / (epsilon ? root + epsilon : root), accum};
}

Values ftrl(const Expansion& e, const Values& x) {
  Value lr = factor(e, x, "lr"), l1 = factor(e, x, "l1"), l2 = factor(e, x, "l2");
  Value power = -factor(e, x, "lr_power"), shrinkage = factor(e, x, "l2_shrinkage");
  Value now = x[1] + x[3] * x[3], fresh = kPow({now, power}), before = kPow({x[1], power});
  Value grad = shrinkage ? x[3] + shrinkage * x[0] * 2.0 : x[3];
  Value linear = x[2] + grad - (fresh - before) / lr * x[0];
  Value pulled = (kSign({linear}) * l1 - linear) / (fresh / lr + l2 * 2.0);
  return {where(kGreater({kAbs({linear}), l1}), pulled, 0.0), now, linear};
}

Values proximal_adagrad(const Expansion&, const Values& x) {
  Value grad = x[5], accum = x[1] + grad * grad;
  Value rate = x[2] * kRsqrt({accum}), moved = x[0] - rate * grad;
  Value size = kAbs({moved}) - rate * x[3];
  return {kSign({moved}) * where(less(size, 0.0), 0.0, size) / (rate * x[4] + 1.0), accum};
}

Values rms_prop(const Expansion& e, const Values& x) {
  Value rho = factor(e, x, "rho"), momentum = factor(e, x, "momentum"), grad = x[4];
  Value square = x[1] * rho + grad * grad * (1.0 - rho);
  Value moment = x[2] * momentum + x[3] * grad * kRsqrt({square + factor(e, x, "epsilon")});
  return {x[0] - moment, square, moment};
}

Values adadelta(const Expansion& e, const Values& x) {
  Value rho = x[4], epsilon = factor(e, x, "epsilon"), grad = factor(e, x, "grad");
  Value accum = x[1] * rho + grad * grad * (1.0 - rho);
  Value step = kSqrt({x[2] + epsilon}) * kRsqrt({accum + epsilon}) * grad;
  return {x[0] - x[3] * step, accum, x[2] * rho + step * step * (1.0 - rho)};
}

Values adam(const Expansion& e, const Values& x) {
  Value beta1 = x[6], beta2 = x[7], grad = x[9];
  Value rate = x[5] * kSqrt({1.0 - x[4]}) / (1.0 - x[3]);
  Value m = x[1] * beta1 + grad * (1.0 - beta1), v = x[2] * beta2 + grad * grad * (1.0 - beta2);
  Value step = e.attrs.boolean("use_nesterov") ? m * beta1 + grad * (1.0 - beta1) : m;
  return {x[0] - rate * step / (kSqrt({v}) + x[8]), m, v};
}

void register_update() {
  register_dense_updates();
  register_sparse_updates();
  register_scaled_updates();
}

}  // namespace mycel::ops
