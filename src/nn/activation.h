// Activations by name, as layers take them: activation="relu".
#pragma once

#include <string>
#include <vector>

#include "nn/cell.h"

namespace mycel::nn {

// The layer of that name ("relu", "leakyrelu", "softmax", …); ValueError listing the names
// otherwise.
CellPtr make_activation(const std::string& name);
std::vector<std::string> activation_names();

}  // namespace mycel::nn
