#include "data/option.h"

#include <algorithm>
#include <cctype>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "data/transform.h"

namespace mycel::data {

namespace {

Option from_json(const nlohmann::json& j) {
  switch (j.type()) {
    case nlohmann::json::value_t::boolean:
      return j.get<bool>();
    case nlohmann::json::value_t::number_integer:
    case nlohmann::json::value_t::number_unsigned:
      return j.get<int64_t>();
    case nlohmann::json::value_t::number_float:
      return j.get<double>();
    case nlohmann::json::value_t::string:
      return j.get<std::string>();
    case nlohmann::json::value_t::array: {
      Option::List list;
      for (const auto& e : j) list.push_back(from_json(e));
      return list;
    }
    default:
      return {};
  }
}

// A default of a record: None, True, False, a number, 'text', or (a, b).
Option literal(std::string text) {
  if (text == "None") return {};
  if (text == "True") return true;
  if (text == "False") return false;
  for (char& c : text) c = c == '\'' ? '"' : c == '(' ? '[' : c == ')' ? ']' : c;
  return from_json(nlohmann::json::parse(text));
}

constexpr std::pair<const char*, OptionKind> kKinds[] = {{"bool", OptionKind::kBool},
                                                         {"int", OptionKind::kInt},
                                                         {"number", OptionKind::kNumber},
                                                         {"string", OptionKind::kString},
                                                         {"ints", OptionKind::kInts},
                                                         {"numbers", OptionKind::kNumbers},
                                                         {"strings", OptionKind::kStrings},
                                                         {"dtype", OptionKind::kDType},
                                                         {"tensor", OptionKind::kTensor},
                                                         {"transform", OptionKind::kTransform},
                                                         {"transforms", OptionKind::kTransforms},
                                                         {"any", OptionKind::kAny}};

std::string wanted(const OptionSpec& s) {
  std::string text;
  switch (s.kind) {
    case OptionKind::kBool:
      text = "True or False";
      break;
    case OptionKind::kInt:
      text = "an int";
      break;
    case OptionKind::kNumber:
      text = "a number";
      break;
    case OptionKind::kString:
      text = "a str";
      break;
    case OptionKind::kInts:
      text = "an int or a list of ints";
      break;
    case OptionKind::kNumbers:
      text = "a number or a list of numbers";
      break;
    case OptionKind::kStrings:
      text = "a str or a list of str";
      break;
    case OptionKind::kDType:
      text = "a dtype";
      break;
    case OptionKind::kTensor:
      text = "a tensor";
      break;
    case OptionKind::kTransform:
      text = "a transform";
      break;
    case OptionKind::kTransforms:
      text = "a list of transforms";
      break;
    case OptionKind::kAny:
      text = "a value";
      break;
    case OptionKind::kChoice: {
      std::vector<std::string> names;
      for (const auto& m : s.choice->members) names.push_back(m.name);
      text = fmt::format("one of {}", fmt::join(names, ", "));
      break;
    }
  }
  return s.may_be_none ? text + " or None" : text;
}

std::string upper(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return std::toupper(c); });
  return s;
}

bool same(const Option& a, const Option& b) {
  if (a.is<int64_t>() && b.is<int64_t>()) return a.get<int64_t>() == b.get<int64_t>();
  return a.is<std::string>() && b.is<std::string>() && a.get<std::string>() == b.get<std::string>();
}

// The first name of the member that `v` stands for, by a name in any case or by its published
// value; "" for none.
std::string member_of(const Choice& choice, const Option& v) {
  const Option* value = &v;
  for (const auto& m : choice.members) {
    if (v.is<std::string>() && upper(v.get<std::string>()) == upper(m.name)) value = &m.value;
  }
  for (const auto& m : choice.members) {
    if (same(*value, m.value)) return m.name;
  }
  return "";
}

template <typename Accepts>
bool fits_list(const Option& v, Accepts&& accepts, Option* out) {
  Option::List list;
  if (v.is<Option::List>()) {
    list = v.get<Option::List>();
  } else {
    list = {v};
  }
  if (!std::all_of(list.begin(), list.end(), accepts)) return false;
  *out = std::move(list);
  return true;
}

bool is_int(const Option& v) { return v.is<int64_t>(); }
bool is_number(const Option& v) { return v.is_number(); }
bool is_string(const Option& v) { return v.is<std::string>(); }
bool is_transform(const Option& v) { return v.is<TransformPtr>(); }

// Whether `v` is of the kind; `out` is what look-ups give.
bool fits(const OptionSpec& s, const Option& v, Option* out) {
  *out = v;
  DType dtype;
  switch (s.kind) {
    case OptionKind::kBool:
      return v.is<bool>();
    case OptionKind::kInt:
      return is_int(v);
    case OptionKind::kNumber:
      return v.is_number();
    case OptionKind::kString:
      return is_string(v);
    case OptionKind::kInts:
      return fits_list(v, is_int, out);
    case OptionKind::kNumbers:
      return fits_list(v, is_number, out);
    case OptionKind::kStrings:
      return fits_list(v, is_string, out);
    case OptionKind::kDType:
      return is_string(v) && parse_dtype(v.get<std::string>(), &dtype);
    case OptionKind::kTensor:
      return v.is<Tensor>();
    case OptionKind::kTransform:
      return is_transform(v);
    case OptionKind::kTransforms:
      return fits_list(v, is_transform, out);
    case OptionKind::kAny:
      return true;
    case OptionKind::kChoice:
      break;
  }
  const std::string member = member_of(*s.choice, v);
  *out = member;
  return !member.empty();
}

OptionSpec parse(const std::string& owner, const std::string& line) {
  OptionSpec s;
  const size_t colon = line.find(": ");
  MYCEL_CHECK(colon != line.npos, "{}: '{}' must read 'name: kind'", owner, line);
  s.name = line.substr(0, colon);
  std::string kind = line.substr(colon + 2), fallback;
  if (const size_t equal = kind.find(" = "); equal != kind.npos) {
    s.has_default = true;
    fallback = kind.substr(equal + 3);
    kind.resize(equal);
  }
  if (kind.ends_with('?')) {
    s.may_be_none = true;
    kind.pop_back();
  }
  const auto* known = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const auto& k) { return kind == k.first; });
  if (known != std::end(kKinds)) {
    s.kind = known->second;
  } else {
    s.kind = OptionKind::kChoice;
    s.choice = find_choice(kind);
    MYCEL_CHECK(s.choice, "{}: '{}' names no kind and no choice", owner, line);
  }
  if (s.has_default) {
    const Option v = s.kind == OptionKind::kChoice || s.kind == OptionKind::kDType
                         ? (fallback == "None" ? Option() : Option(fallback))
                         : literal(fallback);
    s.fallback = v;
    if (!v.none()) {
      MYCEL_CHECK(fits(s, v, &s.fallback), "{}: the default in '{}' is of another kind", owner,
                  line);
    }
  }
  return s;
}

}  // namespace

std::string Option::str() const {
  if (none()) return "None";
  if (is<bool>()) return get<bool>() ? "True" : "False";
  if (is<int64_t>()) return std::to_string(get<int64_t>());
  if (is<double>()) return nlohmann::json(get<double>()).dump();
  if (is<std::string>()) return fmt::format("'{}'", get<std::string>());
  if (is<Tensor>()) return get<Tensor>().describe();
  if (is<TransformPtr>())
    return get<TransformPtr>() ? get<TransformPtr>()->description() : "no transform";
  std::vector<std::string> parts;
  for (const Option& o : get<List>()) parts.push_back(o.str());
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

const Choice* find_choice(std::string_view name) {
  for (const Choice& c : all_choices()) {
    if (name == c.name) return &c;
  }
  return nullptr;
}

OptionSpecs::OptionSpecs(std::string owner, const std::vector<const char*>& lines)
    : owner_(std::move(owner)) {
  for (const char* line : lines) specs_.push_back(parse(owner_, line));
}

int OptionSpecs::index(std::string_view name) const {
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::string OptionSpecs::str() const {
  std::vector<std::string> parts;
  for (const OptionSpec& s : specs_) {
    const bool bare = s.kind == OptionKind::kChoice && !s.fallback.none();
    parts.push_back(!s.has_default
                        ? s.name
                        : s.name + "=" + (bare ? s.fallback.get<std::string>() : s.fallback.str()));
  }
  return fmt::format("{}({})", owner_, fmt::join(parts, ", "));
}

Options::Options(std::shared_ptr<const OptionSpecs> specs, const NamedOptions& given)
    : specs_(std::move(specs)), values_(specs_->specs().size()) {
  std::vector<bool> set(values_.size());
  for (const auto& [name, value] : given) {
    const int i = specs_->index(name);
    if (i < 0) {
      std::vector<const char*> names;
      for (const OptionSpec& s : specs_->specs()) names.push_back(s.name.c_str());
      const std::string near = did_you_mean(name, names.data(), names.size());
      throw UserError(
          ErrorKind::kType,
          fmt::format("{}: there is no argument '{}': {}", owner(), name, specs_->str()),
          near.empty() ? "" : fmt::format("Did you mean '{}'?", near));
    }
    if (set[i]) type_error("{}: '{}' is given twice", owner(), name);
    set[i] = true;
    const OptionSpec& s = specs_->specs()[i];
    if (value.none() && s.may_be_none) continue;
    if (!fits(s, value, &values_[i])) {
      const bool misspelt = s.kind == OptionKind::kChoice && is_string(value);
      mycel::fail(misspelt ? ErrorKind::kValue : ErrorKind::kType, "{}: '{}' must be {}, got {}",
                  owner(), name, wanted(s), value.str());
    }
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    const OptionSpec& s = specs_->specs()[i];
    if (set[i]) continue;
    if (!s.has_default)
      type_error("{}: argument '{}' is missing: {}", owner(), s.name, specs_->str());
    values_[i] = s.fallback;
  }
}

const Option& Options::operator[](std::string_view name) const {
  const int i = specs_->index(name);
  MYCEL_CHECK(i >= 0, "{} has no argument '{}'", owner(), name);
  return values_[i];
}

DType Options::dtype(std::string_view name) const {
  DType d = DType::kFloat32;
  MYCEL_CHECK(parse_dtype(string(name), &d), "{}: '{}' is no dtype", owner(), name);
  return d;
}

namespace {

template <typename T, typename F>
std::vector<T> each(const Option& list, F&& f) {
  std::vector<T> out;
  if (list.none()) return out;  // an argument that may be None
  for (const Option& o : list.get<Option::List>()) out.push_back(f(o));
  return out;
}

}  // namespace

std::vector<int64_t> Options::ints(std::string_view name) const {
  return each<int64_t>((*this)[name], [](const Option& o) { return o.get<int64_t>(); });
}
std::vector<double> Options::reals(std::string_view name) const {
  return each<double>((*this)[name], [](const Option& o) { return o.real(); });
}
std::vector<std::string> Options::strings(std::string_view name) const {
  return each<std::string>((*this)[name], [](const Option& o) { return o.get<std::string>(); });
}
std::vector<TransformPtr> Options::transforms(std::string_view name) const {
  return each<TransformPtr>((*this)[name], [](const Option& o) { return o.get<TransformPtr>(); });
}

int64_t Options::positive(std::string_view name) const {
  const int64_t v = integer(name);
  if (v <= 0) fail(name, "must be positive, got {}", v);
  return v;
}

double Options::within(std::string_view name, double low, double high) const {
  const double v = real(name);
  if (!(v >= low && v <= high)) fail(name, "must be in [{}, {}], got {}", low, high, v);
  return v;
}

std::pair<double, double> Options::range(std::string_view name, double least, double most) const {
  const std::vector<double> v = reals(name);
  if (v.size() != 2) fail(name, "must be two numbers, got {}", v.size());
  if (!(v[0] <= v[1] && v[0] >= least && v[1] <= most))
    fail(name, "must be two numbers in order in [{}, {}], got ({}, {})", least, most, v[0], v[1]);
  return {v[0], v[1]};
}

}  // namespace mycel::data
