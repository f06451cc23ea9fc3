#include "ir/loop_rule.h"

namespace mycel::ir {

LoopCtx::LoopCtx(const Op& o, std::span<const Type* const> in, std::span<const Type> out,
                 const Attrs& a)
    : op(o), attrs(o, a), nest(o.name), in_types_(in), out_types_(out) {
  for (const Type* t : in) in_.push_back(t ? nest.input(t->dtype) : loops::Buf{});
  for (const Type& t : out) out_.push_back(nest.output(t.dtype));
}

}  // namespace mycel::ir
