#include "ir/batching.h"

#include <string>
#include <string_view>

#include "base/error.h"
#include "ir/core_ops.h"

namespace mycel::ir {

Shape Batching::with_batch(const Shape& s) const {
  Shape out{size};
  for (int64_t d : s) out.push_back(d);
  return out;
}

Value Batching::reshape(Value v, const Shape& s) {
  if (v.shape() == s) return v;
  return emit(*core_ops().reshape, {v}, {Attr(s)});
}

Value Batching::spread(int i) {
  if (batched_[i]) return x_[i];
  x_[i] = emit(*core_ops().broadcast_to, {x_[i]}, {Attr(with_batch(shape(i)))});
  batched_[i] = true;
  return x_[i];
}

Value Batching::aligned(int i, int rank) {
  if (!batched(i)) return x_[i];
  const Shape& s = shape(i);
  if (s.rank() >= rank) return x_[i];
  Shape wide{size};
  for (int d = s.rank(); d < rank; ++d) wide.push_back(1);
  for (int64_t d : s) wide.push_back(d);
  return reshape(x_[i], wide);
}

bool Batching::same(std::vector<Value> in, Attrs attributes) {
  Node* n = graph.add(*node.op, std::move(in), std::move(attributes), node.loc);
  for (uint32_t j = 0; j < n->types.size(); ++j) results.push_back(n->out(j));
  return true;
}

Attrs Batching::replaced(std::string_view name, Attr value) const {
  Attrs out = node.attrs;
  int i = node.op->attr_index(name);
  MYCEL_CHECK(i >= 0, "op {} has no attribute '{}'", node.op->name, name);
  out.set(static_cast<size_t>(i), std::move(value));
  return out;
}

}  // namespace mycel::ir
