#include "ir/op.h"

#include <charconv>
#include <deque>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "ir/core_ops.h"

namespace mycel::ir {

namespace record_error {
// Never called at run time: a call inside `check` stops the build (see op_def.h).
void the_record_has_no_name() {}
void the_name_must_be_snake_case() {}
void the_doc_line_is_missing_or_does_not_end_with_a_full_stop() {}
void an_input_must_read__name_colon_class() {}
void an_input_class_is_unknown() {}
void an_attribute_must_read__name_colon_type() {}
void the_type_rule_is_missing() {}
void the_gradient_is_missing__write_a_rule_or_no_gradient_with_the_reason() {}
void a_composite_op_inherits_its_gradient__drop_the_rule() {}
void the_formula_and_the_inputs_differ_in_number() {}
void the_formula_and_the_outputs_differ_in_number() {}
void the_cases_line_is_missing() {}
void the_sharding_line_is_missing() {}
}  // namespace record_error

namespace {

struct Registry {
  std::mutex mutex;
  std::deque<Op> ops;
  std::vector<const Op*> list;
  std::unordered_map<std::string_view, const Op*> by_name;
  std::unordered_map<const OpDef*, const Op*> by_def;
  CoreOps core;
};

Registry& registry() {
  static Registry* r = new Registry;  // never destroyed: ops are used until the process ends
  return *r;
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

InputSpec parse_input(std::string_view line) {
  InputSpec spec;
  size_t colon = line.find(": ");
  std::string_view name = line.substr(0, colon), cls = line.substr(colon + 2);
  if (name.starts_with("*")) {
    spec.variadic = true;
    name.remove_prefix(1);
  }
  if (name.ends_with("?")) {
    spec.optional = true;
    name.remove_suffix(1);
  }
  spec.name = name;
  size_t bracket = cls.find('[');
  spec.cls = cls.substr(0, bracket);
  if (bracket != std::string_view::npos) spec.dims = cls.substr(bracket);
  return spec;
}

double parse_real(std::string_view text) {
  if (text == "inf") return HUGE_VAL;
  if (text == "-inf") return -HUGE_VAL;
  return std::stod(std::string(text));
}

int64_t parse_int(std::string_view text) {
  int64_t v = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  MYCEL_CHECK(error == std::errc() && end == text.data() + text.size(), "'{}' is no integer", text);
  return v;
}

std::vector<std::string> split(std::string_view s, char by) {
  std::vector<std::string> parts;
  while (!s.empty()) {
    size_t at = s.find(by);
    parts.emplace_back(trim(s.substr(0, at)));
    if (at == std::string_view::npos) break;
    s.remove_prefix(at + 1);
  }
  return parts;
}

Attr parse_default(const AttrSpec& spec, std::string_view text) {
  if (text == "None") return {};
  switch (spec.kind) {
    case AttrKind::kBool:
      return Attr(text == "True");
    case AttrKind::kInt:
      return Attr(parse_int(text));
    case AttrKind::kFloat:
      return Attr(parse_real(text));
    case AttrKind::kString:
      return Attr(std::string(text));
    case AttrKind::kDType: {
      DType d;
      MYCEL_CHECK(parse_dtype(text, &d), "attribute {}: unknown dtype {}", spec.name, text);
      return Attr(d);
    }
    case AttrKind::kInts: {
      if (!text.starts_with("[")) {
        return Attr(Attr::Ints(spec.length < 0 ? 1 : spec.length, parse_int(text)));
      }
      Attr::Ints v;
      for (const std::string& p : split(text.substr(1, text.size() - 2), ','))
        v.push_back(parse_int(p));
      return Attr(v);
    }
    case AttrKind::kFloats: {
      if (!text.starts_with("[")) {
        return Attr(Attr::Floats(spec.length < 0 ? 1 : spec.length, parse_real(text)));
      }
      Attr::Floats v;
      for (const std::string& p : split(text.substr(1, text.size() - 2), ','))
        v.push_back(parse_real(p));
      return Attr(v);
    }
    default:
      MYCEL_CHECK(false, "attribute {} cannot have the default {}", spec.name, text);
  }
  return {};
}

const char* kind_text(AttrKind k) {
  constexpr const char* kText[] = {"a bool",
                                   "an int",
                                   "a number",
                                   "a string",
                                   "a dtype",
                                   "a graph",
                                   "a tensor",
                                   "a function",
                                   "a graph function",
                                   "a sequence of ints",
                                   "a sequence of numbers"};
  return kText[static_cast<int>(k)];
}

// Converts `a` to the kind of the spec where that loses nothing; false when it does not fit.
bool convert(const AttrSpec& spec, Attr& a) {
  switch (spec.kind) {
    case AttrKind::kBool:
      return a.is<bool>();
    case AttrKind::kInt:
      return a.is<int64_t>();
    case AttrKind::kFloat:
      if (a.is<int64_t>()) a = Attr(a.real());
      return a.is<double>();
    case AttrKind::kString:
      return a.is<std::string>();
    case AttrKind::kDType:
      return a.is<DType>();
    case AttrKind::kGraph:
      return a.is<GraphPtr>();
    case AttrKind::kTensor:
      return a.is<Tensor>();
    case AttrKind::kCallback:
      return a.is<CallbackPtr>();
    case AttrKind::kFunction:
      return a.is<FunctionPtr>();
    case AttrKind::kInts:
      if (a.is<int64_t>()) a = Attr(Attr::Ints(spec.length < 0 ? 1 : spec.length, a.integer()));
      return a.is<Attr::Ints>() &&
             (spec.length < 0 || static_cast<int>(a.ints().size()) == spec.length);
    case AttrKind::kFloats:
      if (a.is<int64_t>() || a.is<double>()) {
        a = Attr(Attr::Floats(spec.length < 0 ? 1 : spec.length, a.real()));
      }
      if (a.is<Attr::Ints>()) a = Attr(Attr::Floats(a.ints().begin(), a.ints().end()));
      return a.is<Attr::Floats>() &&
             (spec.length < 0 || static_cast<int>(a.floats().size()) == spec.length);
  }
  return false;
}

}  // namespace

AttrSpec parse_attr(std::string_view line) {
  AttrSpec spec;
  size_t colon = line.find(": ");
  spec.name = line.substr(0, colon);
  std::string_view rest = line.substr(colon + 2);
  size_t equal = rest.find(" = ");
  std::string_view type = trim(rest.substr(0, equal));
  if (type.ends_with("?")) {
    spec.optional = true;
    type.remove_suffix(1);
  }
  if (type.starts_with("str(")) {
    spec.kind = AttrKind::kString;
    spec.choices = split(type.substr(4, type.size() - 5), '|');
  } else if (type.starts_with("int[")) {
    spec.kind = AttrKind::kInts;
    spec.pairs = type == "int[][2]";
    if (type != "int[]" && !spec.pairs)
      spec.length = static_cast<int>(parse_int(type.substr(4, type.size() - 5)));
  } else if (type.starts_with("float[")) {
    spec.kind = AttrKind::kFloats;
    if (type != "float[]")
      spec.length = static_cast<int>(parse_int(type.substr(6, type.size() - 7)));
  } else {
    static const std::unordered_map<std::string_view, AttrKind> kinds = {
        {"bool", AttrKind::kBool},        {"int", AttrKind::kInt},
        {"float", AttrKind::kFloat},      {"str", AttrKind::kString},
        {"dtype", AttrKind::kDType},      {"graph", AttrKind::kGraph},
        {"tensor", AttrKind::kTensor},    {"callback", AttrKind::kCallback},
        {"function", AttrKind::kFunction}};
    auto it = kinds.find(type);
    MYCEL_CHECK(it != kinds.end(), "attribute line '{}' has an unknown type '{}'", line, type);
    spec.kind = it->second;
  }
  if (equal != std::string_view::npos) {
    spec.has_default = true;
    spec.default_value = parse_default(spec, trim(rest.substr(equal + 3)));
  } else if (spec.optional) {
    spec.has_default = true;
  }
  return spec;
}

Attr fit_attr(const std::string& owner, const AttrSpec& spec, Attr a) {
  if (a.none()) {
    if (spec.optional) return a;
    type_error("{}: '{}' must be {}, got None", owner, spec.name, kind_text(spec.kind));
  }
  std::string came = a.str();
  if (!convert(spec, a)) {
    std::string want = kind_text(spec.kind);
    if (spec.length >= 0) want += fmt::format(" of length {}", spec.length);
    type_error("{}: '{}' must be {}, got {}", owner, spec.name, want, came);
  }
  if (spec.choices.empty()) return a;
  for (const std::string& c : spec.choices) {
    if (c == a.string()) return a;
  }
  value_error("{}: '{}' must be one of {}, got '{}'", owner, spec.name,
              fmt::join(spec.choices, ", "), a.string());
}

Op::Op(const OpDef& d, int identity) : def(d), id(identity), name(d.name) {
  for (size_t i = 0; i < d.in.size(); ++i) {
    inputs.push_back(parse_input(d.in[i]));
    variadic |= inputs.back().variadic;
    required_inputs += !inputs.back().optional && !inputs.back().variadic;
  }
  for (size_t i = 0; i < d.attr.size(); ++i) {
    attrs.push_back(parse_attr(d.attr[i]));
    AttrKind k = attrs.back().kind;
    holds_code |= !d.loops && !d.expand && (k == AttrKind::kGraph || k == AttrKind::kCallback);
    holds_code |= k == AttrKind::kFunction;
  }
  holds_code |= d.control;
  for (size_t i = 0; i < d.out.size(); ++i) outputs.emplace_back(d.out[i]);
}

int Op::attr_index(std::string_view attr) const {
  for (size_t i = 0; i < attrs.size(); ++i) {
    if (attrs[i].name == attr) return static_cast<int>(i);
  }
  return -1;
}

Attrs Op::complete(Attrs given) const {
  if (given.size() > attrs.size()) {
    type_error("{}: {} attributes given, at most {} allowed: {}", name, given.size(), attrs.size(),
               signature());
  }
  for (size_t i = 0; i < attrs.size(); ++i) {
    const AttrSpec& spec = attrs[i];
    if (i >= given.size()) {
      if (!spec.has_default)
        type_error("{}: attribute '{}' is missing: {}", name, spec.name, signature());
      given.push_back(spec.default_value);
      continue;
    }
    given.set(i, fit_attr(name, spec, given[i]));
  }
  return given;
}

std::string Op::signature() const {
  std::string s = name + "(";
  const char* comma = "";
  for (const InputSpec& in : inputs) {
    s += comma + std::string(in.variadic ? "*" : "") + in.name + (in.optional ? "=None" : "");
    comma = ", ";
  }
  for (const AttrSpec& a : attrs) {
    s += comma + a.name;
    if (a.has_default) s += "=" + a.default_value.str();
    comma = ", ";
  }
  return s + ")";
}

void register_ops(std::initializer_list<const OpDef*> defs) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  for (const OpDef* d : defs) {
    if (r.by_def.count(d)) continue;
    MYCEL_CHECK(!r.by_name.count(d->name), "two records are named {}", d->name);
    const Op& op = r.ops.emplace_back(*d, static_cast<int>(r.ops.size()));
    r.list.push_back(&op);
    r.by_name.emplace(op.name, &op);
    r.by_def.emplace(d, &op);
  }
}

const Op& op_of(const OpDef& def) {
  ensure_ops();
  Registry& r = registry();
  auto it = r.by_def.find(&def);
  MYCEL_CHECK(it != r.by_def.end(), "op {} is missing from its room's list in ops/all_ops.cc",
              def.name);
  return *it->second;
}

const Op* find_op(std::string_view name) {
  ensure_ops();
  Registry& r = registry();
  auto it = r.by_name.find(name);
  return it == r.by_name.end() ? nullptr : it->second;
}

const Op& op_named(std::string_view name) {
  if (const Op* op = find_op(name)) return *op;
  std::vector<const char*> names;
  for (const Op* op : all_ops()) names.push_back(op->name.c_str());
  std::string near = did_you_mean(std::string(name), names.data(), names.size());
  throw UserError(ErrorKind::kAttribute, fmt::format("there is no op named '{}'", name),
                  near.empty() ? "" : "Did you mean '" + near + "'?");
}

std::span<const Op* const> all_ops() {
  ensure_ops();
  return registry().list;
}

const CoreOps& core_ops() {
  ensure_ops();
  return registry().core;
}
void set_core_ops(const CoreOps& ops) { registry().core = ops; }

const Attr& AttrsView::operator[](std::string_view attr) const {
  int i = op_->attr_index(attr);
  MYCEL_CHECK(i >= 0 && i < static_cast<int>(attrs_->size()), "op {} has no attribute '{}'",
              op_->name, attr);
  return (*attrs_)[i];
}

}  // namespace mycel::ir
