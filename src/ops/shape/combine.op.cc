// Blocks, products and choices: block_diag, cartesian_prod, combinations; places of triangles and
// of flat positions; powers at equal distances.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/memory_limit.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::op_of;
using ir::Promote;
using ir::Value;
using Ints = Attr::Ints;

namespace {

void expand_block_diag(Expansion& e) {
  if (e.inputs() == 0) value_error("block_diag: at least one tensor is needed");
  std::vector<Value> blocks;
  int64_t rows = 0, columns = 0;
  for (int i = 0; i < e.inputs(); ++i) {
    Value x = e.x(i);
    if (x.rank() > 2 || !x.shape().known())
      value_error("block_diag: tensors must have at most 2 dims of known size, got {}",
                  x.type().str());
    while (x.rank() < 2) x = kExpandDims({x}, {0});
    rows += x.shape()[0];
    columns += x.shape()[1];
    blocks.push_back(x);
  }
  Value y = filled(e.graph, 0, {rows, columns}, blocks[0].dtype());
  int64_t r = 0, c = 0;
  for (Value x : blocks) {
    int64_t down = r + x.shape()[0], right = c + x.shape()[1];
    y = kSliceUpdate({y, x}, {Ints{r, c}, Ints{down, right}, Ints{1, 1}});
    r = down, c = right;
  }
  e.result(y);
}

void expand_cartesian_prod(Expansion& e) {
  if (e.inputs() == 0) value_error("cartesian_prod: at least one vector is needed");
  std::vector<Value> xs;
  for (int i = 0; i < e.inputs(); ++i) {
    if (e.x(i).rank() != 1)
      value_error("cartesian_prod: vectors are needed, got {}", e.x(i).type().str());
    xs.push_back(e.x(i));
  }
  if (xs.size() == 1) return e.result(xs[0]);
  ir::Node* grid = e.graph.add(op_of(kMeshgrid), xs, {"ij"});
  std::vector<Value> columns;
  for (uint32_t i = 0; i < xs.size(); ++i) columns.push_back(kRavel({grid->out(i)}));
  e.result(e.graph.add(op_of(kStack), columns, {1})->out());
}

// MemoryError when a table of that many places would not fit.
void need_room(const Expansion& e, double places) {
  double bytes = places * sizeof(int64_t);
  if (bytes > static_cast<double>(memory_limit())) {
    fail(ErrorKind::kMemory, "{}: out of memory: a table of {} places needs {}; the limit is {}",
         e.op.name, places, human_bytes(bytes), human_bytes(static_cast<double>(memory_limit())));
  }
}

// The next choice in lexicographic order of r places below n; false after the last.
bool next_choice(std::vector<int64_t>& at, int64_t n, bool again) {
  int64_t r = static_cast<int64_t>(at.size());
  for (int64_t i = r; i-- > 0;) {
    int64_t limit = again ? n - 1 : n - r + i;
    if (at[i] >= limit) continue;
    ++at[i];
    for (int64_t j = i + 1; j < r; ++j) at[j] = again ? at[i] : at[j - 1] + 1;
    return true;
  }
  return false;
}

void expand_combinations(Expansion& e) {
  Value x = e.x(0);
  int64_t r = e.attrs.integer("r");
  bool again = e.attrs.boolean("with_replacement");
  if (x.rank() != 1 || !x.shape().known())
    value_error("combinations: the operand must be a vector of known size, got {}", x.type().str());
  if (r < 0) value_error("combinations: r must not be negative, got {}", r);
  int64_t n = x.shape()[0], count = 0;
  bool any = r > 0 && (again ? n > 0 : r <= n);
  if (any) {
    double from = static_cast<double>(again ? n + r - 1 : n), chosen = static_cast<double>(r);
    double rows =
        std::exp(std::lgamma(from + 1) - std::lgamma(chosen + 1) - std::lgamma(from - chosen + 1));
    need_room(e, rows * chosen);
  }
  std::vector<int64_t> at(static_cast<size_t>(any ? r : 0)), all;
  for (int64_t i = 0; any && !again && i < r; ++i) at[i] = i;
  while (any) {
    all.insert(all.end(), at.begin(), at.end());
    ++count;
    any = next_choice(at, n, again);
  }
  if (count == 0) return e.result(filled(e.graph, 0, r == 0 ? Shape{0} : Shape{0, r}, x.dtype()));
  e.result(kGather({x, e.graph.constant(Tensor::from(all, {count, r}))}, {0}));
}

// Rows and columns of the elements on and below (above) a diagonal, in row-major order.
template <bool lower>
void expand_triangle_places(Expansion& e) {
  int64_t rows = e.attrs.integer("row"), columns = e.attrs.integer("col"),
          k = e.attrs.integer("offset");
  if (rows < 0 || columns < 0)
    value_error("{}: row and col must not be negative, got {} and {}", e.op.name, rows, columns);
  // Places on and below diagonal d, by the sum of min(j, columns) over j <= m.
  auto sum = [w = static_cast<double>(columns)](double m) {
    return m <= 0 ? 0 : m <= w ? m * (m + 1) / 2 : w * (w + 1) / 2 + (m - w) * w;
  };
  auto below = [&](double d) { return sum(static_cast<double>(rows) + d) - sum(d); };
  double all = static_cast<double>(rows) * static_cast<double>(columns);
  auto diagonal = static_cast<double>(k);
  need_room(e, 2 * (lower ? below(diagonal) : all - below(diagonal - 1)));
  // The rows that have any.
  int64_t first = lower ? std::max<int64_t>(0, -k) : 0;
  int64_t last = lower ? rows : std::min(rows, k > columns ? 0 : columns - k);
  if (columns == 0) last = first;
  std::vector<int64_t> r, c;
  for (int64_t i = first; i < last; ++i) {
    int64_t cut = std::clamp<int64_t>(lower ? i + k + 1 : i + k, 0, columns);
    for (int64_t j = lower ? 0 : cut; j < (lower ? cut : columns); ++j)
      r.push_back(i), c.push_back(j);
  }
  int64_t n = static_cast<int64_t>(r.size());
  r.insert(r.end(), c.begin(), c.end());
  e.result(cast_to(e.graph.constant(Tensor::from(r, {2, n})), e.attrs.dtype("dtype")));
}

void expand_logspace(Expansion& e) {
  Value at = kLinspace({e.x(0), e.x(1)}, {e.attrs["steps"]});
  Value base = number(at, e.attrs.real("base"));
  e.result(cast_to(kPow({base, at}), e.attrs.dtype("dtype")));
}

}  // namespace

constexpr OpDef kBlockDiag = check({
    .name = "block_diag",
    .doc = "A matrix with the operands (matrices; vectors count as rows, numbers as 1 by 1) along "
           "the diagonal and zeros elsewhere.",
    .in = {"*inputs: any"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_block_diag,
    .cases = "inputs[2, 3] [1, 2] | inputs[3] [] [2, 2]; bad inputs[2, 2, 2]",
});

constexpr OpDef kCartesianProd = check({
    .name = "cartesian_prod",
    .doc = "Every choice of one element of each vector, one row each, the last vector running "
           "fastest. One vector alone is given back.",
    .in = {"*inputs: any"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_cartesian_prod,
    .cases = "inputs[2] [3] | inputs[2] [3] [2] | inputs[4]; bad inputs[2, 2]; skip scalar: "
             "vectors are needed",
});

constexpr OpDef kCombinations = check({
    .name = "combinations",
    .doc = "Every choice of r elements of a vector in their order, one row each; "
           "with_replacement: an element may be chosen again.",
    .in = {"x: any[n]"},
    .attr = {"r: int = 2", "with_replacement: bool = False"},
    .shard = "none",
    .expand = expand_combinations,
    .cases = "x[4]; r = 1 2 3 5; with_replacement = False True; bad x[2, 2]; bad r = -1; skip "
             "scalar: a vector is needed",
});

constexpr OpDef kTrilIndices = check({
    .name = "tril_indices",
    .doc = "Rows and columns of the elements of a row by col matrix with column - row <= offset: "
           "[2, n], in row-major order.",
    .attr = {"row: int", "col: int", "offset: int = 0", "dtype: dtype = int64"},
    .shard = "-> none",
    .expand = expand_triangle_places<true>,
    .cases = "row = 0 3 4; col = 3 2; offset = 0 1 -1 9; dtype = int64 int32; bad row = -1",
});

constexpr OpDef kTriuIndices = check({
    .name = "triu_indices",
    .doc = "Rows and columns of the elements of a row by col matrix with column - row >= offset: "
           "[2, n], in row-major order.",
    .attr = {"row: int", "col: int", "offset: int = 0", "dtype: dtype = int64"},
    .shard = "-> none",
    .expand = expand_triangle_places<false>,
    .cases = "row = 0 3 4; col = 3 2; offset = 0 1 -1 9; dtype = int64 int32; bad row = -1",
});

constexpr OpDef kLogspace = check({
    .name = "logspace",
    .doc = "`steps` powers of base whose exponents lie at equal distances from start to end.",
    .in = {"start: float[]", "end: float[]"},
    .attr = {"steps: int", "base: float = 10", "dtype: dtype = float32"},
    .promote = Promote::kCommon,
    .shard = "-> none",
    .expand = expand_logspace,
    .cases = "start[]; end[]; steps = 1 2 7; base = 10 2; dtype = float64; tol 1e-4; bad "
             "steps = -1; bad start[2]; skip zero_size: scalars are needed; skip dtypes: the "
             "result has a dtype of its own; skip grad2: float32 results",
});

constexpr OpDef kAdjoint = check({
    .name = "adjoint",
    .doc = "The conjugate transpose of each matrix: the last two dims exchanged.",
    .in = {"x: number"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          if (e.x(0).rank() < 2)
            value_error("adjoint: the operand needs two dims or more, got {}", e.x(0).type().str());
          e.result(conj_of(kSwapaxes({e.x(0)}, {-2, -1})));
        },
    .cases = "x[2, 3, 4]; x dtypes float32 float64 complex64 int32; bad x[3]; skip scalar: two "
             "dims are needed",
    .method = "adjoint",
});

constexpr OpDef kViewAsReal = check({
    .name = "view_as_real",
    .doc = "The real and imaginary parts of complex numbers side by side, in a new last dim of 2.",
    .in = {"input: complex"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          std::vector<Value> parts{kReal({e.x(0)}), kImag({e.x(0)})};
          e.result(e.graph.add(op_of(kStack), parts, {-1})->out());
        },
    .cases = "input[2, 3] []",
});

}  // namespace mycel::ops
