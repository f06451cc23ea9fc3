// What is made of products: dot, outer, mv, addmm and the like, contraction over chosen axes, bias.
#include <algorithm>

#include <fmt/format.h>

#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/contraction.h"
#include "ops/matmul/matmul.h"
#include "ops/matmul/rooms.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::Promote;
using ir::Value;

namespace {

void need_rank(const Expansion& e, int operand, int rank) {
  if (e.x(operand).rank() == rank) return;
  value_error("{}: '{}' must have {} dim{}, got {}", e.op.name, e.op.inputs[operand].name, rank,
              rank == 1 ? "" : "s", e.x(operand).type().str());
}

// beta * base + alpha * product; factors of 1 cost nothing.
Value blend(const Expansion& e, Value base, Value product) {
  double beta = e.attrs.real("beta"), alpha = e.attrs.real("alpha");
  if (beta != 1) base = base * beta;
  if (alpha != 1) product = product * alpha;
  return base + product;
}

Value outer(Value a, Value b) { return kMul({kExpandDims({a}, {1}), kExpandDims({b}, {0})}); }

std::vector<int64_t> positive_axes(const Expansion& e, const std::vector<int64_t>& axes,
                                   int operand) {
  std::vector<int64_t> out;
  for (int64_t a : axes) out.push_back(normalize_axis(a, e.x(operand).rank(), e.op.name.c_str()));
  return out;
}

void check_pairs(const Expansion& e, const std::vector<int64_t>& axes_a,
                 const std::vector<int64_t>& axes_b) {
  if (axes_a.size() != axes_b.size()) {
    value_error("{}: {} axes of the first operand meet {} of the second", e.op.name, axes_a.size(),
                axes_b.size());
  }
  for (size_t i = 0; i < axes_a.size(); ++i) {
    int64_t a = e.x(0).shape()[static_cast<int>(axes_a[i])],
            b = e.x(1).shape()[static_cast<int>(axes_b[i])];
    if (dims_differ(a, b)) {
      value_error("{}: axis {} of {} and axis {} of {} differ in size", e.op.name, axes_a[i],
                  e.x(0).type().str(), axes_b[i], e.x(1).type().str());
    }
  }
}

void expand_dot(Expansion& e) {
  Value a = e.x(0), b = e.x(1);
  if (a.rank() == 0 || b.rank() == 0) return e.result(a * b);
  int64_t axis = b.rank() == 1 ? 0 : b.rank() - 2;
  check_pairs(e, {a.rank() - 1}, {axis});
  e.result(b.rank() <= 2 ? kMatmul({a, b}) : tensordot(a, b, {a.rank() - 1}, {axis}));
}

void expand_inner(Expansion& e) {
  Value a = e.x(0), b = e.x(1);
  if (a.rank() == 0 || b.rank() == 0) return e.result(a * b);
  check_pairs(e, {a.rank() - 1}, {b.rank() - 1});
  e.result(tensordot(a, b, {a.rank() - 1}, {b.rank() - 1}));
}

// axes: n (the last n of the first with the first n of the second), or the list of both, one after
// the other.
void expand_tensordot(Expansion& e) {
  const Attr::Ints& axes = e.attrs.ints("axes");
  std::vector<int64_t> a, b;
  if (axes.size() == 1) {
    int64_t n = axes[0];
    if (n < 0 || n > e.x(0).rank() || n > e.x(1).rank()) {
      value_error("{}: {} axes cannot be paired for {} and {}", e.op.name, n, e.x(0).type().str(),
                  e.x(1).type().str());
    }
    for (int64_t i = 0; i < n; ++i) a.push_back(e.x(0).rank() - n + i), b.push_back(i);
  } else {
    if (axes.size() % 2)
      value_error("{}: 'axes' must be one number or as many for each operand", e.op.name);
    size_t half = axes.size() / 2;
    a = positive_axes(e, {axes.begin(), axes.begin() + half}, 0);
    b = positive_axes(e, {axes.begin() + half, axes.end()}, 1);
  }
  check_pairs(e, a, b);
  e.result(tensordot(e.x(0), e.x(1), a, b));
}

void expand_bias_add(Expansion& e) {
  need_rank(e, 1, 1);
  Value x = e.x(0), b = e.x(1);
  if (x.rank() < 2)
    value_error("bias_add: 'input_x' must have at least 2 dims, got {}", x.type().str());
  int channel = e.attrs.string("data_format") == "NHWC" ? x.rank() - 1 : 1;
  int64_t have = x.shape()[channel], want = b.shape()[0];
  if (dims_differ(have, want)) {
    value_error("bias_add: {} channels in {}, {} in the bias", have, x.type().str(), want);
  }
  for (int d = channel + 1; d < x.rank(); ++d) b = kExpandDims({b}, {-1});
  e.result(x + b);
}

}  // namespace

Value tensordot(Value a, Value b, const std::vector<int64_t>& axes_a,
                const std::vector<int64_t>& axes_b) {
  // A label per dim of a, then new ones for the dims of b that meet none of a's.
  Labelled left{"", a}, right{std::string(b.rank(), ' '), b};
  char next = 'a';
  for (int d = 0; d < a.rank(); ++d) left.labels += next++;
  for (size_t i = 0; i < axes_b.size(); ++i) right.labels[axes_b[i]] = left.labels[axes_a[i]];
  std::string result;
  for (int64_t d = 0; d < a.rank(); ++d) {
    if (std::count(axes_a.begin(), axes_a.end(), d) == 0) result += left.labels[d];
  }
  for (char& c : right.labels) {
    if (c == ' ') result += c = next++;
  }
  return contract(left, right, result).value;
}

constexpr OpDef kTensordot = check({
    .name = "tensor_dot",
    .doc = "Sums products over paired axes. axes n pairs the last n dims of x1 with the first n of "
           "x2; otherwise it "
           "lists the axes of x1, then those of x2.",
    .in = {"x1: number", "x2: number"},
    .attr = {"axes: int[]"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_tensordot,
    .cases = "x1[2, 3, 4]; x2[4, 3, 5]; axes = [2, 0] [1, 2, 1, 0] [-1, 0] | x1[2, 3, 4]; x2[3, 4, "
             "2]; axes = 2 | x1[2]; "
             "x2[3]; axes = 0; bad axes = 2",
});

constexpr OpDef kDot = check({
    .name = "dot",
    .doc = "Sums over the last dim of the first operand and the last but one (the only one of a "
           "vector) of the second.",
    .in = {"input: number", "other: number"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_dot,
    .cases = "input[3] [2, 3] [2, 2, 3]; other[3] [3, 4] [2, 3, 4]; bad input[2, 3] other[2, 3]",
    .method = "dot",
});

constexpr OpDef kInner = check({
    .name = "inner",
    .doc = "Sums products over the last dims of both operands.",
    .in = {"input: number", "other: number"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_inner,
    .cases = "input[3] [2, 3]; other[3] [4, 2, 3]; bad input[2, 3] other[2, 4]",
    .method = "inner",
});

constexpr OpDef kOuter = check({
    .name = "outer",
    .doc = "All products of an element of one vector with one of the other: y[i, j] = input[i] "
           "vec2[j].",
    .in = {"input: number[m]", "vec2: number[n]"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_rank(e, 0, 1);
          need_rank(e, 1, 1);
          e.result(outer(e.x(0), e.x(1)));
        },
    .cases = "bad input[2, 2] vec2[3]",
    .primitive = "Ger()",
    .method = "outer ger",
    .alias = "ger",
});

constexpr OpDef kMv = check({
    .name = "mv",
    .doc = "Product of a matrix and a vector.",
    .in = {"mat: number[m, n]", "vec: number[n]"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_rank(e, 0, 2);
          need_rank(e, 1, 1);
          e.result(kMatmul({e.x(0), e.x(1)}));
        },
    .cases = "bad mat[2, 3] vec[2]",
    .method = "mv",
});

constexpr OpDef kAddmm = check({
    .name = "addmm",
    .doc = "beta input + alpha mat1 mat2; the input broadcasts.",
    .in = {"input: number", "mat1: number[m, k]", "mat2: number[k, n]"},
    .attr = {"beta: float = 1", "alpha: float = 1"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_rank(e, 1, 2);
          need_rank(e, 2, 2);
          e.result(blend(e, e.x(0), kBatchMatmul({e.x(1), e.x(2)})));
        },
    .cases = "input[m, n] [n] []; beta = 1 2; alpha = 1 3; bad mat1[2]",
    .method = "addmm",
});

constexpr OpDef kAddmv = check({
    .name = "addmv",
    .doc = "beta x + alpha mat vec.",
    .in = {"x: number", "mat: number[m, n]", "vec: number[n]"},
    .attr = {"beta: float = 1", "alpha: float = 1"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_rank(e, 1, 2);
          need_rank(e, 2, 1);
          e.result(blend(e, e.x(0), kMatmul({e.x(1), e.x(2)})));
        },
    .cases = "x[m] []; beta = 1 2; alpha = 1 3",
    .method = "addmv",
});

constexpr OpDef kAddr = check({
    .name = "addr",
    .doc = "beta x + alpha times the outer product of vec1 and vec2.",
    .in = {"x: number", "vec1: number[m]", "vec2: number[n]"},
    .attr = {"beta: float = 1", "alpha: float = 1"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_rank(e, 1, 1);
          need_rank(e, 2, 1);
          e.result(blend(e, e.x(0), outer(e.x(1), e.x(2))));
        },
    .cases = "x[m, n] []; beta = 1 2; alpha = 1 3",
    .method = "addr",
});

constexpr OpDef kAddbmm = check({
    .name = "addbmm",
    .doc = "beta input + alpha times the sum over the batch of batch1[b] batch2[b].",
    .in = {"input: number", "batch1: number[b, m, k]", "batch2: number[b, k, n]"},
    .attr = {"beta: float = 1", "alpha: float = 1"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_rank(e, 1, 3);
          need_rank(e, 2, 3);
          // The batch joins the dim that is summed over anyway.
          check_pairs(Expansion(e.graph, e.op, {e.x(1), e.x(2)}, e.attrs.all()), {0, 2}, {0, 1});
          e.result(blend(e, e.x(0), tensordot(e.x(1), e.x(2), {0, 2}, {0, 1})));
        },
    .cases = "input[m, n] [n]; beta = 1 2; alpha = 1 3; bad batch1[2, 2]",
    .method = "addbmm",
});

constexpr OpDef kBaddbmm = check({
    .name = "baddbmm",
    .doc = "beta input + alpha batch1 batch2, batch by batch.",
    .in = {"input: number", "batch1: number[b, m, k]", "batch2: number[b, k, n]"},
    .attr = {"beta: float = 1", "alpha: float = 1"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_rank(e, 1, 3);
          need_rank(e, 2, 3);
          e.result(blend(e, e.x(0), kBatchMatmul({e.x(1), e.x(2)})));
        },
    .cases = "input[b, m, n] [n]; beta = 1 2; alpha = 1 3; bad batch2[2, 2]",
    .method = "baddbmm",
});

constexpr OpDef kBiasAdd = check({
    .name = "bias_add",
    .doc = "Adds one number per channel: the channel is dim 1, with data_format NHWC the last.",
    .in = {"input_x: number[n, c, h]", "bias: number[c]"},
    .attr = {"data_format: str(NCHW|NHWC|NCDHW) = NCHW"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_bias_add,
    .cases = "input_x[n, c] [n, c, h] [n, c, 2, h, 2]; bad input_x[2, 3] bias[2]; bad bias[2, 2] | "
             "input_x[n, h, c]; "
             "data_format = NHWC",
    .primitive = "BiasAdd(data_format)",
});

void register_product_forms() {
  ir::register_ops({&kTensordot, &kDot, &kInner, &kOuter, &kMv, &kAddmm, &kAddmv, &kAddr, &kAddbmm,
                    &kBaddbmm, &kBiasAdd});
}

}  // namespace mycel::ops
