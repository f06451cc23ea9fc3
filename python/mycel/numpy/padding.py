"""pad: more elements around an array."""

from mycel._mycel import entry
from mycel.numpy._arrays import along, array_of, cast, inexact, integer, is_float, op

_STATISTICS = {"maximum": "max", "minimum": "min", "mean": "mean", "median": "median"}
_SIMPLE = {"edge": "edge", "wrap": "wrap"}


def _pairs(value, ndim, name):
    """(before, behind) for each axis, from a value, one pair, or a pair for each axis."""
    if not isinstance(value, (tuple, list)):
        return [(value, value)] * ndim
    value = list(value)
    if value and isinstance(value[0], (tuple, list)):
        pairs = [tuple(p) * 2 if len(p) == 1 else tuple(p) for p in value]
        pairs = pairs * ndim if len(pairs) == 1 else pairs
    else:
        pairs = [tuple(value) * 2 if len(value) == 1 else tuple(value)] * ndim
    if len(pairs) != ndim or any(len(p) != 2 for p in pairs):
        raise ValueError(
            f"pad: '{name}' must be a value, a pair, or a pair for each of the {ndim} axes; got "
            f"{value!r}"
        )
    return pairs


def _joined(x, axis, before, behind):
    parts = [p for p in (before, x, behind) if p is not None]
    return op("concat")(parts, axis) if len(parts) > 1 else x


def _repeated(part, axis, count):
    shape = list(part.shape)
    shape[axis] = count
    return op("broadcast_to")(part, tuple(shape)) if count else None


def _constant(x, widths, values):
    for axis, ((low, high), (a, b)) in enumerate(zip(widths, values)):
        shape = lambda n, d=axis, s=x: s.shape[:d] + (n,) + s.shape[d + 1 :]
        fill = lambda v, n: op("broadcast_to")(cast(array_of(v, "pad"), x.dtype), shape(n))  # noqa: B023
        x = _joined(x, axis, fill(a, low) if low else None, fill(b, high) if high else None)
    return x


def _statistic(x, widths, lengths, mode):
    from mycel.numpy import reductions

    for axis, ((low, high), (first, last)) in enumerate(zip(widths, lengths)):
        size = x.shape[axis]
        if size == 0:
            raise ValueError(f"pad: mode '{mode}' needs elements along axis {axis}, got {x.shape}")

        def value(count, start, whole=x, d=axis, n=size):
            count = n if count is None else integer(count, "pad", "stat_length")
            if count < 1:
                raise ValueError(f"pad: 'stat_length' must be 1 or more, got {count}")
            count = min(count, n)
            part = along(whole, d, slice(0, count) if start else slice(n - count, n))
            if mode == "median":
                y = op("quantile")(inexact(part), 0.5, d, True)
            else:
                y = getattr(reductions, _STATISTICS[mode])(part, d, True)
            return cast(y if is_float(whole.dtype) else op("round")(y), whole.dtype)

        before = _repeated(value(first, True), axis, low)
        x = _joined(x, axis, before, _repeated(value(last, False), axis, high))
    return x


def _ramp(x, widths, ends):
    for axis, ((low, high), (a, b)) in enumerate(zip(widths, ends)):
        size, whole = x.shape[axis], is_float(x.dtype)
        shape = (-1,) + (1,) * (x.ndim - 1 - axis)

        def slope(end, edge, count, rising, shape=shape, dtype=x.dtype, whole=whole):
            edge = inexact(edge)
            at = op("arange")(0, count, 1, edge.dtype).reshape(shape) / count
            at = at if rising else 1.0 - op("flip")(at, (0,))
            y = end + (edge - end) * at if rising else edge + (end - edge) * at
            return cast(y if whole else op("floor")(y), dtype)

        first, last = along(x, axis, slice(0, 1)), along(x, axis, slice(size - 1, size))
        before = slope(a, first, low, True) if low else None
        behind = None
        if high:
            behind = op("flip")(slope(b, last, high, True), (axis,))
        x = _joined(x, axis, before, behind)
    return x


def _mirrored(x, widths, mode, odd):
    """Reflections, as often as the width needs: the part beside each edge is turned round."""
    skip = 1 if mode == "reflect" else 0
    for axis, (low, high) in enumerate(widths):
        if x.shape[axis] == 0 and low + high:
            raise ValueError(f"pad: mode '{mode}' needs elements along axis {axis}, got {x.shape}")
        if x.shape[axis] == 1 and skip:
            edge = x
            x = _joined(x, axis, _repeated(edge, axis, low), _repeated(edge, axis, high))
            continue
        while low or high:
            size = x.shape[axis]
            take = min(low, size - skip)
            before = None
            if take:
                before = op("flip")(along(x, axis, slice(skip, skip + take)), (axis,))
                if odd:
                    before = along(x, axis, slice(0, 1)) * 2 - before
            more = min(high, size - skip)
            behind = None
            if more:
                behind = op("flip")(along(x, axis, slice(size - skip - more, size - skip)), (axis,))
                if odd:
                    behind = along(x, axis, slice(size - 1, size)) * 2 - behind
            x = _joined(x, axis, before, behind)
            low, high = low - take, high - more
    return x


@entry
def pad(
    arr,
    pad_width,
    mode="constant",
    stat_length=None,
    constant_values=0,
    end_values=0,
    reflect_type="even",
    **kwargs,
):
    """The array with pad_width elements (a number, a pair, or a pair per axis) before and behind
    each axis.

    mode: "constant" (constant_values), "edge", "linear_ramp" (down to end_values), "maximum",
    "minimum", "mean", "median" (of stat_length elements beside the edge, None: of all),
    "reflect" and "symmetric" (without and with the edge; reflect_type "odd" turns values round the
    edge too), "wrap", "empty" (zeros), or a function that is called as
    f(line, (before, behind), axis, kwargs) for every padded line and gives the line."""
    x = array_of(arr, "pad")
    widths = _pairs(pad_width, x.ndim, "pad_width")
    widths = [tuple(integer(n, "pad", "pad_width") for n in p) for p in widths]
    if any(n < 0 for p in widths for n in p):
        raise ValueError(f"pad: 'pad_width' must not be negative, got {pad_width!r}")
    if callable(mode):
        return _by_function(x, widths, mode, kwargs)
    if kwargs:
        raise TypeError(f"pad: unknown arguments {sorted(kwargs)}; only a function mode takes more")
    if x.ndim == 0:
        return x
    if mode == "constant":
        return _constant(x, widths, _pairs(constant_values, x.ndim, "constant_values"))
    if mode == "empty":
        return _constant(x, widths, [(0, 0)] * x.ndim)
    if mode in _SIMPLE:
        low, high = zip(*widths)
        if any(n == 0 and a + b for n, (a, b) in zip(x.shape, widths)):
            raise ValueError(f"pad: mode '{mode}' needs elements along each axis, got {x.shape}")
        return _edge(x, widths) if mode == "edge" else _wrapped(x, widths)
    if mode in _STATISTICS:
        return _statistic(x, widths, _pairs(stat_length, x.ndim, "stat_length"), mode)
    if mode == "linear_ramp":
        return _ramp(x, widths, _pairs(end_values, x.ndim, "end_values"))
    if mode in ("reflect", "symmetric"):
        if reflect_type not in ("even", "odd"):
            raise ValueError(f"pad: 'reflect_type' must be 'even' or 'odd', got {reflect_type!r}")
        return _mirrored(x, widths, mode, reflect_type == "odd")
    raise ValueError(
        "pad: 'mode' must be 'constant', 'edge', 'linear_ramp', 'maximum', 'mean', 'median', "
        f"'minimum', 'reflect', 'symmetric', 'wrap', 'empty' or a function, got {mode!r}"
    )


def _edge(x, widths):
    for axis, (low, high) in enumerate(widths):
        n = x.shape[axis]
        first, last = along(x, axis, slice(0, 1)), along(x, axis, slice(n - 1, n))
        x = _joined(x, axis, _repeated(first, axis, low), _repeated(last, axis, high))
    return x


def _wrapped(x, widths):
    for axis, (low, high) in enumerate(widths):
        n = x.shape[axis]
        index = op("floor_mod")(op("arange")(-low, n + high, 1), n)
        x = op("gather")(x, index, axis) if low + high else x
    return x


def _by_function(x, widths, mode, kwargs):
    from mycel.numpy.manipulation import apply_along_axis

    x = _constant(x, widths, [(0, 0)] * x.ndim)
    for axis, width in enumerate(widths):

        def line(v, width=width, axis=axis):
            result = mode(v, width, axis, kwargs)
            return v if result is None else array_of(result, "pad")

        x = cast(apply_along_axis(line, axis, x), x.dtype)
    return x


__all__ = ["pad"]
