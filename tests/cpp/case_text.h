// Reading the text of a `.cases` line: splitting, whole-number expressions, attribute values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace mycel::op_cases {

using Env = std::map<std::string, int64_t>;

std::string trimmed(std::string_view s);
// Splits at `by`, outside of brackets and 'quotes'; parts are trimmed, empty ones dropped.
std::vector<std::string> split_outside(std::string_view s, char by);
// "n * (c - 1) / 2" with names from env. InternalError for a name that env lacks.
int64_t evaluate(std::string_view expression, const Env& env);
// "[n, c/groups, 3]"; "..." stands for one dim of size 2.
Shape evaluate_shape(std::string_view bracketed, const Env& env);
// Names that occur in an expression, in order.
std::vector<std::string> names_in(std::string_view expression);
// Value of an attribute clause. `seed` feeds tensor attributes.
ir::Attr parse_value(const ir::AttrSpec& spec, const std::string& text, const Env& env,
                     uint64_t seed);
double parse_number(std::string_view text);
bool is_name(std::string_view s);

}  // namespace mycel::op_cases
