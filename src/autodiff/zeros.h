// A value of zeros for a derivative that nothing flows into.
#pragma once

#include <functional>

#include "ir/core_ops.h"
#include "ir/graph.h"

namespace mycel::autodiff {

// `like` gives a value of the type when its shape is not known.
inline ir::Value zeros(ir::Graph& g, const ir::Type& t, const std::function<ir::Value()>& like) {
  const ir::CoreOps& core = ir::core_ops();
  if (t.kind == ir::Type::Kind::kStack) {
    return g.add(*core.stack_new, {}, {ir::Attr(t.dtype), ir::Attr(t.shape)})->out();
  }
  if (!t.shape.known()) return g.add(*core.zeros_like, {like()})->out();
  return g.add(*core.full, {}, {ir::Attr(0.0), ir::Attr(t.shape), ir::Attr(t.dtype)})->out();
}

}  // namespace mycel::autodiff
