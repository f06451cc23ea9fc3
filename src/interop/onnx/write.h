// A traced network as an ONNX model: its graph expanded into primitives, each written by the line
// of its record and, where that names an ONNX op with a writer, by the writer.
#pragma once

#include <string>

#include "runtime/model_file.h"

namespace mycel::interop::onnx {

constexpr int kWrittenOpset = 20;

// UserError kUnsupported naming an op that ONNX has no words for; kOs when the file cannot be
// written.
void write_model(const std::string& path, const runtime::TracedModel& model);

}  // namespace mycel::interop::onnx
