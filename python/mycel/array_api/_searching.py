"""Places, orders and sets of values."""

from typing import NamedTuple

from mycel._mycel import Tensor
from mycel.array_api import _checks as c
from mycel.array_api import _dtypes as d
from mycel.array_api._manipulation import broadcast_arrays


def _position(name, record, text):
    def find(x, /, *, axis=None, keepdims=False):
        c.array(name, x, c.REAL)
        flat = x if axis is not None else c.op("ravel")(x)
        place = 0 if axis is None else c.axis_of(name, axis, x.ndim)
        if flat.shape[place] == 0:
            raise ValueError(f"{name}: an empty axis has no {text} element, got shape {x.shape}")
        found = c.cast(c.op(record)(flat, place, keepdims), d.int64)
        if axis is None and keepdims:
            found = found.reshape((1,) * x.ndim)
        return found

    find.__name__ = find.__qualname__ = name
    find.__doc__ = (
        f"The place of the first {text} element along an axis, or of the flattened array."
    )
    return find


argmax = _position("argmax", "argmax", "largest")
argmin = _position("argmin", "argmin", "smallest")


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements over axes, all by default, are not 0."""
    c.array("count_nonzero", x)
    axes = c.axes_of("count_nonzero", axis, x.ndim)
    found = c.cast(x != Tensor(0, x.dtype) if x.dtype != d.bool else x, d.int64)
    return found if not axes and x.ndim else c.op("reduce_sum")(found, axes, keepdims)


def nonzero(x, /):
    """The places of the elements that are not 0, one vector per dim."""
    c.array("nonzero", x)
    if x.ndim == 0:
        raise ValueError("nonzero: 'x' must have at least 1 dim, got a scalar")
    found = c.op("nonzero")(x)
    return tuple(found[:, i] for i in range(x.ndim))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """For each value of x2 the first place in the ascending vector x1 before which it can be put
    (side "right": the last). sorter: the places that sort x1."""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: 'side' must be 'left' or 'right', got {side!r}")
    x1, x2 = c.pair("searchsorted", c.array("searchsorted", x1, c.REAL, "x1"), x2, c.REAL)
    if x1.ndim != 1:
        raise ValueError(f"searchsorted: 'x1' must be a vector, got shape {x1.shape}")
    if sorter is not None:
        c.array("searchsorted", sorter, c.INTEGRAL, "sorter")
        x1 = c.op("gather")(x1, c.cast(sorter, d.int64), 0)
    return c.op("searchsorted")(x1, x2, False, side == "right")


def where(condition, x1, x2, /):
    """x1 where the condition holds, else x2; one of them may be a Python number."""
    c.array("where", condition, c.BOOL, "condition")
    return c.op("select")(*broadcast_arrays(condition, *c.pair("where", x1, x2)))


# -- orders


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """The elements in order along an axis; equal ones keep their order."""
    c.array("sort", x, c.REAL)
    axis = c.axis_of("sort", axis, x.ndim)
    return c.op("sort")(x, axis, descending)[0]


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """Where the elements in order along an axis come from; equal ones keep their order."""
    c.array("argsort", x, c.REAL)
    axis = c.axis_of("argsort", axis, x.ndim)
    return c.cast(c.op("sort")(x, axis, descending)[1], d.int64)


# -- sets


class UniqueAll(NamedTuple):
    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    values: Tensor
    inverse_indices: Tensor


def _ordered(flat):
    """Places that bring equal values together, in their order."""
    if flat.dtype in c.COMPLEX:
        order = c.op("sort")(c.op("imag")(flat), 0)[1]
        by_real = c.op("sort")(c.op("gather")(c.op("real")(flat), order, 0), 0)[1]
        return c.op("gather")(order, by_real, 0)
    return c.op("sort")(c.cast(flat, d.uint8) if flat.dtype == d.bool else flat, 0)[1]


def _unique(fn, x):
    """Values in order, their first places, the place of each element among them, and counts. Each
    NaN is a value of its own."""
    flat = c.op("ravel")(c.array(fn, x))
    if flat.size == 0:
        none = c.op("zeros")((0,), d.int64)
        return flat, none, none.reshape(tuple(x.shape)), none
    order = c.cast(_ordered(flat), d.int64)
    line = c.op("gather")(flat, order, 0)
    fresh = c.op("concat")([Tensor([True]), line[1:] != line[:-1]], 0)
    run = c.op("cumsum")(c.cast(fresh, d.int64), 0) - 1
    first = c.op("nonzero")(fresh)[:, 0]
    inverse = c.op("tensor_scatter_update")(run, order.reshape(-1, 1), run)
    ends = c.op("concat")([first[1:], Tensor([flat.size], d.int64)], 0)
    gathered = (c.op("gather")(v, first, 0) for v in (line, order))
    return *gathered, inverse.reshape(tuple(x.shape)), ends - first


def unique_all(x, /):
    """The different values, where each comes first, the place of each element among them, and how
    often each occurs."""
    return UniqueAll(*_unique("unique_all", x))


def unique_counts(x, /):
    """The different values and how often each occurs."""
    values, _, _, counts = _unique("unique_counts", x)
    return UniqueCounts(values, counts)


def unique_inverse(x, /):
    """The different values and the place of each element among them."""
    values, _, inverse, _ = _unique("unique_inverse", x)
    return UniqueInverse(values, inverse)


def unique_values(x, /):
    """The different values."""
    return _unique("unique_values", x)[0]


def isin(x1, x2, /, *, invert=False):
    """Whether each element of x1 is one of x2 (invert: is none)."""
    x1, x2 = c.pair("isin", x1, x2)
    each = c.op("equal")(x1.reshape((*x1.shape, 1)), c.op("ravel")(x2))
    found = c.op("reduce_any")(each, (-1,), False)
    return c.op("logical_not")(found) if invert else found


# -- by place


def take(x, indices, /, *, axis=None):
    """Elements of x, or slices along an axis, at the places of a vector or array."""
    c.array("take", x)
    c.array("take", indices, c.INTEGRAL, "indices")
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: 'axis' is needed for an array of {x.ndim} dims")
        axis = 0
    return c.op("gather")(x, c.cast(indices, d.int64), c.axis_of("take", axis, x.ndim))


def take_along_axis(x, indices, /, *, axis=-1):
    """Elements of x at places along an axis; x and indices broadcast in the other dims."""
    c.array("take_along_axis", x)
    c.array("take_along_axis", indices, c.INTEGRAL, "indices")
    if x.ndim != indices.ndim:
        raise ValueError(f"take_along_axis: 'indices' must have {x.ndim} dims, got {indices.ndim}")
    axis = c.axis_of("take_along_axis", axis, x.ndim)
    sizes = [
        m if i == axis else (m if n == 1 else n)
        for i, (n, m) in enumerate(zip(x.shape, indices.shape))
    ]
    own = [n if i == axis else m for i, (n, m) in enumerate(zip(x.shape, sizes))]
    x = c.op("broadcast_to")(x, tuple(own))
    indices = c.op("broadcast_to")(c.cast(indices, d.int64), tuple(sizes))
    return c.op("gather_d")(x, indices, axis)


__all__ = [
    "argmax", "argmin", "argsort", "count_nonzero", "isin", "nonzero", "searchsorted", "sort",
    "take", "take_along_axis", "unique_all", "unique_counts", "unique_inverse", "unique_values",
    "where",
]  # fmt: skip
