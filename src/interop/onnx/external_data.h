// Elements that an ONNX model keeps in another file. Such a file is opened beneath the model's
// folder only: no absolute path, no "..", no symbolic link on the way, no second hard link, nothing
// but a regular file; and never beyond its end.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "interop/onnx/proto.h"

namespace mycel::interop::onnx {

struct MappedRange {
  std::string_view bytes;
  std::shared_ptr<const void> keep;  // unmaps
};

// UserError naming `owner` and the path.
MappedRange open_external(const pb::Tensor& t, const std::string& folder, const std::string& owner);

}  // namespace mycel::interop::onnx
