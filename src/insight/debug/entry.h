// One value of one step of a program, and a shelf of them: what a process that is being debugged
// holds in memory, or what it has dumped to files. Everything that answers questions about tensors
// works on shelves, so the debugger is the same online and after the fact.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "insight/debug/conditions.h"

namespace mycel::insight::debug {

struct Entry {
  std::string name;  // "Net/fc1/matmul-0", "Parameters/fc1.weight"
  Role role = Role::kTensor;
  std::string op;                   // "" of what is no op's result
  std::string at;                   // the user's line, "" when not known
  std::string scope;                // "Net/fc1"
  std::vector<std::string> inputs;  // names of entries
  DType dtype = DType::kFloat32;
  Shape shape;
  int64_t step = 0, order = 0;  // order: in which values came in the step
  int64_t visits = 1;           // times in this step; the last value is kept
  bool operands_finite = true;
  Tensor value;                          // empty when it was not kept
  std::optional<Statistics> statistics;  // when they were asked for
};

class Shelf {
 public:
  virtual ~Shelf() = default;
  virtual std::vector<int64_t> steps() = 0;  // in order
  // In the order in which they came; values may be left out.
  virtual std::vector<Entry> entries(int64_t step) = 0;
  // With its value where there is one. Nothing when there is no such entry.
  virtual std::optional<Entry> find(int64_t step, const std::string& name) = 0;
};

}  // namespace mycel::insight::debug
