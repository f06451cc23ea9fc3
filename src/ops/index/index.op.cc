// The index room's list of records.
#include "ops/index/index.h"

#include "ir/op.h"
#include "ops/all_ops.h"

namespace mycel::ops {

void register_index() {
  ir::register_ops({&kGather, &kGatherD, &kGatherNd, &kIndexSelect, &kTake, &kOneHot});
  ir::register_ops({&kAxisScatterAdd, &kElementsScatterAdd, &kIndexAdd, &kIndexFill, &kMaskedFill,
                    &kTensorScatterUpdate, &kTensorScatterAdd, &kTensorScatterSub,
                    &kTensorScatterMul, &kTensorScatterDiv, &kTensorScatterMin, &kTensorScatterMax,
                    &kScatterNd});
  ir::register_ops({&kElementsScatterUpdate, &kTensorScatterElements, &kMaskedScatter,
                    &kSequenceMask, &kReverseSequence});
  ir::register_ops({&kInplaceAdd, &kInplaceSub, &kInplaceUpdate, &kInTopK});
  ir::register_ops({&kSort, &kArgsort, &kMsort, &kTopkAlong, &kTopK, &kSearchsorted});
  ir::register_ops(
      {&kUnsortedSegmentSum, &kUnsortedSegmentMax, &kUnsortedSegmentMin, &kUnsortedSegmentProd});
  ir::register_ops({&kZeroRows, &kSegmentSum, &kSegmentMax, &kSegmentMin, &kSegmentMean,
                    &kSegmentProd, &kNthElement, &kListDiff, &kIndexPut, &kCompareAndBitpack,
                    &kCheckNumerics, &kNoRepeatNgram, &kRaggedRange, &kEditDistance});
  ir::register_ops({&kNonzero, &kShapeOf, &kCompress, &kMaskedSelect, &kUnique, &kUniqueWithPad,
                    &kRuns, &kUniqueConsecutive, &kRepeatIndices, &kBincount, &kHistc,
                    &kHistogramFixedWidth});
  ir::register_ops(
      {&kMedian, &kQuantile, &kNanquantile, &kInterp, &kHistogramByEdges, &kUnfold, &kFold});
}

}  // namespace mycel::ops
