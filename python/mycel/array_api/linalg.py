"""The extension of linear algebra: decompositions, norms and what follows from them. Arrays hold
matrices in their last two dims."""

import builtins
import math
from typing import NamedTuple

from mycel._mycel import Tensor
from mycel.array_api import _checks as c
from mycel.array_api import _dtypes as d
from mycel.array_api._manipulation import (
    broadcast_arrays,
    broadcast_shapes,
    matrix_transpose,
    moveaxis,
)
from mycel.array_api._products import matmul, tensordot, vecdot
from mycel.array_api._statistics import max as _max
from mycel.array_api._statistics import min as _min
from mycel.array_api._statistics import sum as _sum


class EigResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor


def _matrix(fn, x, kinds=c.FLOATING, square=False, name="x"):
    c.array(fn, x, kinds, name)
    if x.ndim < 2:
        raise ValueError(f"{fn}: '{name}' must have at least 2 dims, got shape {x.shape}")
    if square and x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{fn}: '{name}' must hold square matrices, got shape {x.shape}")
    return x


def cholesky(x, /, *, upper=False):
    """The triangular factor of positive definite matrices: x = L Lᴴ, or Uᴴ U when upper."""
    return c.op("cholesky")(_matrix("cholesky", x, square=True), upper)


def cross(x1, x2, /, *, axis=-1):
    """The cross product of vectors of 3 along an axis; the other dims broadcast."""
    x1, x2 = c.pair("cross", c.array("cross", x1, name="x1"), x2, c.NUMERIC)
    least = builtins.min(x1.ndim, x2.ndim)
    if not -least <= axis < 0:
        raise ValueError(f"cross: 'axis' must be in [{-least}, -1], got {axis}")
    for x in (x1, x2):
        if x.shape[axis] != 3:
            raise ValueError(f"cross: 'axis' must have size 3, got shape {x.shape}")
    x1, x2 = (moveaxis(x, axis, -1) for x in broadcast_arrays(x1, x2))
    a, b = ([x[..., i] for i in range(3)] for x in (x1, x2))
    parts = [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
    return moveaxis(c.op("stack")(parts, x1.ndim - 1), -1, axis)


def det(x, /):
    """The determinant."""
    return c.op("det")(_matrix("det", x, square=True))


def diagonal(x, /, *, offset=0):
    """The elements offset places to the right of the main diagonal."""
    _matrix("diagonal", x, c.ANY)
    rows, columns = x.shape[-2:]
    first, start = builtins.max(-offset, 0), builtins.max(offset, 0)
    count = builtins.max(builtins.min(rows - first, columns - start), 0)
    flat = c.op("reshape")(x, (*x.shape[:-2], rows * columns))
    places = c.op("arange")(0, count, 1, d.int64) * (columns + 1) + (first * columns + start)
    return c.op("gather")(flat, places, flat.ndim - 1)


def eig(x, /):
    """Eigenvalues and, as columns, eigenvectors; complex."""
    return EigResult(*c.op("eig")(_matrix("eig", x, square=True)))


def eigvals(x, /):
    """Eigenvalues; complex."""
    return c.op("eigvals")(_matrix("eigvals", x, square=True))


def eigh(x, /):
    """Eigenvalues, in ascending order, and, as columns, eigenvectors of Hermitian matrices."""
    return EighResult(*c.op("eigh")(_matrix("eigh", x, square=True)))


def eigvalsh(x, /):
    """Eigenvalues of Hermitian matrices in ascending order."""
    return c.op("eigvalsh")(_matrix("eigvalsh", x, square=True))


def inv(x, /):
    """The inverse."""
    return c.op("inverse")(_matrix("inv", x, square=True))


def matrix_norm(x, /, *, keepdims=False, ord="fro"):  # noqa: A002
    """A norm of matrices: "fro" (of the elements), "nuc" (the sum of singular values), 1 and inf
    (of columns, of rows), 2 (the largest singular value); negative ones take the smallest."""
    _matrix("matrix_norm", x)
    size = c.op("abs")(x)
    if ord == "fro":
        found = c.op("sqrt")(_sum(size * size, axis=(-2, -1)))
    elif ord in ("nuc", 2, -2):
        values = svdvals(x)
        pick = {"nuc": _sum, 2: _max, -2: _min}[ord]
        found = pick(values, axis=-1)
    elif ord in (1, -1, math.inf, -math.inf):
        sums = _sum(size, axis=-2 if abs(ord) == 1 else -1)
        found = (_max if ord > 0 else _min)(sums, axis=-1)
    else:
        raise ValueError(f"matrix_norm: 'ord' must be 'fro', 'nuc', ±1, ±2 or ±inf, got {ord!r}")
    return c.op("reshape")(found, (*found.shape, 1, 1)) if keepdims else found


def matrix_power(x, n, /):
    """The product of n matrices x, of their inverses for negative n."""
    _matrix("matrix_power", x, c.NUMERIC, square=True)
    if isinstance(n, builtins.bool) or not isinstance(n, int):
        raise TypeError(f"matrix_power: 'n' must be an int, got {n!r}")
    if x.dtype in c.FLOATING:
        return c.op("matrix_power")(x, n)
    if n < 0:
        raise ValueError("matrix_power: integer matrices have no inverse")
    size = x.shape[-1]
    found = c.op("broadcast_to")(c.op("eye")(size, size, x.dtype), tuple(x.shape))
    for digit in f"{n:b}":
        found = c.op("matmul")(found, found)
        if digit == "1":
            found = c.op("matmul")(found, x)
    return found


def _tolerance(x, rtol):
    """Relative to the largest singular value."""
    if rtol is None:
        rtol = builtins.max(x.shape[-2:]) * d.finfo(x).eps
    return rtol


def matrix_rank(x, /, *, rtol=None):
    """How many singular values are larger than rtol times the largest; rtol is max(m, n) times the
    dtype's eps by default."""
    values = svdvals(_matrix("matrix_rank", x))
    if values.shape[-1] == 0:
        return c.op("zeros")(tuple(x.shape[:-2]), d.int64)
    rtol = _tolerance(x, rtol)
    if isinstance(rtol, Tensor):
        rtol = c.op("reshape")(c.cast(rtol, values.dtype), (*rtol.shape, 1))
    return _sum(c.cast(values > _max(values, axis=-1, keepdims=True) * rtol, d.int64), axis=-1)


def outer(x1, x2, /):
    """Every product of elements of two vectors."""
    x1, x2 = c.pair("outer", c.array("outer", x1, name="x1"), x2, c.NUMERIC)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer: operands must be vectors, got {x1.shape} and {x2.shape}")
    return x1.reshape(-1, 1) * x2


def pinv(x, /, *, rtol=None):
    """The pseudo-inverse; singular values up to rtol times the largest count as 0."""
    _matrix("pinv", x)
    if 0 in x.shape:
        return c.op("zeros")((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    rtol = _tolerance(x, rtol)
    kind = d.finfo(x).dtype
    rtol = c.cast(rtol, kind) if isinstance(rtol, Tensor) else Tensor(rtol, kind)
    return c.op("pinv")(x, Tensor(0, kind), rtol)


def qr(x, /, *, mode="reduced"):
    """x = Q R with orthonormal columns in Q and an upper triangle R; mode "complete" makes Q
    square."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: 'mode' must be 'reduced' or 'complete', got {mode!r}")
    return QRResult(*c.op("qr")(_matrix("qr", x), mode))


def slogdet(x, /):
    """The sign of the determinant and the logarithm of its absolute value."""
    return SlogdetResult(*c.op("slogdet")(_matrix("slogdet", x, square=True)))


def solve(x1, x2, /):
    """y with x1 y = x2, for a vector x2 or matrices."""
    x1, x2 = c.pair("solve", c.array("solve", x1, name="x1"), x2, c.FLOATING)
    _matrix("solve", x1, square=True, name="x1")
    vector = x2.ndim == 1
    x2 = c.op("expand_dims")(x2, -1) if vector else x2
    if x2.ndim == 0 or x2.shape[-2] != x1.shape[-1]:
        raise ValueError(f"solve: {x1.shape} and {x2.shape} do not fit")
    lead = broadcast_shapes(tuple(x1.shape[:-2]), tuple(x2.shape[:-2]))
    x1 = c.op("broadcast_to")(x1, (*lead, *x1.shape[-2:]))
    x2 = c.op("broadcast_to")(x2, (*lead, *x2.shape[-2:]))
    y = c.op("matrix_solve")(x1, x2)
    return c.op("squeeze")(y, -1) if vector else y


def svd(x, /, *, full_matrices=True):
    """x = U diag(S) Vh with singular values in descending order."""
    s, u, v = c.op("svd_vectors")(_matrix("svd", x), full_matrices)
    return SVDResult(u, s, c.op("conj")(matrix_transpose(v)))


def svdvals(x, /):
    """Singular values in descending order."""
    return c.op("singular_values")(_matrix("svdvals", x))


def trace(x, /, *, offset=0, dtype=None):
    """The sum of a diagonal; small integers are added in the default ones."""
    _matrix("trace", x, c.NUMERIC)
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):  # noqa: A002
    """A norm of vectors along axes, all by default: (sum of |x|^ord)^(1/ord); the largest and the
    smallest for ±inf, the number of elements that are not 0 for 0."""
    c.array("vector_norm", x, c.FLOATING)
    size = c.op("abs")(x)
    if ord == math.inf:
        return _max(size, axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return _min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        present = c.cast(size != Tensor(0, size.dtype), size.dtype)
        return _sum(present, axis=axis, keepdims=keepdims)
    if ord == 1:
        return _sum(size, axis=axis, keepdims=keepdims)
    if ord == 2:
        return c.op("sqrt")(_sum(size * size, axis=axis, keepdims=keepdims))
    return _sum(size**ord, axis=axis, keepdims=keepdims) ** (1 / ord)


__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip
