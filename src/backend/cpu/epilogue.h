// Epilogue: what elementwise ops do to the result of one op before it is stored, for kernels that
// can do it on the way. The body of a `joined` node is taken apart into the op and the rest; the
// rest is read as a chain of simple steps where it is one, whatever the ops are called: their
// formulas are looked at.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backend/cpu/kernel.h"
#include "ir/graph.h"

namespace mycel::cpu {

struct EpilogueStep {
  enum class Kind : uint8_t { kAdd, kSub, kMul, kDiv, kMax, kMin, kRound } kind;
  int operand = -1;  // among the operands of `joined`; -1: the number
  double number = 0;
};

// The body of a `joined` node: first the op, on the first operands, then elementwise ops.
struct Joined {
  explicit Joined(const ir::Graph& body);
  int operands() const;  // of the op, absent ones not counted: the first ones of `joined`
  const ir::Node* op = nullptr;
  // The rest as a body of `fused`: parameters are the op's result, then the operands of `joined`
  // that it reads.
  std::shared_ptr<const ir::Graph> rest;
  std::vector<int> reads;  // operand of `joined` that is parameter 1, 2, … of the rest
};

// The rest as a chain, or nothing when it is none. Integers are made floats on the way, those of
// operands too; floats are rounded to integers at the end, where a step kRound and a step kAdd of
// the zero point stand for what the formula does with bits.
std::optional<std::vector<EpilogueStep>> steps_of(const Joined& joined);

// A kernel of a `joined` problem: `kernel` writes the op's result to where the result of `joined`
// goes (same dtype and shape), then one nest does the rest in place.
std::unique_ptr<Prepared> then_rest(std::shared_ptr<const Prepared> kernel, const Joined& joined,
                                    const Problem& problem);

}  // namespace mycel::cpu
