// The one entry of libmycel_tensorflow: what interop/tensorflow.h calls.
#pragma once

#include "interop/tensorflow.h"

namespace mycel::interop {

using Names = std::vector<std::string>;

struct TensorflowLibrary {
  std::shared_ptr<OnnxModel> (*parse_lite)(std::string_view bytes);
  std::shared_ptr<OnnxModel> (*parse_graph)(std::string_view bytes, const Names& inputs,
                                            const Names& outputs);
  std::vector<TensorflowOp> (*ops)();
};

}  // namespace mycel::interop
