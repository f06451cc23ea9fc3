// A loop over the rows of tensors that carries values and stacks what every step gives: the C++
// front end of a while_loop with buffers. Derivatives, vmap and compiled plans are the loop's.
#pragma once

#include <functional>

#include "runtime/transforms.h"

namespace mycel::runtime {

struct Scanned {
  Tensors carried;  // of the same types in every step
  Tensors results;  // of one step; of all steps, stacked along a new first dim
};
using ScanBody =
    std::function<Scanned(std::span<const Tensor> carried, std::span<const Tensor> rows)>;

// (carried, results[i]) = body(carried, rows i of xs) for every i. `length`: the number of steps,
// needed only where xs is empty. ValueError when first dims differ or are unknown.
Scanned scan(const ScanBody& body, std::span<const Tensor> carried, std::span<const Tensor> xs,
             int64_t length = -1);

}  // namespace mycel::runtime
