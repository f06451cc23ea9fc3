// Maxima over windows that are no regular grid: their elements are named by places in the plane.
#pragma once

#include <utility>

#include "ir/expansion.h"

namespace mycel::ops {

// The largest element of each window and its place. flat: [m, plane]; places: int64 [m or 1,
// windows
// * elements].
std::pair<ir::Value, ir::Value> max_over_places(ir::Value flat, ir::Value places, int64_t windows,
                                                int64_t elements);

// Rows of operand `i`: everything before its last `spatial` dims in one, and those in another.
// ValueError unless all sizes are known and there are `spatial` + 1 or + 2 dims.
ir::Value as_planes(const ir::Expansion& e, int i, int spatial);
// The sizes of the leading dims of operand i with others behind.
std::vector<int64_t> planes_with(const ir::Expansion& e, int i, int spatial,
                                 const std::vector<int64_t>& sizes);

}  // namespace mycel::ops
