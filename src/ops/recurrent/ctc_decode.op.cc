// The most probable path of a CTC network, read as labels.
#include "ir/type_rule.h"
#include "ops/recurrent/recurrent.h"

namespace mycel::ops {

using ir::check;
using ir::no_gradient;
using ir::TypeRuleCtx;

constexpr OpDef kCtcGreedyDecoder = check({
    .name = "ctc_greedy_decode",
    .doc =
        "The best class of each frame of inputs [t, n, c] up to sequence_length [n], blanks (the "
        "last class) dropped and repeats, with merge_repeated, merged: sparse labels as indices "
        "[k, 2], values [k] and shape [2], and minus the sum of the best scores [n, 1].",
    .in = {"inputs: float[t, n, c]", "sequence_length: index[n]"},
    .attr = {"merge_repeated: bool = True"},
    .out = {"decoded_indices", "decoded_values", "decoded_shape", "log_probability"},
    .type =
        [](TypeRuleCtx& c) {
          const Shape &x = c.shape(0), &lengths = c.shape(1);
          if (x.rank() != 3 || lengths.rank() != 1)
            c.fail("inputs must be [frames, batch, classes] and sequence_length [batch]");
          if (dims_differ(x[1], lengths[0])) c.fail("there must be a length for each sample");
          if (x[2] == 0) c.fail("there must be a class: the blank");
          c.result(DType::kInt64, {kUnknownDim, 2});
          c.result(DType::kInt64, {kUnknownDim});
          c.result(DType::kInt64, {2});
          c.result(c.dtype(0), {x[1], 1});
        },
    .shard = "none",
    .grad = no_gradient("a choice"),
    .cases = "inputs[4, 2, 3]; inputs in distinct(-2, 2); sequence_length[2]; sequence_length in "
             "ints(0, 4); merge_repeated = True False; bad sequence_length[3]; bad inputs[4, 3]; "
             "skip dtypes: sums of scores are rounded",
    .primitive = "CTCGreedyDecoder(merge_repeated)",
    .internal = true,
});

void register_ctc_decode() { ir::register_ops({&kCtcGreedyDecoder}); }

}  // namespace mycel::ops
