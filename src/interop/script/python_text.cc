#include "interop/script/python_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/error.h"

namespace mycel::interop::script {
namespace {

const std::set<std::string, std::less<>> kKeywords = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    "self",
    "nn",    "ops",      "mycel", "match",  "case"};

struct Bracket {
  size_t open, close;
};

// The last pair of brackets outside of all others.
bool last_bracket(std::string_view s, Bracket* found) {
  int depth = 0;
  bool any = false, quoted = false;
  size_t open = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    char c = s[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[' || c == '{') {
      if (depth++ == 0) open = i;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth == 0 && i > open + 1) {
        *found = {open, i};
        any = true;
      }
    }
  }
  return any;
}

std::vector<std::string_view> split_items(std::string_view s) {
  std::vector<std::string_view> items;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    char c = s[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      items.push_back(s.substr(start, i - start));
      start = i + 1;
    }
  }
  items.push_back(s.substr(start));
  for (auto& item : items) {
    while (item.starts_with(' ')) item.remove_prefix(1);
  }
  if (items.back().empty()) items.pop_back();
  return items;
}

}  // namespace

std::string identifier(std::string_view text) {
  std::string s;
  for (char c : text) {
    bool fine = std::isalnum(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 128;
    if (fine && std::isupper(static_cast<unsigned char>(c)) && !s.empty() &&
        std::islower(static_cast<unsigned char>(s.back())))
      s += '_';
    if (fine)
      s += static_cast<char>(std::tolower(c));
    else if (!s.empty() && s.back() != '_')
      s += '_';
  }
  while (s.ends_with('_')) s.pop_back();
  if (s.empty()) return s;
  if (std::isdigit(static_cast<unsigned char>(s[0]))) s = "x" + s;
  if (kKeywords.count(s)) s += '_';
  return s;
}

std::string camel(std::string_view text) {
  std::string s;
  bool up = true;
  for (char c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c))) {
      up = true;
      continue;
    }
    s += up ? static_cast<char>(std::toupper(c)) : c;
    up = false;
  }
  if (s.empty() || std::isdigit(static_cast<unsigned char>(s[0]))) s = "Block" + s;
  return s;
}

std::string literal(int64_t v) { return std::to_string(v); }
std::string literal(double v) {
  if (std::isinf(v)) return v > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  if (std::isnan(v)) return "float(\"nan\")";
  // A float32 of the file is written with the digits that it has.
  std::string s = static_cast<double>(static_cast<float>(v)) == v
                      ? fmt::format("{}", static_cast<float>(v))
                      : fmt::format("{}", v);
  if (s.find_first_of(".e") == s.npos) s += ".0";
  if (size_t e = s.find('e'); e != s.npos && s.find('.') > e) return s;
  return s;
}
std::string literal(bool v) { return v ? "True" : "False"; }
std::string literal(std::string_view v) {
  std::string s = "\"";
  for (char c : v) {
    if (c == '"' || c == '\\') s += '\\';
    if (c == '\n')
      s += "\\n";
    else
      s += c;
  }
  return s + "\"";
}
std::string literal(const std::vector<int64_t>& v) {
  if (v.size() == 1) return fmt::format("({},)", v[0]);
  return fmt::format("({})", fmt::join(v, ", "));
}
std::string literal(DType d) {
  std::string s(name_of(d));
  return "mycel." + (s == "bool" ? "bool_" : s);
}
std::string window(const std::vector<int64_t>& v) {
  if (!v.empty() && std::ranges::all_of(v, [&](int64_t x) { return x == v[0]; }))
    return literal(v[0]);
  return literal(v);
}

std::string literal(const ir::Attr& a) {
  if (a.none()) return "None";
  if (a.is<bool>()) return literal(a.boolean());
  if (a.is<int64_t>()) return literal(a.integer());
  if (a.is<double>()) return literal(a.real());
  if (a.is<std::string>()) return literal(std::string_view(a.string()));
  if (a.is<ir::Attr::Ints>()) return literal(a.ints());
  if (a.is<DType>()) return literal(a.dtype());
  if (a.is<ir::Attr::Floats>()) {
    std::string s;
    for (double v : a.floats()) s += (s.empty() ? "" : ", ") + literal(v);
    return a.floats().size() == 1 ? "(" + s + ",)" : "(" + s + ")";
  }
  throw UserError(ErrorKind::kUnsupported,
                  fmt::format("an attribute {} has no literal in Python", a.str()));
}

std::string statement(std::string_view text, int indent) {
  std::string pad(static_cast<size_t>(indent), ' ');
  Bracket b;
  if (indent + static_cast<int>(text.size()) <= kLineWidth || !last_bracket(text, &b))
    return pad + std::string(text) + "\n";
  std::string out = pad + std::string(text.substr(0, b.open + 1)) + "\n";
  std::string_view body = text.substr(b.open + 1, b.close - b.open - 1);
  std::string_view tail = text.substr(b.close);
  std::vector<std::string_view> items = split_items(body);
  // A comma behind the last item keeps one item a line, here as in the formatter.
  bool comma = body.ends_with(',');
  if (!comma && indent + 4 + static_cast<int>(body.size()) <= kLineWidth) {
    out += pad + "    " + std::string(body) + "\n";
  } else if (body.find(" for ") != body.npos && items.size() == 1) {
    size_t at = body.rfind(" for ");
    out += statement(body.substr(0, at), indent + 4);
    out += pad + "    " + std::string(body.substr(at + 1)) + "\n";
  } else {
    for (std::string_view item : items) out += statement(std::string(item) + ",", indent + 4);
  }
  return out + pad + std::string(tail) + "\n";
}

std::string paragraph(std::string_view text, int indent) {
  std::string pad(static_cast<size_t>(indent), ' '), out, line = pad;
  size_t at = 0;
  while (at < text.size()) {
    size_t space = std::min(text.find(' ', at), text.size());
    std::string word(text.substr(at, space - at));
    bool first = line.size() == pad.size();
    if (!first && line.size() + 1 + word.size() > kLineWidth) {
      out += line + "\n";
      line = pad;
      first = true;
    }
    line += (first ? "" : " ") + word;
    at = space + 1;
  }
  if (line.size() > pad.size()) out += line + "\n";
  return out;
}

}  // namespace mycel::interop::script
