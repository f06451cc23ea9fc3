"""Data types: what they are, what may become what, what they can hold."""

import builtins
from typing import NamedTuple

from mycel._mycel import Tensor
from mycel.array_api import _checks as c
from mycel.common import dtype as t

bool = t.bool_
int8, int16, int32, int64 = c.SIGNED
uint8, uint16, uint32, uint64 = c.UNSIGNED
float32, float64 = c.REAL_FLOATING
complex64, complex128 = c.COMPLEX

DEFAULT_FLOAT, DEFAULT_COMPLEX, DEFAULT_INT = float32, complex64, int64
_KINDS = {
    "bool": c.BOOL,
    "signed integer": c.SIGNED,
    "unsigned integer": c.UNSIGNED,
    "integral": c.INTEGRAL,
    "real floating": c.REAL_FLOATING,
    "complex floating": c.COMPLEX,
    "numeric": c.NUMERIC,
}
_NAMES = {
    name: globals()[name]
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 "
        "complex128"
    ).split()
}


def _dtype_of(fn, value):
    dtype = value.dtype if isinstance(value, Tensor) else value
    return c.need_dtype(fn, dtype)


def astype(x, dtype, /, *, copy=True, device=None):
    """The values in another dtype. copy=False: the array itself where nothing changes."""
    c.array("astype", x)
    c.need_dtype("astype", dtype)
    c.need_device("astype", device)
    if x.dtype in c.COMPLEX and dtype in c.REAL:
        raise TypeError(f"astype: {x.dtype} cannot become {dtype}; take real(x) first")
    if x.dtype == dtype:
        return x.copy() if copy else x
    return c.cast(x, dtype)


def can_cast(from_, to, /):
    """Whether values of one dtype, or those of an array, may become another dtype by
    promotion."""
    have = _dtype_of("can_cast", from_)
    c.need_dtype("can_cast", to)
    try:
        return c.promoted("can_cast", have, to) == to
    except TypeError:
        return False


class _FloatInfo(NamedTuple):
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: object


class _IntInfo(NamedTuple):
    bits: int
    max: int
    min: int
    dtype: object


def finfo(type, /):  # noqa: A002
    """The limits of a floating-point dtype, for complex ones of their parts."""
    dtype = _dtype_of("finfo", type)
    c.need_dtype("finfo", dtype, c.FLOATING)
    if dtype in (float32, complex64):
        largest = (2 - 2.0**-23) * 2.0**127
        return _FloatInfo(32, 2.0**-23, largest, -largest, 2.0**-126, float32)
    largest = (2 - 2.0**-52) * 2.0**1023
    return _FloatInfo(64, 2.0**-52, largest, -largest, 2.0**-1022, float64)


def iinfo(type, /):  # noqa: A002
    """The limits of an integer dtype."""
    dtype = _dtype_of("iinfo", type)
    c.need_dtype("iinfo", dtype, c.INTEGRAL)
    bits = c._BITS[dtype]
    if dtype in c.UNSIGNED:
        return _IntInfo(bits, 2**bits - 1, 0, dtype)
    return _IntInfo(bits, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), dtype)


def isdtype(dtype, kind):
    """Whether a dtype is another, is of a kind by name, or is one of several such."""
    c.need_dtype("isdtype", dtype)
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"isdtype: there is no kind '{kind}': {', '.join(_KINDS)}")
        return dtype in _KINDS[kind]
    return dtype == c.need_dtype("isdtype", kind)


def result_type(*arrays_and_dtypes):
    """The dtype in which arrays, dtypes and Python numbers meet."""
    numbers = [v for v in arrays_and_dtypes if isinstance(v, (builtins.bool, int, float, complex))]
    dtypes = [
        _dtype_of("result_type", v)
        for v in arrays_and_dtypes
        if not isinstance(v, (builtins.bool, int, float, complex))
    ]
    if not dtypes:
        raise ValueError("result_type: at least one array or dtype is needed")
    found = dtypes[0]
    for d in dtypes[1:]:
        found = c.promoted("result_type", found, d)
    for n in numbers:
        found = c.promoted("result_type", found, c.scalar("result_type", n, found).dtype)
    return found


class _Info:
    """What this implementation offers."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self):
        return "cpu"

    def default_dtypes(self, *, device=None):
        c.need_device("default_dtypes", device)
        return {
            "real floating": DEFAULT_FLOAT,
            "complex floating": DEFAULT_COMPLEX,
            "integral": DEFAULT_INT,
            "indexing": int64,
        }

    def devices(self):
        return ["cpu"]

    def dtypes(self, *, device=None, kind=None):
        c.need_device("dtypes", device)
        return {n: d for n, d in _NAMES.items() if kind is None or isdtype(d, kind)}


def __array_namespace_info__():
    """What this implementation offers: capabilities, devices, default dtypes, dtypes."""
    return _Info()


__all__ = [
    *_NAMES, "__array_namespace_info__", "astype", "can_cast", "finfo", "iinfo", "isdtype",
    "result_type",
]  # fmt: skip
