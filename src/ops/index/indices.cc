#include "ops/index/indices.h"

#include <algorithm>

namespace mycel::ops {
namespace {

[[noreturn]] void refuse(const char* op, int64_t at, int64_t index, int64_t n) {
  if (n == 0)
    fail(ErrorKind::kIndex, "{}: index {} (element {} of the indices), but the axis is empty", op,
         index, at);
  fail(ErrorKind::kIndex, "{}: index {} (element {} of the indices) is outside [{}, {}]", op, index,
       at, -n, n - 1);
}

template <typename T>
void read(const char* op, const T* from, int64_t count, int64_t n, Bounds bounds, int64_t* to) {
  for (int64_t k = 0; k < count; ++k) {
    int64_t i = from[k];
    bool inside = i >= 0 && i < n;
    if (!inside) {
      switch (bounds) {
        case Bounds::kError:
          if (i < -n || i >= n) refuse(op, k, i, n);
          i += n;
          break;
        case Bounds::kClip:
          if (n == 0) refuse(op, k, i, n);
          i = std::clamp<int64_t>(i, 0, n - 1);
          break;
        case Bounds::kWrap:
          if (n == 0) refuse(op, k, i, n);
          i = (i % n + n) % n;
          break;
        case Bounds::kSkipNegative:
          if (i >= 0) refuse(op, k, i, n);
          i = kSkipped;
          break;
        case Bounds::kSkip:
          i = kSkipped;
          break;
      }
    }
    to[k] = i;
  }
}

template <typename T>
void read_tuple(const char* op, const T* from, int64_t count, int depth, const int64_t* sizes,
                const int64_t* strides, int64_t* to) {
  for (int64_t k = 0; k < count; ++k) {
    int64_t offset = 0;
    for (int d = 0; d < depth; ++d) {
      int64_t i = from[k * depth + d], n = sizes[d];
      if (i < -n || i >= n) {
        if (n == 0) refuse(op, k * depth + d, i, n);
        fail(ErrorKind::kIndex, "{}: index {} (entry {} of tuple {}) is outside [{}, {}] of dim {}",
             op, i, d, k, -n, n - 1, d);
      }
      offset += (i < 0 ? i + n : i) * strides[d];
    }
    to[k] = offset;
  }
}

}  // namespace

std::vector<int64_t> read_indices(const char* op, const void* data, DType dtype, int64_t count,
                                  int64_t n, Bounds bounds) {
  std::vector<int64_t> out(static_cast<size_t>(count));
  if (dtype == DType::kInt32) {
    read(op, static_cast<const int32_t*>(data), count, n, bounds, out.data());
  } else {
    read(op, static_cast<const int64_t*>(data), count, n, bounds, out.data());
  }
  return out;
}

std::vector<int64_t> read_tuples(const char* op, const void* data, DType dtype, int64_t count,
                                 int depth, const int64_t* sizes, const int64_t* strides) {
  std::vector<int64_t> out(static_cast<size_t>(count));
  if (dtype == DType::kInt32) {
    read_tuple(op, static_cast<const int32_t*>(data), count, depth, sizes, strides, out.data());
  } else {
    read_tuple(op, static_cast<const int64_t*>(data), count, depth, sizes, strides, out.data());
  }
  return out;
}

}  // namespace mycel::ops
