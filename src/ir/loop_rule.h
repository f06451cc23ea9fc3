// LoopCtx: what a loop rule sees: concrete types and attributes, and the Nest to fill. Buffers are
// declared already: in(i) and out(j). Extents and strides go in through `nest.number(…)`, so that
// one compiled kernel serves all shapes of the same structure.
#pragma once

#include <span>
#include <vector>

#include "ir/op.h"
#include "ir/type.h"
#include "loops/nest.h"

namespace mycel::ir {

class LoopCtx {
 public:
  // An absent optional operand is a null type; it gets no buffer.
  LoopCtx(const Op& o, std::span<const Type* const> in, std::span<const Type> out, const Attrs& a);

  const Op& op;
  AttrsView attrs;
  loops::Nest nest;

  int inputs() const { return static_cast<int>(in_types_.size()); }
  int outputs() const { return static_cast<int>(out_types_.size()); }
  bool has(int i) const { return i < inputs() && in_types_[i]; }
  const Type& in_type(int i) const { return *in_types_[i]; }
  const Type& out_type(int j = 0) const { return out_types_[j]; }
  loops::Buf in(int i) const { return in_[i]; }
  loops::Buf out(int j = 0) const { return out_[j]; }

 private:
  std::span<const Type* const> in_types_;
  std::span<const Type> out_types_;
  std::vector<loops::Buf> in_, out_;
};

}  // namespace mycel::ir
