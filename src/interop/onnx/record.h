// One record per ONNX op that is not one op of Mycel's: how it is built from Mycel's ops. ONNX ops
// that are one op of Mycel's have no record here: the line `.onnx` in the OpDef says all
// (interop/onnx/line.h). How Mycel's ops are written is told by that line too, and by the writers
// of interop/onnx/writing.h.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "interop/onnx/call.h"

namespace mycel::interop::onnx {

struct Record {
  const char* name = "";
  Build build = nullptr;
  // Inputs whose values decide shapes, "1 2": an initializer there is a constant, no weight.
  const char* shaping = "";
  // Inputs that are statistics: no gradient moves them.
  const char* statistics = "";
  const char* domain = "";
};

using Records = std::span<const Record>;

// One function a file of src/interop/onnx/ops.
Records elementwise_records();
Records reduce_records();
Records shape_records();
Records index_records();
Records conv_records();
Records pool_records();
Records norm_records();
Records matmul_records();
Records loss_records();
Records random_records();
Records control_records();
Records sequence_records();
Records recurrent_records();
Records quantize_records();
Records resize_records();
Records sample_records();
Records box_records();
Records signal_records();
Records attention_records();
Records training_records();

// Null when there is none.
const Record* find_record(std::string_view domain, std::string_view name);
std::vector<const Record*> all_records();

}  // namespace mycel::interop::onnx
