"""Elementwise functions of the array API in every dtype, with special values, against NumPy; and
the dtypes and mixtures that the standard leaves out."""

import itertools

import mycel.array_api as xp
import numpy as np
import pytest
from peers import ANY, COMPLEX, INTEGRAL, KINDS, REAL_FLOATING, UNSIGNED, both, ours, values

pytestmark = pytest.mark.one_mode("the ops' own tests compile them in every dtype")

UNARY = {
    "abs": "numeric", "acos": "floating", "acosh": "floating", "asin": "floating",
    "asinh": "floating", "atan": "floating", "atanh": "floating",
    "bitwise_invert": "integral or bool", "ceil": "real", "conj": "numeric", "cos": "floating",
    "cosh": "floating", "exp": "floating", "expm1": "floating", "floor": "real", "imag": "complex",
    "isfinite": "numeric", "isinf": "numeric", "isnan": "numeric", "log": "floating",
    "log10": "floating", "log1p": "floating", "log2": "floating", "logical_not": "bool",
    "negative": "numeric", "positive": "numeric", "real": "numeric", "reciprocal": "floating",
    "round": "numeric", "sign": "numeric", "signbit": "real floating", "sin": "floating",
    "sinh": "floating", "sqrt": "floating", "square": "numeric", "tan": "floating",
    "tanh": "floating", "trunc": "real",
}  # fmt: skip
BINARY = {
    "add": "numeric", "atan2": "real floating", "bitwise_and": "integral or bool",
    "bitwise_left_shift": "integral", "bitwise_or": "integral or bool",
    "bitwise_right_shift": "integral", "bitwise_xor": "integral or bool",
    "copysign": "real floating", "divide": "floating", "equal": "any", "floor_divide": "real",
    "greater": "real", "greater_equal": "real", "hypot": "real floating", "less": "real",
    "less_equal": "real", "logaddexp": "real floating", "logical_and": "bool",
    "logical_or": "bool", "logical_xor": "bool", "maximum": "real", "minimum": "real",
    "multiply": "numeric", "nextafter": "real floating", "not_equal": "any", "pow": "numeric",
    "remainder": "real", "subtract": "numeric",
}  # fmt: skip
SHAPES = [(), (0,), (1,), (40,), (2, 3), (2, 0, 3)]
PAIRS = [((40,), (40,)), ((), (3,)), ((2, 1), (1, 3)), ((0, 3), (1, 3))]


def second(name, dtype, shape):
    """A right operand for which the standard says what comes out."""
    x = values(dtype, shape, seed=1, special=name not in ("pow", "divide") or dtype not in COMPLEX)
    if "shift" in name or (name == "pow" and dtype in INTEGRAL):
        x = (np.abs(x.astype(np.int64)) % 5).astype(dtype)
    if name in ("floor_divide", "remainder") and dtype in INTEGRAL:
        x[x == 0] = 1
        if dtype not in UNSIGNED:
            x[x == -1] = 1  # the quotient of the least integer does not fit
    return x


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    for dtype, shape in itertools.product(KINDS[UNARY[name]], SHAPES):
        both(name, values(dtype, shape))
    for dtype in set(ANY) - set(KINDS[UNARY[name]]):
        with pytest.raises(TypeError, match=f"{name}: 'x' must have a"):
            getattr(xp, name)(ours(values(dtype, (3,))))
    with pytest.raises(TypeError, match=f"{name}: 'x' must be an array, got float"):
        getattr(xp, name)(1.0)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    for dtype in KINDS[BINARY[name]]:
        for a, b in PAIRS:
            both(name, values(dtype, a, special=name != "pow"), second(name, dtype, b))
    for dtype in set(ANY) - set(KINDS[BINARY[name]]):
        x = ours(values(dtype, (3,)))
        with pytest.raises(TypeError, match=f"{name}: 'x1' must have a"):
            getattr(xp, name)(x, x)
    with pytest.raises(TypeError, match=f"{name}: one of 'x1' and 'x2' must be an array"):
        getattr(xp, name)(1, 2)


@pytest.mark.parametrize("name", BINARY)
def test_promotion(name):
    kinds = KINDS[BINARY[name]]
    for a, b in itertools.permutations(kinds, 2):
        x, y = values(a, (40,), special=name != "pow"), second(name, b, (40,))
        if not meets(a, b):
            with pytest.raises(TypeError, match="have no common dtype in the standard"):
                getattr(xp, name)(ours(x), ours(y))
        elif name not in ("pow", "divide") or not {a, b} & set(COMPLEX):
            both(name, x, y)


def meets(a, b):
    """Whether the standard says in which dtype two meet."""
    if "uint64" in (a, b) and (a in INTEGRAL) == (b in INTEGRAL):
        return a in UNSIGNED and b in UNSIGNED
    return (a in INTEGRAL) == (b in INTEGRAL) and "bool" not in (a, b)


@pytest.mark.parametrize("name", ["add", "multiply", "equal", "less", "maximum", "bitwise_and"])
def test_python_numbers(name):
    allowed = {"b": (bool,), "i": (int,), "u": (int,), "f": (int, float),
               "c": (int, float, complex)}  # fmt: skip
    for dtype in KINDS[BINARY[name]]:
        x = values(dtype, (5,))
        for number in (True, 2, 2.5, 1 + 2j):
            if type(number) in allowed[np.dtype(dtype).kind]:
                both(name, x, number)
                both(name, number, x)
            elif dtype not in REAL_FLOATING or type(number) is not complex:
                with pytest.raises(TypeError, match=f"{name}: a Python {type(number).__name__}"):
                    getattr(xp, name)(ours(x), number)


def test_clip():
    for dtype in KINDS["real"]:
        x = values(dtype, (9,))
        for low, high in ((0, 2), (None, 2), (1, None), (None, None), (values(dtype, ()), 7)):
            both("clip", x, low, high)
        both("clip", values(dtype, (2, 3)), values(dtype, (3,), special=False), None)
    with pytest.raises(TypeError, match="clip: a Python float cannot meet"):
        xp.clip(xp.asarray([1, 2]), 0.5, 1)


CUTS = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "log", "log10", "log1p", "log2", "sqrt")


@pytest.mark.parametrize("name", CUTS)
def test_branch_cuts(name):
    parts = [-3.0, -0.5, -0.0, 0.0, 0.5, 3.0]
    for dtype in COMPLEX:
        x = np.array([complex(a, b) for a in parts for b in parts], dtype)
        if name in ("atan", "atanh"):
            x = x[np.abs(np.abs(x) - 1) > 1e-3]
        both(name, x)


def test_functions_of_large_and_small_complex_numbers():
    rng = np.random.default_rng(0)
    size = 10.0 ** rng.uniform(-3, 3, (2, 400))
    x = rng.normal(size=400) * size[0] + 1j * rng.normal(size=400) * size[1]
    for name in (*CUTS, "tan", "tanh", "expm1", "round"):
        if name in ("tanh", "tan", "expm1"):
            x = x[np.abs(x) < 80]
        both(name, x)


def test_complex_division_by_zero_and_infinity():
    for dtype in COMPLEX:
        x = np.array([1 + 2j, -1 + 0j, 0j], dtype)
        for divisor in (0.0, np.inf, 1e-30 + 1e-30j, 1e30j):
            both("divide", x, np.full(3, divisor, dtype))
