// What a node is for (forward, gradient, update) rides in the upper two bits of its location, so
// that passes, which hand locations on, keep it. The rest of a Loc is what intern_loc gave.
#pragma once

#include <algorithm>

#include "base/timeline.h"
#include "ir/graph.h"

namespace mycel::ir {

constexpr int kPhaseShift = 30;
constexpr Loc kLocMask = (Loc{1} << kPhaseShift) - 1;

inline Loc with_phase(Loc loc, timeline::Phase p) {
  return (loc & kLocMask) | (static_cast<Loc>(p) << kPhaseShift);
}
inline timeline::Phase phase_of(Loc loc) {
  return static_cast<timeline::Phase>(std::min<Loc>(loc >> kPhaseShift, timeline::kPhaseCount - 1));
}
// Whether the user's line is known.
inline bool has_line(Loc loc) { return (loc & kLocMask) != 0; }

}  // namespace mycel::ir
