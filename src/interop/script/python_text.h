// Python as text: literals, names, and lines laid out as a formatter lays them out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attrs.h"

namespace mycel::interop::script {

constexpr int kLineWidth = 88;

// `text` as an identifier in snake_case, or "" when nothing of it is left.
std::string identifier(std::string_view text);
// "encoder_layer" -> "EncoderLayer".
std::string camel(std::string_view text);

std::string literal(int64_t v);
std::string literal(double v);
std::string literal(bool v);
std::string literal(std::string_view v);             // in double quotes
std::string literal(const std::vector<int64_t>& v);  // a tuple
std::string literal(DType d);                        // "mycel.float32"
// One number where all are equal: windows and strides.
std::string window(const std::vector<int64_t>& v);
std::string literal(const ir::Attr& a);

// The statement at this indentation, broken at its brackets where it is too long.
std::string statement(std::string_view text, int indent);
// Text in lines of at most kLineWidth, each indented.
std::string paragraph(std::string_view text, int indent);

}  // namespace mycel::interop::script
