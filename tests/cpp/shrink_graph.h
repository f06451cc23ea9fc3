// Makes a program that fails a check smaller: nodes give way to operands, constants or parameters,
// branches and loop bodies take the place of their op, results go, for as long as the check fails.
#pragma once

#include <functional>
#include <memory>

#include "ir/graph.h"

namespace mycel::graph_checks {

// `fails` sees sound graphs only. At most `tries` calls.
std::shared_ptr<ir::Graph> shrink(std::shared_ptr<ir::Graph> g,
                                  const std::function<bool(const ir::Graph&)>& fails,
                                  int tries = 4000);

}  // namespace mycel::graph_checks
