// Tap: shows every value that programs compute, op by op, to whoever debugs them; eager ops and the
// nodes of compiled programs alike. Nobody attached, it costs one look at a flag for each eager op
// and each run of a plan. While somebody is attached, programs are compiled without the passes that
// hide values inside fused kernels, and nodes get scopes (ir/scope.h).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "ir/graph.h"
#include "tensor/tensor.h"

namespace mycel::runtime {

struct Seen {
  const ir::Op* op = nullptr;
  const ir::Node* node = nullptr;  // of a compiled program; null for an eager op
  uint32_t result = 0;
  ir::Loc at = 0;
  // Absent ones are empty. One that gave its memory to the result has the result's address.
  std::span<const Tensor> operands = {};
};

class Tap {
 public:
  virtual ~Tap() = default;
  // `value` may lie in memory that is used again after this call. Errors thrown end the program's
  // step.
  virtual void computed(const Seen& seen, const Tensor& value) = 0;
  // A value that a part of the program has named: a gradient by its parameter's name. `at`: of what
  // computed it, 0 when not known.
  virtual void named(const std::string& kind, const std::string& name, ir::Loc at,
                     const Tensor& value) = 0;
};

// One at a time; null ends it. Values are shown while `watch` is on.
void attach_tap(std::shared_ptr<Tap> tap);
void watch_with_tap(bool on);

namespace tap {

extern std::atomic<bool> on;        // values are shown now
extern std::atomic<bool> attached;  // somebody debugs: see above

void show(const Seen& seen, const Tensor& value);
// Shows `value` under a name now, or whenever the program that is being recorded comes by.
void mark(const char* kind, const std::string& name, const Tensor& value);
// How to find the user's line of an eager op ("file:line in function"); Python's stack, if any.
void set_where(std::function<std::string()> where);

}  // namespace tap

// The scope of what this thread records and runs; gives the one before.
std::string set_scope(std::string scope);
// The line and scope where the program is now: what recorded nodes get.
ir::Loc current_place();

}  // namespace mycel::runtime
