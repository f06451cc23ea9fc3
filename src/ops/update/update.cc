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
    if (a[d] != b[d] && a[d] != kUnknownDim && b[d] != kUnknownDim) return false;
  return true;
}

// Half precision is computed in float32; every state keeps its own dtype.
DType computed(DType d) { return size_of(d) == 2 ? DType::kFloat32 : d; }

std::vector<Value> stored(const Expansion& e, Values fresh) {
  for (size_t i = 0; i < fresh.size(); ++i)
    fresh[i] = cast_to(fresh[i], e.x(static_cast<int>(i)).dtype());
  return fresh;
}

// Operands have the shape of the first, or are numbers.
Values checked(const Expansion& e, int count, int grad, int indices) {
  const Shape& s = e.x(0).shape();
  Values x;
  for (int i = 0; i < count; ++i) {
    Value v = e.x(i);
    bool fits = v.rank() == 0 || may_agree(v.shape(), s, i == grad && indices >= 0 ? 1 : 0);
    if ((i == 0 || i == grad) && v.rank() != s.rank()) fits = false;
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
  e.results = stored(e, formula(e, checked(e, e.inputs(), -1, -1)));
}

namespace {

struct Sparse {
  Values x;  // grad spread over all rows, 0 elsewhere
  Value indices;
};

Sparse spread(const Expansion& e, int grad) {
  int last = e.inputs() - 1;
  Value indices = e.x(last);
  if (e.x(0).rank() == 0)
    value_error("{}: '{}' needs a dim of rows", e.op.name, e.op.inputs[0].name);
  Values x = checked(e, last, grad, last);
  int64_t k = x[grad].shape()[0], n = indices.rank() == 1 ? indices.shape()[0] : -2;
  if (n == -2 || (k != n && k != kUnknownDim && n != kUnknownDim)) {
    value_error("{}: 'indices' must name the row of each row of {}, got {}", e.op.name,
                e.x(grad).type().str(), indices.type().str());
  }
  x[grad] = kAxisScatterAdd({kZerosLike({x[0]}), indices, x[grad]}, {0});
  return {x, indices};
}

}  // namespace

void expand_sparse_update(Expansion& e, UpdateFormula formula, int grad) {
  size_t states = e.op.outputs.size();
  Sparse s = spread(e, grad);
  // Rows named twice: each occurrence sees the sum, and writes the same.
  Values rows = s.x;
  rows[grad] = kGather({s.x[grad], s.indices}, {0});
  for (size_t i = 0; i < states; ++i) rows[i] = kGather({s.x[i], s.indices}, {0});
  Values fresh = formula(e, rows);
  Value tuples = kExpandDims({s.indices}, {-1});
  Values all;
  for (size_t i = 0; i < states; ++i)
    all.push_back(kTensorScatterUpdate({s.x[i], tuples, fresh[i]}));
  e.results = stored(e, all);
}

void expand_spread_update(Expansion& e, UpdateFormula formula, int grad) {
  e.results = stored(e, formula(e, spread(e, grad).x));
}

Values adagrad(const Expansion& e, Value var, Value accum, Value lr, Value grad, double epsilon) {
  if (e.attrs.boolean("update_slots")) accum = accum + grad * grad;
  Value root = kSqrt({accum});
  return {var - lr * grad / (epsilon > 0 ? root + epsilon : root), accum};
}

Values ftrl(Value var, Value accum, Value linear, Value grad, Value lr, Value l1, Value l2,
            Value lr_power, Value shrinkage) {
  Value now = accum + grad * grad, power = -lr_power;
  Value fresh = kPow({now, power}), before = kPow({accum, power});
  Value g = shrinkage ? grad + shrinkage * var * 2.0 : grad;
  linear = linear + g - (fresh - before) / lr * var;
  Value pulled = (kSign({linear}) * l1 - linear) / (fresh / lr + l2 * 2.0);
  return {where(kGreater({kAbs({linear}), l1}), pulled, 0.0), now, linear};
}

Values proximal_adagrad(Value var, Value accum, Value lr, Value l1, Value l2, Value grad) {
  accum = accum + grad * grad;
  Value rate = lr * kRsqrt({accum}), moved = var - rate * grad;
  Value size = kAbs({moved}) - rate * l1;
  return {kSign({moved}) * where(less(size, 0.0), 0.0, size) / (rate * l2 + 1.0), accum};
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
}

}  // namespace mycel::ops
