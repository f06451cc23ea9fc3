// Probe: what every step of compiled programs cost, kernel by kernel. Off, it costs one look at a
// flag for each run of a plan. MYCEL_PROFILE=1 keeps it on and prints the table to stderr at the
// end of the program; MYCEL_PROFILE=file writes it there. MYCEL_PROFILE_LIMITS=gflops,gbytes adds
// each kernel's share of what the machine can do.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace mycel::runtime {

// All runs of one kernel on operands of one set of types, without the first, which meets cold
// memory and caches, unless there was only one.
struct ProbeRow {
  std::string op;              // with what it is made of: "fused(mul, add)"
  std::string types;           // "float32[8, 4], float32[4] -> float32[8, 4]"
  std::string implementation;  // "onednn:brgemm:avx512_core", "loops", "call", ...
  std::string where;           // the user's line of one of them, may be empty
  int64_t runs = 0, ns = 0;
  int64_t flops = -1;  // of one run; -1: the record does not tell
  int64_t bytes = 0;   // of one run: operands and results once
};

// What the machine can do, for the share that a kernel reaches of it; 0: not known.
struct MachineLimits {
  double gflops = 0, gbytes = 0;  // per second
};

struct ProbeReport {
  std::vector<ProbeRow> rows;  // slowest first
  int64_t plan_runs = 0;       // whole programs
  int64_t plan_ns = 0;         // time in them
  int64_t between_ns = 0;      // of that, outside of all steps: arguments, arena, results
  // A table. With limits: a kernel's least possible time by them, as a share of what it took, and
  // which of the two bounds it ("fma" or "mem").
  std::string str(size_t most = 40, MachineLimits limits = {}) const;
};

// Starts to count from nothing.
void probe_start();
// What was counted since, and the end of counting.
ProbeReport probe_stop();

namespace probe {

extern std::atomic<bool> on;

// A stretch of time in a plan; that of the spans inside it is theirs, not its own.
class Span {
 public:
  Span();
  ~Span();
  Span(const Span&) = delete;
  int64_t own_ns() const;
  int64_t ns() const;
  bool outermost() const { return !outer_; }

 private:
  int64_t start_, inside_ = 0;
  Span* outer_;
};

void note_step(const std::shared_ptr<const ir::Graph>& graph, const ir::Node& node,
               const char* implementation, const Span& span);
void note_plan(const std::shared_ptr<const ir::Graph>& graph, const Span& span);

}  // namespace probe
}  // namespace mycel::runtime
