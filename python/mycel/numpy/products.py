"""Products of vectors, matrices and tensors, and norms."""

import math

from mycel._mycel import entry
from mycel.common import dtype as mstype
from mycel.numpy._arrays import (
    array_of,
    axes_of,
    cast,
    inexact,
    integer,
    kind_of,
    needs_dims,
    one_axis,
    op,
    promoted,
)


def _pair(fn, a, b):
    """Both operands in their common dtype; bools as int32."""
    a, b = promoted(fn, a, b)
    return (cast(a, mstype.int32), cast(b, mstype.int32)) if a.dtype == mstype.bool_ else (a, b)


def _product(fn, a, b, multiply):
    """multiply(a, b); of bools whether any pair of factors is true."""
    a, b = promoted(fn, a, b)
    if a.dtype != mstype.bool_:
        return multiply(a, b)
    return multiply(cast(a, mstype.int32), cast(b, mstype.int32)) != 0


@entry
def dot(a, b):
    """The sum of products over the last dim of a and the last but one (the only one) of b; with a
    number the elementwise product."""
    return _product("dot", a, b, op("dot"))


@entry
def inner(a, b):
    """The sum of products over the last dims of both; with a number the elementwise product."""
    return _product("inner", a, b, op("inner"))


@entry
def outer(a, b):
    """All products of an element of a with one of b, both flattened: [size of a, size of b]."""
    line = lambda x, axis: op("expand_dims")(op("ravel")(x), axis)
    return _product("outer", a, b, lambda a, b: line(a, 1) * line(b, 0))


@entry
def matmul(x1, x2, dtype=None):
    """Matrix products of the last two dims; vectors count as a row on the left and a column on the
    right, batch dims broadcast. ValueError for numbers. `dtype` converts the result."""
    for x in (x1, x2):
        needs_dims(array_of(x, "matmul"), 1, "matmul")
    return cast(_product("matmul", x1, x2, op("matmul")), dtype)


@entry
def tensordot(a, b, axes=2):
    """The sum of products over the last `axes` dims of a and the first of b, or over the pairs of
    axes given as two sequences (or two ints)."""
    a, b = promoted("tensordot", a, b)
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise ValueError(f"tensordot: 'axes' must be an int or two sequences, got {axes!r}")
        first = axes_of(axes[0], a.ndim, "tensordot", "axes")
        second = axes_of(axes[1], b.ndim, "tensordot", "axes")
        if len(first) != len(second):
            raise ValueError(
                f"tensordot: {len(first)} axes of a cannot meet {len(second)} axes of b"
            )
        axes = (*first, *second)
    else:
        axes = (integer(axes, "tensordot", "axes"),)
    return _product("tensordot", a, b, lambda a, b: op("tensor_dot")(a, b, axes))


@entry
def kron(a, b):
    """The Kronecker product: every element of a times the whole of b, block by block."""
    return _product("kron", a, b, op("kron"))


@entry
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The vector product of vectors of 2 or 3 elements along axisa and axisb (both `axis` when
    given); other dims broadcast. The result stands along axisc; of two plane vectors it is the
    number of its third element."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _pair("cross", a, b)
    a = op("moveaxis")(a, one_axis(axisa, needs_dims(a, 1, "cross").ndim, "cross", "axisa"), -1)
    b = op("moveaxis")(b, one_axis(axisb, needs_dims(b, 1, "cross").ndim, "cross", "axisb"), -1)
    sizes = (a.shape[-1], b.shape[-1])
    if not set(sizes) <= {2, 3}:
        raise ValueError(f"cross: vectors must have 2 or 3 elements, got {sizes[0]} and {sizes[1]}")
    a0, a1, b0, b1 = a[..., 0], a[..., 1], b[..., 0], b[..., 1]
    last = a0 * b1 - a1 * b0
    if sizes == (2, 2):
        return last
    # The third element of a plane vector is 0.
    a2 = a[..., 2] if sizes[0] == 3 else op("zeros_like")(a0)
    b2 = b[..., 2] if sizes[1] == 3 else op("zeros_like")(b0)
    parts = (a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, last)
    ndim = parts[0].ndim + 1
    return op("stack")(parts, one_axis(axisc, ndim, "cross", "axisc"))


@entry
def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """The sum of the diagonal `offset` of the plane of two axes, computed in `dtype`."""
    a = cast(needs_dims(array_of(a, "trace"), 2, "trace"), dtype)
    a = cast(a, mstype.int32) if a.dtype == mstype.bool_ else a
    axis1, axis2 = axes_of((axis1, axis2), a.ndim, "trace", "axis1 and axis2")
    return op("trace")(a, integer(offset, "trace", "offset"), axis1, axis2)


def _plan(sizes):
    """Where to split each chain of matrices so that multiplying takes the fewest steps."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    cut = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            choices = [
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            cost[i][j], cut[i][j] = min(choices)
    return cut


@entry
def multi_dot(arrays):
    """The product of two matrices or more, multiplied in the order that takes the fewest steps.
    The first and the last may be vectors."""
    if not isinstance(arrays, (tuple, list)) or len(arrays) < 2:
        raise ValueError("multi_dot: a sequence of two arrays or more is needed")
    xs = promoted("multi_dot", *(array_of(x, "multi_dot") for x in arrays))
    row, column = xs[0].ndim == 1, xs[-1].ndim == 1
    if row:
        xs[0] = op("expand_dims")(xs[0], 0)
    if column:
        xs[-1] = op("expand_dims")(xs[-1], 1)
    for x in xs:
        if x.ndim != 2:
            raise ValueError(
                f"multi_dot: matrices are needed, vectors only at the ends; got {x.shape}"
            )
    cut = _plan([xs[0].shape[0]] + [x.shape[1] for x in xs])

    def product(i, j):
        if i == j:
            return xs[i]
        return op("matmul")(product(i, cut[i][j]), product(cut[i][j] + 1, j))

    y = product(0, len(xs) - 1)
    axes = (0,) * row + (1,) * column
    return op("squeeze")(y, axes) if axes else y


def _vector_norm(x, ord, axes, keepdims):  # noqa: A002
    size = op("abs")(x)
    if ord is None or ord == 2:
        return op("sqrt")(op("reduce_sum")(size * size, axes, keepdims))
    if ord == math.inf:
        return op("reduce_max")(size, axes, keepdims)
    if ord == -math.inf:
        return op("reduce_min")(size, axes, keepdims)
    if ord == 0:
        return op("reduce_sum")(cast(size != 0, size.dtype), axes, keepdims)
    if ord == 1:
        return op("reduce_sum")(size, axes, keepdims)
    return op("pow")(op("reduce_sum")(op("pow")(size, ord), axes, keepdims), 1 / ord)


def _matrix_norm(x, ord, axes, keepdims):  # noqa: A002
    if ord == "nuc":
        return op("nuclear_norm")(x, axes, keepdims)
    if ord not in (1, -1, 2, -2, math.inf, -math.inf):
        raise ValueError(
            "norm: 'ord' of matrices must be None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got "
            f"{ord!r}"
        )
    return op("norm")(x, ord, axes, keepdims)


@entry
def norm(x, ord=None, axis=None, keepdims=False):  # noqa: A002
    """The norm of vectors along one axis or of matrices along two; of all elements without axis.

    ord: of vectors any number, 0 counting and inf taking the largest; of matrices None or 'fro'
    (the root of the sum of squares), 'nuc' (the sum of singular values), 1 or -1 (largest or
    smallest column sum), inf or -inf (row sums), 2 or -2 (largest or smallest singular value).
    ValueError for others, and for ord without axis where x has more than two dims."""
    x = inexact(array_of(x, "norm"))
    if (
        ord is not None
        and ord not in ("fro", "nuc")
        and (isinstance(ord, (bool, str)) or not isinstance(ord, (int, float)))
    ):
        raise ValueError(f"norm: 'ord' must be None, 'fro', 'nuc' or a number, got {ord!r}")
    if axis is None and ord is not None and x.ndim not in (1, 2):
        raise ValueError(f"norm: 'ord' {ord!r} without 'axis' needs 1 or 2 dims, got {x.shape}")
    axes = axes_of(axis, x.ndim, "norm")
    if axis is not None and len(axes) > 2:
        raise ValueError(f"norm: 'axis' must name one or two axes, got {axis!r}")
    if not axes:
        return op("abs")(x)
    if ord is None or (ord == "fro" and len(axes) == 2):
        return _vector_norm(x, None, axes, keepdims)
    if isinstance(ord, str) and len(axes) != 2:
        raise ValueError(f"norm: {ord!r} is a norm of matrices; name two axes")
    return (_vector_norm if len(axes) == 1 else _matrix_norm)(x, ord, axes, keepdims)


@entry
def correlate(a, v, mode="valid"):
    """Cross-correlation of two vectors: y[i] = sum_k a[i + k] conj(v[k]), where both overlap fully
    ("valid"), at all overlaps ("full"), or as long as the longer one ("same")."""
    return op("correlate")(*_sequences("correlate", a, v, mode), mode)


@entry
def convolve(a, v, mode="full"):
    """Convolution of two vectors: y[i] = sum_k a[k] v[i - k], with the modes of correlate."""
    a, v = _sequences("convolve", a, v, mode)
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    v = op("flip")(v, (0,))
    return op("correlate")(a, op("conj")(v) if kind_of(v.dtype) == 3 else v, mode)


def _sequences(fn, a, v, mode):
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"{fn}: 'mode' must be 'valid', 'same' or 'full', got {mode!r}")
    a, v = _pair(fn, a, v)
    a, v = (x.reshape((1,)) if x.ndim == 0 else x for x in (a, v))
    for x in (a, v):
        if x.ndim != 1 or x.shape[0] == 0:
            raise ValueError(f"{fn}: vectors of at least one element are needed, got {x.shape}")
    return a, v


__all__ = [
    name for name, value in globals().items()
    if isinstance(value, entry) and not name.startswith("_")
]  # fmt: skip
