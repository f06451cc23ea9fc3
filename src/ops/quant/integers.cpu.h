// A contraction of 8-bit integers and what is done to its sums, as oneDNN's description: from a
// node alone, whose result are the sums, or from a `joined` node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/cpu/epilogue.h"
#include "backend/cpu/onednn/convolution.h"

namespace mycel::ops {

// What follows the sums; positions are those of the buffers.
struct Requantizing {
  bool bias = false;
  int bias_at = -1;
  std::vector<cpu::onednn::PostOp> post;
  cpu::onednn::Integers integers;
};

// The contraction of a problem: the node, the types of its operands (null: absent) and where each
// lies among the buffers.
struct Contraction {
  const ir::Op* op = nullptr;
  const ir::Attrs* attrs = nullptr;
  std::vector<const ir::Type*> in;
  std::vector<int> at;
  ir::Types sums;  // of its result
  bool has(int i) const { return i < static_cast<int>(in.size()) && in[i]; }
};
Contraction contraction_of(const cpu::Problem& p);
Contraction contraction_of(const cpu::Joined& joined, const cpu::Problem& p);

// Why oneDNN has nothing for these operands; `x_zero`, `w_zero`: which operands are zero points.
std::string unsuited_integers(const Contraction& c, int x_zero, int w_zero);
// The operands' part of the description.
Requantizing of_operands(const Contraction& c, int x_zero, const ir::Type& y);
// The steps behind the sums; false when oneDNN has no such. `channels`: of the last dim.
bool add_steps(std::vector<cpu::EpilogueStep> steps, const cpu::Problem& p, int64_t channels,
               Requantizing& to);

}  // namespace mycel::ops
