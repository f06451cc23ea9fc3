// Values exchanged between the processes of a group.
#include "base/error.h"
#include "base/process_groups.h"
#include "ir/expansion.h"
#include "ops/all_ops.h"
#include "ops/control/control.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;
using ir::OpDef;

namespace {

int64_t members(const Expansion& e) {
  return static_cast<int64_t>(group_named(e.attrs.string("group")).ranks.size());
}

// In a group of one each member has everything already.
void expand_alone(Expansion& e) {
  MYCEL_CHECK(members(e) == 1, "{}: groups have one member so far", e.op.name);
  for (int i = 0; i < e.inputs(); ++i) e.results.push_back(kIdentity({e.x(i)}));
}

void expand_broadcast(Expansion& e) {
  int64_t root = e.attrs.integer("root_rank"), n = members(e);
  if (root < 0 || root >= n) {
    value_error("broadcast: root_rank {} is no member of group '{}', which has {}", root,
                e.attrs.string("group"), n);
  }
  expand_alone(e);
}

void expand_all_to_all(Expansion& e) {
  int64_t n = members(e), count = e.attrs.integer("split_count"), rank = e.x(0).rank();
  if (count != n) {
    value_error("all_to_all: split_count must be the size of the group, {}, got {}", n, count);
  }
  for (const char* name : {"split_dim", "concat_dim"}) {
    int64_t dim = e.attrs.integer(name);
    if (dim < 0 || dim >= rank)
      value_error("all_to_all: {} must be in [0, {}), got {}", name, rank, dim);
  }
  expand_alone(e);
}

}  // namespace

constexpr OpDef kAllReduce = check({
    .name = "all_reduce",
    .doc = "The sum (or max, min, prod) of x over the processes of the group, in each of them.",
    .in = {"x: number"},
    .attr = {"op: str(sum|max|min|prod) = sum", "group: str = hccl_world_group"},
    .shard = "none",
    .expand = expand_alone,
    .cases = "op = sum max min prod; bad group = nobody",
    .primitive = "AllReduce(op, group)",
    .internal = true,
});

constexpr OpDef kAllGather = check({
    .name = "all_gather",
    .doc = "The tensors of all processes of the group, joined along axis 0, in each of them.",
    .in = {"x: any[n, ...]"},
    .attr = {"group: str = hccl_world_group"},
    .shard = "none",
    .expand = expand_alone,
    .cases = "x[2, 3]; bad group = nobody; skip scalar: axis 0 is needed",
    .primitive = "AllGather(group)",
    .internal = true,
});

constexpr OpDef kReduceScatter = check({
    .name = "reduce_scatter",
    .doc = "This process's part, along axis 0, of the sum (or max, min, prod) of x over the "
           "processes of the group.",
    .in = {"x: number"},
    .attr = {"op: str(sum|max|min|prod) = sum", "group: str = hccl_world_group"},
    .shard = "none",
    .expand = expand_alone,
    .cases = "x[2, 3]; op = sum max; bad group = nobody; skip scalar: axis 0 is needed",
    .primitive = "ReduceScatter(op, group)",
    .internal = true,
});

constexpr OpDef kBroadcast = check({
    .name = "broadcast",
    .doc = "x of the process root_rank, in all processes of the group.",
    .in = {"x: any"},
    .attr = {"root_rank: int", "group: str = hccl_world_group"},
    .shard = "none",
    .expand = expand_broadcast,
    .cases = "root_rank = 0; bad root_rank = 1; bad root_rank = -1",
    .internal = true,
});

constexpr OpDef kAllToAll = check({
    .name = "all_to_all",
    .doc = "Splits x along split_dim into a part for each process of the group, and joins the "
           "parts that they send along concat_dim.",
    .in = {"x: any"},
    .attr = {"split_count: int", "split_dim: int", "concat_dim: int",
             "group: str = hccl_world_group"},
    .shard = "none",
    .expand = expand_all_to_all,
    .cases = "x[2, 3]; split_count = 1; split_dim = 0; concat_dim = 0 1; bad split_count = 2; bad "
             "split_dim = 2; bad concat_dim = -1; skip scalar: dims are named",
    .primitive = "AlltoAll(split_count, split_dim, concat_dim, group)",
    .internal = true,
});

void register_collective() {
  ir::register_ops({&kAllReduce, &kAllGather, &kReduceScatter, &kBroadcast, &kAllToAll});
}

}  // namespace mycel::ops
