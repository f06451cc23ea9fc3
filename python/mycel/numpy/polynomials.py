"""Polynomials as vectors of coefficients, the highest power first."""

from mycel._mycel import entry
from mycel.common import dtype as mstype
from mycel.numpy._arrays import array_of, cast, inexact, integer, op, promoted
from mycel.numpy.products import convolve


def _coefficients(fn, p):
    p = array_of(p, fn)
    p = p.reshape((1,)) if p.ndim == 0 else p
    if p.ndim != 1:
        raise ValueError(f"{fn}: coefficients must be a vector, got {p.shape}")
    return cast(p, mstype.int32) if p.dtype == mstype.bool_ else p


def _aligned(fn, a1, a2):
    """Both of one length, zeros put in front."""
    a1, a2 = promoted(fn, _coefficients(fn, a1), _coefficients(fn, a2))
    size = max(a1.shape[0], a2.shape[0])
    longer = lambda a: op("pad_nd")(a, (size - a.shape[0],), (0,)) if a.shape[0] < size else a
    return longer(a1), longer(a2)


@entry
def polyadd(a1, a2):
    """The sum of two polynomials."""
    a1, a2 = _aligned("polyadd", a1, a2)
    return a1 + a2


@entry
def polysub(a1, a2):
    """The difference of two polynomials."""
    a1, a2 = _aligned("polysub", a1, a2)
    return a1 - a2


@entry
def polymul(a1, a2):
    """The product of two polynomials."""
    return convolve(_coefficients("polymul", a1), _coefficients("polymul", a2))


@entry
def polyval(p, x):
    """The value at x: of p[0] x^(n-1) + … + p[n-1], elementwise. Where x is a vector of
    coefficients this is not the composition of polynomials."""
    p, x = promoted("polyval", _coefficients("polyval", p), array_of(x, "polyval"))
    y = op("zeros_like")(x)
    for i in range(p.shape[0]):  # Horner, one step a coefficient
        y = y * x + p[i]
    return y


@entry
def polyder(p, m=1):
    """The m-th derivative."""
    p, m = _coefficients("polyder", p), integer(m, "polyder", "m")
    if m < 0:
        raise ValueError(f"polyder: 'm' must not be negative, got {m}")
    for _ in range(m):
        n = p.shape[0]
        if n < 2:
            return p[0:0]
        p = p[: n - 1] * op("arange")(n - 1, 0, -1, p.dtype)
    return p


@entry
def polyint(p, m=1, k=None):
    """The m-th antiderivative; k: the constants of integration, one or m of them, 0 when None."""
    p, m = inexact(_coefficients("polyint", p)), integer(m, "polyint", "m")
    if m < 0:
        raise ValueError(f"polyint: 'm' must not be negative, got {m}")
    if k is None:
        constants = op("zeros")((m,), p.dtype)
    else:
        constants = cast(_coefficients("polyint", k), p.dtype)
        if constants.shape[0] == 1:
            constants = op("broadcast_to")(constants, (m,))
        if constants.shape[0] < m:
            raise ValueError(f"polyint: {m} constants are needed, got {constants.shape[0]}")
    for i in range(m):
        n = p.shape[0]
        p = op("concat")((p / op("arange")(n, 0, -1, p.dtype), constants[i : i + 1]), 0)
    return p


__all__ = ["polyadd", "polyder", "polyint", "polymul", "polysub", "polyval"]
