"""Counting: elements by value, by interval, and where values stand between ascending points."""

import builtins

from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.numpy._arrays import (
    array_of,
    cast,
    inexact,
    integer,
    is_float,
    op,
    promoted,
)


@entry
def searchsorted(a, v, side="left", sorter=None):
    """For each value of v the first place in the ascending vector a before which it can be put
    (side "right": the last), int32. sorter: the indices that sort a."""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: 'side' must be 'left' or 'right', got {side!r}")
    a, v = promoted("searchsorted", array_of(a, "searchsorted"), v)
    if a.ndim != 1:
        raise ValueError(f"searchsorted: 'a' must be a vector, got {a.shape}")
    if sorter is not None:
        sorter = array_of(sorter, "searchsorted")
        if sorter.shape != a.shape or is_float(sorter.dtype):
            raise ValueError(
                f"searchsorted: 'sorter' must be {a.shape[0]} indices, got {sorter.dtype}"
                f"{sorter.shape}"
            )
        a = op("gather")(a, cast(sorter, mstype.int64), 0)
    return _place(a, v, side == "right")


def _place(line, v, right):
    if line.dtype == mstype.bool_:
        line, v = cast(line, mstype.int32), cast(v, mstype.int32)
    return op("searchsorted")(line, v, True, right)


@entry
def digitize(x, bins, right=False):
    """The interval of the monotonic vector bins that each element lies in, int32: i with
    bins[i - 1] <= x < bins[i] (right: < and <=); of descending bins with the order reversed."""
    if not isinstance(right, bool):
        raise TypeError(f"digitize: 'right' must be True or False, got {right!r}")
    x, bins = promoted("digitize", array_of(x, "digitize"), array_of(bins, "digitize"))
    if bins.ndim != 1:
        raise ValueError(f"digitize: 'bins' must be a vector, got {bins.shape}")
    n = bins.shape[0]
    if n == 0:
        return op("zeros")(x.shape, mstype.int32)
    up = _place(bins, x, not right)
    down = n - _place(op("flip")(bins, (0,)), x, right)
    return op("select")(bins[0] <= bins[n - 1], up, down)


@entry
def bincount(x, weights=None, minlength=0, length=None):
    """How often each of 0, 1, … occurs among the integers x, or the sum of its weights, float32.
    `length` fixes the number of results (and what is not below it is not counted); otherwise it is
    the largest value + 1, at least minlength. Negative values count as 0."""
    x = array_of(x, "bincount")
    if is_float(x.dtype):
        raise TypeError(f"bincount: integers are needed, got {x.dtype}")
    if x.ndim != 1:
        raise ValueError(f"bincount: 'x' must be a vector, got {x.shape}")
    minlength = integer(minlength, "bincount", "minlength")
    if minlength < 0:
        raise ValueError(f"bincount: 'minlength' must not be negative, got {minlength}")
    x = op("maximum")(cast(x, mstype.int64), 0)
    if weights is not None:
        weights = array_of(weights, "bincount")
        if weights.shape != x.shape:
            raise ValueError(
                f"bincount: 'weights' must have the shape {x.shape} of x, got {weights.shape}"
            )
        weights = cast(weights, mstype.float32)
    if length is None:
        if x.shape == (0,):
            return op("zeros")((minlength,), mstype.float32)
        return cast(op("bincount")(x, weights, minlength), mstype.float32)
    length = integer(length, "bincount", "length")
    if length < 1:
        raise ValueError(f"bincount: 'length' must be 1 or more, got {length}")
    if weights is None:
        weights = op("full")(x.shape, 1, mstype.float32)
    zeros = op("zeros")((length,), mstype.float32)
    return op("axis_scatter_add")(zeros, x, weights, 0, bounds="skip")


def _limits(x, span, fn):
    """The lowest and highest value, as tensors: of a range, or of the elements."""
    if span is not None:
        if not isinstance(span, (tuple, list)) or len(span) != 2:
            raise ValueError(f"{fn}: 'range' must be two numbers, got {span!r}")
        low, high = (v.item() if isinstance(v, Tensor) else v for v in span)
        if not low <= high:
            raise ValueError(f"{fn}: 'range' must ascend, got {span!r}")
        return (low - 0.5, high + 0.5) if low == high else (low, high)
    if 0 in x.shape:
        return 0.0, 1.0
    low, high = op("reduce_min")(x), op("reduce_max")(x)
    same = low == high
    return op("select")(same, low - 0.5, low), op("select")(same, high + 0.5, high)


def _edges(x, bins, span, fn):
    """The ascending edges of the intervals."""
    if isinstance(bins, str):
        raise TypeError(
            f"{fn}: 'bins' must be an int or the edges; rules by name are not supported"
        )
    if isinstance(bins, (list, tuple)) or (isinstance(bins, Tensor) and bins.ndim):
        edges = array_of(bins, fn)
        if edges.ndim != 1 or edges.shape[0] == 0:
            raise ValueError(f"{fn}: edges must be a vector, got {edges.shape}")
        return edges
    if hasattr(bins, "ndim") and bins.ndim:
        return array_of(bins, fn)
    count = integer(bins, fn, "bins")
    if count < 1:
        raise ValueError(f"{fn}: 'bins' must be 1 or more, got {count}")
    from mycel.numpy.creations import linspace

    low, high = _limits(inexact(x), span, fn)
    return linspace(low, high, count + 1, dtype=inexact(x).dtype)


@entry
def histogram_bin_edges(a, bins=10, range=None, weights=None):  # noqa: A002
    """The edges of the intervals of histogram: `bins` of equal width over the range (of the
    elements when None), or bins itself where it is the edges. weights change nothing."""
    a = array_of(a, "histogram_bin_edges")
    if weights is not None and array_of(weights, "histogram_bin_edges").shape != a.shape:
        raise ValueError("histogram_bin_edges: 'weights' must have the shape of a")
    return _edges(a, bins, range, "histogram_bin_edges")


@entry
def histogram(a, bins=10, range=None, weights=None, density=False):  # noqa: A002
    """(counts, edges): how many elements lie in each interval, the last one closed, or the sum of
    their weights; float32. bins: so many intervals of equal width over `range`, or their edges.
    density: divided by the width and the total, so that the integral is 1."""
    counts, edges = _count(
        "histogram", [op("ravel")(array_of(a, "histogram"))], [bins], [range], weights, density
    )
    return counts, edges[0]


def _count(fn, columns, bins, spans, weights, density):
    """Counts over the grid of the intervals of several coordinates."""
    if not isinstance(density, bool):
        raise TypeError(f"{fn}: 'density' must be True or False, got {density!r}")
    if weights is None:
        weights = cast(op("ones_like")(columns[0]), mstype.float32)
    else:
        weights = op("ravel")(inexact(array_of(weights, fn)))
        if weights.shape != columns[0].shape:
            raise ValueError(
                f"{fn}: one weight per element is needed: {weights.shape} for {columns[0].shape}"
            )
    place, outside, edges, shape = None, None, [], []
    for x, b, span in zip(columns, bins, spans):
        line = _edges(x, b, span, fn)
        if line.shape[0] < 2:
            raise ValueError(f"{fn}: at least 2 edges of known number are needed: {line.shape}")
        x, line = promoted(fn, x, line)
        n = line.shape[0] - 1
        i = op("searchsorted")(line, x, False, True) - 1
        i = op("select")(x == line[n], n - 1, i)
        out = op("logical_or")(i < 0, i >= n)
        place = i if place is None else place * n + i
        outside = out if outside is None else op("logical_or")(outside, out)
        edges.append(line)
        shape.append(n)
    total = 1
    for n in shape:
        total *= n
    place = op("select")(outside, total, place)
    zeros = op("zeros")((total,), weights.dtype)
    counts = op("axis_scatter_add")(zeros, place, weights, 0, bounds="skip").reshape(tuple(shape))
    if density:
        counts = counts / op("reduce_sum")(counts)
        for d, line in enumerate(edges):
            width = cast(op("diff")(line), counts.dtype)
            counts = counts / width.reshape((-1,) + (1,) * (len(shape) - 1 - d))
    return counts, edges


def _each(value, count, fn, name):
    """One entry per coordinate."""
    if isinstance(value, Tensor) or not isinstance(value, (tuple, list)):
        return [value] * count
    if len(value) != count:
        raise ValueError(f"{fn}: '{name}' must have {count} entries, got {len(value)}")
    return list(value)


@entry
def histogramdd(sample, bins=10, range=None, weights=None, density=False):  # noqa: A002
    """(counts, edges) of points: the rows of sample [n, d], or its d vectors when it is a tuple or
    list of vectors. bins: an int, or per coordinate an int or edges; range: per coordinate two
    numbers or None."""
    if isinstance(sample, (tuple, list)):
        columns = [op("ravel")(array_of(x, "histogramdd")) for x in sample]
        if len({x.shape for x in columns}) > 1:
            raise ValueError("histogramdd: the vectors of 'sample' must have one length")
    else:
        points = array_of(sample, "histogramdd")
        points = points.reshape((-1, 1)) if points.ndim == 1 else points
        if points.ndim != 2:
            raise ValueError(f"histogramdd: 'sample' must be a matrix, got {points.shape}")
        columns = [points[:, d] for d in builtins.range(points.shape[1])]
    bins = _each(bins, len(columns), "histogramdd", "bins")
    spans = _each(range, len(columns), "histogramdd", "range")
    return _count("histogramdd", columns, bins, spans, weights, density)


@entry
def histogram2d(x, y, bins=10, range=None, weights=None, density=False):  # noqa: A002
    """(counts, edges of x, edges of y) of the points (x[i], y[i]). bins: an int, the edges of
    both, or a pair of either; range: a pair of pairs."""
    x, y = array_of(x, "histogram2d"), array_of(y, "histogram2d")
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(
            f"histogram2d: 'x' and 'y' must be vectors of one size, got {x.shape} and {y.shape}"
        )
    if isinstance(bins, (tuple, list)) and len(bins) != 2:
        bins = array_of(bins, "histogram2d")
    bins = _each(bins, 2, "histogram2d", "bins")
    spans = _each(range, 2, "histogram2d", "range")
    counts, edges = _count("histogram2d", [x, y], bins, spans, weights, density)
    return counts, edges[0], edges[1]


__all__ = [
    *("bincount", "digitize", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"),
    "searchsorted",
]
