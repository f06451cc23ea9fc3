// Mycel for C++ programs, in one include: tensors and ops, transforms of functions, compiled
// functions with control flow, layers, training, files. What stands here only gives names of rooms
// to namespace mycel; each room's header says what they do.
#pragma once

#include <mycel/nn.h>
#include <mycel/ops.h>
#include <mycel/version.h>

#include "base/error.h"
#include "base/threads.h"
#include "data/arrow/rows.h"
#include "data/description.h"
#include "data/graph.h"
#include "data/operators.h"
#include "data/reader.h"
#include "data/source.h"
#include "interop/onnx.h"
#include "nn/arith.h"
#include "nn/cell.h"
#include "nn/layer.h"
#include "nn/metric.h"
#include "nn/optimizer.h"
#include "nn/probability/bijector.h"
#include "nn/probability/distribution.h"
#include "nn/sparse.h"
#include "nn/train_step.h"
#include "runtime/control.h"
#include "runtime/graph_function.h"
#include "runtime/jacobian.h"
#include "runtime/jit.h"
#include "runtime/model_file.h"
#include "runtime/random_state.h"
#include "runtime/scan.h"
#include "runtime/transforms.h"
#include "runtime/vmap.h"
#include "tensor/safetensors.h"
#include "tensor/tensor.h"
#include "train/checkpoint.h"
#include "train/model.h"
#include "train/progress.h"

namespace mycel {

using runtime::Fn;
// Functions to functions.
using runtime::hessian;
using runtime::jacfwd;
using runtime::jacrev;
using runtime::jvp;
using runtime::stop_gradient;
using runtime::value_and_grad;
using runtime::vjp;
using runtime::vmap;
// Control flow that stays in the graph.
using runtime::cond;
using runtime::fori_loop;
using runtime::GraphFunction;
using runtime::scan;
using runtime::while_loop;
// An exported network. train::Model trains one.
using runtime::Model;
using runtime::set_seed;

// Gradients of the sum of f's results with respect to arguments `wrt`.
inline Tensors grad(const Fn& f, std::span<const Tensor> args, std::vector<int> wrt = {0}) {
  return value_and_grad(f, args, {.wrt = std::move(wrt)}).inputs;
}

// `f` compiled: traced once per signature of its arguments, then run as one plan. `variables`: the
// tensors outside that it reads and assigns; they are updated in place.
inline runtime::Jit jit(Fn f, std::string name = "main", std::vector<Tensor*> variables = {}) {
  return runtime::Jit(std::move(f), std::move(name),
                      [variables = std::move(variables)] { return variables; });
}

}  // namespace mycel
