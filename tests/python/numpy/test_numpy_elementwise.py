"""Elementwise functions and tests of mycel.numpy against NumPy."""

import mycel as ms
import numpy as np
import pytest
from numpy_inputs import (
    EMPTY,
    INSIDE,
    POSITIVE,
    SCALAR,
    SPECIAL,
    B,
    F,
    G,
    I,
    J,
    V,
    W,
    case,
    labels,
)
from numpy_reference import agree, run

_EVERYWHERE = """abs absolute arcsinh arctan cbrt ceil cos cosh deg2rad exp exp2 expm1 fabs fix
floor isfinite isinf isnan logical_not negative positive rad2deg radians rint sign signbit sin sinh
square tan tanh trunc""".split()
_POSITIVE = "log log10 log1p log2 sqrt reciprocal".split()
_INSIDE = "arcsin arccos arctanh".split()
_FLOATS = """add subtract multiply divide true_divide floor_divide mod remainder fmod maximum
minimum hypot arctan2 heaviside copysign logaddexp logaddexp2 equal not_equal less less_equal
greater greater_equal logical_and logical_or logical_xor divmod""".split()
_INTEGERS = """add subtract multiply divide floor_divide mod fmod maximum minimum equal less
bitwise_and bitwise_or bitwise_xor gcd lcm heaviside divmod""".split()


def _floor_divide(x, y):
    """As published: of infinities the plain quotient, where NumPy's is that of a remainder."""
    plain = np.isinf(x) | np.isinf(y)
    return np.where(plain, np.divide(x, y), np.floor_divide(x, y))


_PUBLISHED = {
    "floor_divide": _floor_divide,
    "divmod": lambda x, y: (_floor_divide(x, y), np.remainder(x, y)),
}


@pytest.mark.parametrize("name", _EVERYWHERE)
def test_one_operand(name):
    for x in (F, I, EMPTY, SCALAR, SPECIAL, F.astype(np.float64), F[:, :1], 2.5, 3):
        agree(name, x)


@pytest.mark.parametrize("name", _POSITIVE)
def test_one_positive_operand(name):
    for x in (POSITIVE, EMPTY, SCALAR, SPECIAL, POSITIVE.astype(np.float64)):
        agree(name, x)


@pytest.mark.parametrize("name", _INSIDE)
def test_one_operand_between_minus_one_and_one(name):
    agree(name, INSIDE)
    agree(name, SPECIAL)


@pytest.mark.parametrize("name", _FLOATS)
def test_two_float_operands(name):
    zero_rows = np.zeros((1, 3), np.float32)
    for x, y in (
        (F, G), (F, W), (F[:, :1], W), (F, SCALAR), (EMPTY, zero_rows),
        (SPECIAL, SPECIAL[::-1].copy()), (F.astype(np.float64), G.astype(np.float64)),
    ):  # fmt: skip
        with np.errstate(all="ignore"):
            want = _PUBLISHED.get(name, getattr(np, name))(x, y)
        agree(name, x, y, want=want)
    agree(name, F, 2.5)
    agree(name, 3, F)


@pytest.mark.parametrize("name", _INTEGERS)
def test_two_integer_operands(name):
    agree(name, I, J)
    agree(name, I, 3)
    agree(name, I, np.array(3, np.int32))
    if name not in ("heaviside", "divide"):
        agree(name, I.astype(np.int64), J.astype(np.int64))


_OTHERS = [
    case("arccosh", POSITIVE + 1),
    case("invert", I),
    case("invert", B),
    case("bitwise_not", I),
    case("bitwise_not", B),
    case("power", POSITIVE, G),
    case("power", J, np.array([0, 1, 2, 3], np.int32)),
    case("power", F, 2),
    case("float_power", J, -1.5),
    case("reciprocal", np.array([1, -1, 2, 5], np.int32)),
    case("sqrt", J),
    case("add", B, B),
    case("multiply", B, B),
    case("clip", F, -0.5, 0.5),
    case("clip", F, None, 0.5),
    case("clip", F, W - 1, None),
    case("clip", I, 0, 3),
    case("isposinf", SPECIAL),
    case("isneginf", SPECIAL),
    case("isclose", F, F + np.float32(1e-7)),
    case("isclose", SPECIAL, SPECIAL),
    case("isclose", SPECIAL, SPECIAL, equal_nan=True),
    case("isclose", I, I + 1),
    case("array_equal", F, F),
    case("array_equal", F, W),
    case("array_equal", SPECIAL, SPECIAL),
    case("array_equal", SPECIAL, SPECIAL, equal_nan=True),
    case("array_equiv", F, F[:1]),
    case("array_equiv", np.broadcast_to(V, (3, 4)).copy(), V),
    case("array_equiv", F, np.ones((2, 5), np.float32)),
    case("isin", I, [1, 2]),
    case("isin", I, np.arange(20, dtype=np.int32), invert=True),
    case("isin", F, F[0]),
    case("isin", F, np.concatenate([F.ravel()[::2]] * 5)),
    case("cbrt", np.array([1e-30, -27, 1e30, 8], np.float64)),
]


@pytest.mark.parametrize("name, args, kwargs", _OTHERS, ids=labels(_OTHERS))
def test_others(name, args, kwargs):
    agree(name, *args, **kwargs)


@pytest.mark.parametrize("name", "floor_divide mod fmod gcd lcm".split())
def test_bools_count_as_integers(name):
    fn = getattr(np, name)
    agree(name, B, np.ones_like(B), want=fn(B.astype(np.int32), 1), dtype=ms.int32)


_COMPLEX = F + 1j * G
_OF_COMPLEX = """abs square sqrt exp sin cos sign negative reciprocal isnan isfinite isinf sum mean
std var cumsum cumprod""".split()


@pytest.mark.parametrize("name", _OF_COMPLEX)
def test_complex_operand(name):
    agree(name, _COMPLEX.astype(np.complex64))
    agree(name, _COMPLEX.astype(np.complex128))


def test_complex_operands():
    for dtype in (np.complex64, np.complex128):
        a, b = _COMPLEX.astype(dtype), _COMPLEX[:, ::-1].astype(dtype)
        for name in ("add", "subtract", "multiply", "divide", "equal", "inner", "outer", "isclose"):
            agree(name, a, b)
        agree("isclose", a, a + 1e-9)
        agree("correlate", a[0], b[1], "full")
        agree("convolve", a[0], b[1, :2], "same")
        agree("cov", a)
        agree("corrcoef", a)
        agree("norm", a, want=np.linalg.norm(a))


@pytest.mark.parametrize("dtype", "int8 uint8 int16 uint16 uint32 uint64 int64".split())
def test_integers_of_every_size(dtype):
    x, y = (np.abs(I) + 1).astype(dtype), J.astype(dtype)
    for name in ("add", "multiply", "floor_divide", "mod", "maximum", "minimum", "gcd", "lcm"):
        agree(name, x, y, dtype=getattr(ms, dtype))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "heaviside", "power"):
        agree(name, x, y)
    for name in ("abs", "sign", "square", "max", "argmin", "unique", "diff", "invert", "ptp"):
        agree(name, x)


def test_in1d_is_isin_of_the_flattened():
    agree("in1d", I, [1, 2], want=np.isin(I.ravel(), [1, 2]))


def test_dtype_of_the_result():
    agree("add", I, J, want=(I + J).astype(np.float32), dtype=None)
    assert run("add", I, J, dtype=ms.float64).dtype == ms.float64
    assert run("equal", I, J, dtype=ms.int32).dtype == ms.int32
    assert run("sqrt", J).dtype == ms.float32
    assert run("ceil", J).dtype == ms.float32
    assert run("sign", J).dtype == ms.int32
    assert run("clip", I, 0, 2.5).dtype == ms.int32
    assert run("arctan2", I, J).dtype == ms.float32


@pytest.mark.one_mode("a look at Python values")
def test_isscalar():
    import mycel.numpy as mnp

    for value in (1, 2.5, True, "a", 1j, np.float32(1)):
        assert mnp.isscalar(value)
    for value in ([1], np.ones(1), np.ones(()), ms.Tensor(1), None):
        assert not mnp.isscalar(value)
