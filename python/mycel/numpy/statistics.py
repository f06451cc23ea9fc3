"""Weighted means, covariance and correlation."""

from mycel._mycel import entry
from mycel.common import dtype as mstype
from mycel.numpy._arrays import (
    array_of,
    axes_of,
    cast,
    inexact,
    is_float,
    kind_of,
    meet,
    op,
    promoted,
)


@entry
def average(x, axis=None, weights=None, returned=False):
    """The mean over axis, weighted where weights are given: of the shape of x, or a vector along
    one axis. returned: the sum of the weights too. ValueError for other shapes of weights."""
    x = inexact(array_of(x, "average"))
    axes = axes_of(axis, x.ndim, "average")
    if weights is None:
        y = op("reduce_mean")(x, axes) if axes else x
        if not returned:
            return y
        ones = op("ones_like")(x)
        return y, op("reduce_sum")(ones, axes) if axes else ones
    w = array_of(weights, "average")
    x, w = promoted("average", x, w)
    if w.shape != x.shape:
        if axis is None or len(axes) != 1 or w.ndim != 1 or w.shape[0] != x.shape[axes[0]]:
            raise ValueError(
                f"average: 'weights' {w.shape} must have the shape {x.shape} of x, or be a vector "
                "along one axis"
            )
        w = w.reshape((-1,) + (1,) * (x.ndim - 1 - axes[0]))
        w = op("broadcast_to")(w, x.shape)
    total = op("reduce_sum")(w, axes) if axes else w
    y = (op("reduce_sum")(x * w, axes) if axes else x * w) / total
    return (y, total) if returned else y


def _variables(fn, m, y, rowvar):
    """Variables in rows, in a float dtype."""
    if not isinstance(rowvar, bool):
        raise TypeError(f"{fn}: 'rowvar' must be True or False, got {rowvar!r}")

    def rows(a):
        if a.ndim > 2:
            raise ValueError(f"{fn}: at most 2 dims (variables and observations), got {a.shape}")
        if a.ndim < 2:
            return op("expand_dims")(op("ravel")(a), 0)
        return a if rowvar or a.shape[0] == 1 else op("transpose")(a, (1, 0))

    x = array_of(m, fn)
    if y is None:
        return inexact(rows(x)), x.ndim < 2 or rows(x).shape[0] == 1
    x, other = promoted(fn, x, array_of(y, fn))
    return inexact(op("concat")((rows(x), rows(other)), 0)), False


@entry
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    """The covariance matrix of variables in rows (columns unless rowvar), with further variables
    in y. The divisor is n - 1, n when bias, n - ddof when ddof is given; fweights say how often an
    observation occurs, aweights how much it counts. float32 at least, or `dtype`."""
    if ddof is not None and (isinstance(ddof, bool) or not isinstance(ddof, int)):
        raise TypeError(f"cov: 'ddof' must be an int or None, got {ddof!r}")
    if not isinstance(bias, bool):
        raise TypeError(f"cov: 'bias' must be True or False, got {bias!r}")
    x, _ = _variables("cov", m, y, rowvar)
    x = cast(x, meet(x.dtype, mstype.float32) if dtype is None else dtype)
    f = None if fweights is None else array_of(fweights, "cov")
    if f is not None and is_float(f.dtype):
        raise TypeError(f"cov: 'fweights' must be integers, got {f.dtype}")
    a = None if aweights is None else array_of(aweights, "cov")
    for name, w in (("fweights", f), ("aweights", a)):
        if w is not None and w.shape != x.shape[1:]:
            raise ValueError(
                f"cov: '{name}' must be a vector of one weight for each of the {x.shape[1]} "
                f"observations, got {w.shape}"
            )
    correction = (0 if bias else 1) if ddof is None else ddof
    c = op("cov")(x, f, a, correction)
    return c.reshape(()) if c.shape == (1, 1) else c


@entry
def corrcoef(x, y=None, rowvar=True, dtype=None):
    """The matrix of correlation coefficients of variables in rows (columns unless rowvar)."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = op("sqrt")(
        op("real")(op("diagonal")(c)) if kind_of(c.dtype) == 3 else op("diagonal")(c)
    )
    c = c / op("expand_dims")(spread, 1) / op("expand_dims")(spread, 0)
    return c if kind_of(c.dtype) == 3 else op("clip_by_value")(c, -1.0, 1.0)


__all__ = ["average", "corrcoef", "cov"]
