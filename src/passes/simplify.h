// What a pattern of simplify_algebra sees: one node about to be copied, its operands simplified
// already, and a way to emit nodes, which are simplified in turn. A pattern gives the value that
// stands for the node, of the same type, or nothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/core_ops.h"
#include "ir/graph.h"

namespace mycel::passes {

class Simplifier;

struct Site {
  Simplifier& simplifier;
  const ir::Op& op;
  std::span<const ir::Value> in;
  const ir::Attrs& attrs;
  const ir::Type& type;  // of the only result
  ir::Loc loc;

  ir::Value x(int i) const { return in[i]; }
  ir::AttrsView view() const { return {op, attrs}; }
  bool integral() const { return is_int(type.dtype); }
  // Operand `i` where its type is the result's: then it can stand for the node.
  ir::Value same_type(int i) const { return x(i).type() == type ? x(i) : ir::Value(); }
  ir::Value emit(const char* op, ir::ValueList in, ir::Attrs attrs = {}) const;
  // A tensor of this type filled with one number.
  ir::Value filled(double value, const ir::Type& type) const;
};

struct Pattern {
  const char* op;    // name; "" for every op with a scalar formula, "view" for every view
  const char* what;  // for the reader
  ir::Value (*rewrite)(const Site&);
};

// The tables, by what they are about.
std::span<const Pattern> arithmetic_patterns();  // simplify_arithmetic.cc
std::span<const Pattern> layout_patterns();      // simplify_layout.cc
std::span<const Pattern> quantized_patterns();   // simplify_quantized.cc

// True when `v` is the result of the op of this name.
bool made_by(const ir::Value& v, const char* op);
// The number that every element of `v` is, when `v` is a constant that says so.
std::optional<double> uniform(const ir::Value& v);
inline bool is_number(const ir::Value& v, double number) { return uniform(v) == number; }
bool is_constant(const ir::Value& v);
// Whether every value of dtype `from` is one of dtype `to`.
bool lossless(DType from, DType to);

}  // namespace mycel::passes
