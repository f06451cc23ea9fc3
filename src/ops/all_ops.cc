// Registers every room once, and tells the transforms which ops they emit.
#include "ops/all_ops.h"

#include <mutex>

#include "ir/core_ops.h"
#include "ir/op.h"
#include "ops/control/control.h"
#include "ops/elementwise/elementwise.h"
#include "ops/fused/fused.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {
namespace {

void register_rooms() {
  register_elementwise();
  register_reduce();
  register_shape();
  register_index();
  register_random();
  register_embedding();
  register_matmul();
  register_linalg();
  register_fft();
  register_conv();
  register_pool();
  register_image();
  register_norm();
  register_loss();
  register_sparse();
  register_update();
  register_collective();
  register_recurrent();
  register_attention();
  register_quant();
  register_control();
  register_fused();
}

void name_core_ops() {
  ir::CoreOps core;
  core.constant = &ir::op_of(kConstant);
  core.full = &ir::op_of(kFillConstant);
  core.cast = &ir::op_of(kCast);
  core.add = &ir::op_of(kAdd);
  core.negative = &ir::op_of(kNeg);
  core.sum_to = &ir::op_of(kSumTo);
  core.broadcast_to = &ir::op_of(kBroadcastTo);
  core.zeros_like = &ir::op_of(kZerosLike);
  core.fused = &ir::op_of(kFused);
  core.joined = &ir::op_of(kJoined);
  core.cond = &ir::op_of(kCond);
  core.while_loop = &ir::op_of(kWhileLoop);
  core.call = &ir::op_of(kCall);
  core.stack_new = &ir::op_of(kStackNew);
  core.stack_add = &ir::op_of(kStackAdd);
  core.stack_push = &ir::op_of(kStackPush);
  core.stack_pop = &ir::op_of(kStackPop);
  core.stack_from_rows = &ir::op_of(kStackFromRows);
  core.stack_to_rows = &ir::op_of(kStackToRows);
  core.reshape = &ir::op_of(kReshape);
  core.transpose = &ir::op_of(kTranspose);
  core.select = &ir::op_named("select");
  core.logical_and = &ir::op_named("logical_and");
  core.reduce_any = &ir::op_of(kReduceAny);
  ir::set_core_ops(core);
}

}  // namespace
}  // namespace mycel::ops

namespace mycel::ir {

void ensure_ops() {
  static std::once_flag once;
  // The look-ups made while registering come back here.
  static thread_local bool registering = false;
  if (registering) return;
  std::call_once(once, [] {
    registering = true;
    ops::register_rooms();
    ops::name_core_ops();
    registering = false;
  });
}

}  // namespace mycel::ir
