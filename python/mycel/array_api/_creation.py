"""Functions that make arrays."""

import builtins
import math

import numpy as np

from mycel._mycel import Tensor
from mycel.array_api import _checks as c
from mycel.array_api import _dtypes as d
from mycel.common.tensor import from_dlpack as _from_dlpack


def _prepared(fn, dtype, device, default):
    c.need_device(fn, device)
    return default if dtype is None else c.need_dtype(fn, dtype)


def _default(value):
    """The default dtype of a Python number."""
    kind = type(value)
    if kind is builtins.bool:
        return d.bool
    if kind is complex:
        return d.DEFAULT_COMPLEX
    return d.DEFAULT_FLOAT if kind is float else d.DEFAULT_INT


def _default_of(value):
    """The default dtype of the numbers in nested lists, None when other things are in there."""
    if isinstance(value, (list, tuple)):
        ranks = [_default_of(v) for v in value]
        if None in ranks:
            return None
        order = (d.bool, d.DEFAULT_INT, d.DEFAULT_FLOAT, d.DEFAULT_COMPLEX)
        return builtins.max(ranks, key=order.index) if ranks else d.DEFAULT_FLOAT
    return _default(value) if type(value) in (builtins.bool, int, float, complex) else None


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of a number, nested lists, a buffer or an array. copy=False: the array itself, a
    ValueError when values have to be copied."""
    c.need_device("asarray", device)
    if dtype is not None:
        c.need_dtype("asarray", dtype)
    if isinstance(obj, Tensor):
        c.array("asarray", obj, name="obj")
        if copy is False and dtype not in (None, obj.dtype):
            raise ValueError(f"asarray: {obj.dtype} cannot become {dtype} without a copy")
        if dtype not in (None, obj.dtype):
            return c.cast(obj, dtype)
        return obj.copy() if copy else obj
    if copy is False:
        raise ValueError(f"asarray: a {type(obj).__name__} cannot be an array without a copy")
    if dtype is None:
        dtype = _default_of(obj)
    if dtype == d.DEFAULT_INT and isinstance(obj, int):
        return Tensor(obj, dtype)
    if isinstance(obj, (list, tuple)) and _default_of(obj) is None:
        obj = _with_tensors(obj)
    if isinstance(obj, Tensor):
        return obj if dtype is None else c.cast(obj, dtype)
    if dtype in c.INTEGRAL and isinstance(obj, (int, list, tuple)):
        return Tensor(np.array(obj, dtype=str(dtype).lower()))
    return Tensor(obj) if dtype is None else Tensor(obj, dtype)


def _with_tensors(value):
    """Nested lists with arrays in them."""
    if isinstance(value, (list, tuple)):
        return c.op("stack")(list(_meet([_with_tensors(v) for v in value])), 0)
    return value if isinstance(value, Tensor) else asarray(value)


def _meet(tensors):
    kind = d.result_type(*tensors)
    return (c.cast(x, kind) for x in tensors)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Evenly spaced numbers from start (0 when there is only one) up to, not including, stop."""
    if stop is None:
        start, stop = 0, start
    numbers = (start, stop, step)
    for n in numbers:
        if isinstance(n, builtins.bool) or not isinstance(n, (int, float)):
            raise TypeError(f"arange: bounds and step must be numbers, got {n!r}")
    if step == 0:
        raise ValueError("arange: 'step' must not be 0")
    whole = all(isinstance(n, int) for n in numbers)
    dtype = _prepared("arange", dtype, device, d.DEFAULT_INT if whole else d.DEFAULT_FLOAT)
    c.need_dtype("arange", dtype, c.REAL)
    count = builtins.max(
        0, -((start - stop) // step) if whole else math.ceil((stop - start) / step)
    )
    kind = d.int64 if whole else d.float64
    places = c.op("arange")(0, count, 1, kind)
    return c.cast(places * Tensor(step, kind) + Tensor(start, kind), dtype)


def _filled(name, value, text):
    def make(shape, *, dtype=None, device=None):
        dtype = _prepared(name, dtype, device, d.DEFAULT_FLOAT)
        return c.op("full")(c.shape_of(name, shape), value, dtype)

    def make_like(x, /, *, dtype=None, device=None):
        c.array(f"{name}_like", x)
        dtype = _prepared(f"{name}_like", dtype, device, x.dtype)
        return c.op("full")(tuple(x.shape), value, dtype)

    for fn, title, where in ((make, name, "of a shape"), (make_like, f"{name}_like", "like x")):
        fn.__name__ = fn.__qualname__ = title
        fn.__doc__ = f"An array {where} {text}."
    return make, make_like


zeros, zeros_like = _filled("zeros", 0, "of zeros")
ones, ones_like = _filled("ones", 1, "of ones")
empty, empty_like = _filled("empty", 0, "with any values (zeros)")


def full(shape, fill_value, *, dtype=None, device=None):
    """An array of a shape with one value everywhere."""
    dtype = _prepared("full", dtype, device, None) or _default(fill_value)
    value = asarray(fill_value, dtype=dtype)
    return c.op("broadcast_to")(value, c.shape_of("full", shape))


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """An array like x with one value everywhere."""
    c.array("full_like", x)
    return full(tuple(x.shape), fill_value, dtype=dtype or x.dtype, device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on the diagonal k places to the right of the main one, else zeros."""
    dtype = _prepared("eye", dtype, device, d.DEFAULT_FLOAT)
    rows, columns = c.shape_of("eye", (n_rows, n_rows if n_cols is None else n_cols))
    k = builtins.max(-rows, builtins.min(k, columns))  # beyond the matrix there is no diagonal
    at = c.op("arange")(0, rows, 1, d.int64).reshape(rows, 1) + k
    return c.cast(c.op("equal")(at, c.op("arange")(0, columns, 1, d.int64)), dtype)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """num evenly spaced numbers from start to stop, which counts when endpoint is True."""
    imaginary = any(isinstance(v, complex) for v in (start, stop))
    default = d.DEFAULT_COMPLEX if imaginary else d.DEFAULT_FLOAT
    dtype = _prepared("linspace", dtype, device, default)
    if num < 0:
        raise ValueError(f"linspace: 'num' must not be negative, got {num}")
    kind = d.complex128 if imaginary else d.float64
    steps = num - 1 if endpoint else num
    place = c.cast(c.op("arange")(0, num, 1, d.int64), kind)
    first, last = (Tensor(complex(v) if imaginary else float(v), kind) for v in (start, stop))
    if steps < 1:
        found = place * 0 + first
    else:
        # From the nearer end, so that both ends are exact.
        share = place / steps
        found = first * (1 - share) + last * share
    return c.cast(found, dtype)


def meshgrid(*arrays, indexing="xy"):
    """Coordinate arrays of the grid that vectors span; indexing "xy" swaps the first two dims."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: 'indexing' must be 'xy' or 'ij', got {indexing!r}")
    for x in arrays:
        if c.array("meshgrid", x, name="arrays").ndim != 1:
            raise ValueError(f"meshgrid: arrays must be vectors, got shape {x.shape}")
        if x.dtype != arrays[0].dtype:
            raise TypeError(f"meshgrid: arrays must have one dtype, got {x.dtype}")
    rank = len(arrays)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[:2] = [1, 0]
    shape = tuple(arrays[i].shape[0] for i in order)
    found = []
    for i, x in enumerate(arrays):
        at = [1] * rank
        at[order.index(i)] = x.shape[0]
        found.append(c.op("broadcast_to")(x.reshape(at), shape))
    return tuple(found)


def from_dlpack(x, /, *, device=None, copy=None):
    """The array behind an object with __dlpack__, over the same memory unless a copy is asked
    for."""
    c.need_device("from_dlpack", device)
    made = _from_dlpack(x)
    return Tensor(made.asnumpy().copy()) if copy else made


def _triangle(name, record):
    def take(x, /, *, k=0):
        c.array(name, x)
        if x.ndim < 2:
            raise ValueError(f"{name}: 'x' must have at least 2 dims, got {x.ndim}")
        return c.op(record)(x, k)

    take.__name__ = take.__qualname__ = name
    side = "above" if name == "tril" else "below"
    take.__doc__ = f"Matrices with zeros {side} diagonal k."
    return take


tril = _triangle("tril", "tril")
triu = _triangle("triu", "triu")

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
    "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip
