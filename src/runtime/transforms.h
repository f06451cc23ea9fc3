// Differentiation of host functions: the function runs once while a Recorder watches, the recorded
// graph is transformed (autodiff/), and the result runs through the dispatcher, so that an outer
// transform can watch it in turn. Works for C++ lambdas and for Python callables alike, to any
// order.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::runtime {

using Fn = std::function<Tensors(std::span<const Tensor>)>;

struct Grads {
  Tensors values;     // what the function returned
  Tensors inputs;     // one gradient per entry of `wrt`
  Tensors variables;  // one gradient per variable
};

struct GradOptions {
  std::vector<int> wrt = {0};      // positions of the arguments to differentiate
  std::vector<Tensor*> variables;  // mutable places (parameters) that the function reads; their
                                   // contents are watched while it runs and restored after
  Tensors seeds;                   // gradient of each result; ones when empty
  bool has_aux = false;            // only result 0 is differentiated
};

// Gradients of the results, weighted with the seeds. Integer arguments get zeros.
Grads value_and_grad(const Fn& f, std::span<const Tensor> args, const GradOptions& options = {});

// value and pullback: vjp(f, args) -> (results, seeds -> one gradient per argument).
struct Pullback {
  Tensors values;
  std::function<Tensors(std::span<const Tensor> seeds)> pull;
};
Pullback vjp(const Fn& f, std::span<const Tensor> args);

// Forward mode: results and their derivative in the direction of `tangents`.
struct Pushforward {
  Tensors values, tangents;
};
Pushforward jvp(const Fn& f, std::span<const Tensor> args, std::span<const Tensor> tangents);

// Value and pushforward: linearize(f, args).push(tangents) is jvp(f, args, tangents).tangents. The
// function runs once, however often `push` is called.
struct Linear {
  Tensors values;
  std::function<Tensors(std::span<const Tensor> tangents)> push;  // one tangent per argument
};
Linear linearize(const Fn& f, std::span<const Tensor> args);

// Taylor mode: derivatives of t -> f(x(t)) at t = 0. series[i][k] is derivative k + 1 of the curve
// x_i, result series[j][k] derivative k + 1 of result j. Costs a polynomial of the order
// (autodiff/taylor.h). Arguments that are no floats have no series.
struct Jet {
  Tensors values;
  std::vector<Tensors> series;  // zeros for results that are no floats
};
Jet jet(const Fn& f, std::span<const Tensor> args, std::span<const Tensors> series);

// A tensor with the same value through which no gradient flows.
Tensor stop_gradient(const Tensor& t);

// Runs `f(args)` with the gradient given by `bprop(args…, results…, seeds…) -> gradients of args`.
Tensors with_custom_gradient(const Fn& f, const Fn& bprop, std::span<const Tensor> args);

}  // namespace mycel::runtime
