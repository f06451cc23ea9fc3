// Random room: distributions as pure functions of a key (uint32[2]) and attributes. The published
// ops with seeds draw a key from the process's random state (runtime/random_state.h) and call
// these.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

// draw.op.cc
extern const OpDef kRandomBits, kRandomUniform, kRandomNormal, kRandomInt, kRandomGamma,
    kRandomPoisson;
// derived.op.cc
extern const OpDef kRandomTruncatedNormal, kRandomBernoulli, kRandomLaplace, kRandomExponential,
    kRandomGumbel;
extern const OpDef kRandomMultinomial, kRandomCategorical, kRandomPermutation, kRandomShuffle;
// candidates.op.cc
extern const OpDef kRandomChoice, kRandomCandidates;
// dropout.op.cc
extern const OpDef kDropoutElements, kDropoutChannels;

}  // namespace mycel::ops
