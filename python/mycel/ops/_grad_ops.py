"""Gradient primitives that published code calls directly. Each is the pullback of an op: the table
says which, what the operands of the call are, and where its own operands come from. A name that is
a record of its own (ReluGrad, SigmoidGrad, …) is that record's class."""

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import NamedTuple

from mycel import _mycel, ops
from mycel._mycel import Tensor
from mycel.common import dtype as mstype
from mycel.ops._forms import _ints
from mycel.ops._transforms import vjp
from mycel.ops.primitive import Primitive


class Rule(NamedTuple):
    """A gradient primitive: forward(o, a), whose operands `wrt` are replaced by the ones that are
    differentiated; o and a are namespaces of the call's operands and of the attributes."""

    operands: str  # of the call, in order; "name?" may be left out
    forward: Callable
    wrt: str = "x"
    attributes: dict = {}
    start: Callable = None  # (o, a) -> the operands `wrt` where the call does not give them
    seed: str = "dy"


def _zeros(shape, like):
    return ops.zeros(_ints(shape), like.dtype)


def _from_shape(name, like="dy"):
    """Zeros of a shape that the call gives: where only the size of an operand matters."""
    return lambda o, a: (_zeros(getattr(o, name), getattr(o, like)),)


def _of(name, operands="x dy", attributes=(), **defaults):
    """The rule of a function of ops with one operand x."""

    def forward(o, a):
        return getattr(ops, name)(o.x, **{n: getattr(a, n) for n in attributes})

    return Rule(operands, forward, "x", defaults)


def _from_result(name, inverse, operands="y dy"):
    """The same where the call gives the result y: x = inverse(y)."""
    return Rule(operands, lambda o, a: getattr(ops, name)(o.x), start=lambda o, a: (inverse(o.y),))


def _class(name, *names):
    """The primitive class of ops with these attributes, called with x."""
    return lambda o, a: getattr(ops, name)(**{n: getattr(a, n) for n in names})(o.x)


def _first(f):
    """f without its further results, which have no gradient."""
    return lambda o, a: f(o, a)[0]


# -- windows, convolutions, sizes

_POOL = {"kernel_size": 1, "strides": 1, "pad_mode": "VALID", "data_format": "NCHW"}
_POOL_3D = {
    "kernel_size": (1, 1, 1, 1, 1),
    "strides": (1, 1, 1, 1, 1),
    "pad_mode": "VALID",
    "pad_list": 0,
    "data_format": "NCDHW",
}
_CONV = {
    "out_channel": ...,
    "kernel_size": ...,
    "pad_mode": "valid",
    "pad": 0,
    "pad_list": (0, 0, 0, 0),
    "mode": 1,
    "stride": (1, 1),
    "dilation": (1, 1, 1, 1),
    "group": 1,
    "data_format": "NCHW",
}
_DEPTHWISE = {
    "channel_multiplier": ...,
    "kernel_size": ...,
    "pad_mode": "valid",
    "pad": 0,
    "pad_list": (0, 0, 0, 0),
    "mode": 3,
    "stride": 1,
    "dilation": 1,
    "group": 1,
}


def _inner(values, count):
    """The sizes of a window: published settings may name batch and channels too."""
    values = (values,) * count if isinstance(values, int) else tuple(values)
    return values[2:] if len(values) == count + 2 else values


def _pool(name):
    def forward(o, a):
        sizes = (
            (v[1:3] if a.data_format == "NHWC" else v[2:])
            if isinstance(v, tuple) and len(v) == 4
            else v
            for v in (a.kernel_size, a.strides)
        )
        return getattr(ops, name)(*sizes, a.pad_mode, a.data_format)(o.x)

    return forward


def _max_pool_3d(o, a):
    sizes = (_inner(v, 3) for v in (a.kernel_size, a.strides))
    return ops.MaxPool3D(*sizes, a.pad_mode, a.pad_list, None, a.data_format)(o.x)


def _avg_pool_3d(o, a):
    return ops.AvgPool3D(
        a.kernel_size, a.strides, a.pad_mode, a.pads, a.ceil_mode, a.count_include_pad,
        a.divisor_override, a.data_format,
    )(o.x)  # fmt: skip


def _pullback_again(forward):
    """The gradient of a pooling's gradient: of the pullback at x1, as a function of its seed."""
    return lambda o, a: vjp(lambda x: forward(SimpleNamespace(x=x), a), o.x1)[1](o.g)


def _conv_2d(o, a):
    layer = ops.Conv2D(
        a.out_channel, a.kernel_size, a.mode, a.pad_mode, a.pad, _inner(a.stride, 2),
        _inner(a.dilation, 2), a.group, a.data_format,
    )  # fmt: skip
    return layer(o.x, o.w)


def _conv_3d(o, a):
    sizes = (_inner(a.stride, 3), _inner(a.dilation, 3))
    layer = ops.Conv3D(
        a.out_channel, a.kernel_size, a.mode, a.pad_mode, a.pad, *sizes, a.group, a.data_format
    )
    return layer(o.x, o.w)


def _depthwise(o, a):
    layer = ops.DepthwiseConv2dNative(
        a.channel_multiplier, a.kernel_size, a.mode, a.pad_mode, a.pad, a.stride, a.dilation,
        a.group,
    )  # fmt: skip
    return layer(o.x, o.w)


_BY_SIZE = {"align_corners": False}
_GRID = {"interpolation_mode": "bilinear", "padding_mode": "zeros", "align_corners": False}


def _grid(o, a):
    return ops.grid_sample(o.x, o.grid, a.interpolation_mode, a.padding_mode, a.align_corners)


def _resize(name):
    """Resizing x to the planes that dy has."""

    def forward(o, a):
        return getattr(ops, name)(o.x, o.dy.shape[2:], a.align_corners, a.half_pixel_centers)

    return Rule("dy x", forward, "x", {**_BY_SIZE, "half_pixel_centers": False})


def _planes(o, a):
    return (ops.zeros((*o.dy.shape[:2], *_ints(o.size)), o.dy.dtype),)


_ROI = {"pooled_height": ..., "pooled_width": ..., "spatial_scale": ..., "sample_num": 2}
_MASKS = {
    "begin_mask": 0,
    "end_mask": 0,
    "ellipsis_mask": 0,
    "new_axis_mask": 0,
    "shrink_axis_mask": 0,
}


def _strided(o, a):
    op = ops.StridedSlice(**{n: getattr(a, n) for n in _MASKS})
    return op(o.x, _ints(o.begin), _ints(o.end), _ints(o.strides))


def _padded_back(o, a):
    """A tensor of the size that mirror padding made dy from."""
    sides = o.paddings.tolist() if isinstance(o.paddings, Tensor) else o.paddings
    return (ops.zeros([n - b - e for n, (b, e) in zip(o.dy.shape, sides)], o.dy.dtype),)


def _padded_v3_back(o, a):
    """A tensor of the size that padding made dy from."""
    sides = _ints(o.paddings)
    if not a.paddings_contiguous:
        half = len(sides) // 2
        sides = [n for pair in zip(sides[:half], sides[half:]) for n in pair]
    shape = list(o.dy.shape)
    for i in range(len(sides) // 2):
        shape[-1 - i] -= sides[2 * i] + sides[2 * i + 1]
    return (ops.zeros(shape, o.dy.dtype),)


def _unpooling(layout):
    return {"ksize": ..., "strides": 0, "pads": 0, "output_shape": (), "data_format": layout}


def _unpooled(name):
    def forward(o, a):
        layer = getattr(ops, name)(a.ksize, a.strides, a.pads, a.output_shape, a.data_format)
        return layer(o.x, o.argmax)

    return forward


def _at_places(spatial):
    """The elements of x at the places, in their plane, that the windows took."""

    def forward(o, a):
        planes = (*o.argmax.shape[:-spatial], -1)
        picked = ops.gather_d(o.x.reshape(planes), -1, o.argmax.reshape(planes))
        return picked.reshape(o.argmax.shape)

    return forward


_DILATION = {"stride": ..., "dilation": ..., "pad_mode": "SAME", "data_format": "NCHW"}


def _dilated(o, a):
    return ops.Dilation2D(a.stride, a.dilation, a.pad_mode, a.data_format)(o.x, o.filter)


# -- norms, losses

_AXES = {"begin_norm_axis": 1, "begin_params_axis": 1}
_EPSILON = 1e-12  # of the published kernels of layer_norm's gradients


def _layer_norm_pull(o, a):
    """dx, dgamma and dbeta of layer_norm, as a function of x, dy and gamma."""
    norm = lambda x, g, b: ops.layer_norm(
        x, g, b, a.begin_norm_axis, a.begin_params_axis, _EPSILON
    )[0]
    return vjp(norm, o.x, o.gamma, ops.zeros_like(o.gamma))[1](o.dy)


def _batch_norm(o, a):
    norm = ops.BatchNorm(a.is_training, a.epsilon, data_format=a.data_format)
    return norm(o.x, o.scale, o.offset, o.mean, o.variance)[0]


def _batch_norm_pull(o, a):
    """dx, dscale and doffset of batch normalization, as a function of x, dy and scale."""

    def norm(x, scale, offset):
        given = {**vars(o), "x": x, "scale": scale, "offset": offset}
        return _batch_norm(SimpleNamespace(**given), a)

    return vjp(norm, o.x, o.scale, ops.zeros_like(o.scale))[1](o.dy)


_MEAN = {"reduction": "mean"}


def _loss(name, *names, **defaults):
    """The rule of a loss class called with x and label."""
    forward = lambda o, a: getattr(ops, name)(**{n: getattr(a, n) for n in names})(o.x, o.label)
    return Rule("x label dy", forward, "x", defaults)


def _both(f):
    return Rule("x1 x2 dy", lambda o, a: f(o.x1, o.x2), "x1 x2", {"grad_x": True, "grad_y": True})


def _both_again(f):
    """Second order: what reaches dy1 and dy2 goes back to the gradient."""
    pull = lambda o, a: vjp(f, o.x1, o.x2)[1](o.g)
    start = lambda o, a: (o.x1, o.x2, ops.zeros_like(f(o.x1, o.x2)))
    return Rule("x1 x2 dy1 dy2", pull, "x1 x2 g", {}, start, "dy1 dy2")


_VALUES = lambda o, a: ops.Median(a.global_median, a.axis, a.keep_dims)(o.x)

TABLE = {
    "AbsGrad": _of("abs"),
    "ACosGrad": _of("acos"),
    "AcoshGrad": _from_result("acosh", lambda y: ops.cosh(y)),
    "AsinGrad": _of("asin"),
    "AsinhGrad": _from_result("asinh", lambda y: ops.sinh(y)),
    "AtanGrad": _of("atan"),
    "FastGeLUGrad": _of("fast_gelu", "dy x"),
    "GeLUGrad": Rule("dy x y", lambda o, a: ops.gelu(o.x, "tanh")),
    "HSigmoidGrad": _of("hardsigmoid", "dy x"),
    "HSwishGrad": _of("hardswish", "dy x"),
    "HShrinkGrad": _of("hardshrink", "dy x", ("lambd",), lambd=0.5),
    "InvGrad": _from_result("reciprocal", lambda y: 1 / y),
    "LogitGrad": Rule("dy x", _class("Logit", "eps"), attributes={"eps": -1.0}),
    "MvlgammaGrad": _of("mvlgamma", "dy x", ("p",), p=...),
    "ReciprocalGrad": _from_result("reciprocal", lambda y: 1 / y),
    "ReLU6Grad": _of("relu6", "dy x"),
    "RsqrtGrad": _from_result("rsqrt", lambda y: 1 / (y * y)),
    "SoftplusGrad": _of("softplus", "dy x"),
    "SoftShrinkGrad": _of("softshrink", "dy x", ("lambd",), lambd=0.5),
    "SqrtGrad": _from_result("sqrt", lambda y: y * y),
    # The published operand is elu's result.
    "EluGrad": _from_result("elu", lambda y: ops.select(y > 0, y, ops.log1p(y)), "dy y"),
    "GluGrad": _of("glu", "dy x", ("axis",), axis=...),
    "L2NormalizeGrad": Rule(
        "x y dy", _class("L2Normalize", "axis", "epsilon"), "x", {"axis": 0, "epsilon": 1e-4}
    ),
    "LRNGrad": Rule(
        "dy x y",
        _class("LRN", "depth_radius", "bias", "alpha", "beta"),
        "x",
        {"depth_radius": 5, "bias": 1.0, "alpha": 1.0, "beta": 0.5},
    ),
    "PReLUGrad": Rule("dy x w", lambda o, a: ops.prelu(o.x, o.w), "x w"),
    "MaximumGrad": _both(ops.maximum),
    "MaximumGradGrad": _both_again(ops.maximum),
    "MinimumGrad": _both(ops.minimum),
    "MinimumGradGrad": _both_again(ops.minimum),
    # Losses.
    "KLDivLossGrad": Rule(
        "dy x label", lambda o, a: ops.KLDivLoss(a.reduction)(o.x, o.label), "x", _MEAN
    ),
    "BinaryCrossEntropyGrad": Rule(
        "x label dy weight?",
        lambda o, a: ops.BinaryCrossEntropy(a.reduction)(o.x, o.label, o.weight),
        "x",
        _MEAN,
    ),
    "MultiMarginLossGrad": Rule(
        "dy x target weight?",
        lambda o, a: ops.MultiMarginLoss(a.p, a.margin, a.reduction)(o.x, o.target, o.weight),
        "x",
        {"p": 1, "margin": 1.0, **_MEAN},
    ),
    "MultilabelMarginLossGrad": Rule(
        "dy x target is_target",
        lambda o, a: ops.multilabel_margin_loss(o.x, o.target, a.reduction),
        "x",
        _MEAN,
    ),
    "NLLLossGrad": Rule(
        "x dy target weight total_weight",
        lambda o, a: ops.nll_loss(o.x, o.target, o.weight, reduction=a.reduction),
        "x",
        _MEAN,
    ),
    "SigmoidCrossEntropyWithLogitsGrad": _loss("SigmoidCrossEntropyWithLogits"),
    "SmoothL1LossGrad": _loss("SmoothL1Loss", "beta", "reduction", beta=1.0, reduction="none"),
    "SoftMarginLossGrad": _loss("SoftMarginLoss", "reduction", **_MEAN),
    # Norms.
    "LayerNormGradGrad": Rule(
        "x dy variance mean gamma d_dx d_dg d_db",
        _layer_norm_pull,
        "x dy gamma",
        _AXES,
        seed="d_dx d_dg d_db",
    ),
    "BatchNormGrad": Rule(
        "dy x scale mean variance reserve?",
        _batch_norm,
        "x scale offset",
        {"is_training": False, "epsilon": 1e-5, "data_format": "NCHW"},
        lambda o, a: (o.x, o.scale, ops.zeros_like(o.scale)),
    ),
    "BatchNormGradGrad": Rule(
        "x dy scale mean variance d_dx d_dg d_db",
        _batch_norm_pull,
        "x dy scale",
        {"is_training": False, "epsilon": 1e-5, "data_format": "NCHW"},
        seed="d_dx d_dg d_db",
    ),
    "InstanceNormGrad": Rule(
        "dy x gamma save_mean save_variance",
        lambda o, a: ops.instance_norm(o.x, o.gamma, o.beta, a.epsilon),
        "x gamma beta",
        {"epsilon": 0.0, "momentum": 0.1},
        lambda o, a: (o.x, o.gamma, ops.zeros_like(o.gamma)),
    ),
    "BiasAddGrad": Rule(
        "dy",
        lambda o, a: ops.BiasAdd(a.data_format)(ops.zeros_like(o.dy), o.b),
        "b",
        {"data_format": "NCHW"},
        lambda o, a: (ops.zeros(o.dy.shape[-1 if a.data_format == "NHWC" else 1], o.dy.dtype),),
    ),
    # Convolutions and pools.
    "Conv2DBackpropFilter": Rule(
        "dy x filter_sizes", _conv_2d, "w", _CONV, _from_shape("filter_sizes")
    ),
    "Conv3DBackpropFilter": Rule(
        "x dy filter_size",
        _conv_3d,
        "w",
        {
            "out_channel": ...,
            "kernel_size": ...,
            "mode": 1,
            "pad_mode": "valid",
            "pad": 0,
            "stride": (1, 1, 1, 1, 1),
            "dilation": (1, 1, 1, 1, 1),
            "group": 1,
            "data_format": "NCDHW",
        },
        _from_shape("filter_size"),
    ),
    "DepthwiseConv2dNativeBackpropFilter": Rule(
        "x filter_size dy", _depthwise, "w", _DEPTHWISE, _from_shape("filter_size")
    ),
    "DepthwiseConv2dNativeBackpropInput": Rule(
        "input_size w dy", _depthwise, "x", _DEPTHWISE, _from_shape("input_size")
    ),
    "AvgPoolGrad": Rule("x y dy", _pool("AvgPool"), "x", _POOL),
    "MaxPoolGrad": Rule("x y dy", _pool("MaxPool"), "x", _POOL),
    "MaxPoolGradGrad": Rule(
        "x1 x2 dy",
        _pullback_again(_pool("MaxPool")),
        "g",
        _POOL,
        lambda o, a: (ops.zeros_like(o.x2),),
    ),
    "MaxPool3DGrad": Rule("x y dy", _max_pool_3d, "x", _POOL_3D),
    "MaxPool3DGradGrad": Rule(
        "x1 x2 dy",
        _pullback_again(_max_pool_3d),
        "g",
        _POOL_3D,
        lambda o, a: (ops.zeros_like(o.x2),),
    ),
    "MaxPoolGradWithArgmax": Rule("x dy argmax", _first(_pool("MaxPoolWithArgmax")), "x", _POOL),
    "MaxPoolGradWithArgmaxV2": Rule(
        "x dy argmax",
        _first(
            _class(
                "MaxPoolWithArgmaxV2",
                *("kernel_size", "strides", "pads", "dilation", "ceil_mode", "argmax_type"),
            )
        ),
        "x",
        {
            "kernel_size": ...,
            "strides": None,
            "pads": 0,
            "dilation": (1, 1),
            "ceil_mode": False,
            "argmax_type": mstype.int64,
        },
    ),
    "AdaptiveAvgPool2DGrad": Rule(
        "dy orig_input_shape",
        lambda o, a: ops.adaptive_avg_pool2d(o.x, o.dy.shape[-2:]),
        start=_from_shape("orig_input_shape"),
    ),
    "AdaptiveAvgPool3DGrad": Rule(
        "dy orig_input_shape",
        lambda o, a: ops.adaptive_avg_pool3d(o.x, o.dy.shape[-3:]),
        start=_from_shape("orig_input_shape"),
    ),
    "AdaptiveMaxPool2DGrad": Rule(
        "dy x argmax", lambda o, a: ops.adaptive_max_pool2d(o.x, o.dy.shape[-2:])
    ),
    "AdaptiveMaxPool3DGrad": Rule(
        "dy x argmax", lambda o, a: ops.adaptive_max_pool3d(o.x, o.dy.shape[-3:])
    ),
    "AvgPool3DGrad": Rule(
        "shape dy",
        _avg_pool_3d,
        "x",
        {
            "kernel_size": 1,
            "strides": 1,
            "pads": 0,
            "ceil_mode": False,
            "count_include_pad": True,
            "divisor_override": 0,
            "data_format": "NCDHW",
            "pad_mode": "pad",
        },
        _from_shape("shape"),
    ),
    # Resizing and sampling.
    "ResizeBicubicGrad": _resize("resize_bicubic"),
    "ResizeBilinearGrad": _resize("resize_bilinear"),
    "ResizeLinear1DGrad": Rule(
        "dy x",
        lambda o, a: ops.resize_linear_1d(o.x, o.dy.shape[2:], a.coordinate_transformation_mode),
        "x",
        {"coordinate_transformation_mode": "align_corners"},
    ),
    "ResizeNearestNeighborGrad": Rule(
        "dy size",
        lambda o, a: ops.ResizeNearestNeighbor(o.dy.shape[2:], a.align_corners)(o.x),
        "x",
        _BY_SIZE,
        _planes,
    ),
    "UpsampleNearest3DGrad": Rule(
        "dy",
        lambda o, a: ops.upsample_nearest_3d(o.x, a.output_size, a.scales),
        "x",
        {"input_size": ..., "output_size": None, "scales": None},
        lambda o, a: (_zeros(a.input_size, o.dy),),
    ),
    "UpsampleTrilinear3DGrad": Rule(
        "dy",
        lambda o, a: ops.upsample_trilinear_3d(o.x, a.output_size, a.scales, a.align_corners),
        "x",
        {"input_size": ..., "output_size": None, "scales": None, "align_corners": False},
        lambda o, a: (_zeros(a.input_size, o.dy),),
    ),
    "GridSampler2DGrad": Rule("dy x grid", _grid, "x grid", _GRID),
    "GridSampler3DGrad": Rule("dy x grid", _grid, "x grid", _GRID),
    "AffineGridGrad": Rule(
        "dy size",
        lambda o, a: ops.affine_grid(o.theta, _ints(o.size), a.align_corners),
        "theta",
        {"align_corners": False},
        lambda o, a: (ops.zeros((o.dy.shape[0], len(o.size) - 2, len(o.size) - 1), o.dy.dtype),),
    ),
    "ROIAlignGrad": Rule(
        "dy rois shape",
        lambda o, a: ops.ROIAlign(a.pooled_height, a.pooled_width, a.spatial_scale, a.sample_num)(
            o.x, o.rois
        ),
        "x",
        _ROI,
        _from_shape("shape"),
    ),
    # Shapes and places.
    "SliceGrad": Rule(
        "dy x begin size", lambda o, a: ops.slice(o.x, _ints(o.begin), _ints(o.size))
    ),
    "StridedSliceGrad": Rule(
        "dy shape begin end strides", _strided, "x", _MASKS, _from_shape("shape")
    ),
    "StridedSliceV2Grad": Rule(
        "shape begin end strides dy", _strided, "x", _MASKS, _from_shape("shape")
    ),
    "MirrorPadGrad": Rule(
        "dy paddings",
        lambda o, a: ops.MirrorPad(a.mode)(o.x, o.paddings),
        "x",
        {"mode": "REFLECT"},
        _padded_back,
    ),
    "GatherDGrad": Rule(
        "index dy",
        lambda o, a: ops.gather_d(o.x, a.dim, o.index),
        "x",
        {"dim": 0, "shape": None},
        lambda o, a: (_zeros(a.shape, o.dy),),
    ),
    "GatherDGradV2": Rule("x dim index dy", lambda o, a: ops.gather_d(o.x, o.dim, o.index)),
    "MaskedSelectGrad": Rule("x mask dy", lambda o, a: ops.masked_select(o.x, o.mask)),
    "MedianGrad": Rule(
        "dy x y indices",
        _first(_VALUES),
        "x",
        {"global_median": False, "axis": 0, "keep_dims": False},
    ),
    "TraceGrad": Rule("dy shape", lambda o, a: ops.trace(o.x), start=_from_shape("shape")),
    "FlattenGrad": Rule(
        "dy shape", lambda o, a: o.x.reshape(o.dy.shape), start=_from_shape("shape")
    ),
    "EinsumGrad": Rule("x dy", lambda o, a: ops.Einsum(a.equation)(o.x), "x", {"equation": ...}),
    "PadV3Grad": Rule(
        "dy paddings",
        lambda o, a: ops.PadV3(a.mode, a.paddings_contiguous)(o.x, o.paddings),
        "x",
        {"mode": "reflect", "paddings_contiguous": True},
        _padded_v3_back,
    ),
    # Places of maxima, moved windows, scaled images.
    "MaxUnpool2DGrad": Rule("x dy argmax", _unpooled("MaxUnpool2D"), "x", _unpooling("NCHW")),
    "MaxUnpool3DGrad": Rule("x dy argmax", _unpooled("MaxUnpool3D"), "x", _unpooling("NCDHW")),
    "MaxPool3DGradWithArgmax": Rule(
        "x dy argmax",
        _first(
            _class(
                "MaxPool3DWithArgmax",
                *("ksize", "strides", "pads", "dilation", "ceil_mode", "data_format"),
                "argmax_type",
            )
        ),
        "x",
        {
            "ksize": ...,
            "strides": ...,
            "pads": ...,
            "dilation": (1, 1, 1),
            "ceil_mode": False,
            "data_format": "NCDHW",
            "argmax_type": mstype.int64,
        },
    ),
    "FractionalMaxPoolGradWithFixedKsize": Rule(
        "x dy argmax", _at_places(2), "x", {"data_format": "NCHW"}
    ),
    "FractionalMaxPool3DGradWithFixedKsize": Rule(
        "x dy argmax", _at_places(3), "x", {"data_format": "NCDHW"}
    ),
    "Dilation2DBackpropInput": Rule("x filter dy", _dilated, "x", _DILATION),
    "Dilation2DBackpropFilter": Rule("x filter dy", _dilated, "filter", _DILATION),
    "DeformableOffsetsGrad": Rule(
        "dy x offsets",
        lambda o, a: ops.DeformableOffsets(
            a.strides,
            a.pads,
            a.kernel_size,
            a.dilations,
            a.data_format,
            a.deformable_groups,
            a.modulated,
        )(o.x, o.offsets),
        "x offsets",
        {
            "strides": ...,
            "pads": ...,
            "kernel_size": ...,
            "dilations": (1, 1, 1, 1),
            "data_format": "NCHW",
            "deformable_groups": 1,
            "modulated": True,
        },
    ),
    "ScaleAndTranslateGrad": Rule(
        "dy x scale translation",
        lambda o, a: ops.ScaleAndTranslate(a.kernel_type, a.antialias)(
            o.x, o.dy.shape[1:3], o.scale, o.translation
        ),
        "x",
        {"kernel_type": "lanczos3", "antialias": True},
    ),
    # Matrices.
    "CholeskyGrad": Rule(
        "y dy",
        lambda o, a: ops.cholesky(o.x),
        start=lambda o, a: (ops.matmul(o.y, o.y.swapaxes(-1, -2)),),
    ),
    # Distances.
    "CdistGrad": Rule("dy x x2 y", lambda o, a: ops.cdist(o.x, o.x2, a.p), "x", {"p": 2.0}),
    "PdistGrad": Rule("dy x y", lambda o, a: ops.pdist(o.x, a.p), "x", {"p": 2.0}),
}


def _one(value):
    return value[0] if isinstance(value, (tuple, list)) and len(value) == 1 else value


def _parameters(names, attributes=None):
    kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    if attributes is None:
        return inspect.Signature(
            [
                inspect.Parameter(n.rstrip("?"), kind, default=None if n.endswith("?") else empty)
                for n in names
            ]
        )
    return inspect.Signature(
        [
            inspect.Parameter(n, kind, default=empty if v is ... else v)
            for n, v in attributes.items()
        ]
    )


def _class_of(name, rule):
    made = _parameters(None, rule.attributes)
    called = _parameters(rule.operands.split())
    wrt, seeds = rule.wrt.split(), rule.seed.split()

    class Gradient(Primitive):
        __doc__ = f"The pullback of an op, called with {', '.join(rule.operands.split())}."
        __signature__ = made

        def __init__(self, *args, **kwargs):
            super().__init__()
            bound = made.bind(*args, **kwargs)
            bound.apply_defaults()
            for key, value in bound.arguments.items():
                self.add_prim_attr(key, value)

        def __call__(self, *args, **kwargs):
            bound = called.bind(*args, **kwargs)
            bound.apply_defaults()
            given, a = bound.arguments, SimpleNamespace(**self.attrs)
            o = SimpleNamespace(**given)
            primals = rule.start(o, a) if rule.start else tuple(given[n] for n in wrt)

            def forward(*values):
                return rule.forward(SimpleNamespace(**{**given, **dict(zip(wrt, values))}), a)

            pull = vjp(forward, *primals)[1]
            return _one(pull(*(given[n] for n in seeds)))

    Gradient.__name__ = Gradient.__qualname__ = name
    Gradient.__module__ = __name__
    return Gradient


globals().update({name: _class_of(name, rule) for name, rule in TABLE.items()})


class LayerNormGrad(Primitive):
    """(dx, dgamma, dbeta) of layer_norm, called with x, dy, variance, mean and gamma."""

    def __init__(self, begin_norm_axis=1, begin_params_axis=1):
        super().__init__()
        self.add_prim_attr("begin_norm_axis", begin_norm_axis)
        self.add_prim_attr("begin_params_axis", begin_params_axis)

    def __call__(self, x, dy, variance, mean, gamma):
        return _mycel.op("layer_norm_dx")(
            x, gamma, mean, variance, dy, self.begin_norm_axis, self.begin_params_axis, _EPSILON
        )


class DropoutGrad(Primitive):
    """dy where the mask kept an element, over keep_prob."""

    def __init__(self, keep_prob=0.5):
        super().__init__()
        if not 0 < keep_prob <= 1:
            raise ValueError(f"DropoutGrad: 'keep_prob' must be in (0, 1], got {keep_prob}")
        self.add_prim_attr("keep_prob", keep_prob)

    def __call__(self, dy, mask):
        return dy * mask.astype(dy.dtype) / self.keep_prob


class ReluGradV2(Primitive):
    """dy where the mask of ReLUV2 is 1."""

    def __call__(self, gradients, mask):
        return gradients * mask.astype(gradients.dtype)


class UniqueGrad(Primitive):
    """The gradient of unique's values at the elements that they came from: called with the
    gradients and the results of unique."""

    def __call__(self, dy, y):
        return ops.gather(dy[0], y[1], 0)


def _of_record(name, record):
    """A class that takes the attribute axis and is called with a record's operands."""

    class Softmax(Primitive):
        __doc__ = _mycel.op(record).__doc__

        def __init__(self, axis=-1):
            super().__init__()
            self.add_prim_attr("axis", axis)

        def __call__(self, y, dy):
            return _mycel.op(record)(y, dy, self.axis)

    Softmax.__name__ = Softmax.__qualname__ = name
    Softmax.__module__ = __name__
    return Softmax


SoftmaxGrad = _of_record("SoftmaxGrad", "softmax_grad")
LogSoftmaxGrad = _of_record("LogSoftmaxGrad", "log_softmax_grad")
ReluGrad, SigmoidGrad, SiLUGrad = ops.ReluGrad, ops.SigmoidGrad, ops.SiLUGrad
TanhGrad, IgammaGradA = ops.TanhGrad, ops.IgammaGradA
