"""Complex functions where a part is an infinity, a NaN or a zero of either sign: C's Annex G, which
Python's cmath and NumPy follow, and the places where the standard wants more than they give."""

import cmath
import itertools
import math

import mycel.array_api as xp
import numpy as np
import pytest
from peers import COMPLEX

pytestmark = pytest.mark.one_mode("the ops' own tests compile them in every dtype")

INF, NAN = math.inf, math.nan
PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 30.0, -30.0, INF, -INF, NAN)
POINTS = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)]
NUMPY_NAMES = {"acos": "arccos", "asin": "arcsin", "atan": "arctan"}
CURVES = ("acos", "acosh", "asinh", "atanh", "cosh", "exp", "log", "sinh", "sqrt", "tanh")


def outcome(name, z):
    """What C says; cmath raises where NaN comes of no NaN, and there NumPy asks the C library."""
    try:
        return getattr(cmath, name)(z)
    except (ValueError, OverflowError):
        with np.errstate(all="ignore"):
            return complex(getattr(np, NUMPY_NAMES.get(name, name))(np.complex128(z)))


def near(got, want, signed, tolerance):
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    if signed and math.copysign(1, got) != math.copysign(1, want):
        return False
    if math.isinf(want) or math.isinf(got):
        return math.isinf(want) and math.isinf(got)
    return abs(abs(got) - abs(want)) <= tolerance * max(1, abs(want))


def agree(got, want, tolerance, signed=True):
    """Signs count only where neither part of the answer is NaN: beside NaN they are left open."""
    signed = signed and not cmath.isnan(want)
    return near(got.real, want.real, signed, tolerance) and near(
        got.imag, want.imag, signed, tolerance
    )


def answers(name, dtype, points):
    return np.asarray(getattr(xp, name)(xp.asarray(points, dtype=getattr(xp, dtype)))).tolist()


def left_to_the_standard(name, z):
    """Points where C says less, or something else, than the standard."""
    if name == "tanh":
        return math.isinf(z.real) or (z.real == 0 and not math.isfinite(z.imag))
    return name == "acosh" and z.real == 0 and math.isnan(z.imag)


@pytest.mark.parametrize("name", CURVES)
def test_edges_as_in_c(name):
    for dtype, tolerance in zip(COMPLEX, (3e-6, 1e-13), strict=True):
        for z, got in zip(POINTS, answers(name, dtype, POINTS), strict=True):
            if not left_to_the_standard(name, z):
                assert agree(got, outcome(name, z), tolerance), (name, dtype, z, got)


@pytest.mark.parametrize(
    "name, z, want",
    [
        ("tanh", complex(INF, 2.5), complex(1, 0)),
        ("tanh", complex(-INF, 2.5), complex(-1, 0)),
        ("tanh", complex(INF, -2.5), complex(1, -0.0)),
        ("tanh", complex(0, INF), complex(0, NAN)),
        ("tanh", complex(0, NAN), complex(0, NAN)),
        ("acosh", complex(0, NAN), complex(NAN, math.pi / 2)),
        ("expm1", complex(-0.0, 0), complex(0, 0)),
        ("expm1", complex(INF, 0), complex(INF, 0)),
        ("expm1", complex(-INF, 1), complex(-1, 0)),
        ("expm1", complex(-INF, 4), complex(-1, -0.0)),
        ("expm1", complex(INF, 2), complex(-INF, INF)),
        ("expm1", complex(INF, INF), complex(INF, NAN)),
        ("expm1", complex(INF, NAN), complex(INF, NAN)),
        ("expm1", complex(NAN, 0), complex(NAN, 0)),
        ("expm1", complex(3, INF), complex(NAN, NAN)),
        ("expm1", complex(3, NAN), complex(NAN, NAN)),
        ("exp", complex(-INF, 2), complex(-0.0, 0)),
        ("log1p", complex(-1, 0), complex(-INF, 0)),
        ("log1p", complex(INF, NAN), complex(INF, NAN)),
        ("sign", complex(-0.0, -0.0), complex(0, 0)),
        ("sign", complex(NAN, 1), complex(NAN, NAN)),
    ],
)
def test_edges_of_the_standard(name, z, want):
    for dtype in COMPLEX:
        assert agree(answers(name, dtype, [z])[0], want, 3e-7)


@pytest.mark.parametrize("z", [complex(-INF, INF), complex(-INF, NAN), complex(-INF, -INF)])
def test_a_vanishing_exponential_beats_any_angle(z):
    for dtype in COMPLEX:
        assert agree(answers("expm1", dtype, [z])[0], complex(-1, 0), 0, signed=False)
        assert agree(answers("exp", dtype, [z])[0], complex(0, 0), 0, signed=False)


@pytest.mark.parametrize("name", ["sin", "tan", "asin", "atan"])
def test_circular_functions_are_hyperbolic_ones_turned(name):
    other = {"asin": "asinh", "atan": "atanh"}.get(name, name + "h")
    for dtype in COMPLEX:
        turned = answers(other, dtype, [complex(-z.imag, z.real) for z in POINTS])
        for got, w in zip(answers(name, dtype, POINTS), turned, strict=True):
            assert agree(got, complex(w.imag, -w.real), 0)


def test_floor_divide_of_infinities():
    rows = [(INF, 2, INF), (INF, -2, -INF), (-INF, 2, -INF), (5, INF, 0.0), (5, -INF, -0.0),
            (-5, INF, -0.0), (INF, INF, NAN), (INF, 0, INF), (NAN, 2, NAN)]  # fmt: skip
    for dtype in (xp.float32, xp.float64):
        x, y, want = (xp.asarray(column, dtype=dtype) for column in zip(*rows, strict=True))
        for got in (xp.floor_divide(x, y), x // y):
            np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
            number = ~np.isnan(np.asarray(want))
            np.testing.assert_array_equal(
                np.signbit(np.asarray(got))[number], np.signbit(np.asarray(want))[number]
            )
