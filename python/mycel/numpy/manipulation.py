"""Shapes and places: the elements stay as they are."""

import builtins

from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.numpy._arrays import (
    along,
    array_of,
    axes_of,
    broadcast_shape,
    integer,
    needs_dims,
    one_axis,
    op,
    promoted,
    shape_of,
)


@entry
def reshape(x, new_shape):
    """The elements in row-major order under another shape; one size may be -1."""
    sizes = tuple(new_shape) if isinstance(new_shape, (tuple, list)) else (new_shape,)
    return op("reshape")(
        array_of(x, "reshape"), tuple(integer(n, "reshape", "new_shape") for n in sizes)
    )


@entry
def ravel(x):
    """The elements in row-major order as a vector."""
    return op("ravel")(array_of(x, "ravel"))


@entry
def transpose(a, axes=None):
    """The dims in another order; reversed without axes."""
    a = array_of(a, "transpose")
    if axes is None:
        axes = tuple(range(a.ndim))[::-1]
    axes = axes_of(axes, a.ndim, "transpose", "axes")
    if len(axes) != a.ndim:
        raise ValueError(f"transpose: {len(axes)} axes given for {a.ndim} dims")
    return op("transpose")(a, axes) if a.ndim else a


@entry
def swapaxes(x, axis1, axis2):
    """Two axes exchanged."""
    x = array_of(x, "swapaxes")
    return op("swapaxes")(
        x,
        one_axis(axis1, x.ndim, "swapaxes", "axis1"),
        one_axis(axis2, x.ndim, "swapaxes", "axis2"),
    )


@entry
def moveaxis(a, source, destination):
    """Axes moved to other places; the others keep their order."""
    a = array_of(a, "moveaxis")
    source = axes_of(source, a.ndim, "moveaxis", "source")
    destination = axes_of(destination, a.ndim, "moveaxis", "destination")
    if len(source) != len(destination):
        raise ValueError(f"moveaxis: {len(source)} axes cannot move to {len(destination)} places")
    order = [d for d in range(a.ndim) if d not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return op("transpose")(a, tuple(order)) if a.ndim else a


@entry
def rollaxis(x, axis, start=0):
    """One axis moved back until it stands before `start`."""
    x = array_of(x, "rollaxis")
    axis, given = one_axis(axis, x.ndim, "rollaxis"), integer(start, "rollaxis", "start")
    if not -x.ndim <= given <= x.ndim:
        raise ValueError(
            f"rollaxis: 'start' {given} is out of range; allowed: [{-x.ndim}, {x.ndim}]"
        )
    start = given + x.ndim if given < 0 else given
    order = [d for d in range(x.ndim) if d != axis]
    order.insert(start - (axis < start), axis)
    return op("transpose")(x, tuple(order))


@entry
def expand_dims(a, axis):
    """A new dim of size 1 at each axis (an int or several) of the result."""
    a = array_of(a, "expand_dims")
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    for d in sorted(axes_of(axis, a.ndim + count, "expand_dims")):
        a = op("expand_dims")(a, d)
    return a


@entry
def squeeze(a, axis=None):
    """Dims of size 1 removed: all, or those of axis, which must have size 1."""
    a = array_of(a, "squeeze")
    if axis is None:
        axes = tuple(d for d, n in enumerate(a.shape) if n == 1)
    else:
        axes = axes_of(axis, a.ndim, "squeeze")
    return op("squeeze")(a, axes) if axes else a


@entry
def concatenate(arrays, axis=0):
    """Arrays joined along an existing axis (None: flattened first); other sizes are equal."""
    xs = _several("concatenate", arrays)
    if axis is None:
        return op("concat")([op("ravel")(x) for x in xs], 0)
    for x in xs:
        needs_dims(x, 1, "concatenate")
    return op("concat")(xs, one_axis(axis, xs[0].ndim, "concatenate"))


def _several(fn, arrays):
    """The arrays of a sequence in their common dtype; a tensor counts as the sequence of its
    rows."""
    if isinstance(arrays, Tensor):
        arrays = [arrays[i] for i in range(needs_dims(arrays, 1, fn).shape[0])]
    if not isinstance(arrays, (tuple, list)):
        raise TypeError(f"{fn}: a sequence of arrays is needed, got {type(arrays).__name__}")
    if not arrays:
        raise ValueError(f"{fn}: at least one array is needed")
    return promoted(fn, *(array_of(x, fn) for x in arrays))


@entry
def stack(arrays, axis=0):
    """Arrays of one shape joined along a new axis."""
    xs = _several("stack", arrays)
    return op("stack")(xs, one_axis(axis, xs[0].ndim + 1, "stack"))


@entry
def append(arr, values, axis=None):
    """values joined behind arr along an axis; both flattened without one."""
    return concatenate((array_of(arr, "append"), array_of(values, "append")), axis)


@entry
def atleast_1d(*arys):
    """Each array with at least one dim; a list of them when there are several."""
    return _at_least("atleast_1d", arys, lambda x: x.reshape((1,)) if x.ndim == 0 else x)


@entry
def atleast_2d(*arys):
    """Each array with at least two dims, new ones in front; a list when there are several."""
    return _at_least(
        "atleast_2d", arys, lambda x: x.reshape((1,) * (2 - x.ndim) + x.shape) if x.ndim < 2 else x
    )


def _three(x):
    if x.ndim == 2:
        return op("expand_dims")(x, 2)
    return op("expand_dims")(op("expand_dims")(op("ravel")(x), 0), 2) if x.ndim < 2 else x


@entry
def atleast_3d(*arys):
    """Each array with at least three dims: a vector becomes [1, n, 1], a matrix [m, n, 1]; a list
    when there are several."""
    return _at_least("atleast_3d", arys, _three)


def _at_least(fn, arys, change):
    if not arys:
        raise ValueError(f"{fn}: at least one array is needed")
    out = [change(array_of(x, fn)) for x in arys]
    return out[0] if len(out) == 1 else out


@entry
def column_stack(tup):
    """Vectors as the columns of a matrix; matrices joined along their second dim."""
    xs = [x.reshape((-1, 1)) if x.ndim < 2 else x for x in _several("column_stack", tup)]
    return op("concat")(xs, 1)


@entry
def hstack(tup):
    """Arrays joined along the second dim, vectors along their only one."""
    xs = [x.reshape((1,)) if x.ndim == 0 else x for x in _several("hstack", tup)]
    return op("concat")(xs, 0 if xs[0].ndim == 1 else 1)


@entry
def vstack(tup):
    """Arrays joined along the first dim, vectors as rows."""
    xs = [x.reshape((1, -1)) if x.ndim < 2 else x for x in _several("vstack", tup)]
    return op("concat")(xs, 0)


@entry
def dstack(tup):
    """Arrays joined along the third dim; vectors and matrices get one."""
    return op("concat")([_three(x) for x in _several("dstack", tup)], 2)


def _cut(fn, x, indices_or_sections, axis, equal):
    x = needs_dims(array_of(x, fn), 1, fn)
    axis = one_axis(axis, x.ndim, fn)
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, (tuple, list)):
        at = [integer(i, fn, "indices_or_sections") for i in indices_or_sections]
        return tuple(op("tensor_split")(x, at, axis, at_indices=True))
    parts = integer(indices_or_sections, fn, "indices_or_sections")
    if parts < 1:
        raise ValueError(f"{fn}: the number of parts must be 1 or more, got {parts}")
    if equal and x.shape[axis] % parts:
        raise ValueError(
            f"{fn}: axis {axis} of size {x.shape[axis]} cannot be cut into {parts} equal parts"
        )
    return tuple(op("tensor_split")(x, parts, axis))


@entry
def split(x, indices_or_sections, axis=0):
    """An axis cut into that many equal parts, or at the indices given: a tuple of tensors.
    ValueError where equal parts do not fit."""
    return _cut("split", x, indices_or_sections, axis, True)


@entry
def array_split(x, indices_or_sections, axis=0):
    """As split; parts may differ by one, the longer ones come first."""
    return _cut("array_split", x, indices_or_sections, axis, False)


@entry
def hsplit(x, indices_or_sections):
    """split along the second dim, of a vector along its only one."""
    x = needs_dims(array_of(x, "hsplit"), 1, "hsplit")
    return _cut("hsplit", x, indices_or_sections, 0 if x.ndim == 1 else 1, True)


@entry
def vsplit(x, indices_or_sections):
    """split along the first of two dims or more."""
    return _cut(
        "vsplit", needs_dims(array_of(x, "vsplit"), 2, "vsplit"), indices_or_sections, 0, True
    )


@entry
def dsplit(x, indices_or_sections):
    """split along the third dim."""
    return _cut(
        "dsplit", needs_dims(array_of(x, "dsplit"), 3, "dsplit"), indices_or_sections, 2, True
    )


@entry
def flip(m, axis=None):
    """The elements in reverse order along the axes (None: all)."""
    m = array_of(m, "flip")
    axes = axes_of(axis, m.ndim, "flip")
    return op("flip")(m, axes) if axes else m


@entry
def flipud(m):
    """The rows in reverse order."""
    return op("flip")(needs_dims(array_of(m, "flipud"), 1, "flipud"), (0,))


@entry
def fliplr(m):
    """The columns in reverse order."""
    return op("flip")(needs_dims(array_of(m, "fliplr"), 2, "fliplr"), (1,))


@entry
def roll(a, shift, axis=None):
    """The elements moved by shift places, those that leave coming back at the other end; without
    axis in flattened order. shift and axis may be tuples."""
    a = array_of(a, "roll")
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    shifts = tuple(integer(s, "roll", "shift") for s in shifts)
    if axis is None:
        return op("roll")(op("ravel")(a), (builtins.sum(shifts),), (0,)).reshape(a.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(one_axis(d, a.ndim, "roll") for d in axes)
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError(f"roll: {len(shifts)} shifts cannot belong to {len(axes)} axes")
    n = builtins.max(len(shifts), len(axes))
    total = {}
    for s, d in zip(
        shifts * n if len(shifts) == 1 else shifts, axes * n if len(axes) == 1 else axes
    ):
        total[d] = total.get(d, 0) + s
    return op("roll")(a, tuple(total.values()), tuple(total))


@entry
def rot90(a, k=1, axes=(0, 1)):
    """The plane of two axes turned k times by 90 degrees, from the first axis to the second."""
    a = needs_dims(array_of(a, "rot90"), 2, "rot90")
    first, second = axes_of(axes, a.ndim, "rot90", "axes")
    k = integer(k, "rot90", "k") % 4
    if k == 2:
        return op("flip")(a, (first, second))
    if k == 0:
        return a
    turned = op("flip")(a, (second,)) if k == 1 else a
    turned = op("swapaxes")(turned, first, second)
    return turned if k == 1 else op("flip")(turned, (second,))


@entry
def tile(a, reps):
    """The array repeated reps[d] times along each dim; missing dims are put in front."""
    a = array_of(a, "tile")
    reps = shape_of(reps, "tile")
    count = builtins.max(len(reps), a.ndim)
    a = a.reshape((1,) * (count - a.ndim) + a.shape)
    reps = (1,) * (count - len(reps)) + reps
    return op("tile")(a, reps) if count else a


@entry
def repeat(a, repeats, axis=None):
    """Each element, or slice along axis, repeated: `repeats` times, or as often as its entry in
    a sequence says. Without axis of the flattened array."""
    a = array_of(a, "repeat")
    a, axis = (op("ravel")(a), 0) if axis is None else (a, one_axis(axis, a.ndim, "repeat"))
    if isinstance(repeats, Tensor):
        repeats = repeats.tolist()
    counts = list(repeats) if isinstance(repeats, (tuple, list)) else [repeats]
    counts = [integer(n, "repeat", "repeats") for n in counts]
    if builtins.any(n < 0 for n in counts):
        raise ValueError(f"repeat: 'repeats' must not be negative, got {counts}")
    if len(counts) == 1:
        if counts[0] == 0:
            return along(a, axis, slice(0, 0))
        return op("repeat_elements")(a, counts[0], axis)
    if len(counts) != a.shape[axis]:
        raise ValueError(
            f"repeat: {len(counts)} counts given for the {a.shape[axis]} slices of axis {axis}"
        )
    places = [i for i, n in enumerate(counts) for _ in range(n)]
    return op("gather")(a, Tensor(places, mstype.int64), axis)


@entry
def broadcast_to(array, shape):
    """The array repeated to a shape that it broadcasts to."""
    array, shape = array_of(array, "broadcast_to"), shape_of(shape, "broadcast_to")
    if broadcast_shape("broadcast_to", array.shape, shape) != shape:
        raise ValueError(f"broadcast_to: {array.shape} does not broadcast to {shape}")
    return op("broadcast_to")(array, shape)


@entry
def broadcast_arrays(*args):
    """The arrays repeated to the shape that they broadcast to together, a list."""
    xs = [array_of(x, "broadcast_arrays") for x in args]
    shape = broadcast_shape("broadcast_arrays", *(x.shape for x in xs))
    return [op("broadcast_to")(x, shape) for x in xs]


@entry
def size(a, axis=None):
    """The number of elements, or of those along axis: a Python int."""
    a = array_of(a, "size")
    return a.size if axis is None else a.shape[one_axis(axis, a.ndim, "size")]


@entry
def array_str(a):
    """The elements as text, as print shows them."""
    return str(array_of(a, "array_str"))


@entry
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """func1d(line, *args, **kwargs) for every line along axis; its results stand in place of the
    lines. func1d gives a number or an array of one shape for all lines."""
    if not callable(func1d):
        raise TypeError(f"apply_along_axis: 'func1d' must be callable, got {type(func1d).__name__}")
    arr = needs_dims(array_of(arr, "apply_along_axis"), 1, "apply_along_axis")
    axis = one_axis(axis, arr.ndim, "apply_along_axis")
    last = moveaxis(arr, axis, -1)
    outer = last.shape[:-1]
    lines = last.reshape((-1, last.shape[-1]))
    if lines.shape[0] == 0:
        raise ValueError(f"apply_along_axis: there are no lines along axis {axis} of {arr.shape}")
    results = [
        array_of(func1d(lines[i], *args, **kwargs), "apply_along_axis")
        for i in range(lines.shape[0])
    ]
    inner = results[0].shape
    y = stack(results).reshape(outer + inner)
    for d in range(len(inner)):
        y = moveaxis(y, len(outer) + d, axis + d)
    return y


@entry
def apply_over_axes(func, a, axes):
    """a = func(a, axis) for each of the axes in turn; a result with one dim less gets it back."""
    if not callable(func):
        raise TypeError(f"apply_over_axes: 'func' must be callable, got {type(func).__name__}")
    a = array_of(a, "apply_over_axes")
    for axis in axes_of(axes, a.ndim, "apply_over_axes", "axes"):
        result = array_of(func(a, axis), "apply_over_axes")
        if result.ndim == a.ndim - 1:
            result = op("expand_dims")(result, axis)
        if result.ndim != a.ndim:
            raise ValueError(
                f"apply_over_axes: 'func' must keep the {a.ndim} dims or drop one, got "
                f"{result.shape}"
            )
        a = result
    return a


__all__ = [
    name for name, value in globals().items()
    if isinstance(value, entry) and not name.startswith("_")
]  # fmt: skip
