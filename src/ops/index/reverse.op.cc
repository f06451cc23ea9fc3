#include <algorithm>

#include "ir/adjoint.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/index/index.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::check;
using ir::LoopCtx;
using ir::TypeRuleCtx;
namespace types = ir::types;
using loops::Val;

namespace {

void reverse_type(TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &lengths = c.shape(1);
  int seq = c.axis(c.attrs.integer("seq_dim")), batch = c.axis(c.attrs.integer("batch_dim"));
  if (seq == batch) c.fail("seq_dim and batch_dim must be two axes");
  bool fits = lengths.rank() == 1 &&
              (lengths[0] == x[batch] || lengths[0] == kUnknownDim || x[batch] == kUnknownDim);
  if (!fits)
    c.fail("seq_lengths must be a vector with one length for each index of axis {}", batch);
  types::same_as_first(c);
}

// Rows along the dims behind both axes; lengths outside [0, n] count as the nearer end.
void reverse_loops(LoopCtx& c) {
  const Shape& s = c.in_type(0).shape;
  auto axis = [&](const char* name) {
    int64_t a = c.attrs.integer(name);
    return static_cast<int>(a < 0 ? a + s.rank() : a);
  };
  int seq = axis("seq_dim"), batch = axis("batch_dim");
  int64_t inner_size = s.size(std::max(seq, batch) + 1, s.rank());
  loops::Nest& nest = c.nest;
  Val inner = nest.number(inner_size), n = nest.number(s[seq]), batches = nest.number(s[batch]);
  // In units of rows: how far one step of each axis goes.
  Val seq_step = nest.number(s.size(seq + 1, s.rank()) / std::max<int64_t>(1, inner_size));
  Val batch_step = nest.number(s.size(batch + 1, s.rank()) / std::max<int64_t>(1, inner_size));
  nest.parallel(s.size(0, std::max(seq, batch) + 1), std::max<int64_t>(1, inner_size),
                [&](Val row) {
                  Val i = row / seq_step % n, b = row / batch_step % batches;
                  Val length = max(min(cast(nest.load(c.in(1), b), DType::kInt64), n), 0);
                  Val from = select(i < length, row + (length - 1 - i - i) * seq_step, row);
                  nest.loop(inner, loops::LoopKind::kVector, [&](Val k) {
                    nest.store(c.out(), row * inner + k, nest.load(c.in(0), from * inner + k));
                  });
                });
}

}  // namespace

constexpr OpDef kReverseSequence = check({
    .name = "reverse_sequence",
    .doc =
        "Reverses the first seq_lengths[b] elements along seq_dim, for each index b of batch_dim.",
    .in = {"x: any", "seq_lengths: index"},
    .attr = {"seq_dim: int", "batch_dim: int = 0"},
    .type = reverse_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          a.dx(0) +=
              kReverseSequence({a.dy(), a.x(1)}, {a.attrs()["seq_dim"], a.attrs()["batch_dim"]});
        },
    .loops = reverse_loops,
    .cases = "x[3, 4, 2]; seq_lengths[3]; seq_lengths in ints(0, 4); seq_dim = 1 -1; bad seq_dim = "
             "0; bad seq_dim = 3; bad "
             "seq_lengths[2] | x[4, 3]; seq_dim = 0; batch_dim = 1; skip zero_size: lengths belong "
             "to rows; skip scalar: two "
             "axes are needed",
    .primitive = "ReverseSequence(seq_dim, batch_dim)",
    .method = "reverse_sequence",
});

}  // namespace mycel::ops
