"""Sums, extremes and scans."""

import builtins

from mycel._mycel import Tensor
from mycel.array_api import _checks as c
from mycel.array_api import _dtypes as d
from mycel.array_api._manipulation import concat


def _sum_dtype(fn, x, dtype):
    """Small integers are added in the default ones."""
    if dtype is not None:
        return c.need_dtype(fn, dtype, c.NUMERIC)
    if x.dtype in c.SIGNED:
        return d.DEFAULT_INT
    return d.uint64 if x.dtype in c.UNSIGNED else x.dtype


def _reduced(fn, record, x, axis, keepdims):
    axes = c.axes_of(fn, axis, x.ndim)
    if not axes and x.ndim:
        return x  # over no axis
    return c.op(record)(x, axes, keepdims)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):  # noqa: A001
    """The sum over axes, all by default; small integers are added in the default ones."""
    c.array("sum", x, c.NUMERIC)
    return _reduced("sum", "reduce_sum", c.cast(x, _sum_dtype("sum", x, dtype)), axis, keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product over axes, all by default; small integers are multiplied in the default ones."""
    c.array("prod", x, c.NUMERIC)
    return _reduced("prod", "reduce_prod", c.cast(x, _sum_dtype("prod", x, dtype)), axis, keepdims)


def _extreme(name, record, text):
    def find(x, /, *, axis=None, keepdims=False):
        c.array(name, x, c.REAL)
        axes = c.axes_of(name, axis, x.ndim)
        if builtins.any(x.shape[a] == 0 for a in axes):
            raise ValueError(f"{name}: an empty axis has no {text} element, got shape {x.shape}")
        return _reduced(name, record, x, axis, keepdims)

    find.__name__ = find.__qualname__ = name
    find.__doc__ = f"The {text} element over axes, all by default; NaN where one is."
    return find


max = _extreme("max", "reduce_max", "largest")  # noqa: A001
min = _extreme("min", "reduce_min", "smallest")  # noqa: A001


def mean(x, /, *, axis=None, keepdims=False):
    """The mean over axes, all by default; NaN of nothing."""
    c.array("mean", x, c.FLOATING)
    return _reduced("mean", "reduce_mean", x, axis, keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The variance over axes, all by default: squares of distances from the mean, divided by their
    number less the correction."""
    c.array("var", x, c.REAL_FLOATING)
    axes = c.axes_of("var", axis, x.ndim)
    count = 1
    for a in axes:
        count *= x.shape[a]
    away = x - _reduced("var", "reduce_mean", x, axes, True)
    total = _reduced("var", "reduce_sum", away * away, axes, keepdims)
    return total / Tensor(builtins.max(count - correction, 0.0), x.dtype)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The standard deviation: the square root of var."""
    c.array("std", x, c.REAL_FLOATING)
    return c.op("sqrt")(var(x, axis=axis, correction=correction, keepdims=keepdims))


def _truth(name, record, text):
    def find(x, /, *, axis=None, keepdims=False):
        c.array(name, x)
        axes = c.axes_of(name, axis, x.ndim)
        x = x if x.dtype == d.bool else x != Tensor(0, x.dtype)
        return x if not axes and x.ndim else c.op(record)(x, axes, keepdims)

    find.__name__ = find.__qualname__ = name
    find.__doc__ = f"Whether {text} element over axes, all by default, is not 0."
    return find


all = _truth("all", "reduce_all", "every")  # noqa: A001
any = _truth("any", "reduce_any", "any")  # noqa: A001


def _scan(name, record, first, text):
    def scan(x, /, *, axis=None, dtype=None, include_initial=False):
        c.array(name, x, c.NUMERIC)
        if axis is None:
            if x.ndim != 1:
                raise ValueError(f"{name}: 'axis' is needed for an array of {x.ndim} dims")
            axis = 0
        axis = c.axis_of(name, axis, x.ndim)
        kind = _sum_dtype(name, x, dtype)
        found = c.op(record)(c.cast(x, kind), axis)
        if include_initial:
            shape = tuple(1 if i == axis else n for i, n in enumerate(x.shape))
            found = concat([c.op("full")(shape, first, kind), found], axis=axis)
        return found

    scan.__name__ = scan.__qualname__ = name
    scan.__doc__ = (
        f"Running {text} along an axis, which is needed unless x is a vector; include_initial puts "
        f"{first} in front."
    )
    return scan


cumulative_sum = _scan("cumulative_sum", "cumsum", 0, "sums")
cumulative_prod = _scan("cumulative_prod", "cumprod", 1, "products")


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences of neighbours along an axis, n times; prepend and append are put before and
    behind x first."""
    c.array("diff", x, c.NUMERIC)
    axis = c.axis_of("diff", axis, x.ndim)
    if isinstance(n, builtins.bool) or not isinstance(n, int) or n < 0:
        raise ValueError(f"diff: 'n' must be an int of at least 0, got {n!r}")
    parts = [c.array("diff", p, c.NUMERIC) for p in (prepend, x, append) if p is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    for _ in range(n):
        cut = [slice(None)] * x.ndim
        later, earlier = list(cut), list(cut)
        later[axis], earlier[axis] = slice(1, None), slice(None, -1)
        x = x[tuple(later)] - x[tuple(earlier)]
    return x


__all__ = [
    "all", "any", "cumulative_prod", "cumulative_sum", "diff", "max", "mean", "min", "prod", "std",
    "sum", "var",
]  # fmt: skip
