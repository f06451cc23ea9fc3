"""Published forms of ops whose arguments differ from the record's: cuts, places, windows given by a
tensor, order statistics and columns of patches as primitive classes."""

import inspect

from mycel._mycel import Tensor, entry
from mycel._mycel import op as _op
from mycel.common import dtype as mstype
from mycel.ops.primitive import Primitive


def _tensor(value):
    return value if isinstance(value, Tensor) else Tensor(value)


def _ints(values):
    """Numbers that may come as a tensor, as a tuple."""
    return tuple(values.tolist() if isinstance(values, Tensor) else values)


# -- cuts


def _cut(fn, x, indices_or_sections, axis, equal):
    x = _tensor(x)
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, (tuple, list)):
        return tuple(_op("tensor_split")(x, list(indices_or_sections), axis, at_indices=True))
    parts = indices_or_sections
    if isinstance(parts, bool) or not isinstance(parts, int) or parts < 1:
        raise ValueError(
            f"{fn}: 'indices_or_sections' must be a number of parts of at least 1 or a sequence of "
            f"indices, got {parts!r}"
        )
    if equal and x.shape[axis] % parts:
        raise ValueError(
            f"{fn}: axis {axis} of size {x.shape[axis]} cannot be cut into {parts} equal parts"
        )
    return tuple(_op("tensor_split")(x, parts, axis))


def _needs(fn, x, least):
    x = _tensor(x)
    if x.ndim < least:
        raise ValueError(f"{fn}: at least {least} dim{'s' * (least > 1)} needed, got {x.shape}")
    return x


@entry
def tensor_split(input, indices_or_sections, axis=0):  # noqa: A002
    """An axis cut into that many nearly equal parts, the longer ones first, or at the indices
    given: a tuple of tensors."""
    x = _needs("tensor_split", input, 1)
    if isinstance(axis, bool) or not isinstance(axis, int) or not -x.ndim <= axis < x.ndim:
        raise ValueError(
            f"tensor_split: 'axis' must be an int in [{-x.ndim}, {x.ndim}), got {axis!r}"
        )
    return _cut("tensor_split", x, indices_or_sections, axis, False)


@entry
def hsplit(input, indices_or_sections):  # noqa: A002
    """tensor_split along the second dim, of a vector along its only one; parts are equal."""
    x = _needs("hsplit", input, 1)
    return _cut("hsplit", x, indices_or_sections, 0 if x.ndim == 1 else 1, True)


@entry
def vsplit(input, indices_or_sections):  # noqa: A002
    """tensor_split along the first of two dims or more; parts are equal."""
    return _cut("vsplit", _needs("vsplit", input, 2), indices_or_sections, 0, True)


@entry
def dsplit(input, indices_or_sections):  # noqa: A002
    """tensor_split along the third dim; parts are equal."""
    return _cut("dsplit", _needs("dsplit", input, 3), indices_or_sections, 2, True)


# -- primitive classes


def _primitive(name, call, doc, /, **defaults):
    """A primitive class: the constructor takes `defaults`, the call gives them to `call` by name.
    A default of `...` must be given."""

    class Form(Primitive):
        __doc__ = doc

        def __init__(self, *args, **kwargs):
            super().__init__()
            bound = self.__signature__.bind(*args, **kwargs)
            bound.apply_defaults()
            for key, value in bound.arguments.items():
                self.add_prim_attr(key, value)

        def __call__(self, *operands):
            return call(*operands, **{key: self.attrs[key] for key in defaults})

    kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    Form.__signature__ = inspect.Signature(
        [
            inspect.Parameter(key, kind, default=empty if value is ... else value)
            for key, value in defaults.items()
        ]
    )
    Form.__name__ = Form.__qualname__ = name
    Form.__module__ = "mycel.ops"
    return Form


def _length(fn, window_length):
    x = _tensor(window_length)
    if x.size != 1 or x.dtype not in mstype.int_type:
        raise ValueError(f"{fn}: the length must be one integer, got {x.dtype}{x.shape}")
    return int(x.reshape(()).item())


def _window(name, record, doc, **defaults):
    def call(window_length, **attrs):
        return _op(record)(_length(name, window_length), **attrs)

    return _primitive(name, call, doc, periodic=True, **defaults, dtype=mstype.float32)


BartlettWindow = _window("BartlettWindow", "bartlett_window", "The bartlett_window of a length.")
BlackmanWindow = _window("BlackmanWindow", "blackman_window", "The blackman_window of a length.")
HammingWindow = _window(
    "HammingWindow", "hamming_window", "The hamming_window of a length.", alpha=0.54, beta=0.46
)


def _places(name, record):
    def call(**attrs):
        return _op(record)(**attrs)

    doc = f"Primitive form of {record}, called without operands."
    return _primitive(name, call, doc, row=..., col=..., offset=0, dtype=mstype.int32)


TrilIndices = _places("TrilIndices", "tril_indices")
TriuIndices = _places("TriuIndices", "triu_indices")

LogSpace = _primitive(
    "LogSpace",
    lambda start, end, **attrs: _op("logspace")(start, end, **attrs),
    "Primitive form of logspace: called with start and end.",
    steps=10,
    base=10,
    dtype=mstype.float32,
)

# The published default stands for "the first dim of size 3".
Cross = _primitive(
    "Cross",
    lambda x1, x2, dim: _op("cross")(x1, x2, None if dim == -65530 else dim),
    "Primitive form of cross; the default dim is the first of size 3.",
    dim=-65530,
)


def _median(x, global_median, axis, keep_dims):
    if not global_median:
        return _op("median")(x, axis, keep_dims)
    return _op("median")(_tensor(x).reshape(-1), 0, False)


Median = _primitive(
    "Median",
    _median,
    "Primitive form of median: (values, places); global_median: of all elements.",
    global_median=False,
    axis=0,
    keep_dims=False,
)
Quantile = _primitive(
    "Quantile",
    lambda x, q, dim, keep_dims, ignore_nan: _op("nanquantile" if ignore_nan else "quantile")(
        x, q, dim, keep_dims
    ),
    "Primitive form of quantile, with ignore_nan of nanquantile.",
    dim=None,
    keep_dims=False,
    ignore_nan=False,
)


def _search(sorted_sequence, values, dtype, right):
    dtype = mstype.dtype(dtype)
    if dtype not in (mstype.int32, mstype.int64):
        raise TypeError(f"SearchSorted: 'dtype' must be int32 or int64, got {dtype}")
    return _op("searchsorted")(sorted_sequence, values, dtype == mstype.int32, right)


SearchSorted = _primitive(
    "SearchSorted", _search, "Primitive form of searchsorted.", dtype=mstype.int64, right=False
)
LowerBound = _primitive(
    "LowerBound",
    lambda sorted_x, values, out_type: _search(sorted_x, values, out_type, False),
    "The first place in each ascending row before which a value can be put.",
    out_type=mstype.int32,
)
UpperBound = _primitive(
    "UpperBound",
    lambda sorted_x, values, out_type: _search(sorted_x, values, out_type, True),
    "The last place in each ascending row before which a value can be put.",
    out_type=mstype.int32,
)


def _bucketize(x, boundaries):
    x = _tensor(x)
    line = Tensor(list(boundaries), mstype.float64)
    return _op("searchsorted")(line, x.astype(mstype.float64), True, True)


Bucketize = _primitive(
    "Bucketize",
    _bucketize,
    "How many of the ascending boundaries are not above each element, int32.",
    boundaries=...,
)


def _bincount(array, size, weights):
    n = _length("Bincount", size)
    weights = _tensor(weights)
    zeros = _op("zeros")((n,), weights.dtype)
    flat = _tensor(array).reshape(-1).astype(mstype.int64)
    if weights.size == 0:
        weights = _op("ones")(flat.shape, weights.dtype)
    return _op("axis_scatter_add")(zeros, flat, weights.reshape(-1), 0, bounds="skip")


Bincount = _primitive(
    "Bincount",
    _bincount,
    "Called with (array, size, weights): the sum of the weights of each of 0 … size - 1; other "
    "values are not counted. Empty weights count 1.",
)


def _im2col(x, ksizes, strides, dilations, pads):
    pair = lambda v: tuple(v) if isinstance(v, (tuple, list)) else (v, v)
    y = _op("unfold")(x, pair(ksizes), pair(dilations), pair(pads), pair(strides))
    size = pair(ksizes)[0] * pair(ksizes)[1]
    return y.reshape((y.shape[0], y.shape[1] // size, size, y.shape[2]))


Im2Col = _primitive(
    "Im2Col",
    _im2col,
    "Sliding patches of images [n, c, h, w] as columns [n, c, patch size, patches].",
    ksizes=...,
    strides=1,
    dilations=1,
    pads=0,
)


def _col2im(x, output_size, kernel_size, dilation, padding, stride):
    x = _tensor(x)
    if x.ndim != 4:
        raise ValueError(f"Col2Im: columns must have 4 dims, got {x.shape}")
    size = output_size.tolist() if isinstance(output_size, Tensor) else output_size
    n, c, k, count = x.shape
    return _op("fold")(x.reshape((n, c * k, count)), size, kernel_size, dilation, padding, stride)


Col2Im = _primitive(
    "Col2Im",
    _col2im,
    "Columns [n, c, patch size, patches] added up at their places in images [n, c, output_size].",
    kernel_size=...,
    dilation=1,
    padding=0,
    stride=1,
)
L2Loss = _primitive(
    "L2Loss",
    lambda x: _op("reduce_sum")(_op("square")(x)) / 2,
    "Half the sum of the squares of all elements.",
)


def _unravel(indices, dims):
    from mycel.numpy import unravel_index

    dims = dims.tolist() if isinstance(dims, Tensor) else dims
    return _op("stack")(unravel_index(indices, tuple(dims)))


UnravelIndex = _primitive(
    "UnravelIndex",
    _unravel,
    "Called with (indices, dims): the index tuples of flat positions, one row per dim.",
)

_IMPORTED = ("Primitive", "Tensor", "entry", "inspect", "mstype")
__all__ = [name for name in globals() if not name.startswith("_") and name not in _IMPORTED]
