"""The namespace of the array API: names and signatures, creation, dtypes, inspection, and the array
object's operators, indices and conversions."""

import inspect
import itertools
import math
import operator
import pathlib

import mycel as ms
import mycel.array_api as xp
import numpy as np
import pytest
from peers import ANY, COMPLEX, INTEGRAL, REAL_FLOATING, UNSIGNED, check, ours, values

pytestmark = pytest.mark.one_mode("looks at names and types")

LISTED = pathlib.Path(__file__).with_name("standard_signatures.txt").read_text().splitlines()[1:]


@pytest.mark.parametrize("line", LISTED, ids=lambda s: s.split("(")[0])
def test_signatures(line):
    name = line.split("(")[0]
    assert f"{name}{inspect.signature(operator.attrgetter(name)(xp))}" == line


def test_names():
    assert xp.__array_api_version__ == "2025.12"
    assert (xp.e, xp.pi, xp.inf, xp.newaxis) == (math.e, math.pi, math.inf, None)
    assert math.isnan(xp.nan)
    x = xp.ones((2, 3))
    assert x.__array_namespace__() is xp and x.__array_namespace__(api_version="2024.12") is xp
    with pytest.raises(ValueError, match="no version '1999'"):
        x.__array_namespace__(api_version="1999")
    assert x.device == "cpu" and x.to_device("cpu") is x
    assert x.T.shape == x.mT.shape == (3, 2) and x.ndim == 2 and x.size == 6
    for name in ANY:
        assert getattr(xp, name) is getattr(ms, name if name != "bool" else "bool_")


def test_inspection():
    info = xp.__array_namespace_info__()
    assert info.capabilities()["data-dependent shapes"] and info.devices() == ["cpu"]
    assert info.default_device() == "cpu"
    for kind, value in (("real floating", 1.0), ("complex floating", 1j), ("integral", 1)):
        assert info.default_dtypes()[kind] == xp.asarray(value).dtype
    assert set(info.dtypes()) == set(ANY)
    assert set(info.dtypes(kind="unsigned integer")) == set(UNSIGNED)
    assert set(info.dtypes(kind=("bool", "complex floating"))) == {"bool", *COMPLEX}


def test_dtypes():
    for a, b in itertools.product(ANY, ANY):
        x, y = getattr(xp, a), getattr(xp, b)
        try:
            common = xp.result_type(x, y)
        except TypeError:
            assert not xp.can_cast(x, y)
            continue
        assert str(common).lower() == str(np.result_type(a, b))
        assert xp.can_cast(x, y) == (common == y)
        assert xp.result_type(xp.zeros((2,), dtype=x), y) == common
    assert xp.result_type(xp.float32, 1j) == xp.complex64
    assert xp.result_type(xp.int8, 3) == xp.int8
    with pytest.raises(TypeError, match="a Python float cannot meet an array of Int8"):
        xp.result_type(xp.int8, 1.5)
    for name in (*REAL_FLOATING, *COMPLEX):
        got, want = xp.finfo(getattr(xp, name)), np.finfo(name)
        for field in ("bits", "eps", "max", "min", "smallest_normal"):
            assert getattr(got, field) == getattr(want, field)
    for name in INTEGRAL:
        got, want = xp.iinfo(getattr(xp, name)), np.iinfo(name)
        assert (got.bits, got.min, got.max) == (want.bits, want.min, want.max)
    for name, kind in itertools.product(ANY, ("bool", "signed integer", "unsigned integer",
                                              "integral", "real floating", "complex floating",
                                              "numeric")):  # fmt: skip
        assert xp.isdtype(getattr(xp, name), kind) == np.isdtype(np.dtype(name), kind)
    assert xp.isdtype(xp.int8, (xp.int8, "bool")) and not xp.isdtype(xp.int8, xp.int16)
    for a, b in itertools.product(ANY, ANY):
        x = np.abs(values(a, (4,), special=False)).astype(a)
        if a in COMPLEX and b not in (*COMPLEX, "bool"):
            with pytest.raises(TypeError, match="take real"):
                xp.astype(ours(x), getattr(xp, b))
        else:
            check(xp.astype(ours(x), getattr(xp, b)), x.astype(b))


def test_creation():
    for dtype in ANY:
        kind = getattr(xp, dtype)
        for shape in ((2, 3), (), 3, (0,)):
            check(xp.zeros(shape, dtype=kind), np.zeros(shape, dtype))
            check(xp.ones(shape, dtype=kind), np.ones(shape, dtype))
            check(xp.full(shape, 1, dtype=kind), np.full(shape, 1, dtype))
            assert xp.empty(shape, dtype=kind).shape == np.empty(shape).shape
        x = values(dtype, (2, 3))
        check(xp.zeros_like(ours(x)), np.zeros_like(x))
        check(xp.ones_like(ours(x)), np.ones_like(x))
        check(xp.full_like(ours(x), 1), np.full_like(x, 1))
        for args in ((3,), (2, 4), (0,), (3, 0)):
            for k in (0, 1, -1, 9, -9):
                check(xp.eye(*args, k=k, dtype=kind), np.eye(*args, k=k, dtype=dtype))
            for k in (2**70, -(2**70)):
                check(xp.eye(*args, k=k, dtype=kind), np.zeros((*args, args[0])[:2], dtype))
        parts = values(dtype, (2,)), values(dtype, (3,)), values(dtype, (4,))
        for indexing in ("xy", "ij"):
            want = tuple(np.meshgrid(*parts, indexing=indexing))
            check(xp.meshgrid(*map(ours, parts), indexing=indexing), want)
        check(xp.from_dlpack(ours(x)), x)
    assert xp.zeros(2).dtype == xp.float32 and xp.full(2, 1).dtype == xp.int64
    assert xp.full(2, True).dtype == xp.bool and xp.full(2, 1j).dtype == xp.complex64


def test_ranges():
    for dtype in ("int8", "uint16", "int64", "float32", "float64"):
        kind = getattr(xp, dtype)
        for args in ((5,), (1, 5), (1, 8, 3), (0,), (5, 1)):
            check(xp.arange(*args, dtype=kind), np.arange(*args, dtype=dtype))
    for args in ((5, 1, -2), (1, 2, 0.5), (-3.5, 4, 1.25), (0, 1, 0.1)):
        check(xp.arange(*args, dtype=xp.float64), np.arange(*args, dtype="float64"))
    assert xp.arange(3).dtype == xp.int64 and xp.arange(3.0).dtype == xp.float32
    with pytest.raises(ValueError, match="'step' must not be 0"):
        xp.arange(0, 1, 0)
    for args in ((0, 1, 5), (0, 1, 1), (0, 1, 0), (-2.5, 3, 7), (5, -5, 4), (0, 1 + 2j, 5)):
        dtype = "complex128" if isinstance(args[1], complex) else "float64"
        for endpoint in (True, False):
            got = xp.linspace(*args, dtype=getattr(xp, dtype), endpoint=endpoint)
            check(got, np.linspace(*args, dtype=dtype, endpoint=endpoint))


def test_asarray():
    for value, dtype in ((True, xp.bool), (1, xp.int64), (1.0, xp.float32), (1j, xp.complex64),
                         ([1, 2], xp.int64), ([1, 2.0], xp.float32), ([[True]], xp.bool),
                         ([], xp.float32), ([1, 2j], xp.complex64)):  # fmt: skip
        x = xp.asarray(value)
        assert x.dtype == dtype and x.shape == np.shape(value)
        np.testing.assert_array_equal(x.asnumpy(), value)
    for value in ([16777217.0, 1e300], [1e300 + 1j]):
        dtype = xp.float64 if isinstance(value[0], float) else xp.complex128
        np.testing.assert_array_equal(xp.asarray(value, dtype=dtype).asnumpy(), value)
    top = xp.asarray([2**64 - 1, 0], dtype=xp.uint64)
    assert top.asnumpy().tolist() == [2**64 - 1, 0]
    assert xp.asarray([xp.asarray(1), 2]).asnumpy().tolist() == [1, 2]
    x = xp.asarray([1, 2, 3])
    same, other = xp.asarray(x, copy=False), xp.asarray(x, copy=True)
    x[0] = 9
    assert same.asnumpy().tolist() == [9, 2, 3] and other.asnumpy().tolist() == [1, 2, 3]
    for call in (lambda: xp.asarray([1], copy=False), lambda: xp.asarray(1, device="gpu"),
                 lambda: xp.asarray(x, dtype=xp.int8, copy=False)):  # fmt: skip
        with pytest.raises(ValueError, match="asarray: "):
            call()


BINARY = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lt le gt ge eq ne".split()
INPLACE = "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor".split()


@pytest.mark.parametrize("name", BINARY + INPLACE)
def test_operators(name):
    apply = getattr(operator, name)
    for dtype in ANY:
        x = values(dtype, (6,), special=False)
        y = np.where(x == 0, np.ones_like(x), x)[::-1].copy()
        if "pow" in name and dtype in INTEGRAL:
            y = (np.abs(y.astype(np.int64)) % 4).astype(dtype)
        for a, b in ((x, y), (x, y[0].item()), *([] if name in INPLACE else [(x[0].item(), y)])):
            if name == "matmul" and not (hasattr(a, "ndim") and hasattr(b, "ndim")):
                continue
            try:
                with np.errstate(all="ignore"):
                    want = apply(a.copy() if hasattr(a, "copy") else a, b)
            except TypeError:
                continue  # NumPy leaves it out too
            if dtype == "bool" or (dtype in INTEGRAL and "truediv" in name):
                if want.dtype != np.dtype(dtype) and want.dtype != bool:
                    continue  # left open by the standard
                if name not in ("and_", "or_", "xor", "eq", "ne", "iand", "ior", "ixor"):
                    continue
            if dtype in COMPLEX and name in ("lt", "le", "gt", "ge"):
                continue  # complex numbers have no order
            check(apply(ours(a) if hasattr(a, "ndim") else a, ours(b)), want, zeros=False)


def test_shifts_and_signs():
    for dtype in INTEGRAL:
        x, n = values(dtype, (6,)), np.array([0, 1, 2, 3, 4, 5], dtype)
        check(ours(x) << ours(n), x << n)
        check(ours(x) >> 2, x >> 2)
        check(~ours(x), ~x)
    for dtype in (*INTEGRAL, *REAL_FLOATING, *COMPLEX):
        x = values(dtype, (6,))
        check(-ours(x), -x)
        check(+ours(x), +x)
        check(abs(ours(x)), abs(x))


KEYS = [
    0, -1, (0,), (1, 2, 3), (slice(None), 1), (slice(1, None), slice(None, None, 2)), ..., (..., 0),
    (0, ...), (None, ..., 1), slice(None, None, -1), (slice(2, 0, -1), ..., slice(-3, -1)),
    slice(0, 0), slice(5, 9), (), (..., None),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ANY)
def test_indices(dtype):
    x, scalar = values(dtype, (3, 4, 5)), values(dtype, ())
    for key in KEYS:
        check(ours(x)[key], x[key])
    for key in ((), ...):
        check(ours(scalar)[key], scalar[key])
    mask = values("bool", (3, 4, 5))
    for m in (mask, mask[:, :, 0], mask[:, 0, 0]):
        check(ours(x)[ours(m)], x[m])
    check(ours(scalar)[xp.asarray(True)], scalar[np.array(True)])
    for shape in ((0,), (0, 4), (3, 0), (3, 4, 0)):
        check(ours(x)[xp.zeros(shape, dtype=xp.bool)], x[np.zeros(shape, bool)])
    pick = np.array([0, 2]), np.array([1, 3])
    check(ours(x)[ours(pick)], x[pick])
    check(ours(x)[ours(pick[0]), 1, ours(pick[1])], x[pick[0], 1, pick[1]])
    for key, shape in ((0, ()), ((1, 2, 3), ()), ((0, 1), (5,)), ((slice(None), 0), (3, 5)),
                       (slice(None, None, -2), ()), (..., ()), (mask, ())):  # fmt: skip
        want, got, value = x.copy(), ours(x), values(dtype, shape, seed=2)
        want[key] = value
        got[ours(key) if isinstance(key, np.ndarray) else key] = ours(value)
        check(got, want)
    with pytest.raises(IndexError):
        ours(x)[3]


def test_conversions():
    for dtype in ANY:
        x = xp.asarray(np.ones((), dtype))
        assert bool(x) is True and complex(x) == 1
        if dtype not in COMPLEX:
            assert int(x) == 1 and float(x) == 1.0
        if dtype in INTEGRAL:
            assert operator.index(x) == 1
    for convert, value in ((int, 1j), (float, 1j), (operator.index, 1.0)):
        with pytest.raises(TypeError):
            convert(xp.asarray(value))
    with pytest.raises(ValueError, match="exactly 1 is needed"):
        float(xp.ones((2,)))


def test_compiled():
    @ms.jit
    def scores(x, y):
        space = x.__array_namespace__()
        z = space.where(x > y, space.exp(-x), space.sqrt(space.abs(y)))
        return space.sum(z, axis=0), space.unique_values(space.astype(x, space.int32))

    x, y = values("float32", (4, 3), special=False), values("float32", (4, 3), 1, special=False)
    total, found = scores(ours(x), ours(y))
    check(total, np.where(x > y, np.exp(-x), np.sqrt(abs(y))).sum(0))
    check(found, np.unique(x.astype("int32")))
