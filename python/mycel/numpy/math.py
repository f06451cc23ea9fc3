"""Elementwise functions: one record each. Operands broadcast and meet in a common dtype; `dtype`
converts the result."""

from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.numpy._arrays import array_of, cast, inexact, is_float, kind_of, op, promoted


def _named(call, name, doc):
    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return entry(call)


_DTYPE = " `dtype`: that of the result, None for the natural one."


def _unary(name, record, what, floats=True):
    """A function of one array; floats: integers become float32 first."""

    def call(x, dtype=None):
        x = array_of(x, name)
        return cast(op(record)(inexact(x) if floats else x), dtype)

    kind = " Integers give float32." if floats else ""
    return _named(call, name, f"{what}, elementwise; the shape of x.{kind}{_DTYPE}")


def _binary(name, record, what, floats=False, counts=False):
    """A function of two arrays that broadcast; counts: bools become int32."""

    def call(x1, x2, dtype=None):
        x1, x2 = promoted(name, x1, x2)
        if counts and x1.dtype == mstype.bool_:
            x1, x2 = cast(x1, mstype.int32), cast(x2, mstype.int32)
        if floats:
            x1, x2 = inexact(x1), inexact(x2)
        return cast(op(record)(x1, x2), dtype)

    kind = " Integers give float32." if floats else ""
    return _named(call, name, f"{what}, elementwise; x1 and x2 broadcast.{kind}{_DTYPE}")


arccosh = _unary("arccosh", "acosh", "Inverse hyperbolic cosine")
arcsin = _unary("arcsin", "asin", "Inverse sine")
arcsinh = _unary("arcsinh", "asinh", "Inverse hyperbolic sine")
arctan = _unary("arctan", "atan", "Inverse tangent")
arctanh = _unary("arctanh", "atanh", "Inverse hyperbolic tangent")
ceil = _unary("ceil", "ceil", "The smallest whole number not below x")
cos = _unary("cos", "cos", "Cosine")
cosh = _unary("cosh", "cosh", "Hyperbolic cosine")
deg2rad = _unary("deg2rad", "deg2rad", "Degrees as radians")
radians = _unary("radians", "deg2rad", "Degrees as radians")
rad2deg = _unary("rad2deg", "rad2deg", "Radians as degrees")
exp = _unary("exp", "exp", "Exponential e^x")
exp2 = _unary("exp2", "exp2", "2^x")
expm1 = _unary("expm1", "expm1", "e^x - 1, accurate for x near 0")
fabs = _unary("fabs", "abs", "Absolute value")
floor = _unary("floor", "floor", "The largest whole number not above x")
log = _unary("log", "log", "Natural logarithm")
log10 = _unary("log10", "log10", "Logarithm to the base 10")
log1p = _unary("log1p", "log1p", "Natural logarithm of 1 + x, accurate for x near 0")
log2 = _unary("log2", "log2", "Logarithm to the base 2")
rint = _unary("rint", "round", "The nearest whole number, halves to the even one")
sin = _unary("sin", "sin", "Sine")
sinh = _unary("sinh", "sinh", "Hyperbolic sine")
sqrt = _unary("sqrt", "sqrt", "Square root")
tan = _unary("tan", "tan", "Tangent")
tanh = _unary("tanh", "tanh", "Hyperbolic tangent")
trunc = _unary("trunc", "trunc", "x without its fraction")

abs = _unary("abs", "abs", "Absolute value", floats=False)  # noqa: A001
absolute = _unary("absolute", "abs", "Absolute value", floats=False)
bitwise_not = _unary("bitwise_not", "invert", "All bits turned (of bools: not)", floats=False)
invert = _unary("invert", "invert", "All bits turned (of bools: not)", floats=False)

add = _binary("add", "add", "x1 + x2")
arctan2 = _binary("arctan2", "atan2", "The angle of the point (x2, x1)", floats=True)
bitwise_and = _binary("bitwise_and", "bitwise_and", "The bits in both")
bitwise_or = _binary("bitwise_or", "bitwise_or", "The bits in either")
bitwise_xor = _binary("bitwise_xor", "bitwise_xor", "The bits in one of both")
copysign = _binary("copysign", "copysign", "The size of x1 with the sign of x2", floats=True)
divide = _binary("divide", "div", "x1 / x2", floats=True)
true_divide = _binary("true_divide", "div", "x1 / x2", floats=True)
floor_divide = _binary("floor_divide", "floor_div", "x1 / x2 rounded down", counts=True)
gcd = _binary("gcd", "gcd", "The greatest common divisor", counts=True)
hypot = _binary("hypot", "hypot", "The square root of x1^2 + x2^2", floats=True)
lcm = _binary("lcm", "lcm", "The least common multiple", counts=True)
logaddexp = _binary("logaddexp", "logaddexp", "log(e^x1 + e^x2) without overflow", floats=True)
logaddexp2 = _binary("logaddexp2", "logaddexp2", "log2(2^x1 + 2^x2) without overflow", floats=True)
maximum = _binary("maximum", "maximum", "The larger; NaN where either is NaN")
minimum = _binary("minimum", "minimum", "The smaller; NaN where either is NaN")
mod = _binary(
    "mod", "floor_mod", "The remainder of floor_divide: it has the sign of x2", counts=True
)
remainder = _binary(
    "remainder", "floor_mod", "The remainder of floor_divide: it has the sign of x2", counts=True
)
fmod = _binary(
    "fmod",
    "truncate_mod",
    "The remainder of truncated division: it has the sign of x1",
    counts=True,
)
multiply = _binary("multiply", "mul", "x1 x2")


@entry
def arccos(input, dtype=None):  # noqa: A002
    """Inverse cosine, elementwise. Integers give float32; `dtype` converts the result."""
    return cast(op("acos")(inexact(array_of(input, "arccos"))), dtype)


@entry
def negative(a, dtype=None):
    """-a, elementwise; `dtype` converts the result. TypeError for bools."""
    a = array_of(a, "negative")
    if a.dtype == mstype.bool_:
        raise TypeError("negative: bools have no negative; use logical_not")
    return cast(op("neg")(a), dtype)


@entry
def positive(a, dtype=None):
    """+a: the elements as they are; `dtype` converts the result."""
    return cast(array_of(a, "positive"), dtype)


@entry
def subtract(x1, x2, dtype=None):
    """x1 - x2, elementwise; x1 and x2 broadcast; `dtype` converts the result. TypeError for two
    bools."""
    x1, x2 = promoted("subtract", x1, x2)
    if x1.dtype == mstype.bool_:
        raise TypeError("subtract: bools cannot be subtracted; use logical_xor")
    return cast(op("sub")(x1, x2), dtype)


@entry
def power(x1, x2, dtype=None):
    """x1 to the power x2, elementwise; x1 and x2 broadcast; `dtype` converts the result.
    ValueError for integers to a negative Python int: there is no such integer."""
    if isinstance(x2, int) and x2 < 0 and not is_float(array_of(x1, "power").dtype):
        raise ValueError(
            f"power: integers to the negative power {x2} are no integers; use float_power"
        )
    x1, x2 = promoted("power", x1, x2)
    if x1.dtype == mstype.bool_:
        x1, x2 = cast(x1, mstype.int32), cast(x2, mstype.int32)
    return cast(op("pow")(x1, x2), dtype)


@entry
def float_power(x1, x2, dtype=None):
    """x1 to the power x2, in float32 at least; x1 and x2 broadcast; `dtype` converts the result."""
    x1, x2 = promoted("float_power", x1, x2, at_least=mstype.float32)
    return cast(op("pow")(x1, x2), dtype)


@entry
def divmod(x1, x2, dtype=None):  # noqa: A001
    """(floor_divide(x1, x2), remainder(x1, x2)); `dtype` converts both."""
    return floor_divide(x1, x2, dtype), remainder(x1, x2, dtype)


@entry
def heaviside(x1, x2, dtype=None):
    """0 where x1 < 0, x2 where x1 is 0, 1 where x1 > 0; x1 and x2 broadcast; `dtype` converts the
    result. NaN stays."""
    x1, x2 = promoted("heaviside", x1, x2)
    y = op("heaviside")(inexact(x1), inexact(x2))
    return cast(cast(y, x1.dtype), dtype)


@entry
def cbrt(x, dtype=None):
    """Cube root, elementwise; of a negative number the negative root. Integers give float32;
    `dtype` converts the result."""
    x = inexact(array_of(x, "cbrt"))
    size = op("abs")(x)
    third = op("pow")(size, Tensor(1 / 3, x.dtype))
    # One Newton step: 1/3 is no float, so the power alone is off by some units for large x.
    square = third * third
    fits = op("logical_and")(op("isfinite")(x), square > 0)
    safe = op("select")(fits, square, op("ones_like")(square))
    step = op("select")(fits, (third * square - size) / (3.0 * safe), op("zeros_like")(x))
    return cast(op("copysign")(third - step, x), dtype)


@entry
def reciprocal(x, dtype=None):
    """1 / x, elementwise; of integers without its fraction: x for 1 and -1, else 0. `dtype`
    converts the result."""
    x = array_of(x, "reciprocal")
    if is_float(x.dtype):
        return cast(op("reciprocal")(x), dtype)
    x = cast(x, mstype.int32) if x.dtype == mstype.bool_ else x
    return cast(op("select")(op("abs")(x) == 1, x, op("zeros_like")(x)), dtype)


@entry
def square(x, dtype=None):
    """x x, elementwise; `dtype` converts the result."""
    x = array_of(x, "square")
    return cast(x * x, dtype)


@entry
def sign(x, dtype=None):
    """-1, 0 or 1 by the sign of x, NaN for NaN; of a complex number z / |z|. `dtype` converts the
    result."""
    x = array_of(x, "sign")
    if x.dtype == mstype.bool_:
        raise TypeError("sign: bools have no sign; integers, floats and complex numbers have one")
    return cast(op("sgn" if kind_of(x.dtype) == 3 else "sign")(x), dtype)


@entry
def signbit(x, dtype=None):
    """Whether x has its sign bit set: x < 0, or x is -0.0. bool unless `dtype` converts it."""
    x = array_of(x, "signbit")
    return cast(op("signbit")(x) if is_float(x.dtype) else x < 0, dtype)


@entry
def fix(x):
    """x without its fraction, elementwise. Integers give float32."""
    return op("trunc")(inexact(array_of(x, "fix")))


@entry
def clip(x, xmin, xmax, dtype=None):
    """x limited to [xmin, xmax], which broadcast with it; one of them may be None. The result has
    the dtype of x, or `dtype`. ValueError when both bounds are None."""
    if xmin is None and xmax is None:
        raise ValueError("clip: one of 'xmin' and 'xmax' must be given")
    x = array_of(x, "clip")
    y = x
    if xmin is not None:
        y = op("maximum")(*promoted("clip", y, xmin))
    if xmax is not None:
        y = op("minimum")(*promoted("clip", y, xmax))
    return cast(cast(y, x.dtype), dtype)


__all__ = [
    name for name, value in globals().items()
    if isinstance(value, entry) and not name.startswith("_")
]  # fmt: skip
