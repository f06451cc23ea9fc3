// Contraction of two tensors whose dims carry labels: the one algorithm behind tensor_dot, dot,
// inner and einsum. Labels on both sides that the result keeps are batch dims, the others on both
// sides are summed.
#pragma once

#include <string>

#include "ir/graph.h"

namespace mycel::ops {

// A value and one label (any char) per dim, each once.
struct Labelled {
  std::string labels;
  ir::Value value;
};

bool has_label(const std::string& labels, char c);
// The dims of `t` in the order of `labels`, which are those of `t`.
ir::Value ordered(const Labelled& t, const std::string& labels);
// Sums the dims whose labels are not in `needed`.
Labelled summed_to(Labelled t, const std::string& needed);
// The product, summed over the labels that are not in `needed`. One batched matrix product, unless
// several dims that would have to be split off again are unknown; then a broadcast product and a
// sum.
Labelled contract(Labelled a, Labelled b, const std::string& needed);

}  // namespace mycel::ops
