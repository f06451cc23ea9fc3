#include "case_clauses.h"

#include <cctype>

#include "base/error.h"

namespace mycel::op_cases {
namespace {

bool take(std::string& s, const std::string& prefix) {
  if (s.rfind(prefix, 0) != 0) return false;
  s = trimmed(s.substr(prefix.size()));
  return true;
}

const ir::InputSpec* find_input(const ir::Op& op, const std::string& name) {
  for (const ir::InputSpec& in : op.inputs) {
    if (in.name == name) return &in;
  }
  return nullptr;
}

std::vector<DType> parse_dtypes(const std::string& text) {
  std::vector<DType> list;
  for (const std::string& word : split_outside(text, ' ')) {
    DType d;
    MYCEL_CHECK(parse_dtype(word, &d), "'{}' is no dtype", word);
    list.push_back(d);
  }
  return list;
}

// "COLUMN: reason" into the map.
void reason_into(std::map<std::string, std::string>& map, const std::string& text) {
  size_t colon = text.find(':');
  MYCEL_CHECK(colon != std::string::npos, "'{}' lacks its reason", text);
  map[trimmed(text.substr(0, colon))] = trimmed(text.substr(colon + 1));
}

// "[2, 3] [4]" into its brackets.
std::vector<std::string> brackets(const std::string& text) {
  std::vector<std::string> list;
  for (const std::string& part : split_outside(text, ' ')) list.push_back(part);
  return list;
}

void read_named_clause(const ir::Op& op, const std::string& clause, Clauses& c) {
  size_t end = 0;
  while (end < clause.size() &&
         (std::isalnum(static_cast<unsigned char>(clause[end])) || clause[end] == '_'))
    ++end;
  std::string name = clause.substr(0, end), rest = trimmed(clause.substr(end));
  MYCEL_CHECK(!name.empty(), "no such clause");
  if (rest.rfind("[", 0) == 0) {
    MYCEL_CHECK(find_input(op, name), "there is no operand '{}'", name);
    c.shapes[name] = brackets(rest);
  } else if (take(rest, "in ")) {
    MYCEL_CHECK(find_input(op, name), "there is no operand '{}'", name);
    c.domain[name] = rest;
  } else if (take(rest, "count ")) {
    c.count[name] = split_outside(rest, ' ');
  } else if (take(rest, "dtypes ")) {
    MYCEL_CHECK(find_input(op, name), "there is no operand '{}'", name);
    c.group.dtypes[name] = parse_dtypes(rest);
  } else if (take(rest, "=")) {
    c.values[name] = split_outside(rest, ' ');
  } else {
    MYCEL_CHECK(false, "no such clause");
  }
}

}  // namespace

void read_clause(const ir::Op& op, std::string clause, Clauses& c) {
  if (clause == "default") return;
  if (clause.rfind("at (", 0) == 0) {
    c.points.push_back(clause.substr(3));
  } else if (take(clause, "bad ")) {
    c.bad.push_back(clause);
  } else if (take(clause, "skip ")) {
    reason_into(c.group.skip, clause);
  } else if (take(clause, "no grad of ")) {
    reason_into(c.group.no_grad, clause);
  } else if (take(clause, "tol ")) {
    c.group.tolerance = parse_number(clause);
  } else if (clause == "in float32") {
    c.group.in_float32 = true;
  } else if (take(clause, "fd ")) {
    c.group.fd_tolerance = parse_number(clause);
  } else if (take(clause, "when ")) {
    c.when.push_back(clause);
  } else if (take(clause, "without ")) {
    c.present[clause] = false;
  } else if (take(clause, "with ")) {
    c.present[clause] = true;
  } else if (take(clause, "dtypes ")) {
    c.group.dtypes[""] = parse_dtypes(clause);
  } else {
    read_named_clause(op, clause, c);
  }
}

Domain parse_domain(const std::string& text, const Env& env) {
  Domain d;
  auto pair_in = [&](size_t open) {
    auto parts = split_outside(
        text.substr(open + 1, text.rfind(text[open] == '{' ? '}' : ')') - open - 1), ',');
    return parts;
  };
  auto bounds = [&](size_t open, bool expressions) {
    auto p = pair_in(open);
    MYCEL_CHECK(p.size() == 2, "'{}' needs two bounds", text);
    d.low = expressions ? static_cast<double>(evaluate(p[0], env)) : parse_number(p[0]);
    d.high = expressions ? static_cast<double>(evaluate(p[1], env)) : parse_number(p[1]);
  };
  if (text[0] == '(') {
    d.kind = Domain::kUniform;
    bounds(0, false);
  } else if (text[0] == '{') {
    d.kind = Domain::kSet;
    for (const std::string& v : pair_in(0)) d.set.push_back(parse_number(v));
  } else if (text.rfind("ints(", 0) == 0) {
    d.kind = Domain::kInts;
    bounds(4, true);
  } else if (text.rfind("distinct(", 0) == 0) {
    d.kind = Domain::kDistinct;
    bounds(8, false);
  } else if (text.rfind("sorted(", 0) == 0) {
    d.kind = Domain::kSorted;
    bounds(6, false);
  } else {
    static const std::map<std::string, Domain::Kind> words = {{"permutation", Domain::kPermutation},
                                                              {"prob", Domain::kProb},
                                                              {"spd", Domain::kSpd},
                                                              {"lower", Domain::kLower},
                                                              {"upper", Domain::kUpper},
                                                              {"regular", Domain::kRegular}};
    auto it = words.find(text);
    MYCEL_CHECK(it != words.end(), "'{}' is no domain", text);
    d.kind = it->second;
  }
  return d;
}

}  // namespace mycel::op_cases
