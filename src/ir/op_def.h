// OpDef: the one record of an op (DESIGN §3). Everything derives from it: the C++ and Python
// functions, stubs, docs, tests, gradients, kernels from formulas, the planner. Records are
// constexpr and pass `check`, which turns a malformed or incomplete record into a build error with
// a readable text.
//
//   constexpr OpDef kLog1p = check({
//       .name = "log1p",
//       .doc = "Natural logarithm of 1 + x, accurate for x near 0.",
//       .in = {"x: float"},
//       .type = types::same_as_first,
//       .shard = "... -> ...",
//       .grad = [](Adjoint& a) { a.dx(0) += a.dy() / (a.x(0) + 1.0); },
//       .scalar = unary([](auto x) { return log1p(x); }),
//       .cases = "x in (-0.9, 10)",
//   });
//
// Grammar.  in:   "name: class[dims]", class one of any bool int float complex number (int or float
// or
//                 complex) real (int or float) index (int32 or int64); "name?: …" optional, "*name:
//                 …" any number (last only). dims are for the reader and the generic tests: "[n, c,
//                 h, w]".
//           attr: "name: type [= default]", type one of bool int float str dtype graph tensor
//                 callback function int[] float[] int[N], each with an optional "?" (None allowed);
//                 "str(a|b|c)" lists the choices. An int given for int[N] is repeated.
//           out:  "name".
//           cases: clauses separated by ";" read by the generic case runner (tests/cpp/op_cases.h).
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/attrs.h"
#include "loops/val.h"

namespace mycel::ir {

class Adjoint;      // ir/adjoint.h: what a gradient rule sees
class TypeRuleCtx;  // ir/type_rule.h
class LoopCtx;      // ir/loop_rule.h
class Expansion;    // ir/expansion.h
class Batching;     // ir/batching.h
class Op;
struct Value;

// A short list of string literals that can live in a constexpr record.
struct Names {
  std::array<const char*, 16> items{};
  constexpr Names() = default;
  constexpr Names(std::initializer_list<const char*> list) {
    size_t i = 0;
    for (const char* s : list) items[i++] = s;
  }
  constexpr size_t size() const {
    size_t n = 0;
    while (n < items.size() && items[n]) ++n;
    return n;
  }
  constexpr const char* operator[](size_t i) const { return items[i]; }
};

using TypeRule = void (*)(TypeRuleCtx&);
using LoopRule = void (*)(LoopCtx&);
using ExpandRule = void (*)(Expansion&);
using BatchRule = bool (*)(Batching&);

struct GradRule {
  void (*fn)(Adjoint&) = nullptr;
  const char* none = nullptr;  // why there is no gradient
  constexpr GradRule() = default;
  template <typename F>
    requires std::is_convertible_v<F, void (*)(Adjoint&)>
  constexpr GradRule(F f) : fn(f) {}  // NOLINT(google-explicit-constructor)
  constexpr bool set() const { return fn || none; }
};
// For ops without a gradient; the reason appears in the docs and, where a gradient was asked, in
// the error.
constexpr GradRule no_gradient(const char* reason) {
  GradRule g;
  g.none = reason;
  return g;
}

// An elementwise op: out[j][i] = formula(in[k][i]…) with NumPy broadcasting. Output j has the dtype
// that the type rule gives; the value is cast to it if the formula's differs.
struct ScalarFormula {
  int inputs = 0, outputs = 0;
  void (*fn)(const loops::Val* in, const Attrs& attrs, loops::Val* out) = nullptr;
  constexpr bool set() const { return fn != nullptr; }
};
template <typename F>
constexpr ScalarFormula unary(F) {
  return {1, 1, [](const loops::Val* in, const Attrs&, loops::Val* out) { out[0] = F{}(in[0]); }};
}
template <typename F>
constexpr ScalarFormula binary(F) {
  return {2, 1,
          [](const loops::Val* in, const Attrs&, loops::Val* out) { out[0] = F{}(in[0], in[1]); }};
}
template <typename F>
constexpr ScalarFormula ternary(F) {
  return {3, 1, [](const loops::Val* in, const Attrs&, loops::Val* out) {
            out[0] = F{}(in[0], in[1], in[2]);
          }};
}
// With attributes, or several outputs: f(in, attrs, out).
template <typename F>
constexpr ScalarFormula formula(int inputs, int outputs, F) {
  return {inputs, outputs,
          [](const loops::Val* in, const Attrs& attrs, loops::Val* out) { F{}(in, attrs, out); }};
}

// How inputs of different dtypes meet.
enum class Promote : uint8_t {
  kNone,    // each input is taken as it is
  kCommon,  // all tensor inputs are cast to their common dtype before the op runs
  kFloat,   // as kCommon, and integers become float32 (true division, sqrt of an int)
};

struct OpDef {
  const char* name = "";
  const char* doc = "";
  Names in = {};
  Names attr = {};
  Names out = {"y"};
  Promote promote = Promote::kNone;
  TypeRule type = nullptr;
  const char* shard = "";
  // How the op takes operands whose dims stand in another order, for passes that change layouts
  // (passes/moved.h has the grammar). "": it does not. Elementwise ops need no line.
  const char* moves = "";
  GradRule grad = {};
  ScalarFormula scalar = {};
  LoopRule loops = nullptr;  // kernel as loop nests
  ExpandRule expand =
      nullptr;  // composite: other ops; gradient, batching, sharding follow from them
  // vmap where formula and sharding line do not tell enough; without any, the op runs once per
  // example.
  BatchRule batch = nullptr;
  const char* cases = "";
  const char* onnx = "";  // ONNX op of the same meaning
  // Published names beside `name`. primitive: "ReduceSum(keep_dims)": a class constructed with
  // these attributes and then called with the operands and the remaining attributes, in record
  // order. "Renorm(p, axis=dim)": attribute axis is published as dim. "Gelu[approximate=tanh]": the
  // attribute is set. Several forms are separated by ";". method: names of Tensor methods ("sum"),
  // separated by spaces. alias: further function names.
  const char* primitive = "";
  const char* method = "";
  const char* alias = "";
  bool commutative = false;
  bool random = false;  // takes a key; never folded or merged
  // Result 0 is the first operand's elements, in order, under another shape: nothing runs, memory
  // is shared.
  bool view = false;
  bool side_effect = false;  // printed, asserted: kept and ordered
  bool internal = false;     // no public function: gradient kernels and the like
  bool control = false;      // run by runtime/control.cc: ops on stacks

  // How the record can be executed and differentiated; `check` makes sure that one of them is
  // there.
  constexpr bool composite() const { return expand != nullptr; }

  // Emits this op into the graph that its inputs belong to; attributes in record order, trailing
  // ones may be left to their defaults. Multi-result ops: `.all`.
  Value operator()(std::initializer_list<Value> inputs, Attrs attrs = {}) const;
  Value operator()(const std::vector<Value>& inputs, Attrs attrs = {}) const;
};

// -- the compile-time check
// ------------------------------------------------------------------------ A call of a function
// that is not constexpr stops the build; its name is the message.
namespace record_error {
void the_record_has_no_name();
void the_name_must_be_snake_case();
void the_doc_line_is_missing_or_does_not_end_with_a_full_stop();
void an_input_must_read__name_colon_class();
void an_input_class_is_unknown();
void an_attribute_must_read__name_colon_type();
void the_type_rule_is_missing();
void the_gradient_is_missing__write_a_rule_or_no_gradient_with_the_reason();
void a_composite_op_inherits_its_gradient__drop_the_rule();
void the_formula_and_the_inputs_differ_in_number();
void the_formula_and_the_outputs_differ_in_number();
void the_cases_line_is_missing();
void the_sharding_line_is_missing();
}  // namespace record_error

constexpr bool is_snake_case(std::string_view s) {
  if (s.empty() || (!(s[0] >= 'a' && s[0] <= 'z') && s[0] != '_')) return false;
  for (char c : s) {
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_') return false;
  }
  return true;
}

constexpr bool is_input_class(std::string_view s) {
  for (std::string_view c :
       {"any", "bool", "int", "float", "complex", "number", "real", "index", "stack", "inexact"}) {
    if (s == c) return true;
  }
  return false;
}

consteval OpDef check(OpDef d) {
  if (!*d.name) record_error::the_record_has_no_name();
  if (!is_snake_case(d.name)) record_error::the_name_must_be_snake_case();
  std::string_view doc = d.doc;
  if (doc.empty() || doc.back() != '.') {
    record_error::the_doc_line_is_missing_or_does_not_end_with_a_full_stop();
  }
  for (size_t i = 0; i < d.in.size(); ++i) {
    std::string_view line = d.in[i];
    size_t colon = line.find(": ");
    if (colon == std::string_view::npos) record_error::an_input_must_read__name_colon_class();
    std::string_view name = line.substr(0, colon), cls = line.substr(colon + 2);
    if (name.starts_with("*")) name.remove_prefix(1);
    if (name.ends_with("?")) name.remove_suffix(1);
    if (!is_snake_case(name)) record_error::an_input_must_read__name_colon_class();
    cls = cls.substr(0, cls.find('['));
    if (!is_input_class(cls)) record_error::an_input_class_is_unknown();
  }
  for (size_t i = 0; i < d.attr.size(); ++i) {
    std::string_view line = d.attr[i];
    if (line.find(": ") == std::string_view::npos ||
        !is_snake_case(line.substr(0, line.find(": ")))) {
      record_error::an_attribute_must_read__name_colon_type();
    }
  }
  if (!d.type && !d.expand) record_error::the_type_rule_is_missing();
  if (d.expand && d.grad.fn) record_error::a_composite_op_inherits_its_gradient__drop_the_rule();
  if (!d.expand && !d.grad.set()) {
    record_error::the_gradient_is_missing__write_a_rule_or_no_gradient_with_the_reason();
  }
  if (d.scalar.set()) {
    if (d.scalar.inputs != static_cast<int>(d.in.size())) {
      record_error::the_formula_and_the_inputs_differ_in_number();
    }
    if (d.scalar.outputs != static_cast<int>(d.out.size())) {
      record_error::the_formula_and_the_outputs_differ_in_number();
    }
  }
  if (!*d.cases) record_error::the_cases_line_is_missing();
  if (!*d.shard) record_error::the_sharding_line_is_missing();
  return d;
}

}  // namespace mycel::ir
