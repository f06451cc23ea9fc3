// Shape room: ops that make tensors from attributes or move elements about without computing on
// them. Reshape-like ops are views (OpDef::view); nearly all others are lists of strided copies
// (moves.h), from which both the loop rule and the CPU kernel follow.
#pragma once

#include <vector>

#include "ir/adjoint.h"
#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

// create.op.cc
extern const OpDef kConstant, kFillConstant, kFull, kZeros, kOnes, kZerosLike, kOnesLike, kFullLike;
// view.op.cc
extern const OpDef kReshape, kReshapeLike, kExpandDims, kSqueeze, kCollapseDims, kFlatten, kRavel;
extern const OpDef kAtleast1d, kAtleast2d, kAtleast3d;
// layout.op.cc
extern const OpDef kTranspose, kSwapaxes, kMoveaxis, kRollaxis, kT, kBroadcastTo, kBroadcastLike,
    kTile;
extern const OpDef kRepeatElements, kRepeatInterleave, kFlip, kFliplr, kFlipud, kRoll, kRollAxes,
    kRot90;
extern const OpDef kDepthToSpace, kSpaceToDepth, kPixelShuffle, kPixelUnshuffle;
extern const OpDef kSpaceToBatchNd, kBatchToSpaceNd;
// join.op.cc
extern const OpDef kConcat, kConcatGrad, kStack, kSplitV, kSplit, kSplitEqual, kChunk, kTensorSplit;
extern const OpDef kUnstack, kMeshgrid, kHstack, kVstack, kDstack, kColumnStack;
// slice.op.cc
extern const OpDef kBasicSlice, kSliceUpdate, kSlice, kNarrow, kStridedSlice, kStridedSliceUpdate;
// pad.op.cc
extern const OpDef kPadNd, kPad, kConstantPad, kMirrorPad;
// sequence.op.cc
extern const OpDef kArange, kLinspace, kEye;
// formats.op.cc
extern const OpDef kChannelShuffle, kPadding, kConjugateTranspose, kDataFormatDimMap,
    kDataFormatVecPermute;
// matrix.op.cc
extern const OpDef kBand, kMatrixBandPart, kTril, kTriu, kDiagonal, kDiagonalUpdate, kDiag,
    kDiagflat, kDiagEmbed;
extern const OpDef kTrace;
// diagonals.op.cc
extern const OpDef kMatrixDiagBand, kMatrixDiagPartBand, kMatrixSetDiagBand, kFillDiagonal,
    kDiagPart;
// windows.op.cc
extern const OpDef kBartlettWindow, kHannWindow, kBlackmanWindow, kHammingWindow, kKaiserWindow;
// combine.op.cc
extern const OpDef kBlockDiag, kCartesianProd, kCombinations, kTrilIndices, kTriuIndices, kLogspace,
    kAdjoint, kViewAsReal;

// -- what gradient rules of several rooms need
// ------------------------------------------------------- `v` under the shape of operand `i`; free.
ir::Value shaped_like(ir::Adjoint& a, ir::Value v, int i);
// Zeros of the type of operand `i`; touches the operand only when its shape is unknown.
ir::Value zeros_of(ir::Adjoint& a, int i);
// A tensor of `value`s.
ir::Value filled(ir::Graph& g, double value, const Shape& shape, DType dtype);
// All results of a multi-result op.
std::vector<ir::Value> all_results(const OpDef& op, std::vector<ir::Value> inputs, ir::Attrs attrs);
// Elements [start, start + length) of one axis.
ir::Value sliced(ir::Value x, int axis, int64_t start, int64_t length);

}  // namespace mycel::ops
