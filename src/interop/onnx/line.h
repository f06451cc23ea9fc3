// The line `.onnx` of an op record: the ONNX op of the same meaning, and the names under which
// ONNX writes the op's attributes.
//   "Abs"                       the same operands, no attributes
//   "LeakyRelu(alpha=0.01)"     attribute alpha; ONNX means 0.01 where a file does not write it
//   "CumProd(axis)"             attribute axis, always written
//   "Gelu(approximate=none)"    text
//   "Transpose(perm:input_perm)" ONNX's name before the record's
//   "ScatterND(reduction='add')" an attribute of ONNX's alone, always written with this text
// Where an ONNX op has a record of its own (interop/onnx/record.h) the line only says that the op
// is written by it. Several ops may name one ONNX op; reading takes the first registered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interop/onnx/call.h"
#include "ir/op.h"

namespace mycel::interop::onnx {

struct LineAttr {
  std::string onnx, mycel;  // mycel: "" for an attribute of ONNX's alone
  std::string otherwise;    // text of ONNX's default
  bool has_otherwise = false;
};

struct Line {
  const ir::Op* op = nullptr;
  std::string name;
  std::vector<LineAttr> attrs;
};

// The op that an ONNX op of the default domain is, null when no line names it.
const Line* find_line(std::string_view onnx_op);
// The line of an op; null when its record has none.
const Line* line_of(const ir::Op& op);
std::vector<const Line*> all_lines();

Values build_from_line(const Line& line, Call& c);

}  // namespace mycel::interop::onnx
