"""Calls of published primitives and functions whose results a peer has computed.
tools/make_op_reference.py runs these cases in the peer and writes data/op_reference.npz;
test_op_forms.py runs them here, eagerly and compiled. A case: (function of tensors, arrays).
"""

import numpy as np

try:
    from mycel import int64, nn, ops
    from mycel.ops.operations import _grad_ops as G
except ImportError:  # in the peer, where many classes stand in modules of their own
    from mindspore import int64, nn, ops
    from mindspore.ops.operations import _grad_ops as G


class F:
    """An array that is known while compiling: a size, a position, a padding."""

    def __init__(self, values, dtype):
        self.array = np.array(values, dtype)


r = np.random.RandomState(0)
i32, i64 = np.int32, np.int64


def T(values, dtype=None):
    array = np.asarray(values)
    if dtype is None and array.dtype == np.float64:
        dtype = np.float32
    return array if dtype is None else array.astype(dtype)


def A(*shape):
    return np.arange(np.prod(shape)).reshape(shape).astype(np.float32)


def N(*shape):
    return T(r.randn(*shape))


X, DY = N(2, 3, 4, 6), N(2, 3, 4, 6)
U, DU, P = T(r.uniform(0.1, 0.9, (2, 3))), N(2, 3), T(r.uniform(1.2, 2, (2, 3)))
X5 = N(1, 2, 4, 4, 4)
a, b = r.randn(2, 3, 4), r.randn(2, 3, 4)
l2 = T(U / np.sqrt((U**2).sum(1, keepdims=True)))
x5, x35 = r.randn(1, 2, 7, 9), r.randn(1, 2, 5, 6, 7)
s2, s3 = r.uniform(0, 1, (1, 2, 2)), r.uniform(0, 1, (1, 2, 3))
rgb, xd, md = r.uniform(0, 1, (2, 3, 4, 3)), r.randn(2, 2, 5, 6), r.randn(2, 3, 4)

CASES = {
    "Abs": (lambda a, b: G.AbsGrad()(a, b), X, DY),
    "ACos": (lambda a, b: G.ACosGrad()(a, b), U, DU),
    "Acosh": (lambda a, b: G.AcoshGrad()(a, b), U, DU),
    "Asin": (lambda a, b: G.AsinGrad()(a, b), U, DU),
    "Asinh": (lambda a, b: G.AsinhGrad()(a, b), U, DU),
    "Atan": (lambda a, b: G.AtanGrad()(a, b), U, DU),
    "FastGeLU": (lambda a, b: G.FastGeLUGrad()(a, b), DU, U),
    "GeLU": (lambda a, b: G.GeLUGrad()(a, b, b), DU, U),
    "HSig": (lambda a, b: G.HSigmoidGrad()(a, b), DU, U),
    "HSwish": (lambda a, b: G.HSwishGrad()(a, b), DU, U),
    "HShrink": (lambda a, b: G.HShrinkGrad(0.4)(a, b), DU, U),
    "Inv": (lambda a, b: G.InvGrad()(a, b), U, DU),
    "Logit": (lambda a, b: G.LogitGrad(0.2)(a, b), DU, U),
    "Logit0": (lambda a, b: G.LogitGrad()(a, b), DU, U),
    "Rec": (lambda a, b: G.ReciprocalGrad()(a, b), U, DU),
    "ReLU6": (lambda a, b: G.ReLU6Grad()(a, b), DY, X),
    "Rsqrt": (lambda a, b: G.RsqrtGrad()(a, b), U, DU),
    "Softplus": (lambda a, b: G.SoftplusGrad()(a, b), DU, U),
    "SoftShrink": (lambda a, b: G.SoftShrinkGrad(0.4)(a, b), DU, U),
    "Sqrt": (lambda a, b: G.SqrtGrad()(a, b), U, DU),
    "Elu": (lambda a, b: G.EluGrad()(a, b), DU, T(r.uniform(-0.9, 1, (2, 3)))),
    "Glu": (lambda a, b: G.GluGrad(1)(a, b), T(r.randn(2, 3)), T(r.randn(2, 6))),
    "LRN": (lambda a, b: G.LRNGrad(2, 1.0, 0.5, 0.7)(a, b, ops.LRN(2, 1.0, 0.5, 0.7)(b)), DY, X),
    "PReLU": (lambda a, b, c: G.PReLUGrad()(a, b, c), DY, X, T([0.1, 0.2, 0.3])),
    "Max": (lambda a, b, c: G.MaximumGrad()(a, b, c), U, T(r.uniform(0, 1, (2, 3))), DU),
    "Min": (lambda a, b, c: G.MinimumGrad()(a, b, c), U, T(r.uniform(0, 1, (2, 3))), DU),
    "KL": (lambda a, b, c: G.KLDivLossGrad("none")(a, b, c), DU, U, P),
    "KLmean": (lambda a, b, c: G.KLDivLossGrad()(a, b, c), T(2.0, np.float32), U, P),
    "KLsum": (lambda a, b, c: G.KLDivLossGrad("sum")(a, b, c), T(2.0, np.float32), U, P),
    "BCE": (lambda a, b, c: G.BinaryCrossEntropyGrad("none")(a, b, c, b), U, P, DU),
    "BCEm": (lambda a, b, c: G.BinaryCrossEntropyGrad()(a, b, c, b), U, P, T(2.0, np.float32)),
    "SCE": (lambda a, b, c: G.SigmoidCrossEntropyWithLogitsGrad()(a, b, c), U, P, DU),
    "SL1": (lambda a, b, c: G.SmoothL1LossGrad(0.3, "none")(a, b, c), U, P, DU),
    "NLL": (
        lambda a, b, c, d, e: G.NLLLossGrad("mean")(a, b, c, d, e),
        U,
        T(2.0, np.float32),
        T([0, 2], np.int32),
        T([1.0, 2, 3]),
        T(4.0, np.float32),
    ),
    "MML": (
        lambda a, b, c, d: G.MultiMarginLossGrad(1, 1.0, "mean")(a, b, c, d),
        T(2.0, np.float32),
        U,
        T([0, 2], np.int64),
        T([1.0, 2, 3]),
    ),
    "LN": (
        lambda a, b, c, d, e: G.LayerNormGrad(1, 1)(a, b, c, d, e),
        U,
        DU,
        T(U.var(1, keepdims=True)),
        T(U.mean(1, keepdims=True)),
        T([1.0, 2, 3]),
    ),
    "LNGG": (
        lambda a, b, c, d, e, f, g, h: G.LayerNormGradGrad(1, 1)(a, b, c, d, e, f, g, h),
        U,
        DU,
        T(U.var(1, keepdims=True)),
        T(U.mean(1, keepdims=True)),
        T([1.0, 2, 3]),
        P,
        T([1.0, 0.5, 2]),
        T([1.0, 3, 2]),
    ),
    "BiasAdd": (lambda a: G.BiasAddGrad()(a), DY),
    "C2F": (
        lambda a, b: G.Conv2DBackpropFilter(5, (3, 3), "pad", (1, 1, 1, 1), stride=(1, 1))(
            a, b, (5, 3, 3, 3)
        ),
        T(r.randn(2, 5, 4, 6)),
        X,
    ),
    "AvgPool": (
        lambda a, b, c: G.AvgPoolGrad(2, 2)(a, b, c),
        X,
        T(np.zeros((2, 3, 2, 3))),
        T(r.randn(2, 3, 2, 3)),
    ),
    "MaxPool": (
        lambda a, b: G.MaxPoolGrad(2, 2)(a, ops.MaxPool(2, 2)(a), b),
        X,
        T(r.randn(2, 3, 2, 3)),
    ),
    "MPGG": (lambda a, b: G.MaxPoolGradGrad(2, 2)(a, ops.MaxPool(2, 2)(a), b), X, DY),
    "MP3": (
        lambda a, b: G.MaxPool3DGrad((1, 1, 2, 2, 2), (1, 1, 2, 2, 2))(
            a, ops.MaxPool3D(2, 2)(a), b
        ),
        X5,
        T(r.randn(1, 2, 2, 2, 2)),
    ),
    "MPA": (
        lambda a, b: G.MaxPoolGradWithArgmax(2, 2)(a, b, ops.MaxPoolWithArgmax(2, 2)(a)[1]),
        X,
        T(np.ones((2, 3, 2, 3))),
    ),
    "AAP2": (
        lambda a, b: G.AdaptiveAvgPool2DGrad()(a, b),
        T(r.randn(2, 3, 2, 2)),
        F([2, 3, 4, 6], np.int64),
    ),
    "AAP3": (
        lambda a, b: G.AdaptiveAvgPool3DGrad()(a, b),
        T(r.randn(1, 2, 2, 2, 2)),
        F([1, 2, 4, 4, 4], np.int32),
    ),
    "AP3": (
        lambda a: G.AvgPool3DGrad((2, 2, 2), (2, 2, 2))((1, 2, 4, 4, 4), a),
        T(r.randn(1, 2, 2, 2, 2)),
    ),
    "RBi": (lambda a, b: G.ResizeBilinearGrad()(a, b), T(r.randn(2, 3, 8, 5)), X),
    "RBiA": (lambda a, b: G.ResizeBilinearGrad(True)(a, b), T(r.randn(2, 3, 8, 5)), X),
    "RNN": (lambda a: G.ResizeNearestNeighborGrad()(a, (4, 6)), T(r.randn(2, 3, 8, 5))),
    "RL1": (lambda a, b: G.ResizeLinear1DGrad()(a, b), T(r.randn(2, 3, 8)), T(r.randn(2, 3, 5))),
    "UN3": (
        lambda a: G.UpsampleNearest3DGrad((1, 2, 4, 4, 4), (8, 5, 6))(a),
        T(r.randn(1, 2, 8, 5, 6)),
    ),
    "UT3": (
        lambda a: G.UpsampleTrilinear3DGrad((1, 2, 4, 4, 4), (8, 5, 6))(a),
        T(r.randn(1, 2, 8, 5, 6)),
    ),
    "GS2": (
        lambda a, b, c: G.GridSampler2DGrad()(a, b, c),
        T(r.randn(2, 3, 2, 2)),
        X,
        T(r.uniform(-1, 1, (2, 2, 2, 2))),
    ),
    "AG": (lambda a: G.AffineGridGrad()(a, (2, 3, 4, 5)), T(r.randn(2, 4, 5, 2))),
    "ROI": (
        lambda a, b: G.ROIAlignGrad(2, 2, 0.5, 2)(a, b, (2, 3, 4, 6)),
        T(r.randn(1, 3, 2, 2)),
        T([[0, 1.0, 1, 5, 6]]),
    ),
    "Slice": (lambda a, b: G.SliceGrad()(a, b, (0, 1), (1, 2)), T(r.randn(1, 2)), U),
    "SS": (lambda a: G.StridedSliceGrad()(a, (2, 3), (0, 0), (1, 3), (1, 2)), T(r.randn(1, 2))),
    "SSV2": (
        lambda a, b, c, d, e: G.StridedSliceV2Grad()(a, b, c, d, e),
        F([2, 3], np.int64),
        F([0, 0], np.int64),
        F([1, 3], np.int64),
        F([1, 2], np.int64),
        T(r.randn(1, 2)),
    ),
    "MirrorPad": (
        lambda a, b: G.MirrorPadGrad("REFLECT")(a, b),
        T(r.randn(4, 5)),
        F([[1, 1], [1, 1]], np.int64),
    ),
    "GatherD": (
        lambda a, b, c: G.GatherDGradV2()(a, 1, b, c),
        U,
        T([[0, 1], [1, 1]], np.int32),
        T(r.randn(2, 2)),
    ),
    "MSel": (
        lambda a, b, c: G.MaskedSelectGrad()(a, b, c),
        U,
        T([[True, False, True], [False, True, False]]),
        T([1.0, 2, 3]),
    ),
    "Trace": (lambda a, b: G.TraceGrad()(a, b), F(2.0, np.float32), F([2, 3], np.int64)),
    "Flatten": (lambda a: G.FlattenGrad()(a, (2, 3, 24)), DY),
    "LogSoftmax": (lambda a, b: G.LogSoftmaxGrad()(a, b), U, DU),
    "Relu": (lambda a, b: G.ReluGrad()(a, b), DU, U),
    "Dropout": (lambda a, b: G.DropoutGrad(0.5)(a, b), DU, T([[1.0, 0, 1], [0, 1, 1]])),
    "Mvl": (lambda a, b: G.MvlgammaGrad(2)(a, b), DU, P),
    "IgA": (lambda a, b: G.IgammaGradA()(a, b), U, P),
    "Sigmoid": (lambda a, b: G.SigmoidGrad()(a, b), U, DU),
    "Tanh": (lambda a, b: G.TanhGrad()(a, b), U, DU),
    "SiLU": (lambda a, b: G.SiLUGrad()(a, b), DU, U),
    "L2N": (lambda a, b, c: G.L2NormalizeGrad(1)(a, b, c), U, l2, DU),
    "BN": (
        lambda a, b, c, d, e, f: G.BatchNormGrad(True)(a, b, c, d, e, f)[:3],
        DY,
        X,
        T([1.0, 2, 3]),
        T(X.mean((0, 2, 3))),
        T(X.var((0, 2, 3))),
        T(np.zeros(3)),
    ),
    "BNf": (
        lambda a, b, c, d, e, f: G.BatchNormGrad(False)(a, b, c, d, e, f)[:3],
        DY,
        X,
        T([1.0, 2, 3]),
        T([0.1, 0.2, 0.3]),
        T([1.1, 1.2, 1.3]),
        T(np.zeros(3)),
    ),
    "cdist": (
        lambda a, b, c, d: G.CdistGrad(2.0)(a, b, c, d),
        T(np.ones((2, 3, 3))),
        T(a),
        T(b),
        T(np.sqrt(((a[:, :, None] - b[:, None]) ** 2).sum(-1))),
    ),
    "AP32": (
        lambda a: G.AvgPool3DGrad((2, 2, 2), (2, 2, 2))((1, 2, 4, 4, 4), a),
        T(r.randn(1, 2, 2, 2, 2)),
    ),
    "evp": (
        lambda a: ops.ExtractVolumePatches([1, 1, 2, 2, 1], [1, 1, 1, 2, 1], "VALID")(a),
        T(x35),
    ),
    "evps": (
        lambda a: ops.ExtractVolumePatches([1, 1, 2, 3, 2], [1, 1, 2, 2, 1], "SAME")(a),
        T(x35),
    ),
    "padding": (lambda a: ops.padding(a, 4), A(2, 1)),
    "Padding": (lambda a: ops.Padding(4)(a), A(2, 1)),
    "cs": (lambda a: ops.channel_shuffle(a, 3), A(2, 6, 1, 2)),
    "CS": (lambda a: ops.ChannelShuffle(group=2)(a), A(1, 4, 1, 2)),
    "mu1": (lambda a, b: ops.max_unpool1d(a, b, 2), A(1, 2, 2), T([[[0, 3], [1, 2]]], i64)),
    "mu2": (lambda a, b: ops.max_unpool2d(a, b, 2), A(1, 1, 2, 2), T([[[[0, 3], [9, 15]]]], i64)),
    "mu2o": (
        lambda a, b: ops.max_unpool2d(a, b, 2, output_size=(1, 1, 5, 5)),
        A(1, 1, 2, 2),
        T([[[[0, 3], [9, 15]]]], i64),
    ),
    "mu2p": (
        lambda a, b: ops.max_unpool2d(a, b, 2, stride=1, padding=0),
        A(1, 1, 2, 2),
        T([[[[0, 1], [2, 3]]]], i64),
    ),
    "mu3": (
        lambda a, b: ops.max_unpool3d(a, b, 2),
        A(1, 1, 1, 2, 2),
        T([[[[[0, 3], [9, 15]]]]], i64),
    ),
    "MU2": (lambda a, b: ops.MaxUnpool2D(2, 2)(a, b), A(1, 1, 2, 2), T([[[[0, 3], [9, 15]]]], i64)),
    "MU3": (
        lambda a, b: ops.MaxUnpool3D((1, 2, 2), (1, 2, 2))(a, b),
        A(1, 1, 1, 2, 2),
        T([[[[[0, 3], [9, 15]]]]], i64),
    ),
    "nMU1": (lambda a, b: nn.MaxUnpool1d(2, 2)(a, b), A(1, 2, 2), T([[[0, 3], [1, 2]]], i64)),
    "nMU2": (
        lambda a, b: nn.MaxUnpool2d(2, 2)(a, b, (1, 1, 5, 5)),
        A(1, 1, 2, 2),
        T([[[[0, 3], [9, 15]]]], i64),
    ),
    "nMU3": (
        lambda a, b: nn.MaxUnpool3d(2)(a, b),
        A(1, 1, 1, 2, 2),
        T([[[[[0, 3], [9, 15]]]]], i64),
    ),
    "fmp2": (
        lambda a, b: ops.fractional_max_pool2d(
            a, 2, (4, 3), _random_samples=b, return_indices=True
        ),
        T(x5),
        T(s2),
    ),
    "fmp2r": (
        lambda a, b: ops.fractional_max_pool2d(
            a, (2, 3), output_ratio=(0.5, 0.6), _random_samples=b, return_indices=True
        ),
        T(x5),
        T(s2),
    ),
    "fmp3": (
        lambda a, b: ops.fractional_max_pool3d(
            a, (1, 2, 2), (3, 3, 4), _random_samples=b, return_indices=True
        ),
        T(x35),
        T(s3),
    ),
    "nFmp2": (lambda a, b: nn.FractionalMaxPool2d(2, (4, 3), _random_samples=a)(b), T(s2), T(x5)),
    "nFmp3": (
        lambda a, b: nn.FractionalMaxPool3d(
            2, output_ratio=(0.5, 0.5, 0.5), _random_samples=a, return_indices=True
        )(b),
        T(s3),
        T(x35),
    ),
    "FMPK": (lambda a, b: ops.FractionalMaxPoolWithFixedKsize(2, (4, 3))(a, b), T(x5), T(s2)),
    "FMP3K": (
        lambda a, b: ops.FractionalMaxPool3DWithFixedKsize((1, 2, 2), (3, 3, 4))(a, b),
        T(x35),
        T(s3),
    ),
    "lp1": (lambda a: ops.lp_pool1d(a, 2, 3, 2), A(1, 2, 6)),
    "lp2": (lambda a: ops.lp_pool2d(a, 2, 3, 2), A(1, 2, 6, 5)),
    "amp3": (lambda a, b: ops.AdaptiveMaxPool3D()(a, b), T(x35), F([2, 3, 4], i32)),
    "mp3a": (lambda a: ops.MaxPool3DWithArgmax((2, 2, 2), (2, 2, 2), (0, 0, 0))(a), T(x35)),
    "nth": (lambda a, b: ops.NthElement()(a, b), T([[3.0, 1, 2], [5, 9, 7]]), T(1, i32)),
    "nthr": (
        lambda a, b: ops.NthElement(reverse=True)(a, b),
        T([[3.0, 1, 2], [5, 9, 7]]),
        T(0, i32),
    ),
    "ld": (lambda a, b: ops.ListDiff()(a, b), T([1, 2, 3, 4, 1, 5], i32), T([1, 4], i32)),
    "ed": (
        lambda a, b, c, d, e, f, g: ops.EditDistance(True)(a, b, c if 0 else d, e, f, g),
        T([[0, 0, 0], [1, 0, 1], [1, 1, 1]], i64),
        T([1.0, 2, 3]),
        T([2, 1, 2], i64),
        T([2, 2, 2], i64),
        T([[0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]], i64),
        T([1.0, 2, 3, 1.0]),
        T([2, 2, 2], i64),
    ),
    "dfd": (lambda a: ops.DataFormatDimMap()(a), T([0, 1, 2, 3, -1, -2, -3, -4], i32)),
    "dfv": (lambda a: ops.DataFormatVecPermute("NHWC", "NCHW")(a), T([1, 2, 3, 4], i32)),
    "dfv2": (
        lambda a: ops.DataFormatVecPermute("NCHW", "NHWC")(a),
        T([[1, 2], [3, 4], [5, 6], [7, 8]], i32),
    ),
    "rr": (
        lambda a, b, c: ops.RaggedRange(Tsplits=int64)(a, b, c),
        T([2, 5, 8], i64),
        T([3, 5, 12], i64),
        T([1, 1, 1], i64),
    ),
    "cab": (
        lambda a, b: ops.CompareAndBitpack()(a, b),
        T([1, 2, 3, 4, 5, 6, 7, 8.0]),
        T(3.0, np.float32),
    ),
    "nll": (lambda a, b, c: ops.NLLLoss()(a, b, c), N(2, 3), T([0, 2], i32), T([1.0, 2, 3])),
    "nlln": (
        lambda a, b, c: ops.NLLLoss("none")(a, b, c),
        T(x5[0, 0, :2, :3]),
        T([0, 2], i32),
        T([1.0, 2, 3]),
    ),
    "relu2": (lambda a: ops.ReLUV2()(a - 2)[0], A(1, 1, 1, 4)),
    "ct": (lambda a: ops.ConjugateTranspose()(a, (1, 0)), T(np.array([[1 + 1j, 2]], np.complex64))),
    "ipu": (
        lambda a, b, c, d: ops.IndexPut(0)(a, b, (c, d)),
        A(2, 3),
        T([9.0, 8]),
        T([0, 1], i32),
        T([1, 2], i32),
    ),
    "ipa": (
        lambda a, b, c, d: ops.IndexPut(1)(a, b, (c, d)),
        A(2, 3),
        T([9.0, 8]),
        T([0, 0], i32),
        T([1, 1], i32),
    ),
    "eps": (lambda a: ops.Eps()(a), A(2)),
    "rgb": (lambda a: ops.RGBToHSV()(a), T(rgb)),
    "hsv": (lambda a: ops.HSVToRGB()(a), T(rgb)),
    "ah": (lambda a, b: ops.AdjustHue()(a, b), T(rgb), T(0.2, np.float32)),
    "as": (lambda a, b: ops.AdjustSaturation()(a, b), T(rgb), T(1.7, np.float32)),
    "ctc": (
        lambda a, b, c, d, e: ops.ctc_loss(ops.log_softmax(a if 0 else b * 0.1, -1), c, d, e),
        T(r.randn(6, 2, 4)),
        A(6, 2, 4),
        T([[1, 2], [1, 0]], i32),
        T([5, 6], i32),
        T([2, 1], i32),
    ),
    "ctcn": (
        lambda a, b, c, d: ops.ctc_loss(ops.log_softmax(a * 0.1, -1), b, c, d, reduction="none")[0],
        A(6, 2, 4),
        T([[1, 2], [1, 0]], i32),
        T([5, 6], i32),
        T([2, 1], i32),
    ),
    "CTCV2": (
        lambda a, b, c, d: ops.CTCLossV2()(ops.log_softmax(a * 0.1, -1), b, c, d)[0],
        A(6, 2, 4),
        T([[1, 2], [1, 0]], i32),
        T([5, 6], i32),
        T([2, 1], i32),
    ),
    "nCTC": (
        lambda a, b, c, d: nn.CTCLoss(0, "sum", True)(ops.log_softmax(a * 0.1, -1), b, c, d),
        A(6, 2, 4),
        T([[1, 2], [1, 0]], i32),
        T([5, 6], i32),
        T([2, 1], i32),
    ),
    "ctcg": (
        lambda a, b: ops.ctc_greedy_decoder(a, b),
        T(np.random.RandomState(3).rand(5, 2, 3)),
        T([5, 4], i32),
    ),
    "ctcgf": (
        lambda a, b: ops.ctc_greedy_decoder(a, b, False),
        T(np.random.RandomState(3).rand(5, 2, 3)),
        T([5, 4], i32),
    ),
    "d2": (
        lambda a, b: ops.Dilation2D((1, 1, 1, 1), (1, 1, 1, 1), "VALID", "NCHW")(a, b),
        T(xd),
        T(np.arange(8).reshape(2, 2, 2) / 3.0),
    ),
    "d2s": (
        lambda a, b: ops.Dilation2D((1, 1, 2, 1), (1, 1, 1, 2), "SAME", "NCHW")(a, b),
        T(xd),
        T(np.arange(8).reshape(2, 2, 2) / 3.0),
    ),
    "eg": (
        lambda a, b, c: ops.ExtractGlimpse(True, True, False, "zero")(a, b, c),
        A(2, 5, 6, 2),
        F([3, 2], i32),
        T([[0.0, 0.3], [-0.9, 0.9]]),
    ),
    "egn": (
        lambda a, b, c: ops.ExtractGlimpse(False, False, False, "zero")(a, b, c),
        A(2, 5, 6, 2),
        F([3, 2], i32),
        T([[1.0, 3], [4, 4]]),
    ),
    "egc": (
        lambda a, b, c: ops.ExtractGlimpse(True, False, False, "zero")(a, b, c),
        A(2, 5, 6, 2),
        F([3, 2], i32),
        T([[1.0, -2], [0, 0]]),
    ),
    "col": (
        lambda a, b: ops.col2im(a, b, [2, 2], [1, 1], [0, 0], [1, 1]),
        A(1, 1, 4, 4),
        F([3, 3], i32),
    ),
    "bd": (lambda a, b: ops.batch_dot(a, b), A(2, 3, 4), A(2, 4, 5)),
    "bd2": (lambda a, b: ops.batch_dot(a, b, (1, 2)), A(2, 3, 4), A(2, 5, 3)),
    "bd3": (lambda a, b: ops.batch_dot(a, b), A(2, 3), A(2, 3)),
    "mp": (lambda a, b: ops.MirrorPad("REFLECT")(a, b), A(2, 3), F([[1, 1], [1, 1]], i64)),
    "mps": (lambda a, b: ops.MirrorPad("SYMMETRIC")(a, b), A(2, 3), F([[1, 1], [2, 1]], i64)),
    "pv3": (
        lambda a, b, c: ops.PadV3()(a, b, c),
        A(1, 2, 3),
        F([1, 0, 2, 1], i64),
        F(9.0, np.float32),
    ),
    "pv3r": (lambda a, b: ops.PadV3("reflect")(a, b), A(1, 2, 3), F([1, 0], i64)),
    "pv3n": (
        lambda a, b, c: ops.PadV3("constant", False)(a, b, c),
        A(1, 2, 3),
        F([1, 0, 2, 1], i64),
        F(9.0, np.float32),
    ),
    "defc": (
        lambda a, b, c: ops.deformable_conv2d(a, b, c, (2, 2), (1, 1, 1, 1), (0, 0, 0, 0)),
        T(xd),
        T(np.arange(16).reshape(2, 2, 2, 2) / 5.0),
        T(np.random.RandomState(5).randn(2, 12, 4, 5)),
    ),
    "defc2": (
        lambda a, b, c: ops.deformable_conv2d(
            a, b, c, (2, 2), (1, 1, 2, 2), (1, 0, 1, 0), deformable_groups=2, dilations=(1, 1, 1, 1)
        ),
        T(xd),
        T(np.arange(16).reshape(2, 2, 2, 2) / 5.0),
        T(np.random.RandomState(5).randn(2, 24, 3, 3)),
    ),
    "snt": (
        lambda a, b, c, d: ops.ScaleAndTranslate()(a, b, c, d),
        T(rgb),
        F([5, 3], i32),
        T([1.3, 0.7]),
        T([0.2, -0.3]),
    ),
    "nmso": (
        lambda a, b, c, d, e: ops.NonMaxSuppressionWithOverlaps()(a, b, c, d, e),
        T([[0.6, 0.9, 0.1, 0.2], [0.1, 0.2, 0.3, 0.4], [0.1, 0.5, 0.2, 0.8], [0.3, 0.1, 0.9, 0.6]]),
        T([0.7, 0.2, 0.4, 0.9]),
        T(4, i32),
        T(0.5, np.float32),
        T(0.0, np.float32),
    ),
    "cnms": (
        lambda a, b, c, d, e, f: ops.CombinedNonMaxSuppression()(a, b, c, d, e, f),
        T(np.random.RandomState(7).uniform(-0.1, 1.1, (2, 6, 1, 4))),
        T(np.random.RandomState(8).uniform(0, 1, (2, 6, 3))),
        F(2, i32),
        F(5, i32),
        F(0.3, np.float32),
        F(0.2, np.float32),
    ),
    "cnms2": (
        lambda a, b, c, d, e, f: ops.CombinedNonMaxSuppression(True, False)(a, b, c, d, e, f),
        T(np.random.RandomState(7).uniform(-0.1, 1.1, (2, 6, 3, 4))),
        T(np.random.RandomState(8).uniform(0, 1, (2, 6, 3))),
        F(2, i32),
        F(50, i32),
        F(0.3, np.float32),
        F(0.2, np.float32),
    ),
    "mdp": (
        lambda a, b, c: ops.matrix_diag_part(a, b, c, "RIGHT_LEFT"),
        T(md),
        F([-1, 1], i32),
        F(9.0, np.float32),
    ),
    "mdp2": (
        lambda a, b, c: ops.matrix_diag_part(a, b, c, "LEFT_RIGHT"),
        T(md),
        F([-2, 1], i32),
        F(9.0, np.float32),
    ),
    "mdp3": (
        lambda a, b, c: ops.matrix_diag_part(a, b, c, "LEFT_LEFT"),
        T(md),
        F(1, i32),
        F(9.0, np.float32),
    ),
    "md": (
        lambda a, b, c, d, e: ops.matrix_diag(a, b, c, d, e),
        T(md),
        F([-1, 1], i32),
        F(4, i32),
        F(4, i32),
        F(11.0, np.float32),
    ),
    "md2": (
        lambda a, b, c, d, e: ops.matrix_diag(a, b, c, d, e),
        T(md[0]),
        F(1, i32),
        F(-1, i32),
        F(-1, i32),
        F(11.0, np.float32),
    ),
    "msd": (lambda a, b, c: ops.matrix_set_diag(a, b, c), T(md), T(np.ones((2, 3))), F(0, i32)),
    "msd2": (
        lambda a, b, c: ops.matrix_set_diag(a, b, c, "LEFT_RIGHT"),
        T(md),
        T(np.arange(18).reshape(2, 3, 3)),
        F([-1, 1], i32),
    ),
    "fd": (lambda a: ops.FillDiagonal(9.9)(a), A(4, 3)),
    "fdw": (lambda a: ops.FillDiagonal(9.0, True)(a), A(9, 3)),
    "fd3": (lambda a: ops.FillDiagonal(9.0, False)(a), A(3, 3, 3)),
    "scat": (
        lambda a, b, c: ops.scatter(a, 1, b, c * 10),
        A(3, 3),
        T([[0, 2], [1, 0], [0, 1]], i64),
        A(3, 2),
    ),
    "ssm": (
        lambda a, b, c: ops.sparse_segment_mean(a, b, c),
        A(4, 2),
        T([0, 2, 1], i32),
        T([0, 0, 2], i32),
    ),
    "lstm": (
        lambda a, b, c, d: ops.LSTM(3, 3, 2, True, False, 0.0)(a * 0.1, b * 0.1, c * 0.05, d)[:3],
        A(4, 2, 3),
        A(2, 2, 3),
        A(2, 2, 3),
        T(np.random.RandomState(1).randn(4 * 3 * 7 * 2, 1, 1)),
    ),
    "lstm1": (
        lambda a, b, c, d: ops.LSTM(3, 2, 1, True, False, 0.0)(a * 0.1, b * 0.1, c * 0.05, d)[:3],
        A(4, 2, 3),
        A(1, 2, 2),
        A(1, 2, 2),
        T(np.random.RandomState(1).randn(4 * 2 * 6, 1, 1)),
    ),
    "tmm": (
        lambda a, b, c, d: ops.TridiagonalMatMul()(a, b, c, d),
        T([[1.0, 2, 3]]),
        T([[2.0, 3, 4]]),
        T([[1.0, 5, 6]]),
        A(3, 3),
    ),
    "stbi": (lambda a, b: ops.SparseToDense()(a, b, (3, 4)), T([[0, 1], [1, 2]], i32), T([1.0, 2])),
    "suf": (lambda a, b: ops.SubAndFilter()(a, b if 0 else 4, 2), T([1, 3, 5, 7], i32), T(4, i32)),
    "lgm": (lambda a: nn.LGamma()(a), T([2.0, 3.4])),
    "dig": (lambda a: nn.DiGamma()(a), T([2.0, 3.4])),
    "igm": (lambda a, b: nn.IGamma()(a, b), T([2.0, 3.4]), T([2.0, 5.0])),
    "lbe": (lambda a, b: nn.LBeta()(a, b), T([2.0, 3.4]), T([2.0, 5.0])),
    "ssl": (
        lambda a, b, c, d, e, f, g: nn.SampledSoftmaxLoss(3, 7, 2, sampled_values=(a, b, c))(
            d * 0.1, e * 0.1, f, g
        ),
        T([1, 5, 3], i32),
        T(np.full((2, 2), 0.4)),
        T([0.4, 0.3, 0.2]),
        A(7, 3),
        A(7),
        T([[0, 1], [2, 3]], i32),
        T(np.random.RandomState(2).randn(2, 3)),
    ),
    "c3t": (
        lambda a, b: ops.Conv3DTranspose(2, 3, (2, 2, 2), stride=2, output_padding=0)(a, b),
        T(x35),
        T(np.arange(48).reshape(2, 3, 2, 2, 2) / 7.0),
    ),
    "expand": (lambda a, b: ops.Expand()(a, b), A(3, 1), F([3, 4], i32)),
    "eqc": (lambda a, b: ops.EqualCount()(a, b), T([1, 2, 3], i32), T([1, 3, 3], i32)),
    "pconc": (lambda a, b: ops.ParallelConcat()((a, b)), A(1, 2), A(1, 2)),
    "idn": (lambda a, b: ops.IdentityN()([a, b]), A(1), A(2)),
    "lstmb1": (
        lambda a, b, c, d: ops.LSTM(3, 3, 1, True, True, 0.0)(a * 0.1, b * 0.1, c * 0.05, d)[:3],
        A(4, 2, 3),
        A(2, 2, 3),
        A(2, 2, 3),
        T(np.random.RandomState(1).randn(4 * 3 * 7 * 2, 1, 1)),
    ),
    "lstmb2": (
        lambda a, b, c, d: ops.LSTM(5, 3, 1, False, True, 0.0)(a * 0.1, b * 0.1, c * 0.05, d)[:3],
        A(4, 2, 5),
        A(2, 2, 3),
        A(2, 2, 3),
        T(np.random.RandomState(1).randn(4 * 3 * 8 * 2, 1, 1)),
    ),
    "nrn": (
        lambda a, b: ops.NoRepeatNGram(ngram_size=3)(a, b),
        T([[[1, 2, 1, 2, 5, 1, 2], [9, 3, 9, 5, 4, 1, 5]]], np.int32),
        T(np.arange(20).reshape(1, 2, 10) + 0.5),
    ),
    "grad_mu2": (
        lambda a, b, c: G.MaxUnpool2DGrad((1, 1, 2, 2), (1, 1, 2, 2), (0, 0, 0, 0))(a, b, c),
        T(np.ones((1, 1, 2, 2))),
        T(np.random.RandomState(9).randn(1, 1, 4, 4)),
        T([[[[0, 3], [9, 15]]]], np.int64),
    ),
    "grad_mu3": (
        lambda a, b, c: G.MaxUnpool3DGrad((1, 1, 1, 2, 2), (1, 1, 1, 2, 2), (0, 0, 0, 0, 0))(
            a, b, c
        ),
        T(np.ones((1, 1, 1, 2, 2))),
        T(np.random.RandomState(9).randn(1, 1, 1, 4, 4)),
        T([[[[[0, 3], [9, 15]]]]], np.int64),
    ),
    "grad_mp3a": (
        lambda a, b, c: G.MaxPool3DGradWithArgmax((2, 2, 2), (2, 2, 2), (0, 0, 0))(
            a, b, ops.MaxPool3DWithArgmax((2, 2, 2), (2, 2, 2), (0, 0, 0))(c)[1]
        ),
        T(x35),
        T(np.random.RandomState(9).randn(1, 2, 2, 3, 3)),
        T(x35),
    ),
    "grad_fk3": (
        lambda a, b, c: G.FractionalMaxPool3DGradWithFixedKsize()(
            a, b, ops.FractionalMaxPool3DWithFixedKsize((1, 2, 2), (3, 3, 4))(a, c)[1]
        ),
        T(x35),
        T(np.arange(72.0).reshape(1, 2, 3, 3, 4)),
        T(s3),
    ),
    "grad_d2i": (
        lambda a, b, c: G.Dilation2DBackpropInput((1, 1, 1, 1), (1, 1, 1, 1), "VALID")(a, b, c),
        T(xd),
        T(np.arange(8).reshape(2, 2, 2) / 3.0),
        T(np.arange(80.0).reshape(2, 2, 4, 5)),
    ),
    "grad_d2f": (
        lambda a, b, c: G.Dilation2DBackpropFilter((1, 1, 1, 1), (1, 1, 1, 1), "VALID")(a, b, c),
        T(xd),
        T(np.arange(8).reshape(2, 2, 2) / 3.0),
        T(np.arange(80.0).reshape(2, 2, 4, 5)),
    ),
    "grad_def": (
        lambda a, b, c: G.DeformableOffsetsGrad((1, 1, 1, 1), (0, 0, 0, 0), (2, 2))(a, b, c),
        T(np.random.RandomState(6).randn(2, 2, 8, 10)),
        T(xd),
        T(np.random.RandomState(5).uniform(0.1, 0.6, (2, 12, 4, 5))),
    ),
    "grad_snt": (
        lambda a, b, c, d: G.ScaleAndTranslateGrad()(a, b, c, d),
        T(np.random.RandomState(6).randn(2, 5, 3, 3)),
        T(rgb),
        T([1.3, 0.7]),
        T([0.2, -0.3]),
    ),
    "grad_padv3": (
        lambda a, b: G.PadV3Grad("reflect")(a, b),
        T(np.arange(20.0).reshape(1, 4, 5)),
        F([1, 1], np.int64),
    ),
    "grad_padv3e": (
        lambda a, b: G.PadV3Grad("edge")(a, b),
        T(np.arange(40.0).reshape(1, 1, 5, 8)),
        F([1, 2, 1, 0], np.int64),
    ),
    "grad_bngg": (
        lambda a, b, c, d, e, f, g, h: G.BatchNormGradGrad(True)(a, b, c, d, e, f, g, h),
        T(X),
        T(DY),
        T([1.0, 2, 3]),
        T(X.mean((0, 2, 3))),
        T(X.var((0, 2, 3))),
        T(np.random.RandomState(6).randn(2, 3, 4, 6)),
        T([1.0, 2, 3]),
        T([3.0, 2, 1]),
    ),
}
