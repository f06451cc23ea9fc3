"""Reading and choosing elements at places; places themselves."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.numpy._arrays import (
    array_of,
    broadcast_shape,
    cast,
    integer,
    is_array,
    is_float,
    needs_dims,
    one_axis,
    op,
    promoted,
    shape_of,
)


@entry
def where(condition, x=None, y=None):
    """x where condition holds (is not 0), else y; all three broadcast. Without x and y the indices
    of the true elements, one vector per dim; in compiled code their number is then unknown."""
    condition = array_of(condition, "where")
    condition = condition if condition.dtype == mstype.bool_ else condition != 0
    if (x is None) != (y is None):
        raise ValueError("where: give both x and y or neither")
    if x is None:
        places = op("nonzero")(condition)
        return tuple(places[:, d] for d in range(condition.ndim))
    x, y = promoted("where", x, y)
    return op("select")(condition, x, y)


def _indices(indices, fn):
    indices = array_of(indices, fn)
    if is_float(indices.dtype) or indices.dtype == mstype.bool_:
        raise TypeError(f"{fn}: indices must be integers, got {indices.dtype}")
    return cast(indices, mstype.int64)


def _bounded(index, size, mode, fn):
    """Indices inside [0, size) as `mode` says, and how gather is to treat them."""
    if mode == "clip":
        return op("clip_by_value")(index, 0, size - 1), "error"
    if mode == "wrap":
        return op("floor_mod")(index, size), "error"
    if mode == "raise":
        return index, "error"
    raise ValueError(f"{fn}: 'mode' must be 'raise', 'wrap' or 'clip', got {mode!r}")


@entry
def take(a, indices, axis=None, mode="clip"):
    """Slices of a along axis (elements of the flattened array without one) at indices of any
    shape. mode: indices outside are clipped, wrapped round, or an IndexError ("raise", where
    negative ones count from the end)."""
    a, index = array_of(a, "take"), _indices(indices, "take")
    a, axis = (op("ravel")(a), 0) if axis is None else (a, one_axis(axis, a.ndim, "take"))
    if a.shape[axis] == 0 and 0 not in index.shape:
        raise ValueError(f"take: axis {axis} of {a.shape} has no elements")
    index, bounds = _bounded(index, a.shape[axis], mode, "take")
    return op("gather")(a, index, axis, bounds=bounds)


@entry
def take_along_axis(arr, indices, axis):
    """arr[i, indices[i, j], k] for axis 1: one index for every line; the other dims broadcast.
    Without axis of the flattened array."""
    arr, index = array_of(arr, "take_along_axis"), _indices(indices, "take_along_axis")
    if axis is None:
        arr, axis = op("ravel")(arr), 0
    axis = one_axis(axis, arr.ndim, "take_along_axis")
    if index.ndim != arr.ndim:
        raise ValueError(
            f"take_along_axis: indices {index.shape} must have the {arr.ndim} dims of {arr.shape}"
        )
    others = lambda s: s[:axis] + (1,) + s[axis + 1 :]
    full = broadcast_shape("take_along_axis", others(arr.shape), others(index.shape))
    sized = lambda n: full[:axis] + (n,) + full[axis + 1 :]
    arr = op("broadcast_to")(arr, sized(arr.shape[axis]))
    index = op("broadcast_to")(index, sized(index.shape[axis]))
    return op("gather_d")(arr, index, axis)


@entry
def choose(a, choices, mode="clip"):
    """Element by element one of the choices (a sequence of arrays, or the rows of a tensor), picked
    by the integers a; all broadcast. mode as in take."""
    index = _indices(a, "choose")
    rows = choices
    if isinstance(choices, Tensor) or is_array(choices):
        rows = array_of(choices, "choose")
        rows = [rows[i] for i in range(needs_dims(rows, 1, "choose").shape[0])]
    if not rows:
        raise ValueError("choose: at least one choice is needed")
    rows = promoted("choose", *(array_of(r, "choose") for r in rows))
    full = broadcast_shape("choose", index.shape, *(r.shape for r in rows))
    index, _ = _bounded(index, len(rows), mode, "choose")
    stacked = op("stack")([op("broadcast_to")(r, full) for r in rows])
    index = op("broadcast_to")(op("expand_dims")(index, 0), (1, *full))
    return op("squeeze")(op("gather_d")(stacked, index, 0), (0,))


@entry
def select(condlist, choicelist, default=0):
    """Element by element the first choice whose condition holds, `default` where none does; all
    broadcast."""
    conditions = [array_of(c, "select") for c in condlist]
    if len(conditions) != len(choicelist) or not conditions:
        raise ValueError(
            f"select: as many conditions as choices, at least one, are needed; got "
            f"{len(conditions)} and {len(choicelist)}"
        )
    for c in conditions:
        if c.dtype != mstype.bool_:
            raise TypeError(f"select: conditions must be bool, got {c.dtype}")
    *choices, y = promoted("select", *choicelist, default)
    full = broadcast_shape(
        "select", *(c.shape for c in conditions), *(c.shape for c in choices), y.shape
    )
    y = op("broadcast_to")(y, full)
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        y = op("select")(condition, choice, y)
    return y


@entry
def piecewise(x, condlist, funclist, *args, **kw):
    """Element by element the value of the function, or the number, whose condition holds (the last
    of several); one entry more than conditions is for the rest, which is 0 otherwise. Functions
    are called with the whole x, then *args and **kw."""
    x = array_of(x, "piecewise")
    if isinstance(condlist, Tensor) or (condlist and isinstance(condlist[0], bool)):
        condlist = [condlist]
    conditions = [cast(array_of(c, "piecewise"), mstype.bool_) for c in condlist]
    functions = list(funclist)
    if len(functions) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"piecewise: {len(conditions)} conditions need as many functions, or one more for the "
            f"rest; got {len(functions)}"
        )
    value = lambda f: f(x, *args, **kw) if callable(f) else f
    rest = functions.pop() if len(functions) > len(conditions) else 0
    values = promoted("piecewise", op("zeros_like")(x), *map(value, functions), value(rest))[1:]
    y = op("broadcast_to")(values.pop(), x.shape)
    for condition, v in zip(conditions, values):
        y = op("select")(condition, v, y)
    return y


@entry
def unique(x, return_inverse=False):
    """The different elements of the flattened array in ascending order; return_inverse: also where
    each element stands among them (int32, flattened). In compiled code their number is unknown."""
    if not isinstance(return_inverse, bool):
        raise TypeError(f"unique: 'return_inverse' must be True or False, got {return_inverse!r}")
    x = array_of(x, "unique")
    x = op("ravel")(x)
    flag = x.dtype == mstype.bool_
    line, order = op("sort")(cast(x, mstype.int32) if flag else x)
    values, run, _ = op("consecutive_runs")(line)
    values = cast(values, mstype.bool_) if flag else values
    if not return_inverse:
        return values
    return values, op("tensor_scatter_elements")(op("zeros_like")(run), order, run, 0)


# -- places


@entry
def indices(dimensions, dtype=mstype.int32, sparse=False):
    """The index of every element of a shape along each dim: a tuple of tensors of that shape, or
    with sparse of shapes that broadcast to it."""
    shape = shape_of(dimensions, "indices")
    out = []
    for d, n in enumerate(shape):
        sizes = [1] * len(shape)
        sizes[d] = n
        line = op("arange")(0, n, 1, mstype.int32).reshape(tuple(sizes))
        out.append(cast(line if sparse else op("broadcast_to")(line, shape), dtype))
    return tuple(out)


@entry
def ix_(*args):
    """Vectors of indices (or masks) as tensors that broadcast to the grid of all their
    combinations."""
    out = []
    for i, v in enumerate(args):
        v = array_of(v, "ix_")
        if v.ndim != 1:
            raise ValueError(f"ix_: vectors are needed, got {v.shape}")
        if v.dtype == mstype.bool_:
            v = op("nonzero")(v)[:, 0]
        count = 0 if v.shape == (0,) else -1
        out.append(op("reshape")(v, (1,) * i + (count,) + (1,) * (len(args) - 1 - i)))
    return tuple(out)


@entry
def diag_indices(n, ndim=2):
    """The indices of the main diagonal of an n by n by … array: ndim equal vectors."""
    n, ndim = integer(n, "diag_indices", "n"), integer(ndim, "diag_indices", "ndim")
    if n < 0 or ndim < 1:
        raise ValueError(
            f"diag_indices: 'n' must not be negative and 'ndim' be 1 or more: {n}, {ndim}"
        )
    line = op("arange")(0, n, 1, mstype.int32)
    return (line,) * ndim


def _triangle(name, record):
    def call(n, k=0, m=None):
        rows = integer(n, name, "n")
        columns = rows if m is None else integer(m, name, "m")
        both = op(record)(rows, columns, integer(k, name, "k"), mstype.int32)
        return both[0], both[1]

    side = "below" if name == "tril_indices" else "above"
    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"The rows and the columns (int32) of the elements on and {side} diagonal k of an n by m "
        "matrix (square without m)."
    )
    return entry(call)


tril_indices = _triangle("tril_indices", "tril_indices")
triu_indices = _triangle("triu_indices", "triu_indices")


def _triangle_from(name, function):
    def call(arr, k=0):
        arr = array_of(arr, name)
        if arr.ndim != 2:
            raise ValueError(f"{name}: a matrix is needed, got {arr.shape}")
        return function(arr.shape[0], k, arr.shape[1])

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name[:-5]} for the sizes of a matrix."
    return entry(call)


tril_indices_from = _triangle_from("tril_indices_from", tril_indices)
triu_indices_from = _triangle_from("triu_indices_from", triu_indices)


def _checked(index, size, mode, fn):
    """An index as `mode` says; "raise" looks at values, when the program runs."""
    if mode == "wrap":
        return op("floor_mod")(index, size)
    if mode == "clip":
        return op("clip_by_value")(index, 0, size - 1)
    bad = op("reduce_any")(op("logical_or")(index < 0, index >= size))
    _refuse_if(bad, lambda: ValueError(f"{fn}: an index is outside [0, {size})"))
    return index


def _refuse_if(bad, make):
    from mycel.front import effects, here

    if here() is not None and not _mycel.known(bad):
        effects.check_later(here(), op("logical_not")(bad), lambda *_: make(), ())
    elif bool(bad):
        raise make()


def _order(order, fn):
    if order not in ("C", "F"):
        raise ValueError(f"{fn}: 'order' must be 'C' (rows first) or 'F', got {order!r}")
    return order == "F"


@entry
def ravel_multi_index(multi_index, dims, mode="clip", order="C"):
    """The flat positions, int32, of index tuples in an array of shape dims: multi_index holds the
    index of each dim along its first dim (or is a tuple of them). mode: indices outside are
    clipped, wrapped round, or a ValueError ("raise"). order "F" counts columns first."""
    fn = "ravel_multi_index"
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"{fn}: 'mode' must be 'clip', 'wrap' or 'raise', got {mode!r}")
    sizes = shape_of(dims, fn)
    first = _order(order, fn)
    if isinstance(multi_index, (tuple, list)):
        parts = [_indices(i, fn) for i in multi_index]
    else:
        whole = _indices(multi_index, fn)
        parts = [whole[d] for d in range(needs_dims(whole, 1, fn).shape[0])]
    if len(parts) != len(sizes):
        raise ValueError(f"{fn}: {len(parts)} indices given for {len(sizes)} dims")
    pairs = list(zip(parts, sizes))
    flat = None
    for index, n in reversed(pairs) if first else pairs:
        index = _checked(index, n, mode, fn)
        flat = index if flat is None else flat * n + index
    return cast(flat, mstype.int32)


@entry
def unravel_index(indices, shape, order="C"):
    """The index tuples, a tuple of tensors, of flat positions in an array of a shape; positions
    outside are clipped. order "F" counts columns first."""
    fn = "unravel_index"
    indices = array_of(indices, fn)
    if is_float(indices.dtype):
        raise TypeError(f"{fn}: indices must be integers, got {indices.dtype}")
    sizes = shape_of(shape, fn)
    first = _order(order, fn)
    total = 1
    for n in sizes:
        total *= n
    rest = op("clip_by_value")(indices, -total, total - 1)
    rest = op("select")(rest < 0, rest + total, rest)
    out = []
    for n in sizes if first else reversed(sizes):
        out.append(op("floor_mod")(rest, n))
        rest = op("floor_div")(rest, n)
    return tuple(out if first else reversed(out))


__all__ = [
    name for name, value in globals().items()
    if isinstance(value, entry) and not name.startswith("_")
]  # fmt: skip
