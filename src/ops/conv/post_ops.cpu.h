// Elementwise steps behind a contraction as oneDNN's post-ops, for contractions of floats and of
// integers.
#pragma once

#include <optional>

#include "backend/cpu/epilogue.h"
#include "backend/cpu/onednn/convolution.h"

namespace mycel::ops {

// a x + b.
cpu::onednn::PostOp linear(double a, double b);
// A sum, difference, product or quotient with the step's number; with its operand, of type `t` and
// broadcasting to a result of `rank` dims. Nothing for steps of other kinds.
std::optional<cpu::onednn::PostOp> number_step(const cpu::EpilogueStep& s);
std::optional<cpu::onednn::PostOp> operand_step(const cpu::EpilogueStep& s, const ir::Type& t,
                                                int rank);

}  // namespace mycel::ops
