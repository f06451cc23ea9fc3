// CompiledModel: what models of every format share once they can be run node by node: programs
// compiled for the types of the inputs that come and, where a node must know the value of an input,
// for that value. Where a node must know what only a run can tell, the model runs node by node.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/error.h"
#include "interop/onnx.h"
#include "runtime/plan.h"

namespace mycel::interop {

// A node needs a value that is not known while a graph is traced, or does what a graph cannot say.
// `of`: the tensor, when there is one.
struct NotCompilable : UserError {
  NotCompilable(std::string text, Tensor t)
      : UserError(ErrorKind::kValue, std::move(text)), of(std::move(t)) {}
  Tensor of;
};

// A model compiled for inputs of some types, and for the values of some of them.
struct Program {
  std::shared_ptr<const runtime::Plan> plan;
  std::vector<size_t> inputs;  // the tensors that are parameters, by position
  Tensors captured;            // weights and constants; empty: the next random key
  OnnxValues outputs;          // their structure; tensors are filled in from the results
};

class CompiledModel : public OnnxModel {
 public:
  OnnxValues run(std::span<const OnnxValue> inputs) override;
  std::string how() const override;

 protected:
  // UserError where these are no inputs of the model.
  virtual void check_inputs(std::span<const OnnxValue> inputs) const = 0;

 private:
  std::shared_ptr<const Program> compile(std::span<const OnnxValue> inputs,
                                         const std::set<size_t>& fixed) const;
  std::shared_ptr<const Program> program_for(std::span<const OnnxValue> inputs,
                                             const Tensors& tensors, std::string* why);

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Program>> programs_;  // by types and fixed values
  std::deque<std::string> order_;
  std::map<std::string, std::set<size_t>> fixed_;  // by types: inputs whose values are needed
  std::map<std::string, std::string> uncompiled_;  // by types: why
  std::string how_;
};

}  // namespace mycel::interop
