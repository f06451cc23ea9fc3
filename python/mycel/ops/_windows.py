"""Published forms of windows over maps: maxima put back, windows at random distances, deformable
and transposed convolutions, cut-outs around points."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.ops._forms import _op, _primitive, _tensor

# -- pools


def _several(op, name, value, count):
    """One number or several as a tuple; published settings may name batch and channels too."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,) * count
    value = tuple(value)
    if len(value) == count + 2 and value[:2] in ((1, 1), (0, 0)):
        return value[2:]
    if len(value) != count:
        raise ValueError(f"{op}: '{name}' must be a number or {count} of them, got {value}")
    return value


def _unpool(name, count):
    def call(x, argmax, ksize, strides, pads, output_shape, data_format):
        spatial = "DHW"[-count:]
        if data_format not in (f"NC{spatial}", f"N{spatial}C"):
            raise ValueError(
                f"{name}: 'data_format' must be 'NC{spatial}' or 'N{spatial}C', got {data_format!r}"
            )
        last = data_format.endswith("C")
        stride = None if strides == 0 else _several(name, "strides", strides, count)
        size = tuple(output_shape) or None
        if last:
            x, argmax = (_op("moveaxis")(v, -1, 1) for v in (x, argmax))
            size = size and (size[0], size[-1], *size[1:-1])
        y = _op(f"max_unpool{count}d")(
            x, argmax, _several(name, "ksize", ksize, count), stride,
            _several(name, "pads", pads, count), size,
        )  # fmt: skip
        return _op("moveaxis")(y, 1, -1) if last else y

    doc = f"Class form of max_unpool{count}d, called with (x, argmax)."
    settings = {"strides": 0, "pads": 0, "output_shape": (), "data_format": "NC" + "DHW"[-count:]}
    return _primitive(name, call, doc, ksize=..., **settings)


MaxUnpool2D = _unpool("MaxUnpool2D", 2)
MaxUnpool3D = _unpool("MaxUnpool3D", 3)

AdaptiveMaxPool3D = _primitive(
    "AdaptiveMaxPool3D",
    lambda x, output_size: _places_of(x, output_size),
    "Called with (x, output_size): adaptive_max_pool3d and the places of the maxima, int32.",
)


def _places_of(x, output_size):
    size = tuple(output_size.tolist()) if isinstance(output_size, Tensor) else tuple(output_size)
    if len(size) != 3:
        raise ValueError(f"AdaptiveMaxPool3D: 'output_size' must be three numbers, got {size}")
    y, places = _op("adaptive_max_pool_places")(x, size)
    return y, places.astype(mstype.int32)


def _windows(name, x, count, output_size, output_ratio):
    """Number of windows along each dim, from one of size and ratio."""
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"{name}: one of 'output_size' and 'output_ratio' must be given")
    if output_size is not None:
        return _several(name, "output_size", output_size, count)
    ratio = (output_ratio,) * count if isinstance(output_ratio, float) else tuple(output_ratio)
    if len(ratio) != count or not all(0 < r < 1 for r in ratio):
        raise ValueError(
            f"{name}: 'output_ratio' must be {count} numbers in (0, 1), got {output_ratio!r}"
        )
    return tuple(int(n * r) for n, r in zip(x.shape[-count:], ratio))


def _fractional(count):
    name = f"fractional_max_pool{count}d"

    def pool(
        input,  # noqa: A002
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        x = _tensor(input)
        if x.ndim not in (count + 1, count + 2):
            raise ValueError(
                f"{name}: the operand must have {count + 1} or {count + 2} dims, got {x.shape}"
            )
        size = _windows(name, x, count, output_size, output_ratio)
        samples = _random_samples
        if samples is None:
            shape = (*((1,) if x.ndim == count + 1 else ()), *x.shape[:-count], count)
            samples = _op("keyed_uniform")(shape, x.dtype, key=_mycel.next_key(0))
        kernel = _several(name, "kernel_size", kernel_size, count)
        y, places = _op("fractional_max_pool")(x, samples, kernel, size)
        return (y, places) if return_indices else y

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = (
        f"Largest elements of windows of kernel_size at about equal, random distances along {count}"
        " dims (Graham 2014): output_size of them, or output_ratio of the input's size; with "
        "return_indices also their places in the plane."
    )
    return entry(pool)


fractional_max_pool2d = _fractional(2)
fractional_max_pool3d = _fractional(3)


def _fixed(name, count, layout):
    def call(x, random_samples, ksize, output_shape, data_format):
        if data_format != layout:
            raise ValueError(f"{name}: 'data_format' must be {layout!r}, got {data_format!r}")
        kernel = _several(name, "ksize", ksize, count)
        size = _several(name, "output_shape", output_shape, count)
        return _op("fractional_max_pool")(x, random_samples, kernel, size)

    doc = f"Class form of fractional_max_pool{count}d, called with (x, random_samples)."
    return _primitive(name, call, doc, ksize=..., output_shape=..., data_format=layout)


FractionalMaxPoolWithFixedKsize = _fixed("FractionalMaxPoolWithFixedKsize", 2, "NCHW")
FractionalMaxPool3DWithFixedKsize = _fixed("FractionalMaxPool3DWithFixedKsize", 3, "NCDHW")


def _borders(size, ratio, pseudo_random, key):
    """Where windows along a dim begin, and its end: [windows + 1]; lengths differ by one at
    most."""
    count = int(size / ratio)
    step, rest = divmod(size, count)
    if rest == 0:
        return _op("arange")(0, size + 1, step, mstype.int64)
    if pseudo_random:
        alpha = size / count
        most = min((step + 2) / alpha - 1, (size + 1 - step) / alpha - (count - 1))
        u = _op("keyed_uniform")((1,), mstype.float64, key=key) * most
        i = _op("arange")(1, count, 1, mstype.float64)
        middle = _op("ceil")((i + u) * alpha).astype(mstype.int64) - 1
        ends = Tensor([0], mstype.int64), Tensor([size], mstype.int64)
        return _op("concat")([ends[0], middle, ends[1]], 0)
    longer = _op("keyed_permutation")(count, key=key) < rest
    lengths = longer.astype(mstype.int64) + step
    return _op("pad")(_op("cumsum")(lengths, 0), (1, 0))


def _cells(borders, size, longest, overlapping):
    """Places [windows, longest] of the elements of each window, and which of them count."""
    count = borders.shape[0] - 1
    first, end = borders.narrow(0, 0, count), borders.narrow(0, 1, count)
    if overlapping:
        end = _op("minimum")(end + 1, Tensor(size, mstype.int64))
    at = first.expand_dims(1) + _op("arange")(0, longest, 1, mstype.int64)
    inside = at < end.expand_dims(1)
    return _op("minimum")(at, end.expand_dims(1) - 1), inside


def _random_pool(name, kind, reduced):
    def call(x, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2):
        x, ratio = _tensor(x), tuple(pooling_ratio)
        if x.ndim != 4 or len(ratio) != 4 or ratio[0] != 1 or ratio[3] != 1:
            raise ValueError(
                f"{name}: needs x [n, h, w, c] and a ratio (1, rows, columns, 1), got {x.shape} "
                f"and {ratio}"
            )
        if not all(1 <= r <= n for r, n in zip(ratio[1:3], x.shape[1:3])):
            raise ValueError(f"{name}: ratios must lie between 1 and the sizes, got {ratio}")
        seeds = (seed, seed2) if deterministic or seed or seed2 else None
        keys = [
            _mycel.derive_key(seeds[0], seeds[1] * 2 + i) if seeds else _mycel.next_key(0)
            for i in range(2)
        ]
        borders, places = [], []
        for d in (1, 2):
            size = x.shape[d]
            b = _borders(size, ratio[d], pseudo_random, keys[d - 1])
            # Pseudo-random windows may be one longer than the longest random one.
            longest = -(-size // (b.shape[0] - 1)) + bool(overlapping) + bool(pseudo_random)
            borders.append(b)
            places.append(_cells(b, size, longest, overlapping))
        (rows, in_rows), (columns, in_columns) = places
        windows = _op("gather")(_op("gather")(x, columns, 2), rows, 1)
        inside = in_rows.reshape((*in_rows.shape, 1, 1, 1)) & in_columns.reshape(
            (*in_columns.shape, 1)
        )
        return reduced(windows, inside), *borders

    doc = (
        f"{kind} values of windows of x [n, h, w, c] at random distances, and where windows "
        "begin along rows and columns (Graham 2014). overlapping: windows share their borders."
    )
    return _primitive(
        name, call, doc, pooling_ratio=..., pseudo_random=False, overlapping=False,
        deterministic=False, seed=0, seed2=0,
    )  # fmt: skip


def _largest(windows, inside):
    lowest = -float("inf") if windows.dtype in mstype.float_type else -(2**31)
    outside = Tensor(lowest, windows.dtype)
    return _op("reduce_max")(_op("select")(inside, windows, outside), (2, 4))


def _mean(windows, inside):
    weight = inside.astype(windows.dtype)
    return _op("reduce_sum")(windows * weight, (2, 4)) / _op("reduce_sum")(weight, (1, 3))


FractionalMaxPool = _random_pool("FractionalMaxPool", "Largest", _largest)
FractionalAvgPool = _random_pool("FractionalAvgPool", "Mean", _mean)

# -- convolutions


def _conv_3d_transpose(x, weight, **a):
    name = "Conv3DTranspose"
    if a["mode"] != 1 or a["data_format"] != "NCDHW":
        raise ValueError(
            f"{name}: 'mode' must be 1 and 'data_format' 'NCDHW', got {a['mode']!r} and "
            f"{a['data_format']!r}"
        )
    want = (a["in_channel"], a["out_channel"] // a["group"])
    want += _several(name, "kernel_size", a["kernel_size"], 3)
    if tuple(weight.shape) != want:
        raise ValueError(f"{name}: weight must be {want}, got {tuple(weight.shape)}")
    pad = a["pad"] if isinstance(a["pad"], int) else tuple(a["pad"])
    return _op("conv3d_transpose")(
        x, weight, None, a["pad_mode"], pad, _several(name, "stride", a["stride"], 3),
        _several(name, "dilation", a["dilation"], 3), a["group"],
        _several(name, "output_padding", a["output_padding"], 3),
    )  # fmt: skip


Conv3DTranspose = _primitive(
    "Conv3DTranspose",
    _conv_3d_transpose,
    "Class form of conv3d_transpose, called with (x, weight).",
    in_channel=...,
    out_channel=...,
    kernel_size=...,
    mode=1,
    pad_mode="valid",
    pad=0,
    stride=1,
    dilation=1,
    group=1,
    output_padding=0,
    data_format="NCDHW",
)


def _deformable(x, offsets, strides, pads, ksize, dilations, data_format, groups, modulated):
    name = "DeformableOffsets"
    if data_format != "NCHW":
        raise ValueError(f"{name}: 'data_format' must be 'NCHW', got {data_format!r}")
    return _op("deformable_offsets")(
        x, offsets, _several(name, "strides", strides, 2), tuple(pads),
        _several(name, "ksize", ksize, 2), _several(name, "dilations", dilations, 2), groups,
        modulated,
    )  # fmt: skip


DeformableOffsets = _primitive(
    "DeformableOffsets",
    lambda x, offsets, strides, pads, ksize, dilations, data_format, deformable_groups, modulated: (
        _deformable(
            x, offsets, strides, pads, ksize, dilations, data_format, deformable_groups, modulated
        )
    ),
    "The elements of all windows of x at places moved by offsets, called with (x, offsets).",
    strides=...,
    pads=...,
    ksize=...,
    dilations=(1, 1, 1, 1),
    data_format="NCHW",
    deformable_groups=1,
    modulated=True,
)


@entry
def deformable_conv2d(
    x,
    weight,
    offsets,
    kernel_size,
    strides,
    padding,
    bias=None,
    dilations=(1, 1, 1, 1),
    groups=1,
    deformable_groups=1,
    modulated=True,
):
    """Convolution of x [n, c, h, w] with weight [out, c / groups, kh, kw], the elements of each
    window read bilinearly at places moved by offsets [n, 3 kh kw deformable_groups, oh, ow]:
    columns, rows, and (modulated) weights (Zhu et al. 2019). strides and dilations are (1, 1, rows,
    columns), padding (top, bottom, left, right)."""
    kernel = _several("deformable_conv2d", "kernel_size", kernel_size, 2)
    read = _deformable(
        x, offsets, strides, padding, kernel, dilations, "NCHW", deformable_groups, modulated
    )
    return _op("conv2d")(read, weight, bias, stride=kernel, groups=groups)


# -- cut-outs and resizing


def _glimpse(x, size, offsets, centered, normalized, uniform_noise, noise):
    if noise not in ("uniform", "gaussian", "zero"):
        raise ValueError(
            f"ExtractGlimpse: 'noise' must be 'uniform', 'gaussian' or 'zero', got {noise!r}"
        )
    if uniform_noise and noise != "uniform":
        raise ValueError(
            f"ExtractGlimpse: 'uniform_noise' must be False with noise {noise!r}, got True"
        )
    size = tuple(size.tolist()) if isinstance(size, Tensor) else tuple(size)
    drawn = None
    if noise != "zero":
        record = "keyed_uniform" if noise == "uniform" else "keyed_normal"
        shape = (x.shape[0], *size, x.shape[3])
        drawn = _op(record)(shape, key=_mycel.next_key(0))
    return _op("glimpse")(x, offsets, drawn, size, centered, normalized)


ExtractGlimpse = _primitive(
    "ExtractGlimpse",
    _glimpse,
    "Called with (x, size, offsets): windows of images [n, h, w, c] around offsets, noise outside.",
    centered=True,
    normalized=True,
    uniform_noise=True,
    noise="uniform",
)
ScaleAndTranslate = _primitive(
    "ScaleAndTranslate",
    lambda images, size, scale, translation, kernel_type, antialias: _op("scale_and_translate")(
        images,
        scale,
        translation,
        tuple(size.tolist()) if isinstance(size, Tensor) else tuple(size),
        kernel_type,
        antialias,
    ),
    "Called with (images, size, scale, translation): scale_and_translate.",
    kernel_type="lanczos3",
    antialias=True,
)

_IMPORTED = ("Tensor", "entry", "mstype")
__all__ = [name for name in globals() if not name.startswith("_") and name not in _IMPORTED]
