// Shapes, orders, dtypes and copies: moves that cancel, and moves that need not happen. No element
// changes.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "passes/simplify.h"

namespace mycel::passes {
namespace {

using ir::Attr;
using ir::Type;
using ir::Value;
using Ints = Attr::Ints;

Value source(const Value& v) { return v.node->inputs[0]; }

Value reshaped(const Site& s, const Value& x) {
  return x.type() == s.type ? x : s.emit("reshape", {x}, {Attr(s.type.shape)});
}

// A view of a view of x is a view of x.
Value view_of_view(const Site& s) {
  if (!s.type.shape.known() || !s.op.def.view) return {};
  if (s.x(0).type() == s.type) return s.x(0);
  bool view = s.x(0).node->op && s.x(0).node->op->def.view && source(s.x(0)).shape().known();
  return view ? reshaped(s, source(s.x(0))) : Value();
}

// A constant filled with one number is that in every shape and order.
Value moved_fill(const Site& s) {
  if (s.x(0).node->op != ir::core_ops().full || !s.type.shape.known()) return {};
  return s.emit("fill_constant", {},
                {s.x(0).node->attrs[0], Attr(s.type.shape), Attr(s.type.dtype)});
}

Ints permutation(const Attr& perm, int rank) {
  Ints p(static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d) {
    int64_t axis = perm.none() ? rank - 1 - d : perm.ints()[d];
    p[d] = axis < 0 ? axis + rank : axis;
  }
  return p;
}

// Only dims of size 1 change place: the elements keep their order.
bool keeps_order(const Ints& p, const Shape& from) {
  int64_t last = -1;
  for (int64_t axis : p) {
    if (from[static_cast<int>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

Value transpose(const Site& s) {
  Ints p = permutation(s.attrs[0], s.type.shape.rank());
  if (std::is_sorted(p.begin(), p.end())) return s.same_type(0);
  if (made_by(s.x(0), "transpose")) {
    Ints inner = permutation(s.x(0).node->attrs[0], s.type.shape.rank());
    for (int64_t& axis : p) axis = inner[static_cast<size_t>(axis)];
    return s.emit("transpose", {source(s.x(0))}, {Attr(p)});
  }
  return s.x(0).shape().known() && keeps_order(p, s.x(0).shape()) ? reshaped(s, s.x(0)) : Value();
}

Value cast(const Site& s) {
  if (s.x(0).type() == s.type) return s.x(0);
  if (made_by(s.x(0), "cast")) {
    Value x = source(s.x(0));
    if (!lossless(x.dtype(), s.x(0).dtype())) return {};
    return x.type() == s.type ? x : s.emit("cast", {x}, {Attr(s.type.dtype)});
  }
  if (s.x(0).node->op != ir::core_ops().full || !s.type.shape.known()) return {};
  // Where the number is one of both dtypes.
  auto number = uniform(s.x(0));
  if (!number || is_complex(s.type.dtype)) return {};
  alignas(16) char element[16];
  set_element(element, s.type.dtype, 0, *number);
  bool range = !is_int(s.type.dtype) || (*number > -0x1p31 && *number < 0x1p31);
  if (!range || element_as_double(element, s.type.dtype, 0) != *number) return {};
  return s.filled(*number, s.type);
}

Value broadcast(const Site& s) {
  if (s.x(0).type() == s.type && s.type.shape.known()) return s.x(0);
  return made_by(s.x(0), "broadcast_to") && s.type.shape.known()
             ? s.emit("broadcast_to", {source(s.x(0))}, {Attr(s.type.shape)})
             : Value();
}

Value same_shape(const Site& s) { return s.type.shape.known() ? s.same_type(0) : Value(); }

// zeros_like and ones_like: nothing of the operand is needed.
Value like(const Site& s) {
  if (!s.type.shape.known()) return {};
  return s.filled(s.op.name == "ones_like" ? 1 : 0, s.type);
}

// Elementwise ops broadcast by themselves: an operand need not be made large first.
Value small_operand(const Site& s) {
  if (s.in.size() < 2 || !s.type.shape.known()) return {};
  for (size_t i = 0; i < s.in.size(); ++i) {
    const Value& big = s.in[i];
    if (!big || !big.node->op) return {};
    bool fill = big.node->op == ir::core_ops().full && big.rank() > 0;
    if (!fill && !made_by(big, "broadcast_to")) continue;
    Type small = fill ? Type(big.dtype(), Shape()) : source(big).type();
    std::vector<const Type*> types;
    for (const Value& v : s.in) types.push_back(&v.type());
    types[i] = &small;
    try {
      if (ir::infer_types(s.op, types, s.attrs) != ir::Types{s.type}) continue;
    } catch (const UserError&) {
      continue;  // an op that wants equal shapes
    }
    std::vector<Value> in(s.in.begin(), s.in.end());
    in[i] =
        fill ? s.emit("fill_constant", {}, {big.node->attrs[0], Attr(Shape()), Attr(big.dtype())})
             : source(big);
    return s.emit(s.op.name.c_str(), std::move(in), s.attrs);
  }
  return {};
}

// Positions that a basic_slice with steps above 0 takes from dim d: first, first + step, …
struct Taken {
  int64_t first, step, count;
};

std::optional<Taken> taken(const ir::Node& slice, int d) {
  int64_t n = slice.inputs[0].shape()[d], step = slice.attrs[2].ints()[d];
  int64_t begin = slice.attrs[0].ints()[d], count = slice.types[0].shape[d];
  if (n == kUnknownDim || step <= 0 || count <= 0) return {};
  if (begin < 0) begin = begin < -n ? 0 : begin + n;
  return Taken{begin, step, count};
}

struct Box {
  Ints begin, end, step;
  void add(const Taken& t) {
    begin.push_back(t.first);
    end.push_back(t.first + (t.count - 1) * t.step + 1);
    step.push_back(t.step);
  }
};

std::optional<std::vector<Taken>> taken_by(const ir::Attrs& attrs, const Value& x,
                                           const Type& type) {
  std::vector<Taken> all;
  for (int d = 0; d < type.shape.rank(); ++d) {
    int64_t n = x.shape()[d], step = attrs[2].ints()[d], begin = attrs[0].ints()[d];
    if (n == kUnknownDim || step <= 0 || type.shape[d] <= 0) return {};
    if (begin < 0) begin = begin < -n ? 0 : begin + n;
    all.push_back({begin, step, type.shape[d]});
  }
  return all;
}

Value slice(const Site& s) {
  auto outer = taken_by(s.attrs, s.x(0), s.type);
  if (!outer) return {};
  if (s.x(0).type() == s.type) return s.x(0);  // as many, in steps of at least 1: all of them
  if (made_by(s.x(0), "basic_slice")) {
    const ir::Node& inner = *s.x(0).node;
    Box box;
    for (size_t d = 0; d < outer->size(); ++d) {
      auto in = taken(inner, static_cast<int>(d));
      const Taken& o = (*outer)[d];
      if (!in) return {};
      box.add({in->first + o.first * in->step, in->step * o.step, o.count});
    }
    return s.emit("basic_slice", {inner.inputs[0]},
                  {Attr(box.begin), Attr(box.end), Attr(box.step)});
  }
  if (!made_by(s.x(0), "concat")) return {};
  // Wholly inside one part.
  const ir::Node& joined = *s.x(0).node;
  int64_t axis = joined.attrs[0].integer();
  if (axis < 0) axis += s.type.shape.rank();
  Taken& along = (*outer)[static_cast<size_t>(axis)];
  int64_t start = 0;
  for (const Value& part : joined.inputs) {
    int64_t size = part.shape()[static_cast<int>(axis)];
    if (size == kUnknownDim || part.dtype() != s.type.dtype) return {};
    if (along.first >= start && along.first + (along.count - 1) * along.step < start + size) {
      along.first -= start;
      Box box;
      for (const Taken& t : *outer) box.add(t);
      return s.emit("basic_slice", {part}, {Attr(box.begin), Attr(box.end), Attr(box.step)});
    }
    start += size;
  }
  return {};
}

// concat(x), and concat of neighbouring slices that together are the whole of x.
Value concat(const Site& s) {
  if (s.in.size() == 1) return s.same_type(0);
  int rank = s.type.shape.rank();
  int axis = static_cast<int>(s.attrs[0].integer());
  if (axis < 0) axis += rank;
  int64_t at = 0;
  for (const Value& part : s.in) {
    if (!made_by(part, "basic_slice") || !source(part).same(source(s.x(0)))) return {};
    if (!(source(part).type() == s.type)) return {};
    for (int d = 0; d < rank; ++d) {
      auto t = taken(*part.node, d);
      if (!t || t->step != 1 || t->first != (d == axis ? at : 0)) return {};
      if (d != axis && t->count != s.type.shape[d]) return {};
      if (d == axis) at += t->count;
    }
  }
  return at == s.type.shape[axis] ? source(s.x(0)) : Value();
}

// One row, known by number and inside: a slice.
Value gather_row(const Site& s) {
  auto row = uniform(s.x(1));
  if (!row || s.x(1).rank() != 0 || s.view().integer("batch_dims") != 0) return {};
  const Shape& from = s.x(0).shape();
  int64_t axis = s.view().integer("axis");
  if (axis < 0) axis += from.rank();
  if (!from.known() || *row < 0 || *row >= static_cast<double>(from[static_cast<int>(axis)]))
    return {};
  Box box;
  for (int d = 0; d < from.rank(); ++d) {
    box.add(d == axis ? Taken{static_cast<int64_t>(*row), 1, 1} : Taken{0, 1, from[d]});
    if (from[d] == 0) return {};
  }
  Value cut = s.emit("basic_slice", {s.x(0)}, {Attr(box.begin), Attr(box.end), Attr(box.step)});
  return reshaped(s, cut);
}

constexpr Pattern kPatterns[] = {
    {"view", "a view of a view", view_of_view},
    {"view", "a view of a filled tensor", moved_fill},
    {"transpose", "a transpose of a filled tensor", moved_fill},
    {"transpose", "transposes combine, cancel, or only move dims of size 1", transpose},
    {"cast", "casts that lose nothing", cast},
    {"broadcast_to", "a broadcast of a filled tensor", moved_fill},
    {"broadcast_to", "a broadcast of a broadcast", broadcast},
    {"sum_to", "to the shape that it has", same_shape},
    {"zeros_like", "zeros", like},
    {"ones_like", "ones", like},
    {"", "operands broadcast by themselves", small_operand},
    {"basic_slice", "a slice of a slice or of a concatenation", slice},
    {"concat", "the parts of one tensor", concat},
    {"gather", "one row", gather_row},
};

}  // namespace

std::span<const Pattern> layout_patterns() { return kPatterns; }

}  // namespace mycel::passes
