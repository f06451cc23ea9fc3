// The functions behind loops/codegen.h.
#pragma once

#include "loops/codegen.h"

namespace mycel::loops {

const std::string& machine_key();
std::string compile_object(const Nest& nest);
bool load_object(const std::string& object, size_t stages, LoadedObject* out);

}  // namespace mycel::loops
