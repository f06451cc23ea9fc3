// The canonical nest of a reduction over an (outer, n, inner) view: every element is lifted to a
// tuple of accumulators by a prologue, tuples are combined, and an epilogue turns each result into
// outputs of shape (outer, inner). Sum, mean, max, argmax, any, logsumexp and the pieces of softmax
// are such formulas.
//
// How the work is cut depends on the shape alone (fixed chunks), never on the number of threads, so
// results are equal bit for bit for any thread count. Float sums over contiguous elements are
// spread over vector lanes, which differs from the left-to-right order by rounding only.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "loops/nest.h"

namespace mycel::loops {

struct Reduction {
  struct Input {
    DType dtype;
    bool per_result = false;  // (outer, inner): read once for each result, e.g. a mean
  };
  struct Accumulator {
    DType dtype;   // float32, float64, an integer, bool or complex
    double start;  // neutral element of the combination; infinities are allowed for floats
  };
  std::string name;
  std::vector<Input> in;
  std::vector<DType> out;
  std::vector<Accumulator> accumulators;
  // The tuple of one element; `at` is its position along n (int64).
  std::function<void(std::span<const Val> in, Val at, std::span<Val> tuple)> lift;
  // Combines two tuples (associative; `a` stands before `b`). Write sums as a + b, extremes as
  // max(a, b), in this order, and they are vectorised.
  std::function<void(std::span<const Val> a, std::span<const Val> b, std::span<Val> tuple)> combine;
  // Outputs from the final tuple; `in` holds the per-result inputs (the others are empty); `n` is
  // int64.
  std::function<void(std::span<const Val> tuple, std::span<const Val> in, Val n,
                     std::span<Val> out)>
      finish;
};

Nest reduce(const Reduction& r, int64_t outer, int64_t n, int64_t inner);

}  // namespace mycel::loops
