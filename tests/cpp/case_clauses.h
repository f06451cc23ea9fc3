// The clauses of one group of a `.cases` line, still as text: what op_cases.cc multiplies out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "case_text.h"
#include "ir/op.h"
#include "op_cases.h"

namespace mycel::op_cases {

struct Clauses {
  std::map<std::string, std::string> domain;               // operand -> "(a, b)"
  std::map<std::string, std::vector<std::string>> shapes;  // operand -> alternatives
  std::map<std::string, std::vector<std::string>> values;  // attribute or dim -> alternatives
  std::map<std::string, std::vector<std::string>> count;   // variadic operand -> alternatives
  std::map<std::string, bool> present;                     // optional operand
  std::vector<std::string> when, points, bad;
  Group group;
};

// Adds one clause. InternalError when it is none, or names an operand that the op lacks.
void read_clause(const ir::Op& op, std::string clause, Clauses& c);
// "(a, b)", "{1, 2}", "ints(0, n - 1)", "spd", …
Domain parse_domain(const std::string& text, const Env& env);

}  // namespace mycel::op_cases
