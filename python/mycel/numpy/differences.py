"""Differences of neighbours, integrals and interpolation along an axis."""

from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.numpy._arrays import (
    NUMBERS,
    along,
    array_of,
    axes_of,
    cast,
    inexact,
    integer,
    is_array,
    is_float,
    needs_dims,
    one_axis,
    op,
    promoted,
)


@entry
def diff(a, n=1, axis=-1, prepend=None, append=None):
    """The n-th differences a[i + 1] - a[i] along axis; prepend and append, numbers or arrays, are
    joined to a first. Of bools whether neighbours differ."""
    a = needs_dims(array_of(a, "diff"), 1, "diff")
    axis, n = one_axis(axis, a.ndim, "diff"), integer(n, "diff", "n")
    if n < 0:
        raise ValueError(f"diff: 'n' must not be negative, got {n}")
    edges = [None if v is None else array_of(v, "diff") for v in (prepend, append)]
    if n == 0:
        return a
    if a.dtype == mstype.bool_ and all(e is None or e.dtype == a.dtype for e in edges):
        shape = list(a.shape)
        shape[axis] = 1
        joined = [edges[0], a, edges[1]]
        joined = [
            op("broadcast_to")(x, tuple(shape)) if x.ndim == 0 else x
            for x in joined if x is not None
        ]  # fmt: skip
        a = op("concat")(joined, axis) if len(joined) > 1 else a
        for _ in range(n):
            a = op("logical_xor")(along(a, axis, slice(1, None)), along(a, axis, slice(None, -1)))
        return a
    return op("diff")(a, edges[0], edges[1], n, axis)


@entry
def ediff1d(ary, to_end=None, to_begin=None):
    """The differences of neighbours of the flattened array, with to_begin (flattened) before and
    to_end behind them."""
    ary = array_of(ary, "ediff1d")
    y = op("diff")(op("ravel")(ary))
    parts = [y if v is None else array_of(v, "ediff1d") for v in (to_begin, y, to_end)]
    kept = [p for p, v in zip(parts, (to_begin, y, to_end)) if v is not None]
    return op("concat")([cast(op("ravel")(p), y.dtype) for p in kept], 0)


def _spacing(value, size, axis):
    """The distance between points: a number, or a vector of their coordinates."""
    if isinstance(value, NUMBERS) and not is_array(value):
        return value, None
    x = inexact(array_of(value, "gradient"))
    if x.ndim == 0:
        return x, None
    if x.ndim != 1 or x.shape[0] != size:
        raise ValueError(
            f"gradient: the coordinates of axis {axis} must be a vector of {size}, got {x.shape}"
        )
    return None, op("diff")(x)


def _slopes(f, axis, value, edge_order):
    size = f.shape[axis]
    if size < edge_order + 1:
        raise ValueError(
            f"gradient: axis {axis} of size {size} is too short; {edge_order + 1} points are needed"
        )
    step, gaps = _spacing(value, size, axis)
    part = lambda a, b: along(f, axis, slice(a, b))
    if gaps is None:
        middle = (part(2, None) - part(None, -2)) / (2.0 * step)
        if edge_order == 1:
            first = (part(1, 2) - part(0, 1)) / step
            last = (part(size - 1, size) - part(size - 2, size - 1)) / step
        else:
            first = (part(1, 2) * 2.0 - part(0, 1) * 1.5 - part(2, 3) * 0.5) / step
            last = (
                part(size - 1, size) * 1.5 - part(size - 2, size - 1) * 2.0
                + part(size - 3, size - 2) * 0.5
            ) / step  # fmt: skip
        return op("concat")((first, middle, last), axis)
    shape = (-1,) + (1,) * (f.ndim - 1 - axis)
    gap = lambda a, b: cast(gaps[a:b], f.dtype).reshape(shape)
    left, right = gap(0, size - 2), gap(1, size - 1)
    middle = (
        part(0, -2) * (-right / (left * (left + right)))
        + part(1, -1) * ((right - left) / (left * right))
        + part(2, None) * (left / (right * (left + right)))
    )
    g0, g9 = gap(0, 1), gap(size - 2, size - 1)
    if edge_order == 1:
        first = (part(1, 2) - part(0, 1)) / g0
        last = (part(size - 1, size) - part(size - 2, size - 1)) / g9
    else:
        g1, g8 = gap(1, 2), gap(size - 3, size - 2)
        first = (
            part(0, 1) * (-(2.0 * g0 + g1) / (g0 * (g0 + g1)))
            + part(1, 2) * ((g0 + g1) / (g0 * g1))
            - part(2, 3) * (g0 / (g1 * (g0 + g1)))
        )
        last = (
            part(size - 3, size - 2) * (g9 / (g8 * (g8 + g9)))
            - part(size - 2, size - 1) * ((g8 + g9) / (g8 * g9))
            + part(size - 1, size) * ((2.0 * g9 + g8) / (g9 * (g8 + g9)))
        )
    return op("concat")((first, middle, last), axis)


@entry
def gradient(f, *varargs, axis=None, edge_order=1):
    """The slope of f along each axis from the values beside each point; at the edges from
    edge_order + 1 points. varargs: the distance of all axes, or per axis a distance or the
    coordinates. One tensor for one axis, else a list."""
    f = needs_dims(inexact(array_of(f, "gradient")), 1, "gradient")
    axes = axes_of(axis, f.ndim, "gradient")
    if edge_order not in (1, 2) or isinstance(edge_order, bool):
        raise ValueError(f"gradient: 'edge_order' must be 1 or 2, got {edge_order!r}")
    if not varargs:
        steps = (1.0,) * len(axes)
    elif (
        len(varargs) == 1
        and (not is_array(varargs[0]) or varargs[0].ndim == 0)
        and not isinstance(varargs[0], (list, tuple))
    ):
        steps = varargs * len(axes)
    else:
        steps = varargs
    if len(steps) != len(axes):
        raise ValueError(f"gradient: {len(varargs)} distances given for {len(axes)} axes")
    out = [_slopes(f, d, h, edge_order) for d, h in zip(axes, steps)]
    return out[0] if len(out) == 1 else out


@entry
def trapz(y, x=None, dx=1.0, axis=-1):
    """The integral of y along axis by the trapezoid rule, at the points x (a vector, or as y) or at
    distances dx. Integers give float32."""
    y = needs_dims(inexact(array_of(y, "trapz")), 1, "trapz")
    axis = one_axis(axis, y.ndim, "trapz")
    if x is None:
        if not isinstance(dx, (int, float)) or isinstance(dx, bool):
            raise TypeError(f"trapz: 'dx' must be a number, got {type(dx).__name__}")
        return op("trapz")(y, None, dx, axis)
    y, x = promoted("trapz", y, array_of(x, "trapz"))
    # Counted from the last dim, so that x may have fewer dims than y.
    return op("trapz")(y, x, 1.0, axis - y.ndim)


@entry
def interp(x, xp, fp, left=None, right=None):
    """Linear interpolation at x in the table of points (xp, fp), xp ascending; left and right of
    the table the value `left` and `right`, or that of the nearest point."""
    x, xp, fp = promoted("interp", x, array_of(xp, "interp"), array_of(fp, "interp"))
    if not is_float(x.dtype):
        x, xp, fp = (cast(v, mstype.float32) for v in (x, xp, fp))
    for name, v in (("xp", xp), ("fp", fp)):
        if v.ndim != 1 or v.shape[0] == 0:
            raise ValueError(f"interp: '{name}' must be a vector of 1 point or more, got {v.shape}")
    if xp.shape != fp.shape:
        raise ValueError(f"interp: 'xp' and 'fp' differ in size: {xp.shape} and {fp.shape}")
    known = [v.item() if isinstance(v, Tensor) else v for v in (left, right)]
    return op("interp")(x, xp, fp, *known)


@entry
def unwrap(p, discont=3.141592653589793, axis=-1):
    """Angles along axis without jumps: where a step is larger than discont (at least pi), whole
    turns are taken off it."""
    p = needs_dims(inexact(array_of(p, "unwrap")), 1, "unwrap")
    axis = one_axis(axis, p.ndim, "unwrap")
    pi = 3.141592653589793
    step = op("diff")(p, None, None, 1, axis)
    turned = op("floor_mod")(step + pi, Tensor(2 * pi, p.dtype)) - pi
    # A step of exactly +pi stays one.
    turned = op("select")(op("logical_and")(turned == -pi, step > 0), -turned, turned)
    off = turned - step
    off = op("select")(op("abs")(step) < discont, op("zeros_like")(off), off)
    first = along(p, axis, slice(0, 1))
    return op("concat")((first, along(p, axis, slice(1, None)) + op("cumsum")(off, axis)), axis)


__all__ = [
    name for name, value in globals().items()
    if isinstance(value, entry) and not name.startswith("_")
]  # fmt: skip
