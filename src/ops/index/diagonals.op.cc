// Bands of diagonals of matrices, packed as rows: which element goes where follows from the shapes
// alone, so each op is one gather by a constant table.
//
// Diagonal d runs from (max(-d, 0), max(d, 0)); d > 0 lies above the main one. A band [low, high] is
// packed with the highest first, each diagonal a row as long as the longest, pushed to the left or
// right end as `align` says for those above and below: RIGHT_LEFT puts those above to the right.
#include <algorithm>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using Ints = Attr::Ints;

namespace {

struct Band {
  int64_t rows, columns, low, high, longest;
  bool above_right, below_right;

  int64_t count() const { return high - low + 1; }
  int64_t length(int64_t d) const {
    return std::max<int64_t>(0, std::min(rows + std::min<int64_t>(d, 0),
                                         columns - std::max<int64_t>(d, 0)));
  }
  // Place of element i of diagonal d in its row.
  int64_t place(int64_t d, int64_t i) const {
    bool right = d >= 0 ? above_right : below_right;
    return right ? longest - length(d) + i : i;
  }
};

Band band_of(const Expansion& e, int64_t rows, int64_t columns) {
  const Ints& k = e.attrs.ints("k");
  if (k.empty() || k.size() > 2 || k[0] > k.back())
    value_error("{}: 'k' must be a diagonal or the lowest and highest of a band, got {}", e.op.name,
                e.attrs["k"].str());
  Band b{rows, columns, k[0], k.back(), 0, false, false};
  if (b.low <= -rows && !(b.low == 0 && rows == 0))
    value_error("{}: diagonal {} is outside a matrix of {} by {}", e.op.name, b.low, rows, columns);
  if (b.high >= columns && !(b.high == 0 && columns == 0))
    value_error("{}: diagonal {} is outside a matrix of {} by {}", e.op.name, b.high, rows,
                columns);
  for (int64_t d = b.low; d <= b.high; ++d) b.longest = std::max(b.longest, b.length(d));
  const std::string& align = e.attrs.string("align");
  b.above_right = align.starts_with("RIGHT");
  b.below_right = align.ends_with("RIGHT");
  return b;
}

// The dims of operand i but for the last `count`, all of known size.
Ints leading(const Expansion& e, int i, int count) {
  Value x = e.x(i);
  if (x.rank() < count || !x.shape().known())
    value_error("{}: '{}' must have {} dim{} or more, of known size, got {}", e.op.name,
                e.op.inputs[i].name, count, count == 1 ? "" : "s", x.type().str());
  return Ints(x.shape().begin(), x.shape().end() - count);
}

// Elements `table` names of the last dim of `flat` [m, n]; where it is negative the padding value.
Value picked(Expansion& e, Value flat, const std::vector<int64_t>& table, Value padding) {
  Shape length{static_cast<int64_t>(table.size())};
  Value y = kGather({flat, e.graph.constant(Tensor::from(table, length))}, {1, 0, "skip"});
  if (!padding) return y;
  if (padding.rank() != 0)
    value_error("{}: the padding value must be a number, got {}", e.op.name, padding.type().str());
  std::vector<uint8_t> inside;
  for (int64_t at : table) inside.push_back(at >= 0);
  Value is_in = cast_to(e.graph.constant(Tensor::from(inside, length)), DType::kBool);
  return where(is_in, y, cast_to(padding, y.dtype()));
}

Value flattened(Value x, int last) {
  const Shape& s = x.shape();
  return kReshape({x}, {Ints{s.size(0, s.rank() - last), s.size(s.rank() - last, s.rank())}});
}

Value shaped(Value v, Ints lead, std::initializer_list<int64_t> last) {
  lead.insert(lead.end(), last.begin(), last.end());
  return kReshape({v}, {lead});
}

Ints packed_shape(const Band& b, Ints lead) {
  if (b.count() > 1) lead.push_back(b.count());
  lead.push_back(b.longest);
  return lead;
}

void expand_part(Expansion& e) {
  Ints lead = leading(e, 0, 2);
  const Shape& s = e.x(0).shape();
  Band b = band_of(e, s[-2], s[-1]);
  std::vector<int64_t> table(static_cast<size_t>(b.count() * b.longest), -1);
  for (int64_t d = b.high; d >= b.low; --d) {
    for (int64_t i = 0; i < b.length(d); ++i) {
      int64_t row = std::max<int64_t>(-d, 0) + i, column = std::max<int64_t>(d, 0) + i;
      table[static_cast<size_t>((b.high - d) * b.longest + b.place(d, i))] =
          row * b.columns + column;
    }
  }
  Value y = picked(e, flattened(e.x(0), 2), table, e.x(1));
  e.result(kReshape({y}, {packed_shape(b, lead)}));
}

// Place in the packed band of each element of the matrix, or -1.
std::vector<int64_t> places_in_band(const Band& b) {
  std::vector<int64_t> table;
  for (int64_t row = 0; row < b.rows; ++row) {
    for (int64_t column = 0; column < b.columns; ++column) {
      int64_t d = column - row, i = std::min(row, column);
      bool inside = d >= b.low && d <= b.high;
      table.push_back(inside ? (b.high - d) * b.longest + b.place(d, i) : -1);
    }
  }
  return table;
}

void need_packed(const Expansion& e, int i, const Band& b, const Ints& lead) {
  Ints want = packed_shape(b, lead);
  if (!(e.x(i).shape() == Shape(std::span<const int64_t>(want))))
    value_error("{}: the diagonals must be known to be {}, got {}", e.op.name,
                Shape(std::span<const int64_t>(want)).str(), e.x(i).type().str());
}

void expand_diag(Expansion& e) {
  const Ints& k = e.attrs.ints("k");
  bool several = k.size() == 2 && k[0] != k[1];
  Ints lead = leading(e, 0, several ? 2 : 1);
  int64_t longest = e.x(0).shape()[-1], low = k.empty() ? 0 : k[0], high = k.empty() ? 0 : k.back();
  int64_t rows = e.attrs.integer("num_rows"), columns = e.attrs.integer("num_cols");
  // The smallest matrix that holds the longest diagonal, square if nothing is said.
  int64_t least_rows = longest - std::min<int64_t>(high, 0),
          least_columns = longest + std::max<int64_t>(low, 0);
  if (rows == -1 && columns == -1) {
    rows = columns = std::max(least_rows, least_columns);
  } else if (rows == -1) {
    rows = least_rows;
  } else if (columns == -1) {
    columns = least_columns;
  }
  if (rows < 1 || columns < 1)
    value_error("{}: a matrix of {} by {} cannot be made", e.op.name, rows, columns);
  Band b = band_of(e, rows, columns);
  need_packed(e, 0, b, lead);
  Value y = picked(e, flattened(e.x(0), several ? 2 : 1), places_in_band(b), e.x(1));
  e.result(shaped(y, lead, {rows, columns}));
}

void expand_set(Expansion& e) {
  Ints lead = leading(e, 0, 2);
  const Shape& s = e.x(0).shape();
  Band b = band_of(e, s[-2], s[-1]);
  need_packed(e, 1, b, lead);
  std::vector<int64_t> table = places_in_band(b);
  int64_t size = b.rows * b.columns;
  for (int64_t i = 0; i < size; ++i) {
    int64_t& at = table[static_cast<size_t>(i)];
    at = at < 0 ? i : size + at;
  }
  Value both = e.graph
                   .add(ir::op_of(kConcat),
                        {flattened(e.x(0), 2), flattened(e.x(1), b.count() > 1 ? 2 : 1)}, {Attr(1)})
                   ->out();
  e.result(shaped(picked(e, both, table, {}), lead, {b.rows, b.columns}));
}

}  // namespace

#define MYCEL_ALIGN "align: str(RIGHT_LEFT|LEFT_RIGHT|LEFT_LEFT|RIGHT_RIGHT) = RIGHT_LEFT"
#define MYCEL_BANDS                                                                             \
  "align = RIGHT_LEFT LEFT_RIGHT LEFT_LEFT RIGHT_RIGHT; skip zero_size: diagonals need elements; " \
  "skip scalar: matrices have dims"

constexpr OpDef kMatrixDiagPart = check({
    .name = "matrix_diag_part",
    .doc = "Diagonals k, or k[0] to k[1], of matrices x [..., m, n]: [..., length], several packed "
           "as [..., count, longest], the highest first, filled up with padding_value.",
    .in = {"x: any[b, m, n]", "padding_value: any[]"},
    .attr = {"k: int[] = 0", MYCEL_ALIGN},
    .shard = "none",
    .expand = expand_part,
    .cases = "x[2, 3, 4] [4, 2]; k = 0 1 [-1, 1] [0, 1]; skip dtypes: one dtype; bad k = 4; bad k = "
             "[1, 0]; bad padding_value[2]; " MYCEL_BANDS,
    .internal = true,
});

constexpr OpDef kMatrixDiag = check({
    .name = "matrix_diag",
    .doc = "Matrices of num_rows by num_cols (-1: as few as fit) with diagonals k, or k[0] to k[1] "
           "packed as in matrix_diag_part, and padding_value elsewhere.",
    .in = {"x: any[b, k]", "padding_value: any[]"},
    .attr = {"k: int[] = 0", "num_rows: int = -1", "num_cols: int = -1", MYCEL_ALIGN},
    .shard = "none",
    .expand = expand_diag,
    .cases = "x[2, 3]; k = 0 1 -2; skip dtypes: one dtype; bad num_rows = 2; " MYCEL_BANDS
             " | x[2, 3, 3]; k = [-1, 1]; skip dtypes: one dtype; num_rows = -1 3; bad x[2, 2, 3]; "
             "bad num_rows = 1; " MYCEL_BANDS,
    .internal = true,
});

constexpr OpDef kMatrixSetDiag = check({
    .name = "matrix_set_diag",
    .doc = "Matrices x [..., m, n] with diagonals k, or k[0] to k[1] packed as in "
           "matrix_diag_part, in place of their own.",
    .in = {"x: any[b, m, n]", "diagonal: any[b, k]"},
    .attr = {"k: int[] = 0", MYCEL_ALIGN},
    .shard = "none",
    .expand = expand_set,
    .cases = "x[2, 3, 4]; diagonal[2, 3]; k = 0 1; skip dtypes: one dtype; bad diagonal[2, 4]; bad "
             "k = 5; " MYCEL_BANDS " | x[3, 4]; diagonal[3, 3]; k = [-1, 1]; skip dtypes: one "
             "dtype; bad diagonal[2, 3]; " MYCEL_BANDS,
    .internal = true,
});

#undef MYCEL_ALIGN
#undef MYCEL_BANDS

}  // namespace mycel::ops
