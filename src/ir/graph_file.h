// The model file: a graph with regions, constants, weights, names and source lines in one file that
// is mapped into memory, so that opening it copies no weight. Layout, little-endian:
//   0    "MYCELNET", version (u32), 0 (u32)
//   16   bytes of the graph section, offset and bytes of the tensor section (u64 each)
//   40   xxh3-64 of the graph section with the padding behind it, of the tensor section, and of the
//        56 bytes before
//   64   graph section: FlatBuffers, schema graph_file.fbs
//   …    tensor section: each tensor at a multiple of 64 bytes
// Everything read is checked, types by the type rules: a file that is truncated, damaged or made by
// an enemy gives an error.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ref.h"
#include "ir/graph.h"

namespace mycel::ir {

constexpr uint32_t kGraphFileVersion = 2;  // 1 was a safetensors file with the graph's text

struct GraphFile {
  std::shared_ptr<const Graph> graph;
  size_t inputs = 0;  // the first parameters; one weight for each of the others, in order
  std::vector<std::pair<std::string, Tensor>> weights;
  std::string producer;
};

// Replaces the file atomically (base/file_io.h). Weights and constants are concrete. UserError kOs
// when it cannot be written, kValue for a host function in the graph, which no file can hold.
void write_graph_file(const std::string& path, const GraphFile& file);
// Maps the file. UserError kOs when it cannot be opened, kValue naming the file and what is wrong
// with it. `check_weights`: compare the weights with their checksum, which touches all of them.
GraphFile read_graph_file(const std::string& path, bool check_weights = true);

// The same to and from memory. `bytes` begin at a multiple of 64 and live as long as `owner`, which
// the tensors hold.
std::string encode_graph_file(const GraphFile& file);
GraphFile decode_graph_file(std::span<std::byte> bytes, const Ref<RefCounted>& owner,
                            bool check_weights = true);
// True for the first bytes of a model file, whatever its version.
bool is_graph_file(std::span<const std::byte> bytes);

}  // namespace mycel::ir
