// Batching rules of the index room.
#include "ir/batching.h"

#include "ir/core_ops.h"
#include "ops/batching.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::Attrs;
using ir::Batching;

// gather and axis_scatter_add: the batch is one more dim that operand and indices share, unless
// the operand alone is batched.
bool batch_gather(Batching& b) {
  int rank = b.shape(0).rank();
  if (rank == 0) return false;
  int64_t axis = b.attrs.integer("axis"), dims = b.attrs.integer("batch_dims");
  if (axis < 0) axis += rank;
  if (dims < 0) return false;
  Attrs attrs = b.replaced("axis", Attr(axis + 1));
  bool operand_alone = b.inputs() == 2 && b.batched(0) && !b.batched(1) && dims == 0;
  if (operand_alone) return b.same({b.x(0), b.x(1)}, attrs);
  attrs.set(static_cast<size_t>(b.node.op->attr_index("batch_dims")), Attr(dims + 1));
  std::vector<ir::Value> in;
  for (int i = 0; i < b.inputs(); ++i) in.push_back(b.spread(i));
  return b.same(in, attrs);
}

// Index tuples, gather_nd and the tuple scatters: they get the number of the example in front.
bool batch_tuples(Batching& b) {
  const Shape& tuples = b.shape(1);
  if (!tuples.known() || tuples.rank() == 0) return false;
  ir::Value index = b.spread(1);
  Shape flat{b.size}, full{b.size};
  for (int d = 0; d + 1 < tuples.rank(); ++d) {
    flat.push_back(1);
    full.push_back(tuples[d]);
  }
  flat.push_back(1);
  full.push_back(1);
  ir::Value number = b.graph
                         .add(ir::op_of(kArange), {},
                              {0.0, static_cast<double>(b.size), 1.0, index.dtype()}, b.node.loc)
                         ->out();
  number = b.emit(*ir::core_ops().broadcast_to, {b.reshape(number, flat)}, {Attr(full)});
  index = b.emit(ir::op_of(kConcat), {number, index}, {Attr(-1)});
  std::vector<ir::Value> in{b.spread(0), index};
  if (b.has(2)) in.push_back(b.spread(2));
  return b.same(in, b.node.attrs);
}

bool batch_one_hot(Batching& b) {
  if (b.batched(1) || b.batched(2)) return false;
  int64_t axis = b.attrs.integer("axis");
  return b.same({b.x(0), b.x(1), b.x(2)}, b.replaced("axis", Attr(axis < 0 ? axis : axis + 1)));
}

}  // namespace mycel::ops
