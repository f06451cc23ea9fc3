// Op: a record that has been registered, with its signature parsed. Rooms register explicitly
// through ops/all_ops.cc; nothing runs before main. `op_of(def)` and `find_op(name)` give the same
// object.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/op_def.h"

namespace mycel::ir {

struct InputSpec {
  std::string name;
  std::string cls;   // "float", "number", …
  std::string dims;  // "[n, c, h, w]" or ""
  bool optional = false;
  bool variadic = false;
};

enum class AttrKind : uint8_t {
  kBool,
  kInt,
  kFloat,
  kString,
  kDType,
  kGraph,
  kTensor,
  kCallback,
  kFunction,
  kInts,
  kFloats
};

struct AttrSpec {
  std::string name;
  AttrKind kind = AttrKind::kInt;
  bool optional = false;             // None allowed
  int length = -1;                   // of kInts/kFloats when fixed
  bool pairs = false;                // kInts "int[][2]": Python may give rows of two, kept flat
  std::vector<std::string> choices;  // of kString
  bool has_default = false;
  Attr default_value;
};

// Parses "name: type [= default]". Layers and optimizers describe their arguments in the same
// grammar.
AttrSpec parse_attr(std::string_view line);
// `given` as the kind that `spec` asks for; TypeError/ValueError naming `owner` and the attribute.
Attr fit_attr(const std::string& owner, const AttrSpec& spec, Attr given);

class Op {
 public:
  Op(const OpDef& d, int identity);

  const OpDef& def;
  const int id;  // dense, in order of registration
  const std::string name;
  std::vector<InputSpec> inputs;
  std::vector<AttrSpec> attrs;
  std::vector<std::string> outputs;
  int required_inputs = 0;
  bool variadic = false;
  // An attribute is code that runs, not a formula, or an operand is a stack: runtime/control.h runs
  // it, and passes that know nothing of it leave it alone.
  bool holds_code = false;

  int attr_index(std::string_view attr) const;  // -1 when there is none
  // Fills defaults, repeats ints, checks kinds and choices; TypeError/ValueError naming op and
  // attribute.
  Attrs complete(Attrs given) const;
  std::string signature() const;  // "conv2d(x, w, *, stride=1, …)"
};

// Registers the records of a room; idempotent per name (a second record of one name is our bug).
void register_ops(std::initializer_list<const OpDef*> defs);
const Op& op_of(const OpDef& def);
const Op* find_op(std::string_view name);   // null when unknown
const Op& op_named(std::string_view name);  // AttributeError with a "did you mean" when unknown
std::span<const Op* const> all_ops();

// Makes sure that every room is registered (ops/all_ops.cc defines it). Cheap after the first call.
void ensure_ops();

// Attributes by name, for rules and kernel preparation (never inside a running kernel).
class AttrsView {
 public:
  AttrsView(const Op& op, const Attrs& attrs) : op_(&op), attrs_(&attrs) {}
  const Attr& operator[](std::string_view name) const;
  int64_t integer(std::string_view name) const { return (*this)[name].integer(); }
  double real(std::string_view name) const { return (*this)[name].real(); }
  bool boolean(std::string_view name) const { return (*this)[name].boolean(); }
  const std::string& string(std::string_view name) const { return (*this)[name].string(); }
  const Attr::Ints& ints(std::string_view name) const { return (*this)[name].ints(); }
  DType dtype(std::string_view name) const { return (*this)[name].dtype(); }
  const Attrs& all() const { return *attrs_; }

 private:
  const Op* op_;
  const Attrs* attrs_;
};

}  // namespace mycel::ir
