// Execution of ops whose attributes hold code: cond, while_loop (regions), callback and
// custom_gradient (host functions); and the C++ front end of the first two. On concrete values a
// branch or loop simply runs (a recorder then sees the ops inside); on abstract ones the regions
// become graphs.
#pragma once

#include "runtime/dispatch.h"
#include "runtime/transforms.h"

namespace mycel::runtime {

// How to run `op`; MYCEL_CHECK when it is an ordinary op.
using RegionKernel = Tensors (*)(const ir::Op&, std::span<const Tensor>, const ir::Attrs&);
RegionKernel region_kernel(const ir::Op& op);

// then(operands) or otherwise(operands). `pred`: one bool.
Tensors cond(const Tensor& pred, const Fn& then, const Fn& otherwise,
             std::span<const Tensor> operands = {});
// while (condition(carried)) carried = body(carried).
Tensors while_loop(const Fn& condition, const Fn& body, std::span<const Tensor> carried);
// carried = body(i, carried) for i in [begin, end); i is an int32 tensor.
Tensors fori_loop(int64_t begin, int64_t end,
                  const std::function<Tensors(const Tensor& i, std::span<const Tensor>)>& body,
                  std::span<const Tensor> carried);

}  // namespace mycel::runtime
