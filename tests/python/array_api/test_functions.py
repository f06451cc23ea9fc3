"""Reductions, orders, sets, moves and products of the array API in every dtype, against NumPy."""

import mycel.array_api as xp
import numpy as np
import pytest
from peers import (
    ANY,
    COMPLEX,
    FLOATING,
    INTEGRAL,
    NUMERIC,
    REAL,
    REAL_FLOATING,
    both,
    check,
    ours,
    values,  # fmt: skip
)

pytestmark = [
    pytest.mark.one_mode("the ops' own tests compile them in every dtype"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's, of means of nothing
]

SHAPES = [(0,), (5,), (3, 4), (2, 0, 3), (2, 3, 4)]
REDUCTIONS = {
    "sum": NUMERIC, "prod": NUMERIC, "max": REAL, "min": REAL, "mean": FLOATING,
    "std": REAL_FLOATING, "var": REAL_FLOATING, "all": ANY, "any": ANY,
}  # fmt: skip


def axes_of(shape):
    yield from (None, 0, -1)
    if len(shape) > 1:
        yield from ((0, 1), (1,), ())


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    for dtype in REDUCTIONS[name]:
        for shape in [(), *SHAPES]:
            x = values(dtype, shape, special=name in ("max", "min", "all", "any"))
            if name in ("max", "min") and x.size == 0:
                continue
            for axis in axes_of(shape) if shape else (None,):
                both(name, x, axis=axis, zeros=False)
                both(name, x, axis=axis, keepdims=True, zeros=False)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extremes_of_nothing(name):
    with pytest.raises(ValueError, match=f"{name}: an empty axis has no"):
        getattr(xp, name)(xp.ones((2, 0, 3)), axis=1)
    assert getattr(xp, name)(xp.ones((2, 0, 3)), axis=0).shape == (0, 3)


@pytest.mark.parametrize("name", ["std", "var"])
def test_corrections(name):
    for dtype in REAL_FLOATING:
        for correction in (1.0, 0.5, 2):
            both(name, values(dtype, (4, 5), special=False), axis=0, correction=correction)


@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_dtypes_of_sums(name):
    for dtype in NUMERIC:
        x = np.abs(values(dtype, (4,), special=False)).astype(dtype)
        both(name, x)
        for wanted in FLOATING if dtype in REAL_FLOATING else (dtype,):
            if (wanted in COMPLEX) >= (dtype in COMPLEX):
                got = getattr(xp, name)(ours(x), dtype=getattr(xp, wanted))
                check(got, getattr(np, name)(x, dtype=wanted))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_scans(name):
    for dtype in NUMERIC:
        both(name, values(dtype, (5,), special=False), include_initial=True)
        for shape in SHAPES[2:]:
            x = values(dtype, shape, special=False)
            for axis in (0, 1, -1):
                both(name, x, axis=axis)
                both(name, x, axis=axis, include_initial=True)
    with pytest.raises(ValueError, match=f"{name}: 'axis' is needed"):
        getattr(xp, name)(xp.ones((2, 2)))


@pytest.mark.parametrize("name", ["argmax", "argmin", "sort", "argsort", "count_nonzero"])
def test_positions(name):
    for dtype in ANY if name == "count_nonzero" else REAL:
        for shape in ((5,), (3, 4), (2, 3, 4)):
            x = values(dtype, shape, special=False)
            for axis in (0, -1):
                if name == "argsort":
                    both(name, x, axis=axis, stable=True)
                else:
                    both(name, x, axis=axis)
                if name in ("sort", "argsort"):
                    turned = np.flip(x, axis)
                    want = np.flip(np.sort(x, axis), axis)
                    if name == "argsort":
                        n = x.shape[axis]
                        want = np.flip(n - 1 - np.argsort(turned, axis, stable=True), axis)
                    check(getattr(xp, name)(ours(x), axis=axis, descending=True), want)
                else:
                    both(name, x, axis=axis, keepdims=True)
            if name in ("argmax", "argmin"):
                both(name, x, keepdims=True)


def test_nonzero():
    for dtype in ANY:
        both("nonzero", values(dtype, (3, 4)))
        both("nonzero", values(dtype, (0, 4)))
        both("count_nonzero", values(dtype, ()))


@pytest.mark.parametrize("name", ["unique_values", "unique_counts", "unique_inverse", "unique_all"])
def test_sets(name):
    for dtype in ANY:
        for shape in [(), (0,), (9,), (3, 4)]:
            x = values(dtype, shape, special=False)
            want = getattr(np, name)(x) if x.size else None
            got = getattr(xp, name)(ours(x))
            if want is None:
                assert (got if name == "unique_values" else got[0]).shape == (0,)
            elif name == "unique_values":
                check(xp.sort(got) if dtype in REAL else got, np.sort(want))
            else:
                assert got._fields == want._fields
                check(tuple(got), tuple(map(np.asarray, want)))
    nans = xp.asarray([np.nan, 1.0, np.nan])
    counts = xp.unique_counts(nans)
    assert counts.values.shape == (3,) and counts.counts.asnumpy().tolist() == [1, 1, 1]


def test_membership():
    for dtype in INTEGRAL:
        both("isin", values(dtype, (6,)), values(dtype, (2, 3), seed=1))
        both("isin", values(dtype, (2, 3)), 3, invert=True)


def test_searchsorted():
    for dtype in REAL:
        x = np.sort(values(dtype, (7,), special=False))
        v = values(dtype, (2, 3), seed=1, special=False)
        for side in ("left", "right"):
            both("searchsorted", x, v, side=side)
        both("searchsorted", x[::-1].copy(), v, sorter=np.arange(7)[::-1].copy())
        both("searchsorted", x, 3 if dtype in INTEGRAL else 0.5)


def test_where_and_take():
    for dtype in ANY:
        x, y = values(dtype, (2, 3)), values(dtype, (3,), seed=1)
        both("where", np.array([[True], [False]]), x, y)
        both("take", y, np.array([0, 2, -1]))
        both("take", x, np.array([1, 1, 0]), axis=1)
        both("take_along_axis", x, np.array([[0, 2], [1, 1]]), axis=1)
        both("take_along_axis", x, np.array([[1, 0, 1]]), axis=0)
    both("where", np.array([True, False]), values("float32", (2,)), 1.5)
    both("where", np.array([True, False]), 2, values("uint8", (2,)))
    with pytest.raises(IndexError):
        xp.take(xp.asarray([1, 2]), xp.asarray([2]))


MOVES = [
    ("broadcast_to", (2, 3), [((4, 2, 3),), ((2, 3),)]),
    ("expand_dims", (2, 3), [(0,), (-1,), ((0, 2),), ((0, -1),)]),
    ("flip", (2, 3), [()]),
    ("moveaxis", (2, 3, 4), [(0, 2), (-1, 0), ((0, 1), (2, 0))]),
    ("permute_dims", (2, 3, 4), [((2, 0, 1),), ((0, -1, 1),)]),
    ("repeat", (2, 3), [(2,), (0,), (np.array([1, 0, 2, 3, 0, 1]),)]),
    ("reshape", (2, 3), [((3, 2),), ((-1,),), ((1, 6, 1),), ((2, -1),)]),
    ("roll", (2, 3), [(1,), (-7,), (100,)]),
    ("squeeze", (1, 3, 1), [(0,), ((0, 2),), (-1,)]),
    ("tile", (2, 3), [((2,),), ((1, 2),), ((2, 1, 3),), ((0, 2),), ((),)]),
    ("tril", (3, 4), [()]),
    ("triu", (2, 3, 4), [()]),
    ("matrix_transpose", (2, 3, 4), [()]),
    ("diff", (4, 5), [()]),
]


@pytest.mark.parametrize("name, shape, calls", MOVES, ids=[m[0] for m in MOVES])
def test_moves(name, shape, calls):
    for dtype in NUMERIC if name == "diff" else ANY:
        for args in calls:
            both(name, values(dtype, shape), *args)


def test_moves_along_axes():
    for dtype in ANY:
        x = values(dtype, (2, 3, 4))
        for axis in (0, -1, (0, 2)):
            both("flip", x, axis=axis)
        both("roll", x, (1, -2), axis=(0, 2))
        both("roll", x, 5, axis=1)
        both("roll", values(dtype, (0, 3)), 1, axis=0)
        both("repeat", x, np.array([2, 0, 1]), axis=1)
        for k in (-9, -1, 1, 9):
            both("tril", x, k=k)
            both("triu", x, k=k)
        both("concat", (x, x), axis=1)
        both("concat", (x, values(dtype, (0, 3, 4))), axis=0)
        both("concat", (x, values(dtype, (5,))), axis=None)
        for axis in (0, 1, -1):
            both("stack", (x, x), axis=axis)
            check(xp.unstack(ours(x), axis=axis), tuple(np.unstack(x, axis=axis)))
    for dtype in NUMERIC:
        both("diff", values(dtype, (4, 5)), axis=0, n=2)
        edge = values(dtype, (4, 1))
        both("diff", values(dtype, (4, 5)), prepend=edge, append=edge)


def test_joins_promote():
    for a, b in (("int8", "uint8"), ("float32", "complex64"), ("float64", "complex64")):
        both("concat", (values(a, (2,)), values(b, (3,))))
        both("stack", (values(a, (2,)), values(b, (2,))))
    with pytest.raises(TypeError, match="no common dtype"):
        xp.concat((xp.asarray([1]), xp.asarray([1.0])))


def test_shapes():
    assert xp.broadcast_shapes((2, 1), (3,), (4, 1, 1)) == (4, 2, 3)
    arrays = values("int32", (2, 1)), values("int32", (3,))
    check(xp.broadcast_arrays(*map(ours, arrays)), tuple(np.broadcast_arrays(*arrays)))


PRODUCTS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((4, 2, 3), (3, 2)),
            ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((4, 1, 2, 3), (5, 3, 2))]  # fmt: skip


@pytest.mark.parametrize("dtype", NUMERIC)
def test_products(dtype):
    def pair(a, b):
        return values(dtype, a, special=False), values(dtype, b, seed=1, special=False)

    for a, b in PRODUCTS:
        both("matmul", *pair(a, b))
    for a, b, axes in (
        ((2, 3), (3, 4), 1), ((2, 3), (2, 3), 2), ((2, 3), (4,), 0), ((), (2,), 0),
        ((2, 3, 4), (4, 3), ((2, 1), (0, 1))), ((2, 3), (3, 2), ((1,), (-2,))),
    ):  # fmt: skip
        both("tensordot", *pair(a, b), axes=axes)
    for a, b, axis in (((3,), (3,), -1), ((2, 3), (3,), -1), ((2, 3), (2, 3), -2),
                       ((4, 1, 3), (5, 3), -1), ((0,), (0,), -1)):  # fmt: skip
        both("vecdot", *pair(a, b), axis=axis)


def test_products_that_do_not_fit():
    a, b = xp.ones((2, 3)), xp.ones((2, 3))
    for call, text in (
        (lambda: xp.matmul(a, b), "do not fit"),
        (lambda: xp.matmul(a, xp.asarray(1.0)), "at least 1 dim"),
        (lambda: xp.tensordot(a, b, axes=1), "sizes of the axes"),
        (lambda: xp.vecdot(a, xp.ones((2,))), "differ"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="'x1' must have a numeric dtype, got Bool"):
        xp.matmul(xp.asarray([True]), xp.asarray([True]))
