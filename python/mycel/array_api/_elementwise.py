"""Functions of each element: one line in a table says which op and which dtypes."""

import inspect

from mycel._mycel import Tensor
from mycel.array_api import _checks as c
from mycel.array_api._dtypes import result_type

# name: (op, dtypes, text)
_UNARY = {
    "abs": ("abs", c.NUMERIC, "The absolute value, of a complex number its modulus."),
    "acos": ("acos", c.FLOATING, "The inverse cosine."),
    "acosh": ("acosh", c.FLOATING, "The inverse hyperbolic cosine."),
    "asin": ("asin", c.FLOATING, "The inverse sine."),
    "asinh": ("asinh", c.FLOATING, "The inverse hyperbolic sine."),
    "atan": ("atan", c.FLOATING, "The inverse tangent."),
    "atanh": ("atanh", c.FLOATING, "The inverse hyperbolic tangent."),
    "bitwise_invert": ("invert", c.INTEGRAL_OR_BOOL, "Every bit turned."),
    "ceil": ("ceil", c.REAL, "Rounded up."),
    "conj": ("conj", c.NUMERIC, "The complex conjugate."),
    "cos": ("cos", c.FLOATING, "The cosine."),
    "cosh": ("cosh", c.FLOATING, "The hyperbolic cosine."),
    "exp": ("exp", c.FLOATING, "e to the power of x."),
    "expm1": ("expm1", c.FLOATING, "exp(x) - 1, accurate near 0."),
    "floor": ("floor", c.REAL, "Rounded down."),
    "imag": ("imag", c.COMPLEX, "The imaginary part."),
    "isfinite": ("isfinite", c.NUMERIC, "Whether it is neither infinite nor NaN."),
    "isinf": ("isinf", c.NUMERIC, "Whether it is infinite."),
    "isnan": ("isnan", c.NUMERIC, "Whether it is NaN."),
    "log": ("log", c.FLOATING, "The natural logarithm."),
    "log10": ("log10", c.FLOATING, "The logarithm to base 10."),
    "log1p": ("log1p", c.FLOATING, "log(1 + x), accurate near 0."),
    "log2": ("log2", c.FLOATING, "The logarithm to base 2."),
    "logical_not": ("logical_not", c.BOOL, "Whether it is False."),
    "negative": ("neg", c.NUMERIC, "-x."),
    "real": ("real", c.NUMERIC, "The real part."),
    "reciprocal": ("reciprocal", c.FLOATING, "1 / x."),
    "round": ("round", c.NUMERIC, "The nearest whole number, halves to the even one."),
    "sign": ("sgn", c.NUMERIC, "-1, 0 or 1; of a complex number x / |x|."),
    "signbit": ("signbit", c.REAL_FLOATING, "Whether the sign bit is set."),
    "sin": ("sin", c.FLOATING, "The sine."),
    "sinh": ("sinh", c.FLOATING, "The hyperbolic sine."),
    "sqrt": ("sqrt", c.FLOATING, "The square root."),
    "square": ("square", c.NUMERIC, "x x."),
    "tan": ("tan", c.FLOATING, "The tangent."),
    "tanh": ("tanh", c.FLOATING, "The hyperbolic tangent."),
    "trunc": ("trunc", c.REAL, "Rounded towards 0."),
}
_BINARY = {
    "add": ("add", c.NUMERIC, "x1 + x2."),
    "atan2": ("atan2", c.REAL_FLOATING, "The angle of the point (x2, x1)."),
    "bitwise_and": ("bitwise_and", c.INTEGRAL_OR_BOOL, "x1 & x2."),
    "bitwise_left_shift": ("bitwise_left_shift", c.INTEGRAL, "x1 << x2."),
    "bitwise_or": ("bitwise_or", c.INTEGRAL_OR_BOOL, "x1 | x2."),
    "bitwise_right_shift": ("bitwise_right_shift", c.INTEGRAL, "x1 >> x2."),
    "bitwise_xor": ("bitwise_xor", c.INTEGRAL_OR_BOOL, "x1 ^ x2."),
    "copysign": ("copysign", c.REAL_FLOATING, "x1 with the sign of x2."),
    "divide": ("div", c.FLOATING, "x1 / x2."),
    "equal": ("equal", c.ANY, "x1 == x2."),
    "floor_divide": ("floor_div", c.REAL, "x1 // x2, rounded down."),
    "greater": ("greater", c.REAL, "x1 > x2."),
    "greater_equal": ("greater_equal", c.REAL, "x1 >= x2."),
    "hypot": ("hypot", c.REAL_FLOATING, "sqrt(x1 x1 + x2 x2)."),
    "less": ("less", c.REAL, "x1 < x2."),
    "less_equal": ("less_equal", c.REAL, "x1 <= x2."),
    "logaddexp": ("logaddexp", c.REAL_FLOATING, "log(exp(x1) + exp(x2))."),
    "logical_and": ("logical_and", c.BOOL, "Whether both are True."),
    "logical_or": ("logical_or", c.BOOL, "Whether one is True."),
    "logical_xor": ("logical_xor", c.BOOL, "Whether exactly one is True."),
    "maximum": ("maximum", c.REAL, "The larger one; NaN when one is."),
    "minimum": ("minimum", c.REAL, "The smaller one; NaN when one is."),
    "multiply": ("mul", c.NUMERIC, "x1 x2."),
    "nextafter": ("nextafter", c.REAL_FLOATING, "The number next to x1 towards x2."),
    "not_equal": ("not_equal", c.ANY, "x1 != x2."),
    "pow": ("pow", c.NUMERIC, "x1 to the power of x2."),
    "remainder": ("floor_mod", c.REAL, "x1 % x2, with the sign of x2."),
    "subtract": ("sub", c.NUMERIC, "x1 - x2."),
}
_ONLY = inspect.Parameter.POSITIONAL_ONLY


def _finished(fn, name, text, parameters):
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = text
    fn.__signature__ = inspect.Signature([inspect.Parameter(p, _ONLY) for p in parameters])
    globals()[name] = fn


def _unary(name, record, kinds, text):
    def apply(x, /):
        return c.op(record)(c.array(name, x, kinds))

    _finished(apply, name, text, ("x",))


def _binary(name, record, kinds, text):
    def apply(x1, x2, /):
        return c.op(record)(*c.pair(name, x1, x2, kinds))

    _finished(apply, name, text, ("x1", "x2"))


for _name, _line in _UNARY.items():
    _unary(_name, *_line)
for _name, _line in _BINARY.items():
    _binary(_name, *_line)


def positive(x, /):
    """x itself."""
    return c.array("positive", x, c.NUMERIC)


def clip(x, /, min=None, max=None):  # noqa: A002
    """x, not below min and not above max, which broadcast with x; the dtype of x."""
    c.array("clip", x, c.REAL)
    bounds = []
    for name, bound in (("min", min), ("max", max)):
        if bound is not None and not isinstance(bound, Tensor):
            bound = c.scalar("clip", bound, x.dtype)
        if bound is not None:
            c.array("clip", bound, c.REAL, name)
            result_type(x, bound)  # kinds must meet
            bound = c.cast(bound, x.dtype)
        bounds.append(bound)
    low, high = bounds
    if low is not None:
        x = c.op("maximum")(x, low)
    return x if high is None else c.op("minimum")(x, high)


__all__ = [*_UNARY, *_BINARY, "clip", "positive"]
