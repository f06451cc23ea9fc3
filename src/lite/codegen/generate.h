// From an exported network to C: what `mycel codegen` does.
#pragma once

#include <string>

#include "lite/codegen/c_project.h"
#include "runtime/model_file.h"

namespace mycel::lite {

// `inputs`: example inputs, whose shapes the code is made for, and whose results the check compares
// with; random numbers from a fixed seed where there are none (all dims must be known then).
CSizes generate_c(const runtime::Model& model, const Tensors& inputs, const CProject& project,
                  const std::string& folder);

}  // namespace mycel::lite
