// Compiled Python functions as C++ sees them: run again and again without Python between the runs.
#pragma once

#include <memory>

#include "bind/python.h"
#include "ir/graph.h"
#include "tensor/tensor.h"

namespace mycel::bind {

struct Compiled;
// Null when `o` is None. TypeError for anything else that is not a compiled function.
std::shared_ptr<Compiled> to_compiled(nb::handle o);
// One run, the results of the function (not the assigned parameters). With the GIL released; takes
// it only while parameters are read and written.
Tensors run_unlocked(Compiled& c, Tensors inputs);
// What was compiled, before passes.
const ir::Graph& graph_of(const Compiled& c);
std::shared_ptr<const ir::Graph> shared_graph_of(const std::shared_ptr<Compiled>& c);

}  // namespace mycel::bind
