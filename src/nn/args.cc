#include "nn/args.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"
#include "nn/activation.h"
#include "nn/cell.h"

namespace mycel::nn {
namespace {

using Extra = ArgSpec::Extra;

std::string did_you_mean_arg(const Signature& s, const std::string& given) {
  std::vector<const char*> names;
  for (const ArgSpec& a : s.specs()) names.push_back(a.name.c_str());
  std::string near = did_you_mean(given, names.data(), names.size());
  return near.empty() ? "" : fmt::format("Did you mean '{}'?", near);
}

// The line with its extra kind replaced by one that the grammar of op attributes knows.
std::string plain_line(std::string_view line, Extra* extra) {
  static constexpr std::pair<std::string_view, Extra> kinds[] = {{"init", Extra::kInit},
                                                                 {"cell", Extra::kCell},
                                                                 {"number", Extra::kNumber},
                                                                 {"schedule", Extra::kSchedule}};
  size_t colon = line.find(": ");
  std::string_view rest = line.substr(colon + 2);
  for (auto [word, kind] : kinds) {
    if (!rest.starts_with(word)) continue;
    *extra = kind;
    std::string_view tail = rest.substr(word.size());
    const char* as = kind == Extra::kNumber || kind == Extra::kSchedule ? "float" : "str";
    return fmt::format("{}{}{}", line.substr(0, colon + 2), as, tail);
  }
  return std::string(line);
}

Arg default_of(const ArgSpec& spec, std::string_view line) {
  const ir::Attr& v = spec.default_value;
  if (v.none()) return {};
  if (spec.extra == Extra::kInit) {
    char* end = nullptr;
    double constant = std::strtod(v.string().c_str(), &end);
    return *end ? Init(v.string()) : Init(constant);
  }
  if (spec.extra == Extra::kCell) return make_activation(v.string());
  if (spec.extra == Extra::kNumber &&
      line.substr(line.find(" = ")).find_first_of(".e") == line.npos) {
    return static_cast<int64_t>(v.real());
  }
  return v;
}

[[noreturn]] void wrong_kind(const std::string& owner, const ArgSpec& spec, const char* want,
                             const Arg& got) {
  type_error("{}: '{}' must be {}, got {}", owner, spec.name, want, got.str());
}

// Runs `f`; its errors name the argument.
template <typename F>
void in_argument(const std::string& owner, const ArgSpec& spec, F f) {
  try {
    f();
  } catch (UserError& e) {
    e.prefix(fmt::format("{}: '{}': ", owner, spec.name));
    throw;
  }
}

Arg fit_init(const std::string& owner, const ArgSpec& spec, const Arg& given) {
  if (given.is_init()) return given;
  if (given.is_attr()) {
    const ir::Attr& a = given.attr();
    if (a.is<std::string>()) {
      in_argument(owner, spec, [&] { initializer_named(a.string()); });
      return Init(a.string());
    }
    if (a.is<int64_t>() || a.is<double>()) return Init(a.real());
    if (a.is<Tensor>()) return Init(a.tensor());
  }
  wrong_kind(owner, spec, "an initializer, its name, a number or a tensor", given);
}

Arg fit_cell(const std::string& owner, const ArgSpec& spec, const Arg& given) {
  if (given.is_cell()) return given;
  if (given.is_attr() && given.attr().is<std::string>()) {
    CellPtr cell;
    in_argument(owner, spec, [&] { cell = make_activation(given.attr().string()); });
    return cell;
  }
  wrong_kind(owner, spec, "a layer or the name of an activation", given);
}

Arg fit_number(const std::string& owner, const ArgSpec& spec, const Arg& given) {
  if (given.is_attr()) {
    const ir::Attr& a = given.attr();
    if (a.is<int64_t>() || a.is<double>()) return given;
    if (spec.extra == Extra::kSchedule) {
      if (a.is<ir::Attr::Floats>() || a.is<Tensor>()) return given;
      if (a.is<ir::Attr::Ints>()) return ir::Attr::Floats(a.ints().begin(), a.ints().end());
    }
  }
  if (spec.extra == Extra::kSchedule) {
    if (given.is_cell()) return given;
    wrong_kind(owner, spec, "a number, a list of numbers, a tensor or a LearningRateSchedule",
               given);
  }
  wrong_kind(owner, spec, "a number", given);
}

Arg fit(const std::string& owner, const ArgSpec& spec, const Arg& given) {
  if (given.none()) {
    if (spec.optional) return given;
    type_error("{}: '{}' must not be None", owner, spec.name);
  }
  switch (spec.extra) {
    case Extra::kInit:
      return fit_init(owner, spec, given);
    case Extra::kCell:
      return fit_cell(owner, spec, given);
    case Extra::kNumber:
    case Extra::kSchedule:
      return fit_number(owner, spec, given);
    case Extra::kNone:
      break;
  }
  if (!given.is_attr()) type_error("{}: '{}' cannot be {}", owner, spec.name, given.str());
  return ir::fit_attr(owner, spec, given.attr());
}

}  // namespace

bool Arg::none() const { return (is_attr() && attr().none()) || (is_cell() && !cell()); }

std::string Arg::str() const {
  if (is_init()) return init().str();
  if (is_cell()) return cell() ? cell()->class_name() : "None";
  return attr().str();
}

Signature::Signature(std::string owner, const ir::Names& lines) : owner_(std::move(owner)) {
  for (size_t i = 0; i < lines.size(); ++i) {
    ArgSpec spec;
    std::string line = plain_line(lines[i], &spec.extra);
    static_cast<ir::AttrSpec&>(spec) = ir::parse_attr(line);
    if (spec.has_default) spec.fallback = default_of(spec, lines[i]);
    specs_.push_back(std::move(spec));
  }
}

int Signature::index(std::string_view name) const {
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::string Signature::str() const {
  std::string s = owner_ + "(";
  for (const ArgSpec& a : specs_) {
    if (s.back() != '(') s += ", ";
    s += a.name;
    if (a.has_default) s += "=" + a.default_value.str();
  }
  return s + ")";
}

Args::Args(std::shared_ptr<const Signature> signature, std::vector<Arg> positional,
           const NamedArgs& named)
    : signature_(std::move(signature)) {
  const auto& specs = signature_->specs();
  const std::string& owner = signature_->owner();
  if (positional.size() > specs.size()) {
    type_error("{}: {} arguments given, at most {} allowed: {}", owner, positional.size(),
               specs.size(), signature_->str());
  }
  std::vector<bool> given(specs.size(), false);
  values_.resize(specs.size());
  for (size_t i = 0; i < positional.size(); ++i) {
    values_[i] = fit(owner, specs[i], positional[i]);
    given[i] = true;
  }
  for (const auto& [name, value] : named) {
    int i = signature_->index(name);
    if (i < 0) {
      throw UserError(
          ErrorKind::kType,
          fmt::format("{}: there is no argument '{}': {}", owner, name, signature_->str()),
          did_you_mean_arg(*signature_, name));
    }
    if (given[i]) type_error("{}: '{}' is given twice", owner, name);
    values_[i] = fit(owner, specs[i], value);
    given[i] = true;
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    if (given[i]) continue;
    if (!specs[i].has_default) {
      type_error("{}: argument '{}' is missing: {}", owner, specs[i].name, signature_->str());
    }
    values_[i] = specs[i].fallback;
  }
}

const Arg& Args::operator[](std::string_view name) const {
  int i = signature_->index(name);
  MYCEL_CHECK(i >= 0, "{} has no argument '{}'", signature_->owner(), name);
  return values_[i];
}

Tensor Args::tensor(std::string_view name) const {
  return none(name) ? Tensor() : attr(name).tensor();
}

CellPtr Args::cell(std::string_view name) const {
  return none(name) ? nullptr : (*this)[name].cell();
}

int64_t Args::positive(std::string_view name) const {
  int64_t v = integer(name);
  if (v <= 0) value_error("{}: '{}' must be positive, got {}", signature_->owner(), name, v);
  return v;
}

double Args::positive_real(std::string_view name) const {
  double v = real(name);
  if (!(v > 0)) value_error("{}: '{}' must be positive, got {}", signature_->owner(), name, v);
  return v;
}

double Args::not_negative(std::string_view name) const {
  double v = real(name);
  if (!(v >= 0)) value_error("{}: '{}' must not be negative, got {}", signature_->owner(), name, v);
  return v;
}

double Args::within(std::string_view name, double low, double high, const char* brackets) const {
  double v = real(name);
  bool above = brackets[0] == '[' ? v >= low : v > low;
  bool below = brackets[1] == ']' ? v <= high : v < high;
  if (!above || !below) {
    value_error("{}: '{}' must be in {}{}, {}{}, got {}", signature_->owner(), name, brackets[0],
                low, high, brackets[1], v);
  }
  return v;
}

}  // namespace mycel::nn
