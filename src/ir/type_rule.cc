#include "ir/type_rule.h"

#include <fmt/format.h>

#include "ir/expansion.h"
#include "ir/graph.h"
#include "ir/operands.h"

namespace mycel::ir {
namespace {

bool accepts(const std::string& cls, const Type& t) {
  DType d = t.dtype;
  if (cls == "stack") return t.kind == Type::Kind::kStack;
  if (t.kind == Type::Kind::kStack) return cls == "any";
  if (cls == "any") return true;
  if (cls == "bool") return is_bool(d);
  if (cls == "int") return is_int(d);
  if (cls == "float") return is_float(d);
  if (cls == "complex") return is_complex(d);
  if (cls == "real") return is_int(d) || is_float(d);
  if (cls == "inexact") return is_float(d) || is_complex(d);
  if (cls == "index") return d == DType::kInt32 || d == DType::kInt64;
  return cls == "number" && !is_bool(d);
}

const char* class_text(const std::string& cls) {
  if (cls == "bool") return "bool";
  if (cls == "int") return "an integer dtype";
  if (cls == "float") return "float16, bfloat16, float32 or float64";
  if (cls == "complex") return "complex64 or complex128";
  if (cls == "real") return "an integer or float dtype";
  if (cls == "inexact") return "a float or complex dtype";
  if (cls == "index") return "int32 or int64";
  if (cls == "stack") return "a stack";
  return "a number dtype";
}

const InputSpec& spec_of(const Op& op, size_t i) {
  return op.inputs[std::min(i, op.inputs.size() - 1)];
}

}  // namespace

// What follows a line break in the text is the hint: what the user can do about it.
void TypeRuleCtx::fail_text(ErrorKind kind, const std::string& text) const {
  size_t line = text.find('\n');
  std::string hint = line == std::string::npos ? "" : text.substr(line + 1);
  std::string operands;
  for (int i = 0; i < inputs(); ++i) {
    if (!in_[i]) continue;
    const InputSpec& spec = spec_of(op, i);
    if (!operands.empty()) operands += ", ";
    operands += spec.name + (spec.variadic ? fmt::format("[{}]", i) : "") + " " + in_[i]->str();
  }
  throw UserError(kind, fmt::format("{}: {} (got {})", op.name, text.substr(0, line), operands),
                  hint);
}

namespace {

Types checked(const Op& op, std::span<const Type* const> inputs, const Attrs& attrs) {
  if (!op.variadic && inputs.size() > op.inputs.size()) {
    type_error("{}: {} operands given, takes {}: {}", op.name, inputs.size(), op.inputs.size(),
               op.signature());
  }
  TypeRuleCtx ctx(op, inputs, attrs);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const InputSpec& s = op.inputs[i];
    if (!s.optional && !s.variadic && !ctx.has(static_cast<int>(i))) {
      type_error("{}: operand '{}' is missing: {}", op.name, s.name, op.signature());
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] && op.inputs.empty()) continue;
    const InputSpec& s = spec_of(op, i);
    if (!inputs[i] && s.variadic)
      type_error("{}: operand {} is missing: {}", op.name, i, op.signature());
    if (!inputs[i]) continue;
    if (!accepts(s.cls, *inputs[i])) ctx.fail_type("'{}' must be {}", s.name, class_text(s.cls));
  }
  if (op.def.type) op.def.type(ctx);
  return ctx.out;
}

Types inferred(const Op& op, std::span<const Type* const> inputs, const Attrs& attrs) {
  Types known = checked(op, inputs, attrs);
  if (op.def.type) return known;
  // A composite op without a rule of its own: expand on parameters of these types and read the
  // results.
  Graph g("expansion");
  std::vector<Value> params;
  for (const Type* t : inputs) params.push_back(t ? g.add_param(*t) : Value());
  Types out;
  for (const Value& v : expand(g, op, std::move(params), attrs)) out.push_back(v.type());
  return out;
}

// Sizes that cannot be are found where no op is known.
template <typename Rule>
Types named(const Op& op, Rule rule) {
  try {
    Types out = rule();
    for (const Type& t : out) {
      if (t.shape.known()) t.shape.size();  // ValueError when it has no number
    }
    return out;
  } catch (UserError& e) {
    e.name(op.name);
    throw;
  }
}

}  // namespace

Types check_operands(const Op& op, std::span<const Type* const> inputs, const Attrs& attrs) {
  return named(op, [&] { return checked(op, inputs, attrs); });
}

Types infer_types(const Op& op, std::span<const Type* const> inputs, const Attrs& attrs) {
  return named(op, [&] { return inferred(op, inputs, attrs); });
}

namespace types {

void same_as_first(TypeRuleCtx& c) { c.out.push_back(c.in(0)); }

namespace {
Shape broadcast_all(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  for (int i = 1; i < c.inputs(); ++i) {
    if (c.has(i) && !mycel::broadcast(s, c.shape(i), &s)) {
      c.fail(
          "the shapes do not broadcast\n"
          "Shapes are compared from the last dim on: sizes must be equal, or one of them 1.");
    }
  }
  return s;
}
}  // namespace

void broadcast(TypeRuleCtx& c) {
  Shape s = broadcast_all(c);
  c.result(c.dtype(0), s);
}
void broadcast_bool(TypeRuleCtx& c) {
  Shape s = broadcast_all(c);
  c.result(DType::kBool, s);
}
void bool_like_first(TypeRuleCtx& c) { c.result(DType::kBool, c.shape(0)); }
void real_of_first(TypeRuleCtx& c) { c.result(real_part_of(c.dtype(0)), c.shape(0)); }

}  // namespace types
}  // namespace mycel::ir
