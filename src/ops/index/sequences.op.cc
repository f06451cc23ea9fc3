// Ranges and edit distances of ragged sequences: how much comes out depends on the values.
#include "ir/type_rule.h"
#include "ops/index/index.h"

namespace mycel::ops {

using ir::check;
using ir::no_gradient;
using ir::TypeRuleCtx;

namespace {

void ragged_range_type(TypeRuleCtx& c) {
  int64_t n = 1;
  for (int i = 0; i < 3; ++i) {
    const Shape& s = c.shape(i);
    if (s.rank() > 1) c.fail("starts, limits and deltas must be numbers or vectors");
    if (s.rank() == 0 || s[0] == 1 || s[0] == n) continue;
    if (n != 1 && n != kUnknownDim && s[0] != kUnknownDim)
      c.fail("starts, limits and deltas must have one length, or 1");
    n = n == 1 || n == kUnknownDim ? s[0] : n;
  }
  DType splits = c.attrs["splits"].dtype();
  if (splits != DType::kInt32 && splits != DType::kInt64)
    c.fail_type("Tsplits must be int32 or int64, got {}", name_of(splits));
  c.result(splits, {n == kUnknownDim ? n : n + 1});
  c.result(c.dtype(0), {kUnknownDim});
}

void edit_distance_type(TypeRuleCtx& c) {
  int64_t rank = kUnknownDim;
  for (int i : {0, 3}) {
    const Shape &indices = c.shape(i), &values = c.shape(i + 1), &shape = c.shape(i + 2);
    if (indices.rank() != 2 || values.rank() != 1 || shape.rank() != 1)
      c.fail("indices must be [n, rank], values [n] and shapes [rank]");
    for (int64_t r : {indices[1], shape[0]}) {
      if (r == kUnknownDim) continue;
      if (rank != kUnknownDim && r != rank) c.fail("both sequences must have one rank");
      rank = r;
    }
    if (dims_differ(indices[0], values[0])) c.fail("there must be an index for each value");
  }
  if (rank == kUnknownDim || rank < 2)
    c.fail("the rank must be known while compiling and 2 or more");
  Shape s;
  for (int64_t d = 0; d + 1 < rank; ++d) s.push_back(kUnknownDim);
  c.result(DType::kFloat32, s);
}

}  // namespace

constexpr OpDef kRaggedRange = check({
    .name = "ragged_range",
    .doc = "The ranges [starts, limits) by deltas one after the other, and where each begins: "
           "splits [n + 1], values.",
    .in = {"starts: real[n]", "limits: real[n]", "deltas: real[n]"},
    .attr = {"splits: dtype"},
    .out = {"rt_nested_splits", "rt_dense_values"},
    .promote = ir::Promote::kCommon,
    .type = ragged_range_type,
    .shard = "none",
    .grad = no_gradient("the numbers of a range do not change smoothly"),
    .cases = "starts in ints(0, 3); limits in ints(2, 9); deltas in ints(1, 3); splits = int64 "
             "int32; at ([2, 5, 8], [3, 5, 12], [1, 1, 1]) -> [0, 1, 1, 5], [2, 8, 9, 10, 11]; bad "
             "starts[2, 2]; bad limits[3]; skip dtypes: rounding moves limits",
    .primitive = "RaggedRange(splits=Tsplits)",
    .internal = true,
});

constexpr OpDef kEditDistance = check({
    .name = "edit_distance",
    .doc =
        "Insertions, deletions and substitutions that turn each hypothesis into its truth "
        "(Levenshtein 1966), with normalize over the truth's length (infinite for an empty truth "
        "that is not met). Sequences are sparse: indices [n, rank], values [n], shape [rank], "
        "the last dim being the positions; float32.",
    .in = {"hypothesis_indices: index[n, r]", "hypothesis_values: real[n]",
           "hypothesis_shape: index[r]", "truth_indices: index[m, r]", "truth_values: real[m]",
           "truth_shape: index[r]"},
    .attr = {"normalize: bool = True"},
    .type = edit_distance_type,
    .shard = "none",
    .grad = no_gradient("a count"),
    .cases = "hypothesis_indices[1, 2]; hypothesis_values[1]; hypothesis_shape[2]; "
             "truth_indices[1, 2]; truth_values[1]; truth_shape[2]; hypothesis_shape in ints(2, "
             "2); truth_shape in ints(2, 2); normalize = True False; bad truth_shape[3]; bad "
             "truth_values[2]; skip zero_size: shapes name all dims; skip scalar: the same; skip "
             "dtypes: one dtype",
    .primitive = "EditDistance(normalize)",
    .internal = true,
});

}  // namespace mycel::ops
