#include "insight/store/chunk.h"

#include <algorithm>

namespace mycel::insight::store {

void ChunkSummary::add(const Point& p) {
  ++count;
  min_step = std::min(min_step, p.step);
  max_step = std::max(max_step, p.step);
  min_when = std::min(min_when, p.when);
  max_when = std::max(max_when, p.when);
  if (!std::isfinite(p.value)) {
    ++not_finite;
    return;
  }
  min = std::min(min, p.value);
  max = std::max(max, p.value);
  sum += p.value;
}

void ChunkSummary::add(const ChunkSummary& s) {
  count += s.count;
  not_finite += s.not_finite;
  min_step = std::min(min_step, s.min_step);
  max_step = std::max(max_step, s.max_step);
  min_when = std::min(min_when, s.min_when);
  max_when = std::max(max_when, s.max_when);
  min = std::min(min, s.min);
  max = std::max(max, s.max);
  sum += s.sum;
}

std::string pack(const std::vector<Point>& points) {
  return {reinterpret_cast<const char*>(points.data()), points.size() * sizeof(Point)};
}

}  // namespace mycel::insight::store
