// Shape: up to kMaxRank dimensions held inline, so that eager ops never allocate for one.
// A dimension may be unknown while compiling (kUnknownDim, written "?"); a concrete tensor has
// none.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>

namespace mycel {

constexpr int kMaxRank = 8;
constexpr int64_t kUnknownDim = -1;
// Whether two dims cannot be the same: both known, and not equal.
constexpr bool dims_differ(int64_t a, int64_t b) {
  return a != b && a != kUnknownDim && b != kUnknownDim;
}

class Shape {
 public:
  Shape() = default;  // rank 0
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  // Throws ValueError above kMaxRank dims or for a negative dim other than kUnknownDim.
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  // d may be negative, counted from the end; out of range is our bug, not the user's.
  int64_t operator[](int d) const { return dims_[d < 0 ? d + rank_ : d]; }
  void set(int d, int64_t extent) { dims_[d < 0 ? d + rank_ : d] = extent; }
  void push_back(int64_t extent);
  void insert(int d, int64_t extent);
  void erase(int d);
  const int64_t* begin() const { return dims_; }
  const int64_t* end() const { return dims_ + rank_; }
  std::span<const int64_t> dims() const { return {dims_, static_cast<size_t>(rank_)}; }

  bool known() const;  // no unknown dimension
  // Number of elements. ValueError when it overflows int64 ("shape (…) has more elements than …").
  int64_t size() const;
  // Product of dims in [from, to).
  int64_t size(int from, int to) const;

  bool operator==(const Shape& o) const;
  size_t hash() const;
  std::string str() const;  // "(2, ?, 4)", "(3,)", "()"

 private:
  int64_t dims_[kMaxRank] = {};
  int rank_ = 0;
};

// NumPy broadcasting; an unknown dim with 1 or unknown stays unknown, with n > 1 becomes n.
// False when the shapes do not broadcast.
bool broadcast(const Shape& a, const Shape& b, Shape* out);

// Axis in [-rank, rank) to [0, rank); ValueError naming `op` otherwise.
int normalize_axis(int64_t axis, int rank, const char* op);

}  // namespace mycel
