"""Reductions, scans and statistics of mycel.numpy against NumPy."""

import itertools

import mycel as ms
import numpy as np
import pytest
from numpy_inputs import (
    EMPTY,
    POSITIVE,
    SCALAR,
    SPECIAL,
    T3,
    WITH_NAN,
    B,
    F,
    G,
    I,
    V,
    W,
    case,
    labels,
)
from numpy_reference import agree, run

_AXES = list(itertools.product((None, 0, -1, (0, 1)), (False, True)))


@pytest.mark.parametrize("name", "sum max amax min amin ptp mean std var count_nonzero".split())
def test_over_axes(name):
    for axis, keepdims in _AXES:
        agree(name, F, axis=axis, keepdims=keepdims)
        agree(name, I, axis=axis, keepdims=keepdims)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", "nansum nanmax nanmin nanmean nanstd nanvar".split())
def test_without_nan(name):
    for axis, keepdims in _AXES:
        agree(name, WITH_NAN, axis=axis, keepdims=keepdims)
    agree(name, I)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", "sum mean std var".split())
def test_edges(name):
    for axis in (None, 0, 1):
        agree(name, EMPTY, axis=axis)
    for x in (SCALAR, SPECIAL, F[:, :1]):
        agree(name, x)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", "std var nanstd nanvar".split())
def test_degrees_of_freedom(name):
    agree(name, F, ddof=1)
    for ddof in (1, 2) if name.startswith("nan") else (1, 3, 5):
        agree(name, F, axis=0, ddof=ddof)


_CASES = [
    case("sum", F, initial=2.0),
    case("sum", B),
    case("max", F, initial=9.0),
    case("max", F, initial=0.0, where=B),
    case("min", F, axis=0, initial=0.0, where=B[:, :1]),
    case("max", EMPTY, axis=0, initial=3.0),
    case("max", SPECIAL),
    case("max", B),
    case("max", F, axis=()),
    case("nancumsum", WITH_NAN, axis=0),
    case("average", F),
    case("average", I),
    case("average", T3, axis=1),
    case("average", F, axis=0, weights=F[:, 0]),
    case("average", F, weights=POSITIVE),
    case("average", F, axis=1, weights=POSITIVE, returned=True),
    case("average", F, returned=True),
    case("cov", F),
    case("cov", F, rowvar=False),
    case("cov", F, bias=True),
    case("cov", F, ddof=0),
    case("cov", F, fweights=np.array([1, 2, 1, 3])),
    case("cov", F, aweights=POSITIVE[0]),
    case("cov", F, fweights=np.array([1, 2, 1, 3]), aweights=POSITIVE[0]),
    case("cov", F, ddof=2, aweights=POSITIVE[0]),
    case("cov", V),
    case("cov", V, W),
    case("cov", F, G),
    case("cov", I),
    case("corrcoef", F),
    case("corrcoef", V, W),
    case("corrcoef", F, rowvar=False),
    case("corrcoef", V),
]


@pytest.mark.parametrize("name, args, kwargs", _CASES, ids=labels(_CASES))
def test_cases(name, args, kwargs):
    agree(name, *args, **kwargs)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(name):
    for x in (F, I, SPECIAL, B):
        agree(name, x, dtype=ms.int64)
    agree(name, F, axis=0)
    agree(name, T3, axis=-1)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum"])
def test_scans(name):
    for x in (F, I[:1], B, EMPTY, SCALAR):
        agree(name, x)
    agree(name, F, axis=0)
    agree(name, T3, axis=-2)
    assert run(name, np.ones(2, np.int8)).dtype == ms.int32
    assert run(name, np.ones(2, np.int8), dtype=ms.float64).dtype == ms.float64


def test_sometrue():
    agree("sometrue", I, want=(I != 0).any())
    agree("sometrue", B, 0, want=B.any(0))
    agree("sometrue", EMPTY, 0, True, want=EMPTY.any(0, keepdims=True))


def test_dtypes():
    assert run("sum", I).dtype == ms.int32
    assert run("sum", B).dtype == ms.int32
    assert run("sum", I, dtype=ms.float64).dtype == ms.float64
    assert run("mean", I).dtype == ms.float32
    assert run("mean", F.astype(np.float16)).dtype == ms.float16
    assert run("count_nonzero", I).dtype == ms.int32
    assert run("std", I).dtype == ms.float32
