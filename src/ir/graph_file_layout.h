// The fixed part at the start of a model file (graph_file.h), shared by its writer and its reader.
#pragma once

#include <bit>
#include <cstdint>

namespace mycel::ir {

static_assert(std::endian::native == std::endian::little, "model files are read as they lie");

constexpr char kGraphFileMagic[8] = {'M', 'Y', 'C', 'E', 'L', 'N', 'E', 'T'};
constexpr uint64_t kTensorAlignment = 64;

struct GraphFileHead {
  char magic[8];
  uint32_t version;
  uint32_t zero;
  uint64_t graph_bytes;
  uint64_t tensors_offset;
  uint64_t tensors_bytes;
  uint64_t graph_sum;
  uint64_t tensors_sum;
  uint64_t head_sum;  // of the 56 bytes before
};
static_assert(sizeof(GraphFileHead) == 64);

constexpr uint64_t aligned(uint64_t n) {
  return (n + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

}  // namespace mycel::ir
