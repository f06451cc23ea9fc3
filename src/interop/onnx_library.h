// The one entry of libmycel_onnx: what interop/onnx.h calls.
#pragma once

#include "interop/onnx.h"

namespace mycel::interop {

struct OnnxLibrary {
  std::shared_ptr<OnnxModel> (*load)(const std::string& path);
  std::shared_ptr<OnnxModel> (*parse)(std::string_view bytes, const std::string& folder);
  void (*save)(const std::string& path, const runtime::TracedModel& model);
  std::vector<std::string> (*ops)();
};

}  // namespace mycel::interop
