#include "ops/fused/fused.h"

#include "ir/expansion.h"
#include "ir/formula.h"
#include "ir/graph.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "loops/elementwise.h"
#include "ops/all_ops.h"

namespace mycel::ops {
namespace {

void fused_loops(ir::LoopCtx& c) {
  const ir::Graph& body = *c.attrs["body"].graph();
  std::vector<DType> in, out;
  std::vector<Shape> shapes;
  for (int i = 0; i < c.inputs(); ++i) {
    in.push_back(c.in_type(i).dtype);
    shapes.push_back(c.in_type(i).shape);
  }
  for (size_t j = 0; j < body.results().size(); ++j)
    out.push_back(c.out_type(static_cast<int>(j)).dtype);
  c.nest = loops::elementwise(
      "fused", in, shapes, out, c.out_type(0).shape,
      [&](std::span<const loops::Val> x, std::span<loops::Val> y) { ir::compose(body, x, y); });
}

void expand_joined(ir::Expansion& e) {
  std::vector<ir::Value> args;
  for (int i = 0; i < e.inputs(); ++i) args.push_back(e.x(i));
  for (const ir::Value& v : ir::inline_graph(*e.attrs["body"].graph(), e.graph, args)) e.result(v);
}

void fused_type(ir::TypeRuleCtx& c) {
  for (const ir::Value& v : c.attrs["body"].graph()->results()) c.out.push_back(v.type());
}

}  // namespace

constexpr OpDef kFused = ir::check({
    .name = "fused",
    .doc = "A region of elementwise ops run as one loop.",
    .in = {"*x: any"},
    .attr = {"body: graph"},
    .out = {"*y"},
    .type = fused_type,
    .shard = "... -> ...",
    .grad = ir::no_gradient("differentiation comes before fusion"),
    .loops = fused_loops,
    .cases = "skip all: made and tested by passes/fuse_elementwise",
    .internal = true,
});

constexpr OpDef kJoined = ir::check({
    .name = "joined",
    .doc = "One op and the elementwise ops that its result goes through, run as one kernel.",
    .in = {"*x: any"},
    .attr = {"body: graph"},
    .out = {"*y"},
    .type = fused_type,
    .shard = "none",
    .expand = expand_joined,
    .cases = "skip all: made and tested by passes/join_epilogues",
    .internal = true,
});

void register_fused() { ir::register_ops({&kFused, &kJoined}); }

}  // namespace mycel::ops
