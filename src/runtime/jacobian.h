// Jacobians and Hessians: all directions of a derivative at once, by vmap over the pushforward
// (jacfwd: one direction per element of an argument) or the pullback (jacrev: one per element of a
// result). The function itself runs once.
#pragma once

#include <vector>

#include "runtime/transforms.h"

namespace mycel::runtime {

struct Jacobian {
  Tensors values;  // what the function returned
  // blocks[j][k]: derivative of result j with respect to argument wrt[k], of shape
  // [result dims…, argument dims…]. Results and arguments that are no floats have zeros.
  std::vector<Tensors> blocks;
};

struct JacobianOptions {
  std::vector<int> wrt = {0};
  bool has_aux = false;  // only result 0 is differentiated
};

Jacobian jacfwd(const Fn& f, std::span<const Tensor> args, const JacobianOptions& options = {});
Jacobian jacrev(const Fn& f, std::span<const Tensor> args, const JacobianOptions& options = {});

// Second derivatives of the first result: blocks[i][k] has the shape [result dims…, dims of
// argument wrt[i]…, dims of argument wrt[k]…]. Forward over reverse.
Jacobian hessian(const Fn& f, std::span<const Tensor> args, const JacobianOptions& options = {});

}  // namespace mycel::runtime
