"""NumPy as the peer of mycel.array_api: values of every dtype, and how results are compared."""

import mycel.array_api as xp
import numpy as np
from mycel import Tensor

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGRAL = SIGNED + UNSIGNED
REAL_FLOATING = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
FLOATING = REAL_FLOATING + COMPLEX
REAL = INTEGRAL + REAL_FLOATING
NUMERIC = REAL + COMPLEX
ANY = ("bool", *NUMERIC)
KINDS = {
    "signed": SIGNED, "unsigned": UNSIGNED, "integral": INTEGRAL, "bool": ("bool",),
    "real floating": REAL_FLOATING, "complex": COMPLEX, "floating": FLOATING, "real": REAL,
    "numeric": NUMERIC, "any": ANY, "integral or bool": (*INTEGRAL, "bool"),
}  # fmt: skip
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -2.5, 3.5, 1e-3, 100.0, 1e10)
TOLERANCE = {"float32": 2e-5, "complex64": 2e-4, "float64": 1e-9, "complex128": 1e-8}


def values(dtype, shape, seed=0, special=True):
    """Random values; with special ones: zeros of both signs, infinities, NaN, limits of integers.
    Complex ones are finite."""
    rng = np.random.default_rng([seed, len(dtype), *shape])
    n = int(np.prod(shape, dtype=int))
    if dtype == "bool":
        found = rng.integers(0, 2, n).astype(bool)
    elif dtype in INTEGRAL:
        found = rng.integers(0 if dtype in UNSIGNED else -9, 10, n).astype(dtype)
        if special and n > 2:
            found[:2] = np.iinfo(dtype).max, np.iinfo(dtype).min
    elif dtype in COMPLEX:
        found = (rng.normal(size=n) * 2 + 1j * rng.normal(size=n) * 2).astype(dtype)
        if special:
            found[::5] = rng.choice([0, 1, -1, 0.5j, 2 - 1j], found[::5].size)
    else:
        found = rng.normal(size=n) * 3
        if special:
            found = np.where(rng.random(n) < 0.6, rng.choice(SPECIAL, n), found)
        found = found.astype(dtype)
    return found.reshape(shape)


def ours(x):
    """Arrays, also in tuples, as Mycel's."""
    if isinstance(x, (tuple, list)) and any(isinstance(v, np.ndarray) for v in x):
        return type(x)(map(ours, x))
    return xp.asarray(x) if isinstance(x, np.ndarray) else x


def check(got, want, zeros=True):
    """The same dtype, shape and values; the signs of zeros too."""
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for a, b in zip(got, want):
            check(a, b, zeros)
        return
    want = np.asarray(want)
    assert isinstance(got, Tensor)
    got = got.asnumpy()
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    relative = TOLERANCE.get(str(want.dtype), 0)
    np.testing.assert_allclose(got, want, rtol=relative, atol=1e-6 if relative else 0)
    if zeros and want.dtype.kind == "f":
        zero = want == 0
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


def standard_floor_divide(x, y):
    """NumPy gives infinities remainders, as Python; the standard takes their plain quotients."""
    whole = np.floor_divide(x, y)
    if whole.dtype.kind == "f":
        return np.where(np.isinf(x) | np.isinf(y), np.divide(x, y), whole)
    return whole


PEERS = {"floor_divide": standard_floor_divide}


def both(name, *args, zeros=True, **kwargs):
    """Calls a function of the standard here and in NumPy and compares."""
    with np.errstate(all="ignore"):
        want = PEERS.get(name, getattr(np, name, None))(*args, **kwargs)
    check(
        getattr(xp, name)(*map(ours, args), **{k: ours(v) for k, v in kwargs.items()}), want, zeros
    )
