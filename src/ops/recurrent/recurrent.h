// The recurrent room: losses over the alignments of two sequences (CTC, transducers) and the steps
// of recurrent cells. The losses are kernels in log space with their gradients; second derivatives
// are refused.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kCtcForward, kCtcBackward, kCtcLoss, kCtcLossValue;
extern const OpDef kCtcGreedyDecoder;
extern const OpDef kRnntForward, kRnntBackward, kRnntLoss;
// Gates from the products with input and state to the next state.
extern const OpDef kLstmStep, kGruStep;

void register_ctc();
void register_ctc_decode();
void register_rnnt();
void register_steps();

}  // namespace mycel::ops
