#include "ops/batching.h"

#include "ir/batching.h"
#include "ir/core_ops.h"
#include "ops/shape/batching.h"

namespace mycel::ops {

using ir::Attr;
using ir::Attrs;
using ir::Batching;
using ir::Value;

namespace {

std::vector<Value> spread_all(Batching& b) {
  std::vector<Value> in;
  for (int i = 0; i < b.inputs(); ++i) in.push_back(b.has(i) ? b.spread(i) : Value());
  return in;
}

// `given` with an entry for the batch in front.
Attr in_front(const Attr& given, int64_t first) {
  Attr::Ints v{first};
  v.insert(v.end(), given.ints().begin(), given.ints().end());
  return Attr(v);
}

int64_t behind_batch(int64_t axis, int rank) { return (axis < 0 ? axis + rank : axis) + 1; }

bool merge(Batching& b, bool all) {
  std::vector<Value> in;
  for (int i = 0; i < b.inputs(); ++i) {
    if (!b.has(i) || (!all && !b.batched(i))) {
      in.push_back(b.x(i));
      continue;
    }
    const Shape& s = b.shape(i);
    if (s.rank() == 0 || !s.known()) return false;
    Shape merged{b.size * s[0]};
    for (int d = 1; d < s.rank(); ++d) merged.push_back(s[d]);
    in.push_back(b.reshape(b.spread(i), merged));
  }
  for (const ir::Type& t : b.node.types) {
    if (t.shape.rank() == 0 || !t.shape.known()) return false;
  }
  b.same(in, b.node.attrs);
  for (size_t j = 0; j < b.results.size(); ++j) {
    b.results[j] = b.reshape(b.results[j], b.with_batch(b.out_shape(static_cast<int>(j))));
  }
  return true;
}

}  // namespace

bool batch_view(Batching& b) {
  if (!b.batched(0) || !b.out_shape().known()) return false;
  return b.give(b.reshape(b.x(0), b.with_batch(b.out_shape())));
}

bool batch_axis(Batching& b) {
  Attrs attrs = b.node.attrs;
  bool any = false;
  for (size_t i = 0; i < attrs.size(); ++i) {
    const std::string& name = b.node.op->attrs[i].name;
    if (name != "axis" && name != "dim" && name != "dim1" && name != "dim2") continue;
    int rank = b.shape(0).rank();
    if (!attrs[i].is<int64_t>() || rank == 0) return false;
    attrs.set(i, Attr(behind_batch(attrs[i].integer(), rank)));
    any = true;
  }
  return any && b.same(spread_all(b), attrs);
}

bool batch_leading(Batching& b) { return b.same(spread_all(b), b.node.attrs); }

bool batch_merge_all(Batching& b) { return merge(b, true); }
// Operands after the second only lend their shape ("like") and go with the first.
bool batch_merge(Batching& b) {
  if (b.batched(1)) return false;
  if (b.has(2)) {
    b.spread(0);
    b.spread(2);
  }
  return merge(b, false);
}

bool batch_broadcast(Batching& b) {
  const Shape& out = b.out_shape();
  if (!b.batched(0) || !out.known()) {
    if (!out.known()) return false;
    b.spread(0);
  }
  Value x = b.aligned(0, out.rank());
  return b.give(b.emit(*ir::core_ops().broadcast_to, {x}, {Attr(b.with_batch(out))}));
}

bool batch_sum_to(Batching& b) {
  const Shape &s = b.shape(0), &to = b.out_shape();
  if (!to.known()) return false;
  Shape wide{b.size};
  for (int d = to.rank(); d < s.rank(); ++d) wide.push_back(1);
  for (int64_t n : to) wide.push_back(n);
  Value y = b.emit(*b.node.op, {b.x(0)}, {Attr(wide)});
  return b.give(b.reshape(y, b.with_batch(to)));
}

bool batch_tile(Batching& b) {
  Attr::Ints multiples = b.attrs.ints("multiples");
  int rank = std::max(b.shape(0).rank(), static_cast<int>(multiples.size()));
  multiples.insert(multiples.begin(), static_cast<size_t>(rank) - multiples.size() + 1, 1);
  return b.same({b.aligned(0, rank)}, {Attr(multiples)});
}

bool batch_pad(Batching& b) {
  Attrs attrs = b.replaced("low", in_front(b.attrs["low"], 0));
  attrs.set(1, in_front(b.attrs["high"], 0));
  return b.same({b.x(0)}, attrs);
}

bool batch_slice(Batching& b) {
  Attrs attrs = b.replaced("begin", in_front(b.attrs["begin"], 0));
  attrs.set(1, in_front(b.attrs["end"], b.size));
  attrs.set(2, in_front(b.attrs["strides"], 1));
  return b.same(spread_all(b), attrs);
}

}  // namespace mycel::ops
