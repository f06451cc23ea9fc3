#include <fmt/format.h>

#include "emit.h"
#include "ir/op.h"

namespace mycel::gen {
namespace {

void print_op(const ir::Op& op) {
  fmt::print("## {}\n\n`{}`\n\n{}\n\n", op.name, op.signature(), op.def.doc);
  for (const ir::InputSpec& in : op.inputs) {
    fmt::print("- `{}`: {} tensor{}{}{}\n", in.name, in.cls, in.dims.empty() ? "" : " " + in.dims,
               in.optional ? ", optional" : "", in.variadic ? ", any number" : "");
  }
  if (op.def.promote == ir::Promote::kCommon)
    fmt::print("- operands of different dtypes meet in their common dtype\n");
  if (op.def.promote == ir::Promote::kFloat) fmt::print("- integers become float32\n");
  if (op.def.composite()) {
    fmt::print("- made of other ops; gradient and batching follow from them\n");
  } else if (op.def.grad.none) {
    fmt::print("- no gradient: {}\n", op.def.grad.none);
  }
  if (*op.def.primitive) fmt::print("- primitive: `{}`\n", op.def.primitive);
  if (*op.def.method) fmt::print("- tensor method: `{}`\n", op.def.method);
  if (*op.def.onnx) fmt::print("- ONNX: {}\n", op.def.onnx);
  fmt::print("- sharding: `{}`\n\n", op.def.shard);
}

}  // namespace

void print_op_pages() {
  fmt::print("# Operators\n\nGenerated from the op records.\n\n");
  for (const ir::Op* op : ir::all_ops()) {
    if (!op->def.internal) print_op(*op);
  }
}

}  // namespace mycel::gen
