#include "ops/embedding/embedding.h"

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/all_ops.h"
#include "ops/control/control.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;
using Ints = ir::Attr::Ints;

namespace {

void need_table(Expansion& e, const Value& table) {
  if (table.rank() < 1)
    value_error("{}: the table needs a dim of rows, got {}", e.op.name, table.type().str());
}

// Rows whose index is padding_idx get no gradient: they pass through a stop, as the published
// layer's padding row never learns.
void expand_embedding(Expansion& e) {
  Value indices = e.x(0), table = e.x(1);
  need_table(e, table);
  Value rows = kGather({table, indices}, {0});
  const ir::Attr& padding = e.attrs["padding_idx"];
  if (padding.none()) return e.result(rows);
  int64_t n = table.shape()[0], at = padding.integer();
  if (n != kUnknownDim && (at < -n || at >= n)) {
    value_error("embedding: padding_idx {} is outside [{}, {}]", at, -n, n - 1);
  }
  if (at < 0 && n == kUnknownDim)
    value_error("embedding: a negative padding_idx needs a known number of rows");
  if (at < 0) at += n;
  Value is_padding = kEqual({indices, number(indices, static_cast<double>(at))});
  for (int d = 1; d < table.rank(); ++d) is_padding = kExpandDims({is_padding}, {-1});
  e.result(where(is_padding, kStopGradient({rows}), rows));
}

// indices - offset; rows outside the table read 0, as published.
void expand_lookup(Expansion& e) {
  need_table(e, e.x(0));
  Value indices = cast_to(e.x(1), DType::kInt64);
  int64_t offset = e.attrs.integer("offset");
  if (offset != 0) indices = indices - static_cast<double>(offset);
  e.result(kGather({e.x(0), indices}, {0, 0, "skip"}));
}

}  // namespace

constexpr OpDef kEmbedding = check({
    .name = "embedding",
    .doc = "Rows of a table: y[i] = table[indices[i]]; the row padding_idx gets no gradient.",
    .in = {"input: index", "weight: inexact"},
    .attr = {"padding_idx: int? = None"},
    .shard = "none",
    .expand = expand_embedding,
    .cases = "input[2, 3] []; input in ints(0, 3); weight[4, 5]; padding_idx = None | input[2, 3]; "
             "padding_idx = 3 -2; skip "
             "grad: the gradient leaves the padding row out on purpose; skip grad2: as grad; bad "
             "padding_idx = 4; skip "
             "zero_size: an empty table has no rows; skip scalar: a table has rows",
    .internal = true,
});

constexpr OpDef kEmbeddingLookup = check({
    .name = "embedding_lookup",
    .doc = "Rows of a part of a table that begins at row `offset`: y[i] = table[indices[i] - "
           "offset], 0 for rows outside.",
    .in = {"params: any", "indices: index"},
    .attr = {"offset: int = 0"},
    .shard = "none",
    .expand = expand_lookup,
    .cases = "params[4, 5]; indices[2, 3]; indices in ints(-1, 9); offset = 0 3; bad params[]; "
             "skip zero_size: an empty "
             "table has no rows; skip scalar: a table has rows",
    .primitive = "EmbeddingLookup",
    .internal = true,
});

void register_embedding() { ir::register_ops({&kEmbedding, &kEmbeddingLookup}); }

}  // namespace mycel::ops
