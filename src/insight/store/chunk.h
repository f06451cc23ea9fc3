// Numbers of a series in pieces of at most kChunk: the values as bytes, and what a chart needs of
// them where a whole piece falls into one of its columns.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace mycel::insight::store {

constexpr int64_t kChunk = 1024;

struct Point {
  int64_t step;
  double when, value;
};

struct ChunkSummary {
  int64_t count = 0, not_finite = 0;
  int64_t min_step = std::numeric_limits<int64_t>::max();
  int64_t max_step = std::numeric_limits<int64_t>::min();
  double min_when = std::numeric_limits<double>::infinity(), max_when = -min_when;
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0;

  void add(const Point& p);
  void add(const ChunkSummary& s);
};

// Steps, times, values: each 8 bytes.
std::string pack(const std::vector<Point>& points);
// Calls f(Point) for each; bytes that are no chunk give nothing.
template <typename F>
void unpack(std::string_view bytes, F&& f) {
  const size_t n = bytes.size() / sizeof(Point);
  for (size_t i = 0; i < n; ++i) {
    Point p;
    __builtin_memcpy(&p, bytes.data() + i * sizeof p, sizeof p);
    f(p);
  }
}

}  // namespace mycel::insight::store
