// The shape room's list of records.
#include "ops/shape/shape.h"

#include "ir/op.h"
#include "ops/all_ops.h"

namespace mycel::ops {

void register_shape() {
  ir::register_ops(
      {&kConstant, &kFillConstant, &kFull, &kZeros, &kOnes, &kZerosLike, &kOnesLike, &kFullLike});
  ir::register_ops({&kReshape, &kReshapeLike, &kExpandDims, &kSqueeze, &kCollapseDims, &kFlatten,
                    &kRavel, &kAtleast1d, &kAtleast2d, &kAtleast3d});
  ir::register_ops(
      {&kTranspose,      &kSwapaxes,      &kMoveaxis,     &kRollaxis,       &kT,
       &kBroadcastTo,    &kBroadcastLike, &kTile,         &kRepeatElements, &kRepeatInterleave,
       &kFlip,           &kFliplr,        &kFlipud,       &kRoll,           &kRollAxes,
       &kRot90,          &kDepthToSpace,  &kSpaceToDepth, &kPixelShuffle,   &kPixelUnshuffle,
       &kSpaceToBatchNd, &kBatchToSpaceNd});
  ir::register_ops({&kConcat, &kConcatGrad, &kStack, &kSplitV, &kSplit, &kSplitEqual, &kChunk,
                    &kTensorSplit, &kUnstack, &kMeshgrid, &kHstack, &kVstack, &kDstack,
                    &kColumnStack});
  ir::register_ops(
      {&kBasicSlice, &kSliceUpdate, &kSlice, &kNarrow, &kStridedSlice, &kStridedSliceUpdate});
  ir::register_ops({&kPadNd, &kPad, &kConstantPad, &kMirrorPad, &kArange, &kLinspace, &kEye});
  ir::register_ops({&kBand, &kMatrixBandPart, &kTril, &kTriu, &kDiagonal, &kDiagonalUpdate, &kDiag,
                    &kDiagflat, &kDiagEmbed, &kTrace});
  ir::register_ops(
      {&kMatrixDiagBand, &kMatrixDiagPartBand, &kMatrixSetDiagBand, &kFillDiagonal, &kDiagPart});
  ir::register_ops(
      {&kBartlettWindow, &kHannWindow, &kBlackmanWindow, &kHammingWindow, &kKaiserWindow});
  ir::register_ops({&kChannelShuffle, &kPadding, &kConjugateTranspose, &kDataFormatDimMap,
                    &kDataFormatVecPermute});
  ir::register_ops({&kBlockDiag, &kCartesianProd, &kCombinations, &kTrilIndices, &kTriuIndices,
                    &kLogspace, &kAdjoint, &kViewAsReal});
}

}  // namespace mycel::ops
