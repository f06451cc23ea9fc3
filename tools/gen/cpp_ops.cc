#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit.h"
#include "ir/op.h"

namespace mycel::gen {
namespace {

using ir::Attr;
using ir::AttrKind;
using ir::AttrSpec;
using ir::Op;

// C++ keywords and macros that record names may collide with.
std::string safe(const std::string& name) {
  static const std::set<std::string> reserved = {
      "and",      "or",     "not",    "xor",    "bool",   "default", "operator",
      "union",    "return", "new",    "delete", "switch", "case",    "signed",
      "unsigned", "float",  "double", "int",    "long"};
  return reserved.count(name) ? name + "_" : name;
}

std::string attr_type(const AttrSpec& a) {
  if (a.optional) return "const ir::Attr&";
  switch (a.kind) {
    case AttrKind::kBool:
      return "bool";
    case AttrKind::kInt:
      return "int64_t";
    case AttrKind::kFloat:
      return "double";
    case AttrKind::kString:
      return "const std::string&";
    case AttrKind::kDType:
      return "DType";
    case AttrKind::kGraph:
      return "const ir::GraphPtr&";
    case AttrKind::kTensor:
      return "const Tensor&";
    case AttrKind::kCallback:
      return "const ir::CallbackPtr&";
    case AttrKind::kFunction:
      return "const ir::FunctionPtr&";
    case AttrKind::kInts:
      return "const std::vector<int64_t>&";
    case AttrKind::kFloats:
      return "const std::vector<double>&";
  }
  return "";
}

std::string real_literal(double v) {
  if (std::isinf(v)) return v > 0 ? "HUGE_VAL" : "-HUGE_VAL";
  std::string s = fmt::format("{}", v);
  return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
}

std::string literal(const AttrSpec& a) {
  const Attr& v = a.default_value;
  if (v.none()) return "{}";
  switch (a.kind) {
    case AttrKind::kBool:
      return v.boolean() ? "true" : "false";
    case AttrKind::kInt:
      return a.optional ? fmt::format("ir::Attr(int64_t{{{}}})", v.integer())
                        : fmt::format("{}", v.integer());
    case AttrKind::kFloat:
      return a.optional ? fmt::format("ir::Attr({})", real_literal(v.real()))
                        : real_literal(v.real());
    case AttrKind::kString:
      return fmt::format("\"{}\"", v.string());
    case AttrKind::kDType: {
      static const char* const names[] = {"kBool",    "kInt8",      "kInt16",     "kInt32",
                                          "kInt64",   "kUInt8",     "kUInt16",    "kUInt32",
                                          "kUInt64",  "kFloat16",   "kBFloat16",  "kFloat32",
                                          "kFloat64", "kComplex64", "kComplex128"};
      return fmt::format("DType::{}", names[static_cast<int>(v.dtype())]);
    }
    case AttrKind::kInts:
      return a.optional ? fmt::format("ir::Attr(ir::Attr::Ints{{{}}})", fmt::join(v.ints(), ", "))
                        : fmt::format("{{{}}}", fmt::join(v.ints(), ", "));
    case AttrKind::kFloats: {
      std::string s;
      for (double d : v.floats()) s += (s.empty() ? "" : ", ") + real_literal(d);
      return a.optional ? "ir::Attr(ir::Attr::Floats{" + s + "})" : "{" + s + "}";
    }
    default:
      return "{}";
  }
}

void print_parameters(const Op& op, bool defaults) {
  const char* comma = "";
  // An attribute without a default after one with a default cannot be written in C++: require all
  // then.
  size_t first_default = op.attrs.size();
  while (first_default > 0 && op.attrs[first_default - 1].has_default) --first_default;
  bool open = false;  // once one parameter has a default, all later ones need one
  for (const ir::InputSpec& in : op.inputs) {
    open |= in.optional && first_default == 0;
    const char* type = in.variadic ? "std::span<const Tensor>" : "const Tensor&";
    fmt::print("{}{} {}{}", comma, type, safe(in.name), defaults && open ? " = {}" : "");
    comma = ", ";
  }
  for (size_t i = 0; i < op.attrs.size(); ++i) {
    const AttrSpec& a = op.attrs[i];
    fmt::print("{}{} {}", comma, attr_type(a), safe(a.name));
    if (defaults && i >= first_default) fmt::print(" = {}", literal(a));
    comma = ", ";
  }
}

bool has_variable_results(const Op& op) {
  return op.outputs.size() != 1 || op.outputs[0][0] == '*';
}

void print_function(const Op& op) {
  bool many = has_variable_results(op);
  fmt::print("// {}\ninline {} {}(", op.def.doc, many ? "Tensors" : "Tensor", safe(op.name));
  print_parameters(op, true);
  fmt::print(") {{\n  static const ir::Op& op = ir::op_named(\"{}\");\n", op.name);
  if (op.variadic) {
    fmt::print("  Tensors in;\n");
    for (const ir::InputSpec& in : op.inputs) {
      if (in.variadic) {
        fmt::print("  in.insert(in.end(), {0}.begin(), {0}.end());\n", safe(in.name));
      } else {
        fmt::print("  in.push_back({});\n", safe(in.name));
      }
    }
  } else if (op.inputs.empty()) {
    fmt::print("  const std::span<const Tensor> in;\n");
  } else {
    fmt::print("  const Tensor in[] = {{");
    for (size_t i = 0; i < op.inputs.size(); ++i)
      fmt::print("{}{}", i ? ", " : "", safe(op.inputs[i].name));
    fmt::print("}};\n");
  }
  fmt::print("  return runtime::call{}(op, in", many ? "" : "1");
  if (!op.attrs.empty()) {
    fmt::print(", {{");
    for (size_t i = 0; i < op.attrs.size(); ++i) {
      fmt::print("{}ir::Attr({})", i ? ", " : "", safe(op.attrs[i].name));
    }
    fmt::print("}}");
  }
  fmt::print(");\n}}\n\n");
}

}  // namespace

void print_cpp_ops() {
  fmt::print(
      "// Generated from the op records: one function per op, on tensors. Do not edit.\n"
      "#pragma once\n\n#include <cmath>\n#include <span>\n#include <string>\n#include <vector>\n\n"
      "#include \"ir/op.h\"\n#include \"runtime/dispatch.h\"\n#include \"tensor/tensor.h\"\n\n"
      "namespace mycel::ops {{\n\n");
  for (const Op* op : ir::all_ops()) {
    if (!op->def.internal && !op->holds_code) print_function(*op);
  }
  fmt::print("}}  // namespace mycel::ops\n");
}

}  // namespace mycel::gen
