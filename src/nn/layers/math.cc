// Mathematics as layers.
#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"
#include "nn/layers/calls.h"
#include "runtime/trace.h"

namespace mycel::nn {
namespace {

constexpr LayerDef kMatMul = check({
    .name = "MatMul",
    .doc = "x1 x2 over the last two dims, batch dims broadcast; transpose_x1 and transpose_x2 turn "
           "an operand first.",
    .args = {"transpose_x1: bool = False", "transpose_x2: bool = False"},
    .in = {"x1", "x2"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::matmul(x[0], x[1], l.args.boolean("transpose_x1"),
                             l.args.boolean("transpose_x2"));
        },
});

constexpr LayerDef kMoments = check({
    .name = "Moments",
    .doc = "Mean and (biased) variance of x over axis, all dims by default.",
    .args = {"axis: int[]? = None", "keep_dims: bool? = None"},
    .construct =
        [](Layer& l, Inputs x) {
          std::vector<int64_t> axes;
          if (!l.args.none("axis")) axes = l.args.ints("axis");
          bool keep = !l.args.none("keep_dims") && l.args.boolean("keep_dims");
          Tensor mean = ops::reduce_mean(x[0], axes, true);
          Tensor variance =
              ops::reduce_mean(ops::square(x[0] - ops::stop_gradient(mean)), axes, keep);
          return Tensors{keep ? mean : ops::reduce_mean(x[0], axes, false), variance};
        },
});

constexpr LayerDef kReduceLogSumExp = check({
    .name = "ReduceLogSumExp",
    .doc = "log(sum(exp(x))) over axis (all dims when empty), without overflow.",
    .args = {"axis: int[]", "keep_dims: bool = False"},
    .construct =
        [](Layer& l, Inputs x) {
          const auto& axes = l.args.ints("axis");
          Tensor top = ops::stop_gradient(ops::reduce_max(x[0], axes, true));
          Tensor sum = ops::log(ops::reduce_sum(ops::exp(x[0] - top), axes, true)) + top;
          return l.args.boolean("keep_dims") ? sum : ops::reduce_sum(sum, axes, false);
        },
});

constexpr LayerDef kRange = check({
    .name = "Range",
    .doc = "start, start + delta, and so on below limit; with one argument from 0 to it. Whole "
           "numbers give int32.",
    .args = {"start: number", "limit: number? = None", "delta: number = 1"},
    .in = {},
    .construct =
        [](Layer& l, Inputs) {
          bool one = l.args.none("limit");
          double from = one ? 0 : l.args.real("start"),
                 to = one ? l.args.real("start") : l.args.real("limit");
          double step = l.args.real("delta");
          bool whole = l.args.attr("start").is<int64_t>() && l.args.attr("delta").is<int64_t>() &&
                       (one || l.args.attr("limit").is<int64_t>());
          return ops::arange(from, to, step, whole ? DType::kInt32 : DType::kFloat32);
        },
});

constexpr LayerDef kRoll = check({
    .name = "Roll",
    .doc = "Elements shifted along axis by shift places; what leaves one end enters the other.",
    .args = {"shift: int[]", "axis: int[]"},
    .in = {"input_x"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::roll(x[0], l.args.ints("shift"), l.args.attr("axis"));
        },
});

// An operand that is a number of the program, 0 when absent.
int64_t whole_number(Inputs x, size_t i) {
  return x.size() > i && x[i] ? runtime::concrete(x[i], "k").item_int() : 0;
}

constexpr LayerDef kTril = check({
    .name = "Tril",
    .doc = "The lower triangle of x [..., m, n], zeros above diagonal k.",
    .in = {"x", "k?"},
    .construct = [](Layer&, Inputs x) { return ops::tril(x[0], whole_number(x, 1)); },
});
constexpr LayerDef kTriu = check({
    .name = "Triu",
    .doc = "The upper triangle of x [..., m, n], zeros below diagonal k.",
    .in = {"x", "k?"},
    .construct = [](Layer&, Inputs x) { return ops::triu(x[0], whole_number(x, 1)); },
});

constexpr LayerDef kMatrixDiag = check({
    .name = "MatrixDiag",
    .doc = "Matrices [..., n, n] with the vectors [..., n] on the diagonal, zeros elsewhere.",
    .in = {"input_x"},
    .construct = [](Layer&, Inputs x) { return run_op("matrix_diag_band", {x[0], Tensor()}); },
});
constexpr LayerDef kMatrixDiagPart = check({
    .name = "MatrixDiagPart",
    .doc = "The main diagonals [..., min(m, n)] of matrices [..., m, n].",
    .in = {"input_x"},
    .construct = [](Layer&, Inputs x) { return run_op("matrix_diag_part_band", {x[0], Tensor()}); },
});
constexpr LayerDef kMatrixSetDiag = check({
    .name = "MatrixSetDiag",
    .doc = "Matrices [..., m, n] with their main diagonals replaced by [..., min(m, n)].",
    .in = {"input_x", "diagonal"},
    .construct = [](Layer&, Inputs x) { return run_op("matrix_set_diag_band", {x[0], x[1]}); },
});
constexpr LayerDef kMatDet = check({
    .name = "MatDet",
    .doc = "The determinants of square matrices [..., n, n].",
    .in = {"a"},
    .construct = [](Layer&, Inputs x) { return ops::det(x[0]); },
});
constexpr LayerDef kMatInverse = check({
    .name = "MatInverse",
    .doc = "The inverses of square matrices [..., n, n].",
    .in = {"a"},
    .construct = [](Layer&, Inputs x) { return ops::inverse(x[0]); },
});

constexpr LayerDef kL1Regularizer = check({
    .name = "L1Regularizer",
    .doc = "scale * sum(|weights|).",
    .args = {"scale: float"},
    .in = {"weights"},
    .setup = [](Layer& l) { l.args.positive_real("scale"); },
    .construct = [](Layer& l,
                    Inputs x) { return ops::reduce_sum(ops::abs(x[0])) * l.args.real("scale"); },
});

// -- special functions

constexpr LayerDef kLGamma = check({
    .name = "LGamma",
    .doc = "log |gamma(x)|.",
    .construct = [](Layer&, Inputs x) { return ops::lgamma(x[0]); },
});
constexpr LayerDef kDiGamma = check({
    .name = "DiGamma",
    .doc = "The derivative of log gamma at x.",
    .construct = [](Layer&, Inputs x) { return ops::digamma(x[0]); },
});
constexpr LayerDef kIGamma = check({
    .name = "IGamma",
    .doc = "The lower incomplete gamma function of a up to x, over gamma(a).",
    .in = {"a", "x"},
    .construct = [](Layer&, Inputs x) { return ops::igamma(x[0], x[1]); },
});
constexpr LayerDef kLBeta = check({
    .name = "LBeta",
    .doc = "log of the beta function: lgamma(x) + lgamma(y) - lgamma(x + y).",
    .in = {"x", "y"},
    .construct =
        [](Layer&, Inputs x) {
          return ops::lgamma(x[0]) + ops::lgamma(x[1]) - ops::lgamma(x[0] + x[1]);
        },
});

}  // namespace

LayerDefs math_layers() {
  return {&kMatMul, &kMoments,    &kReduceLogSumExp, &kRange,         &kRoll,         &kTril,
          &kTriu,   &kMatrixDiag, &kMatrixDiagPart,  &kMatrixSetDiag, &kMatDet,       &kMatInverse,
          &kLGamma, &kDiGamma,    &kIGamma,          &kLBeta,         &kL1Regularizer};
}

}  // namespace mycel::nn
