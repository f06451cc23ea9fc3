"""Products of vectors and matrices."""

import builtins

from mycel.array_api import _checks as c
from mycel.array_api._manipulation import broadcast_arrays, moveaxis


def _operands(fn, x1, x2):
    return c.pair(fn, c.array(fn, x1, c.NUMERIC, "x1"), c.array(fn, x2, c.NUMERIC, "x2"), c.NUMERIC)


def matmul(x1, x2, /):
    """The product of matrices, or of a matrix and a vector; leading dims broadcast."""
    x1, x2 = _operands("matmul", x1, x2)
    if 0 in (x1.ndim, x2.ndim):
        raise ValueError("matmul: operands must have at least 1 dim, got a scalar")
    inner = x2.shape[-2] if x2.ndim > 1 else x2.shape[0]
    if x1.shape[-1] != inner:
        raise ValueError(f"matmul: {x1.shape} and {x2.shape} do not fit: {x1.shape[-1]} != {inner}")
    return c.op("matmul")(x1, x2)


def tensordot(x1, x2, /, *, axes=2):
    """The sum of products over the last `axes` dims of x1 and the first of x2, or over the pairs of
    dims in two sequences."""
    x1, x2 = _operands("tensordot", x1, x2)
    if isinstance(axes, int) and not isinstance(axes, builtins.bool):
        if not 0 <= axes <= builtins.min(x1.ndim, x2.ndim):
            raise ValueError(f"tensordot: 'axes' must be in [0, {min(x1.ndim, x2.ndim)}]")
        axes = (tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes)))
    first = c.axes_of("tensordot", tuple(axes[0]), x1.ndim, "axes")
    second = c.axes_of("tensordot", tuple(axes[1]), x2.ndim, "axes")
    sizes = [x1.shape[a] for a in first]
    if sizes != [x2.shape[a] for a in second]:
        raise ValueError(f"tensordot: sizes of the axes {axes} differ in {x1.shape}, {x2.shape}")
    rows = [n for i, n in enumerate(x1.shape) if i not in first]
    columns = [n for i, n in enumerate(x2.shape) if i not in second]
    a = moveaxis(x1, first, tuple(range(len(rows), x1.ndim))) if first else x1
    b = moveaxis(x2, second, tuple(range(len(second)))) if second else x2
    inner = _product(sizes)
    out = c.op("matmul")(
        c.op("reshape")(a, (_product(rows), inner)), c.op("reshape")(b, (inner, _product(columns)))
    )
    return c.op("reshape")(out, (*rows, *columns))


def _product(sizes):
    found = 1
    for n in sizes:
        found *= n
    return found


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of products along an axis, x1 conjugate; the other dims broadcast."""
    x1, x2 = _operands("vecdot", x1, x2)
    least = builtins.min(x1.ndim, x2.ndim)
    if not -least <= axis <= -1:
        raise ValueError(f"vecdot: 'axis' must be in [{-least}, -1], got {axis}")
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: sizes {x1.shape[axis]} and {x2.shape[axis]} of the axis differ")
    x1, x2 = broadcast_arrays(c.op("conj")(x1), x2)
    return c.op("reduce_sum")(x1 * x2, (axis,), False)


__all__ = ["matmul", "tensordot", "vecdot"]
