// Index room: ops whose result places depend on values: gathering, scattering, sorting, searching,
// segments. An index out of range is a UserError (IndexError) raised at the call; negative indices
// count from the end. Equal indices are applied in order, so every result is deterministic.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

// gather.op.cc
extern const OpDef kGather, kGatherD, kGatherNd, kIndexSelect, kTake, kOneHot;
// scatter.op.cc
extern const OpDef kAxisScatterAdd, kIndexAdd, kIndexFill, kMaskedFill;
extern const OpDef kTensorScatterUpdate, kTensorScatterAdd, kTensorScatterSub, kTensorScatterMul,
    kTensorScatterDiv;
extern const OpDef kTensorScatterMin, kTensorScatterMax, kScatterNd;
// scatter_forms.op.cc
extern const OpDef kElementsScatterAdd, kElementsScatterUpdate, kTensorScatterElements,
    kMaskedScatter, kSequenceMask;
// inplace.op.cc
extern const OpDef kInplaceAdd, kInplaceSub, kInplaceUpdate, kInTopK;
// reverse.op.cc
extern const OpDef kReverseSequence;

// order.op.cc
extern const OpDef kSort, kArgsort, kMsort, kTopkAlong, kTopK, kSearchsorted;
// segment.op.cc
extern const OpDef kUnsortedSegmentSum, kUnsortedSegmentMax, kUnsortedSegmentMin,
    kUnsortedSegmentProd;
// sorted_segment.op.cc
extern const OpDef kZeroRows, kSegmentSum, kSegmentMax, kSegmentMin, kSegmentMean, kSegmentProd;
// diagonals.op.cc
// picking.op.cc, sequences.op.cc
extern const OpDef kNthElement, kListDiff, kIndexPut, kCompareAndBitpack, kCheckNumerics,
    kNoRepeatNgram, kRaggedRange, kEditDistance;
// dynamic.op.cc: result sizes that depend on values
extern const OpDef kNonzero, kShapeOf, kCompress, kMaskedSelect, kUnique, kUniqueWithPad, kRuns,
    kUniqueConsecutive, kRepeatIndices;
extern const OpDef kBincount, kHistc;
extern const OpDef kHistogramFixedWidth;

// quantile.op.cc, interpolation.op.cc, patches.op.cc
extern const OpDef kMedian, kQuantile, kNanquantile, kInterp, kHistogramByEdges, kUnfold, kFold;

// Batching rules of gather and axis_scatter_add, of index tuples, and of one_hot.
bool batch_gather(ir::Batching& b);
bool batch_tuples(ir::Batching& b);
bool batch_one_hot(ir::Batching& b);

}  // namespace mycel::ops
