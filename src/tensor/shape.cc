#include "tensor/shape.h"

#include <algorithm>

#include "base/error.h"

namespace mycel {
namespace {

std::string text_of(std::span<const int64_t> dims) {
  std::string s = "(";
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d > 0) s += ", ";
    s += dims[d] == kUnknownDim ? "?" : std::to_string(dims[d]);
  }
  return s + (dims.size() == 1 ? ",)" : ")");
}

void check_dim(int64_t extent) {
  if (extent < 0 && extent != kUnknownDim) value_error("dimension {} is negative", extent);
}

}  // namespace

Shape::Shape(std::span<const int64_t> dims) {
  if (dims.size() > static_cast<size_t>(kMaxRank)) {
    value_error("shape {} has {} dims; at most {} are supported",
                text_of(dims.first(std::min<size_t>(dims.size(), 16))), dims.size(), kMaxRank);
  }
  for (int64_t extent : dims) {
    if (extent < 0 && extent != kUnknownDim) {
      value_error("shape {} has a negative dimension", text_of(dims));
    }
    dims_[rank_++] = extent;
  }
}

void Shape::push_back(int64_t extent) { insert(rank_, extent); }

void Shape::insert(int d, int64_t extent) {
  MYCEL_CHECK(d >= 0 && d <= rank_, "insert at {} into shape {}", d, str());
  if (rank_ == kMaxRank) value_error("shape {} cannot get a dim more: at most {}", str(), kMaxRank);
  check_dim(extent);
  std::copy_backward(dims_ + d, dims_ + rank_, dims_ + rank_ + 1);
  dims_[d] = extent;
  ++rank_;
}

void Shape::erase(int d) {
  if (d < 0) d += rank_;
  MYCEL_CHECK(d >= 0 && d < rank_, "erase dim {} of shape {}", d, str());
  std::copy(dims_ + d + 1, dims_ + rank_, dims_ + d);
  dims_[--rank_] = 0;
}

bool Shape::known() const {
  return std::none_of(begin(), end(), [](int64_t n) { return n == kUnknownDim; });
}

int64_t Shape::size() const { return size(0, rank_); }

int64_t Shape::size(int from, int to) const {
  MYCEL_CHECK(from >= 0 && to <= rank_, "dims {} to {} of shape {}", from, to, str());
  int64_t product = 1;
  bool overflow = false;
  bool empty = false;
  for (int d = from; d < to; ++d) {
    MYCEL_CHECK(dims_[d] != kUnknownDim, "size of shape {} with an unknown dimension", str());
    // No early exit at an overflow: a zero further right makes the product 0 after all.
    empty |= dims_[d] == 0;
    overflow |= __builtin_mul_overflow(product, dims_[d], &product);
  }
  if (empty) return 0;
  if (overflow) value_error("shape {} has more elements than {}", str(), INT64_MAX);
  return product;
}

bool Shape::operator==(const Shape& o) const {
  return rank_ == o.rank_ && std::equal(begin(), end(), o.begin());
}

size_t Shape::hash() const {
  uint64_t h = 0x9E3779B97F4A7C15u + static_cast<uint64_t>(rank_);
  for (int64_t extent : dims()) {  // one splitmix64 round a dim
    h ^= static_cast<uint64_t>(extent) + 0x9E3779B97F4A7C15u + (h << 6);
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 27) * 0x94D049BB133111EBu;
    h ^= h >> 31;
  }
  return h;
}

std::string Shape::str() const { return text_of(dims()); }

bool broadcast(const Shape& a, const Shape& b, Shape* out) {
  const int rank = std::max(a.rank(), b.rank());
  Shape result;
  for (int d = 0; d < rank; ++d) {
    const int da = d - (rank - a.rank());
    const int db = d - (rank - b.rank());
    const int64_t na = da < 0 ? 1 : a[da];
    const int64_t nb = db < 0 ? 1 : b[db];
    if (na == nb || nb == 1) {
      result.push_back(na);
    } else if (na == 1) {
      result.push_back(nb);
    } else if (na == kUnknownDim || nb == kUnknownDim) {
      result.push_back(std::max(na, nb));  // the known one
    } else {
      return false;
    }
  }
  *out = result;
  return true;
}

int normalize_axis(int64_t axis, int rank, const char* op) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  if (rank == 0) value_error("{}: axis {} given for a scalar, which has none", op, axis);
  value_error("{}: axis {} is outside [{}, {}] for {} dims", op, axis, -rank, rank - 1, rank);
}

}  // namespace mycel
