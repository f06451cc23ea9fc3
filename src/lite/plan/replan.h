// The planner as the runtime calls it when inputs of other shapes come.
#pragma once

#include "lite/runtime/model.h"

namespace mycel::lite {

// `graph`: the graph of a .lite file; its last `weights` parameters are the file's weights. Null
// with `problem` set when it cannot be read.
std::unique_ptr<Replanner> make_replanner(std::span<const std::byte> graph, size_t weights,
                                          std::string& problem);

}  // namespace mycel::lite
