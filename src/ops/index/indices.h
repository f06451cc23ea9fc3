// How gather-like ops read an index tensor: int32 or int64, negative values counted from the end,
// values outside handled as the op says.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tensor/dtype.h"

namespace mycel::ops {

// What an index outside [-n, n) does.
enum class Bounds : uint8_t {
  kError,         // IndexError
  kClip,          // the nearest one; negative ones are 0
  kWrap,          // modulo n
  kSkip,          // reads 0, writes nothing; negative indices are outside too
  kSkipNegative,  // negative ones are skipped, others outside are an error
};
inline Bounds bounds_of(std::string_view s) {
  return s == "clip"            ? Bounds::kClip
         : s == "wrap"          ? Bounds::kWrap
         : s == "skip"          ? Bounds::kSkip
         : s == "skip_negative" ? Bounds::kSkipNegative
                                : Bounds::kError;
}

constexpr int64_t kSkipped = -1;

// `count` indices into an axis of size n as values in [0, n), or kSkipped. IndexError naming op,
// position, index and what is allowed.
std::vector<int64_t> read_indices(const char* op, const void* data, DType dtype, int64_t count,
                                  int64_t n, Bounds bounds);

// Tuples of `depth` indices, one per leading dim of a tensor with sizes and strides given, as
// element offsets; IndexError as above. Negative entries count from the end of their dim.
std::vector<int64_t> read_tuples(const char* op, const void* data, DType dtype, int64_t count,
                                 int depth, const int64_t* sizes, const int64_t* strides);

}  // namespace mycel::ops
