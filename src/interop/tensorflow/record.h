// One record per op of TFLite and of GraphDefs: how it is built from Mycel's ops. Both formats
// call most ops by two names of one meaning; where they differ (the order of a weight's dims) the
// builder asks Call::lite().
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interop/tensorflow/call.h"

namespace mycel::interop::tensorflow {

struct Record {
  int code = -1;           // of TFLite's BuiltinOperator; -1: TFLite has it not
  const char* lite = "";   // its name there
  const char* graph = "";  // in GraphDefs; "": they have it not
  Build build = nullptr;
  // For tensors with a scale, on what is stored; null: such tensors are refused. `kMoves`: the op
  // moves elements and `build` does it as well.
  Build quantized = nullptr;
  // Inputs whose values decide shapes or places, "1 2": a constant there is no weight.
  const char* shaping = "";
  // Inputs that are statistics: no gradient moves them.
  const char* statistics = "";
};

// The quantized form of ops that move elements: results have the scales of the operands.
Tensors moves(Call& c);

using Records = std::span<const Record>;

// One function a file of src/interop/tensorflow/ops.
Records elementwise_records();
Records activation_records();
Records reduce_records();
Records shape_records();
Records slice_records();
Records index_records();
Records conv_records();
Records pool_records();
Records matmul_records();
Records norm_records();
Records resize_records();
Records quantize_records();
Records control_records();
Records recurrent_records();

// Null when there is none.
const Record* find_lite_record(int code);
const Record* find_record(bool lite, std::string_view name);
std::vector<const Record*> all_records();

// "CONV_2D"; "code 300" for what the published list has not. Only ops without records need it.
std::string lite_name(int code);

}  // namespace mycel::interop::tensorflow
