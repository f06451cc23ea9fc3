// What a record's line `moves` says: how an op takes operands whose dims stand in another order.
//
//   .moves = "m . -> m . : axis axis"
//
// Operands, "->", results, each with a mark: m, its dims are moved; ., it is as ever; -, it must be
// absent; b, it broadcasts against what is moved (dims counted from the back); r, it is moved and
// has lost the dims that attribute `axis` names. "m*" stands for any number. Then attributes and
// what they hold: axis, a position or several; each, one entry per dim; shape, the shape that a
// result has; order, whether channels come first or last; best, the same, and channels last is what
// the op is fastest with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace mycel::passes {

// New dim k is old dim order[k].
using Order = std::vector<int>;
Order inverse(const Order& order);
Shape moved(const Shape& s, const Order& order);
// `s` under dims of 1 in front, so that it has `rank` dims.
Shape under_ones(const Shape& s, int rank);

struct Moves {
  enum class Kind : uint8_t { kAxis, kEach, kShape, kOrder };
  std::vector<char> in, out;             // marks
  bool any_in = false, any_out = false;  // the last mark stands for any number
  std::vector<std::pair<int, Kind>> attrs;
  int order = -1;     // the attribute that says whether channels come first or last
  bool best = false;  // last is fastest

  char of_operand(size_t i) const { return i < in.size() ? in[i] : any_in ? in.back() : '?'; }
  char of_result(size_t j) const { return j < out.size() ? out[j] : any_out ? out.back() : '?'; }
};
// Null when the record has no such line.
const Moves* moves_of(const ir::Op& op);

// The attributes for operands of `order`, which an op with attribute `order` must know as channels
// last. Nothing when the op has that order already.
std::optional<ir::Attrs> moved_attrs(const ir::Node& n, const Moves& m, const Order& order);

}  // namespace mycel::passes
