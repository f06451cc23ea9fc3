// Program: a short fixed sequence of oneDNN primitives (reorders around one computation), built
// once per problem and run any number of times from any number of threads. Steps read and write
// slots: operands of the kernel (buffers given to run) or temporaries. Temporaries and scratchpads
// share one block of Mycel's own allocator per run, so that a steady state asks the system for
// nothing. Only this folder sees oneDNN types; rooms use the headers matmul.h, convolution.h and
// pooling.h.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "tensor/dtype.h"

namespace mycel::cpu::onednn {

const dnnl::engine& engine();

// The oneDNN type of an element type that it computes in; undef when it has none.
dnnl::memory::data_type data_type_of(DType t);
// The same, and the integers that quantized computations read and write.
dnnl::memory::data_type stored_type_of(DType t);

class Program {
 public:
  using Md = dnnl::memory::desc;

  Program();
  ~Program();
  Program(const Program&) = delete;

  // -- building ----------------------------------------------------------------------------------
  int operand(const Md& md, int buffer);
  int temporary(const Md& md);
  // One number that stays the same.
  int constant(int32_t value);
  // The slot itself when it already has layout `want`, otherwise a temporary filled by a reorder.
  int reordered(int slot, const Md& want);
  // Where a computation that produces `have` should write so that `slot` receives it: the slot
  // itself or a temporary; `finish` then adds the reorder.
  int target(int slot, const Md& have);
  void finish(int from, int to);
  // One primitive. `args`: oneDNN argument index and slot.
  void add(const dnnl::primitive& primitive, const dnnl::primitive_desc_base& pd,
           std::vector<std::pair<int, int>> args);
  void set_implementation(std::string name) { implementation_ = "onednn:" + std::move(name); }

  // -- running -----------------------------------------------------------------------------------
  void run(void* const* buffers) const;
  const char* implementation() const { return implementation_.c_str(); }

 private:
  struct Slot {
    Md md;
    int buffer;     // index into run's buffers, -1 for a temporary, -2 for a constant
    size_t offset;  // of a temporary in the block, of a constant among the constants
  };
  struct Step {
    dnnl::primitive primitive;
    std::vector<std::pair<int, int>> args;
  };
  // Memory objects and argument lists of one run; reused through a free list.
  struct Frame;

  std::unique_ptr<Frame> make_frame() const;
  size_t reserve(size_t bytes);

  std::vector<Slot> slots_;
  std::vector<Step> steps_;
  std::vector<int32_t> constants_;
  size_t block_bytes_ = 0;
  std::string implementation_;

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> free_;
};

}  // namespace mycel::cpu::onednn
