// A loop nest ready to be run on lanes (lanes.h): loaded from the table form of a .lite file, every
// number checked, and with one loop of each stage chosen whose iterations become lanes. A value
// inside that loop is the same for all lanes, linear in the lane (an index), or kept lane by lane.
// Results are the same for any number of threads: those change only who runs which iterations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lite/runtime/lanes.h"
#include "lite/runtime/lite_file_generated.h"

namespace mycel::lite {

class Threads;

// Memory of one thread for any nest: values and variables.
struct LaneMemory {
  std::vector<uint64_t> words;
};

class NestProgram {
 public:
  // Empty, or what is wrong with the table.
  std::string load(const file::Nest& nest);

  size_t operands() const { return operands_; }  // buffers without scratch
  struct Scratch {
    uint64_t bytes;
  };
  const std::vector<Scratch>& scratch() const { return scratch_; }
  bool writes(size_t buffer) const { return buffers_[buffer].role != 0; }

  // `buffers`: operands, then scratch, with their sizes in bytes. False when an offset lies outside
  // of its buffer.
  bool run(void* const* buffers, const uint64_t* bytes, Threads& threads,
           std::vector<LaneMemory>& memory) const;

 private:
  friend class NestAnalysis;
  friend class NestRunner;
  enum Class : uint8_t { kUniform, kLinear, kVarying };
  struct E {
    Op op;
    DType dtype, from;
    uint8_t count;
    Class cls = kUniform;
    bool spread = false;  // a lane-by-lane reader wants it in all lanes
    int32_t index;
    int32_t arg[3];
    int64_t bits;
    int64_t step = 0;  // of a linear value
    uint32_t at = 0;   // word in the memory
  };
  enum Kind : uint8_t { kLet, kStore, kSet, kLoop, kWhile, kIf };
  struct S {
    Kind kind;
    uint8_t loop;
    bool lanes = false;    // this loop's iterations are the lanes
    bool varying = false;  // extent or condition differs between lanes
    bool fold = false;     // a set that combines lanes into the variable
    int32_t index, a, b, body, other, next;
  };
  struct V {
    DType dtype;
    bool varying = false;
    uint32_t at = 0;
  };
  struct Buffer {
    DType dtype;
    uint8_t role;
    uint64_t elements;
  };
  struct Stage {
    int64_t extent, cost;
    int32_t induction, body;
    bool lanes = false;
  };
  std::vector<Buffer> buffers_;
  std::vector<int64_t> numbers_;
  std::vector<V> vars_;
  std::vector<E> exprs_;
  std::vector<S> stmts_;
  std::vector<Stage> stages_;
  int32_t preamble_ = -1;
  std::vector<Scratch> scratch_;
  size_t operands_ = 0, words_ = 0;
  uint32_t masks_ = 0;  // word where masks begin
  int width_ = 256;     // lanes at a time
  int depth_ = 0;       // masks at a time
};

}  // namespace mycel::lite
