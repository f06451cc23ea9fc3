// Lines of op records that say an op in several of ONNX's: "= Reciprocal(Sqrt(input))". Names are
// those of the record's operands and number attributes, numbers get the dtype of the first operand.
// "= int … | …": the first form is for integers. Such a line is written and never read.
#pragma once

#include "interop/onnx/writing.h"

namespace mycel::interop::onnx {

bool is_expression(std::string_view line);
// The name of the result.
std::string write_expression(std::string_view line, Writing& w);

}  // namespace mycel::interop::onnx
