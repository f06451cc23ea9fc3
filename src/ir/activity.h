// Activity: what a change of some values can reach. Derivatives flow through float and complex
// values only.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace mycel::ir {

inline bool differentiable(const Type& t) { return is_float(t.dtype) || is_complex(t.dtype); }

// Per result of `g`: a change of the marked parameters reaches it through differentiable values.
std::vector<bool> reached(const Graph& g, const std::vector<bool>& params);

}  // namespace mycel::ir
