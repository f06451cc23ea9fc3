#include "ops/conv/post_ops.cpu.h"

namespace mycel::ops {

using cpu::EpilogueStep;
using cpu::onednn::PostOp;
using Kind = EpilogueStep::Kind;

PostOp linear(double a, double b) {
  PostOp op;
  op.kind = PostOp::Kind::kLinear;
  op.a = a, op.b = b;
  return op;
}

std::optional<PostOp> number_step(const EpilogueStep& s) {
  switch (s.kind) {
    case Kind::kAdd:
      return linear(1, s.number);
    case Kind::kSub:
      return linear(1, -s.number);
    case Kind::kMul:
      return linear(s.number, 0);
    case Kind::kDiv:
      return linear(1 / s.number, 0);
    default:
      return {};
  }
}

std::optional<PostOp> operand_step(const EpilogueStep& s, const ir::Type& t, int rank) {
  if (t.shape.rank() > rank) return {};
  PostOp op;
  switch (s.kind) {
    case Kind::kAdd:
      op.kind = PostOp::Kind::kAdd;
      break;
    case Kind::kSub:
      op.kind = PostOp::Kind::kSub;
      break;
    case Kind::kMul:
      op.kind = PostOp::Kind::kMul;
      break;
    case Kind::kDiv:
      op.kind = PostOp::Kind::kDiv;
      break;
    default:
      return {};
  }
  op.at = s.operand;
  op.dtype = t.dtype;
  op.dims.assign(static_cast<size_t>(rank - t.shape.rank()), 1);
  op.dims.insert(op.dims.end(), t.shape.begin(), t.shape.end());
  return op;
}

}  // namespace mycel::ops
