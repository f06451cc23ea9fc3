// Bands of diagonals: matrices from them, out of them, written into them. A band is [k0, k1],
// column minus row; its diagonals lie one under the other, the highest first, each as long as the
// longest, shorter ones put to the left or the right as `align` says of those above and below the
// main one. Which element goes where is a table, so each op is one gather.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records
using Ints = Attr::Ints;

namespace {

// Of a matrix: its places are a table.
constexpr int64_t kMostElements = int64_t{1} << 31;
constexpr int64_t kNowhere = -1;  // read as 0 under bounds skip

struct Band {
  int64_t first, last, rows, columns, longest;
  bool upper_left, lower_left;  // where diagonals above and below the main one are put

  int64_t count() const { return last - first + 1; }
  int64_t length(int64_t d) const {
    return std::min(rows + std::min<int64_t>(d, 0), columns - std::max<int64_t>(d, 0));
  }
  // The column of element 0 of diagonal d among the diagonals.
  int64_t start(int64_t d) const {
    return (d >= 0 ? upper_left : lower_left) ? 0 : longest - length(d);
  }
};

Band band_of(const Expansion& e, int64_t rows, int64_t columns) {
  const Ints& k = e.attrs.ints("k");
  if (k.empty() || k.size() > 2 || k[0] > k.back())
    value_error("{}: 'k' must be one diagonal or the lowest and the highest, got {}", e.op.name,
                e.attrs["k"].str());
  const std::string& align = e.attrs.string("align");
  bool none = rows == 0 || columns == 0;
  for (int64_t d : k) {
    if ((d <= -rows || d >= columns) && !(none && d == 0))
      value_error("{}: 'k' must lie in ({}, {}) for {} by {} matrices, got {}", e.op.name, -rows,
                  columns, rows, columns, d);
  }
  Band b{k[0], k.back(), rows, columns, 0, align.starts_with("LEFT"), align.ends_with("LEFT")};
  for (int64_t d = b.first; d <= b.last; ++d) b.longest = std::max(b.longest, b.length(d));
  return b;
}

int64_t known(const Expansion& e, Value x, int dim) {
  int64_t n = x.shape()[dim];
  if (n == kUnknownDim)
    value_error("{}: the sizes of matrices and diagonals must be known, got {}", e.op.name,
                x.type().str());
  return n;
}

// For each element of a rows by columns matrix its place among the diagonals, or kNowhere.
std::vector<int64_t> places_in_band(const Band& b) {
  std::vector<int64_t> at(b.rows * b.columns, kNowhere);
  for (int64_t d = b.first; d <= b.last; ++d) {
    int64_t row = std::max<int64_t>(0, -d), column = std::max<int64_t>(0, d);
    for (int64_t i = 0; i < b.length(d); ++i)
      at[(row + i) * b.columns + column + i] = (b.last - d) * b.longest + b.start(d) + i;
  }
  return at;
}

// The same the other way round.
std::vector<int64_t> places_in_matrix(const Band& b) {
  std::vector<int64_t> at(b.count() * b.longest, kNowhere);
  std::vector<int64_t> back = places_in_band(b);
  for (size_t i = 0; i < back.size(); ++i) {
    if (back[i] != kNowhere) at[back[i]] = static_cast<int64_t>(i);
  }
  return at;
}

// The last `dims` dims of x in one, read at the table's places, under the shape `dims_out`.
Value read(Value x, int dims, const std::vector<int64_t>& table, const Shape& dims_out) {
  if (dims == 2) x = kCollapseDims({x}, {-2, -1});
  Value index = x.graph().constant(Tensor::from(table, dims_out));
  return kGather({x, index}, {x.rank() - 1, 0, "skip"});
}

Value mask(Graph& g, const std::vector<int64_t>& table, const Shape& shape) {
  std::vector<int64_t> hit(table.size());
  std::transform(table.begin(), table.end(), hit.begin(),
                 [](int64_t at) { return at != kNowhere; });
  return cast_to(g.constant(Tensor::from(hit, shape)), DType::kBool);
}

// Where the table has no place: the padding value, an optional number.
Value padded(const Expansion& e, int operand, Value y, const std::vector<int64_t>& table,
             const Shape& shape) {
  if (!e.has(operand)) return y;
  Value v = e.x(operand);
  if (v.rank() != 0)
    value_error("{}: '{}' must be a number, got {}", e.op.name, e.op.inputs[operand].name,
                v.type().str());
  if (std::find(table.begin(), table.end(), kNowhere) == table.end()) return y;
  return where(mask(e.graph, table, shape), y, cast_to(v, y.dtype()));
}

// How many dims of an operand hold its diagonals.
int diagonal_dims(const Expansion& e, Value x) {
  const Ints& k = e.attrs.ints("k");
  int dims = k.size() == 2 && k[0] != k[1] ? 2 : 1;
  if (x.rank() < dims)
    value_error("{}: several diagonals need two dims, one needs one, got {}", e.op.name,
                x.type().str());
  return dims;
}

// Sizes left open are the least that hold the diagonals.
void expand_diag(Expansion& e) {
  Value x = e.x(0);
  int dims = diagonal_dims(e, x);
  const Ints& k = e.attrs.ints("k");
  int64_t longest = known(e, x, -1), rows = e.attrs.integer("num_rows");
  int64_t columns = e.attrs.integer("num_cols");
  int64_t least_rows = longest - std::min<int64_t>(k.empty() ? 0 : k.back(), 0);
  int64_t least_columns = longest + std::max<int64_t>(k.empty() ? 0 : k[0], 0);
  if (rows == -1 && columns == -1) {
    rows = columns = std::max(least_rows, least_columns);
  } else if (rows == -1) {
    rows = least_rows;
  } else if (columns == -1) {
    columns = least_columns;
  }
  if (columns > 0 && rows > kMostElements / columns)
    value_error("matrix_diag: matrices of {} by {} elements are too large", rows, columns);
  if (rows < least_rows || columns < least_columns)
    value_error("matrix_diag: diagonals of {} elements need {} by {} matrices, got {} by {}",
                longest, least_rows, least_columns, rows, columns);
  Band b = band_of(e, rows, columns);
  if (b.longest != longest || (dims == 2 && known(e, x, -2) != b.count()))
    value_error("matrix_diag: diagonals {} of {} by {} matrices are [{}, {}], got {}",
                e.attrs["k"].str(), rows, columns, b.count(), b.longest, x.type().str());
  auto table = places_in_band(b);
  Shape matrix{rows, columns};
  e.result(padded(e, 1, read(x, dims, table, matrix), table, matrix));
}

void need_matrix(const Expansion& e) {
  if (e.x(0).rank() < 2)
    value_error("{}: '{}' needs two dims or more, got {}", e.op.name, e.op.inputs[0].name,
                e.x(0).type().str());
}

void expand_part(Expansion& e) {
  need_matrix(e);
  Value x = e.x(0);
  Band b = band_of(e, known(e, x, -2), known(e, x, -1));
  auto table = places_in_matrix(b);
  Shape out = b.count() > 1 ? Shape{b.count(), b.longest} : Shape{b.longest};
  e.result(padded(e, 1, read(x, 2, table, out), table, out));
}

void expand_set(Expansion& e) {
  need_matrix(e);
  Value x = e.x(0), d = e.x(1);
  Band b = band_of(e, known(e, x, -2), known(e, x, -1));
  int dims = diagonal_dims(e, d);
  Shape want = x.shape();
  want.erase(-1 + want.rank());
  want.erase(-1 + want.rank());
  if (dims == 2) want.push_back(b.count());
  want.push_back(b.longest);
  if (d.shape().known() && want.known() && !(d.shape() == want))
    value_error("matrix_set_diag: 'diagonal' must be {}, got {}", want.str(), d.type().str());
  auto table = places_in_band(b);
  Shape matrix{b.rows, b.columns};
  e.result(where(mask(e.graph, table, matrix), read(d, dims, table, matrix), x));
}

void expand_fill(Expansion& e) {
  need_matrix(e);
  const Shape& s = e.x(0).shape();
  if (!s.known()) value_error("fill_diagonal: the shape must be known, got {}", s.str());
  if (s.rank() > 2 && std::any_of(s.begin(), s.end(), [&](int64_t n) { return n != s[0]; }))
    value_error("fill_diagonal: more than two dims must be equally long, got {}", s.str());
  int64_t step = 0, stride = 1;
  for (int d = s.rank() - 1; d >= 0; --d) {
    step += stride;
    stride *= s[d];
  }
  // Of tall matrices the diagonal ends, or begins again one row further down.
  bool wrap = e.attrs.boolean("wrap") && s.rank() == 2;
  int64_t end = wrap || s.rank() > 2 ? s.size() : std::min(s.size(), s[1] * s[1]);
  std::vector<int64_t> table(s.size(), kNowhere);
  for (int64_t at = 0; at < end; at += step) table[at] = at;
  Value v = e.scalar(e.x(0).dtype(), e.attrs.real("fill_value"));
  e.result(where(mask(e.graph, table, s), v, e.x(0)));
}

void expand_diag_part(Expansion& e) {
  Value x = e.x(0);
  const Shape& s = x.shape();
  int half = s.rank() / 2;
  bool square = s.rank() > 0 && s.rank() % 2 == 0 && s.known();
  for (int d = 0; square && d < half; ++d) square = s[d] == s[d + half];
  if (!square)
    value_error("diag_part: the second half of the dims must repeat the first, got {}",
                x.type().str());
  Shape out(s.dims().first(static_cast<size_t>(half)));
  int64_t n = out.size();
  Value line = kDiagonal({kReshape({x}, {Attr(Shape{n, n})})}, {0, 0, 1});
  e.result(kReshape({line}, {Attr(out)}));
}

#define MYCEL_ALIGN "align: str(RIGHT_LEFT|LEFT_RIGHT|LEFT_LEFT|RIGHT_RIGHT) = RIGHT_LEFT"

}  // namespace

constexpr OpDef kMatrixDiagBand = check({
    .name = "matrix_diag_band",
    .doc = "Matrices of num_rows by num_cols (-1: as few as fit) with the diagonals k of x on "
           "them, elsewhere padding_value or 0. One diagonal is [..., n]; several, the lowest and "
           "highest given, are [..., count, longest].",
    .in = {"x: any", "padding_value?: any"},
    .attr = {"k: int[] = [0]", "num_rows: int = -1", "num_cols: int = -1", MYCEL_ALIGN},
    .shard = "none",
    .expand = expand_diag,
    .cases = "x[2, 3]; without padding_value; k = [0] [1] [-2]; bad k = [1, 0]; bad num_rows = 2; "
             "bad x[]; skip scalar: a dim is needed | x[2, 2, 3]; k = [-1, 0] [0, 1]; align = "
             "RIGHT_LEFT LEFT_RIGHT LEFT_LEFT RIGHT_RIGHT; with padding_value; padding_value[]; "
             "skip dtypes: both have one dtype | x[3]; k = [1]; num_rows = 3; num_cols = 5",
    .internal = true,
});

constexpr OpDef kMatrixDiagPartBand = check({
    .name = "matrix_diag_part_band",
    .doc =
        "The diagonals k of each matrix: one as [..., n]; several, the lowest and highest given, "
        "as [..., count, longest], filled up with padding_value or 0 as align says.",
    .in = {"x: any", "padding_value?: any"},
    .attr = {"k: int[] = [0]", MYCEL_ALIGN},
    .shard = "none",
    .expand = expand_part,
    .cases = "x[2, 3, 4]; without padding_value; k = [0] [3] [-2] [-1, 2]; bad k = [4]; bad k = "
             "[-3]; bad x[3]; skip scalar: two dims are needed | x[4, 3]; k = [-2, 1]; align = "
             "RIGHT_LEFT LEFT_RIGHT LEFT_LEFT RIGHT_RIGHT; with padding_value; padding_value[]; "
             "skip dtypes: both have one dtype",
    .internal = true,
});

constexpr OpDef kMatrixSetDiagBand = check({
    .name = "matrix_set_diag_band",
    .doc = "x with the diagonals k of each matrix replaced, given as matrix_diag_part gives them.",
    .in = {"x: any", "diagonal: any"},
    .attr = {"k: int[] = [0]", MYCEL_ALIGN},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_set,
    .cases = "x[2, 3, 4]; diagonal[2, 3]; k = [0] [1]; bad diagonal[2, 2]; bad k = [4]; skip "
             "dtypes: both have one dtype; skip zero_size: sizes belong together; skip scalar: two "
             "dims are needed | x[4, 3]; diagonal[3, 3]; k = [-1, 1]; align = RIGHT_LEFT "
             "LEFT_RIGHT LEFT_LEFT RIGHT_RIGHT",
    .internal = true,
});

constexpr OpDef kFillDiagonal = check({
    .name = "fill_diagonal",
    .doc = "x with a number on the main diagonal: x[i, i, ...]; with wrap the diagonal of a tall "
           "matrix begins again below an empty row.",
    .in = {"input_x: any"},
    .attr = {"fill_value: float", "wrap: bool = False"},
    .shard = "none",
    .expand = expand_fill,
    .cases = "input_x[3, 4] [7, 3] [2, 2, 2]; input_x dtypes float32 float64 int32 int64; "
             "fill_value = 2.0; wrap = False True; bad input_x[3]; bad input_x[2, 2, 3]; skip "
             "scalar: two dims are needed",
    .primitive = "FillDiagonal(fill_value, wrap)",
    .method = "fill_diagonal",
});

constexpr OpDef kDiagPart = check({
    .name = "diag_part",
    .doc = "The elements x[i, i] for index tuples i of half as many dims: the inverse of diag.",
    .in = {"x: any"},
    .shard = "none",
    .expand = expand_diag_part,
    .cases = "x[3, 3] [2, 3, 2, 3]; bad x[3]; bad x[2, 3]; skip scalar: dims are needed; skip "
             "type: the shape must be known",
    .primitive = "DiagPart()",
    .internal = true,
});

}  // namespace mycel::ops
