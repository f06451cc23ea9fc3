// Piecewise linear interpolation in a table, and histograms over given edges: both search sorted
// points first.
#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::Promote;
using ir::Value;

namespace {

void need_vector(const Expansion& e, int operand, int64_t least) {
  const Shape& s = e.x(operand).shape();
  if (s.rank() != 1 || s[0] == kUnknownDim || s[0] < least) {
    value_error("{}: '{}' must be a vector of a known size of at least {}, got {}", e.op.name,
                e.op.inputs[operand].name, least, e.x(operand).type().str());
  }
}

Value at(Value line, Value index) { return kGather({line, index}, {0}); }

void expand_interp(Expansion& e) {
  need_vector(e, 1, 1);
  need_vector(e, 2, 1);
  Value x = e.x(0), xp = e.x(1), fp = e.x(2);
  int64_t n = xp.shape()[0];
  if (fp.shape()[0] != n)
    value_error("interp: xp and fp must have one length, got {} and {}", xp.type().str(),
                fp.type().str());
  Value first = kReshape({sliced(fp, 0, 0, 1)}, {Attr::Ints{}}),
        last = kReshape({sliced(fp, 0, n - 1, 1)}, {Attr::Ints{}});
  Value low_x = kReshape({sliced(xp, 0, 0, 1)}, {Attr::Ints{}}),
        high_x = kReshape({sliced(xp, 0, n - 1, 1)}, {Attr::Ints{}});
  auto outside = [&](const char* name, Value edge) {
    const Attr& given = e.attrs[name];
    return given.none() ? edge : number(fp, given.real());
  };
  Value left = outside("left", first), right = outside("right", last);
  Value y = x * 0.0 + first;  // one point: its value, NaN where x is NaN
  if (n > 1) {
    Value i = kSearchsorted({xp, x}, {false, true}) - 1.0;
    i = kMaximum({kMinimum({i, number(i, static_cast<double>(n - 2))}), number(i, 0)});
    Value x0 = at(xp, i), y0 = at(fp, i), x1 = at(xp, i + 1.0), y1 = at(fp, i + 1.0);
    Value gap = x1 - x0, none = equal(gap, 0.0);
    Value share = (x - x0) / where(none, 1.0, gap);
    // The upper point itself is hit exactly.
    y = where(kEqual({x, x1}), y1, y0 + (y1 - y0) * share);
  }
  y = where(kLess({x, low_x}), left, y);
  y = where(kGreater({x, high_x}), right, y);
  e.result(y);
}

// Bin i counts edges[i] <= x < edges[i + 1], the last one also its upper edge.
void expand_histogram(Expansion& e) {
  need_vector(e, 1, 2);
  Value x = kRavel({e.x(0)}), edges = e.x(1);
  int64_t bins = edges.shape()[0] - 1;
  Value weights;
  if (e.has(2)) {
    if (!(e.x(2).shape() == e.x(0).shape()) && e.x(2).shape().known() && e.x(0).shape().known())
      value_error("histogram_by_edges: weights must have the shape of x, got {} and {}",
                  e.x(2).type().str(), e.x(0).type().str());
    weights = kRavel({e.x(2)});
  } else {
    weights = kOnesLike({x}, {DType::kFloat32});
  }
  Value top = kReshape({sliced(edges, 0, bins, 1)}, {Attr::Ints{}});
  Value bin = kSearchsorted({edges, x}, {false, true}) - 1.0;
  bin = where(kEqual({x, top}), static_cast<double>(bins - 1), bin);
  if (is_float(x.dtype())) bin = where(kIsnan({x}), static_cast<double>(bins), bin);
  Value zeros = filled(e.graph, 0, {bins}, weights.dtype());
  e.result(kAxisScatterAdd({zeros, bin, weights}, {0, 0, "skip"}));
}

}  // namespace

constexpr OpDef kInterp = check({
    .name = "interp",
    .doc = "Linear interpolation at x in the table of points (xp, fp), xp ascending; left of the "
           "table `left` (None: fp[0]), right of it `right` (None: fp[-1]).",
    .in = {"x: float", "xp: float[n]", "fp: float[n]"},
    .attr = {"left: float? = None", "right: float? = None"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_interp,
    .cases = "x[3, 4] []; x in (-1, 5); xp[5]; xp in sorted(0, 4); fp[5]; left = None -3.0; right "
             "= None 9.0; tol 1e-4; fd 1e-4; bad fp[4]; bad xp[]; skip zero_size: tables have "
             "points; skip scalar: tables are vectors; skip grad2: a straight line has none; skip "
             "dtypes: points may coincide",
});

constexpr OpDef kHistogramByEdges = check({
    .name = "histogram_by_edges",
    .doc = "The sum of the weights (1 each without; float32) of the elements in every interval "
           "[edges[i], edges[i + 1]) between ascending edges, the last one closed. Elements "
           "outside, and NaN, are not counted.",
    .in = {"x: real", "edges: real[m]", "weights?: number"},
    .shard = "none",
    .expand = expand_histogram,
    .cases = "x[3, 4]; x in (-1, 3); edges[4]; edges in sorted(0, 2); weights[3, 4]; bad edges[1]; "
             "bad edges[2, 2]; bad weights[5]; skip zero_size: edges belong to bins; skip scalar: "
             "edges are a vector; skip dtypes: edges have the dtype of x",
});

}  // namespace mycel::ops
