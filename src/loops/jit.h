// Compiles nests and runs them. Kernels are found by structure: first in memory, then in the disk
// cache (cache.h), else they are compiled. Thread-safe; different kernels compile in parallel, one
// kernel is compiled once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loops/nest.h"

namespace mycel::loops {

struct Compiled {
  std::string name;  // of the first nest that had this structure
  std::vector<StageFn> stages;
  size_t bytes = 0;  // of memory held
  enum Origin { kCompiled, kDisk } origin = kCompiled;
  double milliseconds = 0;       // spent on compiling or loading
  std::shared_ptr<void> memory;  // the code
};

std::shared_ptr<const Compiled> jit(const Nest& nest);

// A compiled nest with its run-time numbers: all that a plan keeps to run it again.
struct Launch {
  struct Stage {
    int64_t extent;
    int64_t grain;  // iterations that are worth a thread
  };
  std::shared_ptr<const Compiled> code;
  std::vector<int64_t> numbers;
  std::vector<Stage> stages;
  int operands = 0;                    // inputs and outputs
  std::vector<int64_t> scratch_bytes;  // one per scratch buffer, allocated by run

  // `buffers`: inputs, then outputs. Reentrant.
  void run(void* const* buffers) const;
};

Launch launch(const Nest& nest);
// The same for a nest whose code the caller already holds.
Launch launch(const Nest& nest, std::shared_ptr<const Compiled> code);

// jit and run once.
void run(const Nest& nest, void* const* buffers);
void run(const Compiled& code, const Nest& nest, void* const* buffers);

struct JitCounts {
  int64_t compiled = 0, from_disk = 0, from_memory = 0;
};
JitCounts jit_counts();
// Forgets all kernels in memory; those that a Launch holds stay alive.
void clear_memory_cache();

}  // namespace mycel::loops
