// Passes: graph in, graph out, regions of control flow included. Each is a pure function and
// idempotent; pipeline.cc is the contents page. Where a pass changes how a number is computed (pow
// by 2, sums in another order), its line says so; all others keep every bit.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace mycel::passes {

using GraphOut = std::shared_ptr<ir::Graph>;
// Runs one op on constants, for fold_constants: kernels belong to a room above this one.
using Evaluate = Tensors (*)(const ir::Op&, std::span<const Tensor>, const ir::Attrs&);

// Replaces composite ops by what they are made of, until none is left.
GraphOut expand_composites(const ir::Graph& g);
// The same, but leaves those that have a kernel of their own. For graphs that are
// about to run; transforms need primitives.
GraphOut expand_to_kernels(const ir::Graph& g);
// The same, but leaves only those that have loops of their own: for backends of loops alone.
GraphOut expand_to_loops(const ir::Graph& g);
// Algebra by a table of patterns (simplify_arithmetic.cc, simplify_layout.cc,
// simplify_quantized.cc): x * 1, reshape of reshape, casts that cancel, slices of concatenations;
// pow by 2 becomes the more exact product, rows scattered into zeros and added to a tensor are
// added one by one, and contractions of dequantized tensors are computed on the integers.
GraphOut simplify_algebra(const ir::Graph& g);
// Computes small nodes whose operands are all constants; random ops and side effects stay.
GraphOut fold_constants(const ir::Graph& g, Evaluate evaluate);
// Puts the taken region in the place of a cond whose predicate is constant or whose branches are
// alike, and drops loops that never begin.
GraphOut inline_regions(const ir::Graph& g);
// Moves what is the same in every turn of a while_loop before it.
GraphOut hoist_loop_invariants(const ir::Graph& g);
// Merges nodes of the same op, operands and attributes; random ops and side effects are left alone.
GraphOut merge_duplicates(const ir::Graph& g);
// Adds gradients before they are reshaped or transposed instead of after, so that the additions of
// one sum become neighbours, which fuse_elementwise makes one kernel.
GraphOut merge_gradient_sums(const ir::Graph& g);
// Drops nodes whose results nobody uses (side effects stay; parameters of the graph stay), results
// of branches, and values that a loop carries for nobody.
GraphOut eliminate_dead_code(const ir::Graph& g);
// Activations of convolutions keep their channels last from end to end, whatever the program says,
// with transposes where they come from and where they go: how ops take such operands is in their
// records (moved.h). Sums over positions may then be taken in another order.
GraphOut channels_last(const ir::Graph& g);
// Puts the attention op, and its gradient, in the place of softmax(scale q kᵀ + mask) v written out
// in float32: no scores in memory, sums in another order. Transposes of heads around it go away.
GraphOut fuse_attention(const ir::Graph& g);
// Kernels that compute in float32 read and write 16-bit floats themselves: casts to float32 before
// them and back behind them go away, those before several elementwise ops go into each. No number
// is rounded more often than the program says; a zero that relu makes may change its sign.
GraphOut absorb_casts(const ir::Graph& g);
// Numbers per channel by which a convolution's result is multiplied, or which are added to it,
// become part of its weights and bias where all of these follow from `steady` parameters (one flag
// each): computed once, with other roundings.
GraphOut fold_scales(const ir::Graph& g, const std::vector<bool>& steady);
// Where floats made from integer sums, and perhaps another quantized tensor, are quantized: the
// scales are multiplied out, so that what is left is one multiplication for each element and few
// additions, in the form that kernels do on the way (round_saturate last). Other roundings.
GraphOut fold_requantize(const ir::Graph& g);
// The gradient of a ReLU behind a batch normalisation becomes part of the latter's: which results
// were positive is computed again from what it reads anyway.
GraphOut fuse_norm_gradients(const ir::Graph& g);
// Elementwise results that are kept over the moment when most memory is taken, and whose operands
// are kept too, are computed again behind it. Stops where the peak is at most `above` bytes.
GraphOut recompute(const ir::Graph& g, int64_t above);
// Joins neighbouring elementwise ops of one shape into `fused` ops: one kernel, no memory between
// them; 16-bit floats between them keep the float32 that they were computed in.
GraphOut fuse_elementwise(const ir::Graph& g);
// Whether the backend has a kernel of its own for an op on operands of these types.
using Accepts = bool (*)(const ir::Op&, std::span<const ir::Type* const> in,
                         std::span<const ir::Type> out, const ir::Attrs&);
// Joins an op with the elementwise ops that its result alone goes into, where one kernel does both.
GraphOut join_epilogues(const ir::Graph& g, Accepts accepts);

// What compiling a graph does to it, in order. MYCEL_DUMP=dir writes the graph after every pass;
// with MYCEL_DEBUG=1 each result is verified (ir/verify.h). Without `evaluate` nothing is folded,
// and without `accepts` nothing is joined. `steady`: which parameters seldom change from run to
// run. `observe` sees the graph that is given ("input") and what each pass made of it.
// `keep_values`: no pass that hides a node's value inside a larger one runs, for debuggers.
using Observe = std::function<void(const char* pass, const ir::Graph& g)>;
GraphOut optimize(const ir::Graph& g, Evaluate evaluate = nullptr, Accepts accepts = nullptr,
                  const std::vector<bool>& steady = {}, const Observe& observe = {},
                  bool keep_values = false);

}  // namespace mycel::passes
