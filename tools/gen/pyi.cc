#include <fmt/format.h>

#include "emit.h"
#include "ir/op.h"

namespace mycel::gen {
namespace {

using ir::AttrKind;
using ir::AttrSpec;
using ir::Op;

std::string python_type(const AttrSpec& a) {
  std::string t;
  switch (a.kind) {
    case AttrKind::kBool:
      t = "bool";
      break;
    case AttrKind::kInt:
      t = "int";
      break;
    case AttrKind::kFloat:
      t = "float";
      break;
    case AttrKind::kString:
      t = "str";
      break;
    case AttrKind::kDType:
      t = "dtype";
      break;
    case AttrKind::kInts:
      t = a.pairs ? "Sequence[int] | Sequence[Sequence[int]]" : "int | Sequence[int]";
      break;
    case AttrKind::kFloats:
      t = "float | Sequence[float]";
      break;
    case AttrKind::kTensor:
      t = "Tensor";
      break;
    default:
      t = "Callable[..., Any]";
  }
  return a.optional ? t + " | None" : t;
}

void print_function(const Op& op) {
  fmt::print("def {}(", op.name);
  const char* comma = "";
  for (const ir::InputSpec& in : op.inputs) {
    fmt::print("{}{}{}: {}{}", comma, in.variadic ? "*" : "", in.name,
               in.optional ? "TensorLike | None" : "TensorLike", in.optional ? " = None" : "");
    comma = ", ";
  }
  bool keyword_only = false;
  for (size_t i = 0; i < op.attrs.size(); ++i) {
    const AttrSpec& a = op.attrs[i];
    // Python wants no parameter without a default after one with a default.
    bool late = !a.has_default && i > 0 && op.attrs[i - 1].has_default;
    if (late && !keyword_only && !op.variadic) {
      fmt::print("{}*", comma);
      comma = ", ";
      keyword_only = true;
    }
    fmt::print("{}{}: {}{}", comma, a.name, python_type(a),
               a.has_default ? " = " + a.default_value.str() : "");
    comma = ", ";
  }
  bool many = op.outputs.size() != 1 || op.outputs[0][0] == '*';
  fmt::print(") -> {}:\n    \"\"\"{}\"\"\"\n\n", many ? "tuple[Tensor, ...]" : "Tensor",
             op.def.doc);
}

}  // namespace

void print_pyi() {
  fmt::print(
      "# Generated from the op records. Do not edit.\n"
      "from collections.abc import Callable, Sequence\nfrom typing import Any\n\n"
      "from mycel import Tensor\n\n"
      "dtype = Any\nTensorLike = Tensor | float | int | bool | complex | Sequence[Any]\n\n");
  for (const Op* op : ir::all_ops()) {
    if (!op->def.internal && !op->holds_code) print_function(*op);
  }
}

}  // namespace mycel::gen
