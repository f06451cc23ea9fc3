// The texts of a network's C files (c_project.h says what stands in which).
#pragma once

#include <string>

#include "lite/codegen/c_project.h"

namespace mycel::lite {

std::string c_header(const Network& n, const std::string& name);
std::string c_source(const Network& n, const std::string& name);
std::string c_kernels(const Network& n, const std::string& name, bool narrow);
std::string c_weights(const Network& n, const std::string& name);
std::string c_check(const Network& n, const Tensors& inputs, const Tensors& results);
std::string c_main(const Network& n, const CProject& p);

}  // namespace mycel::lite
