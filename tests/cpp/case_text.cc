#include "case_text.h"

#include <cctype>
#include <cmath>

#include "base/error.h"
#include "op_cases.h"

namespace mycel::op_cases {
namespace {

bool name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// sum = product { (+ | -) product }, product = factor { (* | / | %) factor }, factor = number |
// name | -factor | ( sum ). Division rounds down.
class Expression {
 public:
  Expression(std::string_view text, const Env& env) : text_(text), env_(env) {}

  int64_t value() {
    int64_t v = sum();
    MYCEL_CHECK(peek() == 0, "'{}' is no expression", text_);
    return v;
  }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : 0;
  }
  int64_t sum() {
    int64_t v = product();
    while (peek() == '+' || peek() == '-') v = text_[at_++] == '+' ? v + product() : v - product();
    return v;
  }
  int64_t product() {
    int64_t v = factor();
    for (char c = peek(); c == '*' || c == '/' || c == '%'; c = peek()) {
      ++at_;
      int64_t w = factor();
      MYCEL_CHECK(c == '*' || w != 0, "'{}' divides by zero", text_);
      v = c == '*' ? v * w : c == '/' ? v / w : v % w;
    }
    return v;
  }
  int64_t factor() {
    char c = peek();
    if (c == '-') {
      ++at_;
      return -factor();
    }
    if (c == '(') {
      ++at_;
      int64_t v = sum();
      MYCEL_CHECK(peek() == ')', "'{}' lacks a closing parenthesis", text_);
      ++at_;
      return v;
    }
    size_t from = at_;
    if (name_start(c)) {
      while (at_ < text_.size() && name_char(text_[at_])) ++at_;
      auto it = env_.find(std::string(text_.substr(from, at_ - from)));
      MYCEL_CHECK(it != env_.end(), "'{}' uses '{}', which has no value", text_,
                  text_.substr(from, at_ - from));
      return it->second;
    }
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
    MYCEL_CHECK(at_ > from, "'{}' is no expression", text_);
    return std::stoll(std::string(text_.substr(from, at_ - from)));
  }

  std::string_view text_;
  const Env& env_;
  size_t at_ = 0;
};

std::string_view inside_brackets(std::string_view s) {
  MYCEL_CHECK(s.size() >= 2 && s.front() == '[' && s.back() == ']', "'{}' should be in brackets",
              s);
  return s.substr(1, s.size() - 2);
}

}  // namespace

std::string trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return std::string(s);
}

std::vector<std::string> split_outside(std::string_view s, char by) {
  std::vector<std::string> parts;
  int depth = 0;
  bool quoted = false;
  std::string part;
  auto finish = [&] {
    part = trimmed(part);
    if (!part.empty()) parts.push_back(part);
    part.clear();
  };
  for (char c : s) {
    if (c == '\'') quoted = !quoted;
    if (!quoted && (c == '[' || c == '(' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == ')' || c == '}')) --depth;
    if (c == by && depth == 0 && !quoted) {
      finish();
    } else {
      part += c;
    }
  }
  finish();
  return parts;
}

int64_t evaluate(std::string_view expression, const Env& env) {
  return Expression(expression, env).value();
}

Shape evaluate_shape(std::string_view bracketed, const Env& env) {
  Shape s;
  for (const std::string& entry : split_outside(inside_brackets(bracketed), ',')) {
    s.push_back(entry == "..." ? 2 : evaluate(entry, env));
  }
  return s;
}

std::vector<std::string> names_in(std::string_view e) {
  std::vector<std::string> names;
  for (size_t i = 0; i < e.size();) {
    if (!name_start(e[i])) {
      ++i;
      continue;
    }
    size_t from = i;
    while (i < e.size() && name_char(e[i])) ++i;
    names.emplace_back(e.substr(from, i - from));
  }
  return names;
}

bool is_name(std::string_view s) {
  if (s.empty() || !name_start(s[0])) return false;
  for (char c : s) {
    if (!name_char(c)) return false;
  }
  return true;
}

double parse_number(std::string_view text) {
  std::string s = trimmed(text);
  if (s == "inf") return HUGE_VAL;
  if (s == "-inf") return -HUGE_VAL;
  if (s == "nan") return NAN;
  size_t used = 0;
  double v = 0;
  try {
    v = std::stod(s, &used);
  } catch (const std::exception&) {
    // A subnormal number is "out of range" to stod although it is read exactly by strtod.
    char* end = nullptr;
    v = std::strtod(s.c_str(), &end);
    used = static_cast<size_t>(end - s.c_str());
  }
  MYCEL_CHECK(used == s.size() && !s.empty(), "'{}' is no number", text);
  return v;
}

ir::Attr parse_value(const ir::AttrSpec& spec, const std::string& text, const Env& env,
                     uint64_t seed) {
  using ir::Attr;
  using ir::AttrKind;
  if (text == "None") return {};
  switch (spec.kind) {
    case AttrKind::kBool:
      MYCEL_CHECK(text == "True" || text == "False", "attribute {}: '{}' is no bool", spec.name,
                  text);
      return text == "True";
    case AttrKind::kInt:
      return evaluate(text, env);
    case AttrKind::kFloat:
      return parse_number(text);
    case AttrKind::kString:
      return text.front() == '\'' ? text.substr(1, text.size() - 2) : text;
    case AttrKind::kDType: {
      DType d;
      MYCEL_CHECK(parse_dtype(text, &d), "attribute {}: '{}' is no dtype", spec.name, text);
      return d;
    }
    case AttrKind::kInts: {
      if (text.front() != '[')
        return Attr::Ints(spec.length < 0 ? 1 : spec.length, evaluate(text, env));
      Attr::Ints v;
      for (const std::string& e : split_outside(inside_brackets(text), ','))
        v.push_back(evaluate(e, env));
      return v;
    }
    case AttrKind::kFloats: {
      if (text.front() != '[')
        return Attr::Floats(spec.length < 0 ? 1 : spec.length, parse_number(text));
      Attr::Floats v;
      for (const std::string& e : split_outside(inside_brackets(text), ','))
        v.push_back(parse_number(e));
      return v;
    }
    case AttrKind::kTensor: {
      size_t bracket = text.find('[');
      DType d;
      MYCEL_CHECK(bracket != std::string::npos && parse_dtype(text.substr(0, bracket), &d),
                  "attribute {}: '{}' should read dtype[shape]", spec.name, text);
      return make_values({}, "any", d, evaluate_shape(text.substr(bracket), env), seed);
    }
    default:
      MYCEL_CHECK(false, "attribute {} holds code; write a test of its own and 'skip all: …'",
                  spec.name);
  }
  return {};
}

}  // namespace mycel::op_cases
