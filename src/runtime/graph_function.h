// A function that compiled code calls, and that may call itself: the C++ front end of the op
// `call`. Its types are declared before its body is known; the body is traced once. Derivatives and
// batches of it are functions of their own, made when they are first asked for
// (ir::Function::derived).
#pragma once

#include <memory>
#include <string>

#include "ir/function.h"
#include "ir/op.h"
#include "runtime/transforms.h"

namespace mycel::runtime {

// A handle: copies are the same function.
class GraphFunction {
 public:
  GraphFunction(std::string name, ir::Types params, ir::Types results);

  // Traces the body over abstract parameters. It may call this function. Tensors from outside that
  // it reads are captured: every call passes them on. ValueError when the results are not of the
  // declared types, or when it is defined already.
  void define(const Fn& body);
  // On abstract values one node `call`; on known ones the body runs, and whoever watches records
  // what ran. RuntimeError before `define`.
  Tensors operator()(std::span<const Tensor> args) const;
  bool defined() const;
  const ir::FunctionPtr& function() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Runs a node `call`.
Tensors run_call(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs);

}  // namespace mycel::runtime
