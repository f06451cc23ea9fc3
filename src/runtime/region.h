// Regions that a host program fills step by step. A front end that reads source code traces both
// branches of an `if` before it knows what they have in common: an OpenRegion stays open until its
// results are settled. While one is active, every op on traced values of this thread is recorded in
// it, also when all operands come from outside: what stands in a branch runs only there.
#pragma once

#include <memory>
#include <string>

#include "runtime/trace.h"

namespace mycel::runtime {

class OpenRegion {
 public:
  // Parameters of these types come first; what the region captures follows. Active from here on.
  OpenRegion(std::span<const Tensor> operands, const std::string& name);
  ~OpenRegion();
  OpenRegion(const OpenRegion&) = delete;

  const Tensors& params() const { return params_; }
  // Recording goes on in the region around this one; `finish` may follow later.
  void suspend();
  // Ends the region with these results: values of the region, or anything from outside.
  void finish(std::span<const Tensor> results);

 private:
  friend Tensors cond_of(const Tensor&, const OpenRegion&, const OpenRegion&);
  friend Tensors while_of(const OpenRegion&, const OpenRegion&, std::span<const Tensor>);
  Recorder recorder_;
  Recorder* outer_;
  bool active_ = true;
  Tensors params_;
};

// then() if pred else otherwise(): both finished, without operands, results of the same types.
Tensors cond_of(const Tensor& pred, const OpenRegion& then, const OpenRegion& otherwise);
// while (condition(carried)) carried = body(carried): both finished, over the carried values.
Tensors while_of(const OpenRegion& condition, const OpenRegion& body,
                 std::span<const Tensor> carried);

// The innermost active region of this thread, or null; dispatch asks.
Recorder* active_region();

// Records a node of any op, regions and host functions included, on traced operands.
Tensors record_node(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs);

// While it lives, keys of random ops in this thread depend on `counter` (one integer) too: the
// draws of a loop's iterations differ.
class IterationKeys {
 public:
  explicit IterationKeys(const Tensor& counter);
  ~IterationKeys();
  int drawn() const { return drawn_; }
  void close();

 private:
  Tensor counter_;
  int drawn_ = 0;
  std::unique_ptr<class KeySource> source_;
};

// Where in the user's program the ops that follow in this thread come from; 0 is unknown.
void set_current_loc(uint32_t loc);
uint32_t current_loc();

}  // namespace mycel::runtime
