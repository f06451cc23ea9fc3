"""Functions that move elements about."""

import builtins

from mycel._mycel import Tensor
from mycel.array_api import _checks as c
from mycel.array_api import _dtypes as d
from mycel.common.tensor import _broadcast


def broadcast_shapes(*shapes):
    """The shape that all shapes broadcast to."""
    found = ()
    for s in shapes:
        found = _broadcast(found, c.shape_of("broadcast_shapes", s))
    return tuple(found)


def broadcast_arrays(*arrays):
    """Arrays in the shape that they broadcast to."""
    shape = broadcast_shapes(*(c.array("broadcast_arrays", x).shape for x in arrays))
    return tuple(broadcast_to(x, shape) for x in arrays)


def broadcast_to(x, /, shape):
    """x repeated along dims of size 1 to another shape."""
    c.array("broadcast_to", x)
    shape = c.shape_of("broadcast_to", shape)
    return x if tuple(x.shape) == shape else c.op("broadcast_to")(x, shape)


def concat(arrays, /, *, axis=0):
    """Arrays one after the other along an axis; flattened when axis is None."""
    arrays = [c.array("concat", x, name="arrays") for x in arrays]
    if not arrays:
        raise ValueError("concat: at least one array is needed")
    kind = d.result_type(*arrays)
    if axis is None:
        arrays, axis = [c.op("ravel")(x) for x in arrays], 0
    axis = c.axis_of("concat", axis, arrays[0].ndim)
    return c.op("concat")([c.cast(x, kind) for x in arrays], axis)


def expand_dims(x, /, axis):
    """x with dims of size 1 inserted at one or several places of the result."""
    c.array("expand_dims", x)
    axes = axis if isinstance(axis, tuple) else (axis,)
    rank = x.ndim + len(axes)
    axes = c.axes_of("expand_dims", axes, rank)
    shape, rest = [], iter(x.shape)
    for i in range(rank):
        shape.append(1 if i in axes else next(rest))
    return c.op("reshape")(x, tuple(shape))


def flip(x, /, *, axis=None):
    """Elements in reverse order along axes, all by default."""
    c.array("flip", x)
    axes = c.axes_of("flip", axis, x.ndim)
    return c.op("flip")(x, axes) if axes else x


def moveaxis(x, source, destination, /):
    """Dims at other places; the others keep their order."""
    c.array("moveaxis", x)
    source = c.axes_of("moveaxis", source, x.ndim, "source")
    destination = c.axes_of("moveaxis", destination, x.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError(
            f"moveaxis: {len(source)} sources cannot go to {len(destination)} destinations"
        )
    order = [i for i in range(x.ndim) if i not in source]
    for to, axis in sorted(zip(destination, source)):
        order.insert(to, axis)
    return permute_dims(x, tuple(order))


def permute_dims(x, /, axes):
    """Dims in another order."""
    c.array("permute_dims", x)
    axes = c.axes_of("permute_dims", tuple(axes), x.ndim, "axes")
    if len(axes) != x.ndim:
        raise ValueError(f"permute_dims: 'axes' must name all {x.ndim} dims, got {axes}")
    return c.op("transpose")(x, axes) if x.ndim > 1 else x


def matrix_transpose(x, /):
    """The last two dims swapped."""
    c.array("matrix_transpose", x)
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: 'x' must have at least 2 dims, got {x.ndim}")
    return c.op("swapaxes")(x, -1, -2)


def repeat(x, repeats, /, *, axis=None):
    """Each element repeated along an axis, all equally often or each by its own count; of the
    flattened array when axis is None."""
    c.array("repeat", x)
    x, axis = (c.op("ravel")(x), 0) if axis is None else (x, c.axis_of("repeat", axis, x.ndim))
    n = x.shape[axis]
    if isinstance(repeats, Tensor):
        c.array("repeat", repeats, c.INTEGRAL, "repeats")
        if repeats.ndim > 1 or repeats.size not in (1, n):
            raise ValueError(f"repeat: 'repeats' must be 1 or {n} counts, got {repeats.shape}")
        counts = broadcast_to(c.cast(repeats.reshape(-1), d.int64), (n,))
    else:
        if isinstance(repeats, builtins.bool) or not isinstance(repeats, int):
            raise TypeError(f"repeat: 'repeats' must be an int or an array, got {repeats!r}")
        if repeats < 0:
            raise ValueError(f"repeat: 'repeats' must not be negative, got {repeats}")
        counts = c.op("full")((n,), repeats, d.int64)
    return c.op("gather")(x, c.op("repeat_indices")(counts), axis)


def reshape(x, /, shape, *, copy=None):
    """The elements under another shape, in which one size may be -1. Assigning to the result never
    changes x, whatever copy says; memory is shared until then."""
    c.array("reshape", x)
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    known = 1
    for n in shape:
        known *= n if n != -1 else 1
    if shape.count(-1) == 1 and known:
        shape = tuple(x.size // known if n == -1 else n for n in shape)
    return c.op("reshape")(x, shape)


def roll(x, /, shift, *, axis=None):
    """Elements moved along axes; what leaves one end enters the other. Of the flattened array when
    axis is None."""
    c.array("roll", x)
    if axis is None:
        if isinstance(shift, tuple):
            raise ValueError("roll: several shifts need as many axes")
        flat = c.op("ravel")(x)
        return c.op("reshape")(_rolled(flat, shift, 0), tuple(x.shape))
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts given for {len(axes)} axes")
    for s, a in zip(shifts, axes):
        x = _rolled(x, s, c.axis_of("roll", a, x.ndim))
    return x


def _rolled(x, shift, axis):
    return c.op("roll")(x, shift % x.shape[axis], axis) if x.size else x


def squeeze(x, /, axis):
    """x without dims of size 1."""
    c.array("squeeze", x)
    axes = c.axes_of("squeeze", axis, x.ndim)
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze: dim {a} has size {x.shape[a]}, not 1")
    return c.op("reshape")(x, tuple(n for i, n in enumerate(x.shape) if i not in axes))


def stack(arrays, /, *, axis=0):
    """Arrays of one shape next to each other along a new axis."""
    arrays = [c.array("stack", x, name="arrays") for x in arrays]
    if not arrays:
        raise ValueError("stack: at least one array is needed")
    kind = d.result_type(*arrays)
    axis = c.axis_of("stack", axis, arrays[0].ndim + 1)
    return c.op("stack")([c.cast(x, kind) for x in arrays], axis)


def tile(x, repetitions, /):
    """x put next to itself along each dim as often as said; missing dims and counts are 1."""
    c.array("tile", x)
    counts = c.shape_of("tile", repetitions)
    rank = builtins.max(x.ndim, len(counts))
    counts = (1,) * (rank - len(counts)) + counts
    x = c.op("reshape")(x, (1,) * (rank - x.ndim) + tuple(x.shape))
    if 0 in counts:
        shape = tuple(n * m for n, m in zip(x.shape, counts))
        return c.op("zeros")(shape, x.dtype)
    return c.op("tile")(x, counts) if rank else x


def unstack(x, /, *, axis=0):
    """The slices along an axis, as a tuple."""
    c.array("unstack", x)
    axis = c.axis_of("unstack", axis, x.ndim)
    x = moveaxis(x, axis, 0)
    return tuple(x[i, ...] for i in range(x.shape[0]))


__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "matrix_transpose", "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack",
    "tile", "unstack",
]  # fmt: skip
