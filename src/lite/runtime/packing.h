// How weights lie in a .lite file: as the graph has them, or in the order in which a kernel reads
// them, so that the file's own bytes are multiplied without a copy. Every packing has its way back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mycel::lite {

enum class Packing : uint8_t {
  kPlain,
  kColumns,    // [k, n]: panels of 16 columns (gemm.h)
  kRows,       // [n, k]: the same, of its transpose
  kWindows,    // [out, in / groups, positions...]: panels of 16 outputs per group, terms ordered
               // position by position
  kDepthwise,  // [channels, 1, positions...]: [position][channel]
};
constexpr int kPackings = 5;

// Floats that the packed form of a weight with these dims takes; -1 when it cannot be packed so.
int64_t packed_size(Packing packing, const std::vector<int64_t>& dims, int64_t groups);
void pack(Packing packing, const std::vector<int64_t>& dims, int64_t groups, const float* plain,
          float* packed);
void unpack(Packing packing, const std::vector<int64_t>& dims, int64_t groups, const float* packed,
            float* plain);
// Any matrix whose element (term, column) is at term * row + column * step.
void pack_matrix(const float* from, int64_t terms, int64_t columns, int64_t row, int64_t step,
                 float* packed);

}  // namespace mycel::lite
