// Apart from what runs nests, so that Lite links it without.
#include "backend/cpu/nest_kernel.h"
#include "ir/loop_rule.h"
#include "loops/elementwise.h"

namespace mycel::cpu {
namespace {

loops::Nest elementwise_nest(const Problem& p) {
  std::vector<DType> in, out;
  std::vector<Shape> shapes;
  for (const ir::Type* t : p.in) {
    in.push_back(t->dtype);
    shapes.push_back(t->shape);
  }
  for (const ir::Type& t : p.out) out.push_back(t.dtype);
  const ir::ScalarFormula& f = p.op.def.scalar;
  return loops::elementwise(p.op.name, in, shapes, out, p.out[0].shape,
                            [&](std::span<const loops::Val> x, std::span<loops::Val> y) {
                              f.fn(x.data(), p.attrs, y.data());
                            });
}

}  // namespace

loops::Nest build_nest(const Problem& p) {
  if (!p.op.def.loops) return elementwise_nest(p);
  ir::LoopCtx c(p.op, p.in, p.out, p.attrs);
  p.op.def.loops(c);
  return std::move(c.nest);
}

}  // namespace mycel::cpu
