"""Kinds of dtypes, promotion of operands and checks of arguments, shared by the namespace."""

import builtins

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.common import dtype as t

SIGNED, UNSIGNED = t.int_type, t.uint_type
INTEGRAL = SIGNED + UNSIGNED
REAL_FLOATING = (t.float32, t.float64)
COMPLEX = (t.complex64, t.complex128)
FLOATING = REAL_FLOATING + COMPLEX
REAL = INTEGRAL + REAL_FLOATING
NUMERIC = REAL + COMPLEX
BOOL = (t.bool_,)
INTEGRAL_OR_BOOL = INTEGRAL + BOOL
ANY = NUMERIC + BOOL
_NAMES = {
    INTEGRAL: "integer",
    REAL_FLOATING: "real floating-point",
    FLOATING: "floating-point",
    COMPLEX: "complex floating-point",
    REAL: "real numeric",
    NUMERIC: "numeric",
    BOOL: "boolean",
    INTEGRAL_OR_BOOL: "integer or boolean",
}
_BITS = {d: Tensor(0, d).itemsize * 8 for d in ANY}
_SCALARS = {builtins.bool: BOOL, int: NUMERIC, float: FLOATING, complex: FLOATING}


def op(name):
    return _mycel.op(name)


def array(fn, x, kinds=ANY, name="x"):
    """x, which must be an array of one of these kinds of dtypes."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{fn}: '{name}' must be an array, got {type(x).__name__}")
    if x.dtype not in kinds:
        what = f"a {_NAMES[kinds]} dtype" if kinds in _NAMES else "a dtype of the standard"
        raise TypeError(f"{fn}: '{name}' must have {what}, got {x.dtype}")
    return x


def promoted(fn, a, b):
    """The dtype in which two dtypes meet, by the standard's table; TypeError for what it leaves
    open."""
    if a == b:
        return a
    both = (a, b)
    if all(d in SIGNED for d in both) or all(d in UNSIGNED for d in both):
        return builtins.max(both, key=_BITS.get)
    if all(d in INTEGRAL for d in both):
        signed, unsigned = both if a in SIGNED else both[::-1]
        least = builtins.max(_BITS[signed], 2 * _BITS[unsigned])
        for d in SIGNED:
            if _BITS[d] >= least:
                return d
    elif all(d in FLOATING for d in both):
        wide = any(d in (t.float64, t.complex128) for d in both)
        if any(d in COMPLEX for d in both):
            return t.complex128 if wide else t.complex64
        return t.float64 if wide else t.float32
    raise TypeError(f"{fn}: {a} and {b} have no common dtype in the standard")


def scalar(fn, value, like):
    """A Python number beside an array of dtype `like`, as an array."""
    kinds = _SCALARS.get(type(value))
    if kinds is None:
        raise TypeError(f"{fn}: operands must be arrays or Python numbers, got {value!r}")
    if like not in kinds:
        raise TypeError(f"{fn}: a Python {type(value).__name__} cannot meet an array of {like}")
    if type(value) is complex and like not in COMPLEX:
        like = t.complex64 if like == t.float32 else t.complex128
    return Tensor(value, like)


def pair(fn, x1, x2, kinds=ANY):
    """Both operands, of which one may be a Python number, in their common dtype."""
    if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
        raise TypeError(f"{fn}: one of 'x1' and 'x2' must be an array")
    if not isinstance(x1, Tensor):
        x1 = scalar(fn, x1, array(fn, x2, kinds, "x2").dtype)
    elif not isinstance(x2, Tensor):
        x2 = scalar(fn, x2, array(fn, x1, kinds, "x1").dtype)
    array(fn, x1, kinds, "x1")
    array(fn, x2, kinds, "x2")
    common = promoted(fn, x1.dtype, x2.dtype)
    return cast(x1, common), cast(x2, common)


def cast(x, dtype):
    return x if x.dtype == dtype else op("cast")(x, dtype)


def axis_of(fn, axis, ndim, name="axis"):
    """An axis counted from the front."""
    if isinstance(axis, builtins.bool) or not isinstance(axis, int):
        raise TypeError(f"{fn}: '{name}' must be an int, got {axis!r}")
    if not -ndim <= axis < ndim:
        raise IndexError(f"{fn}: '{name}' {axis} is out of range for an array of {ndim} dims")
    return axis % ndim


def axes_of(fn, axis, ndim, name="axis"):
    """None (all), an int or a tuple as a tuple of axes, each once."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(
        axis_of(fn, a, ndim, name) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))
    )
    if len(set(axes)) != len(axes):
        raise ValueError(f"{fn}: '{name}' names an axis twice: {axis}")
    return axes


def shape_of(fn, shape):
    """An int or a tuple as a tuple of sizes."""
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for n in sizes:
        if isinstance(n, builtins.bool) or not hasattr(n, "__index__"):
            raise TypeError(f"{fn}: 'shape' must be an int or a tuple of ints, got {shape!r}")
        if n.__index__() < 0:
            raise ValueError(f"{fn}: 'shape' must not hold negative sizes, got {shape}")
    return tuple(n.__index__() for n in sizes)


def need_device(fn, device):
    """There is one device."""
    if device not in (None, "cpu"):
        raise ValueError(f"{fn}: 'device' must be 'cpu' or None, got {device!r}")


def need_dtype(fn, dtype, kinds=ANY):
    if dtype not in kinds:
        what = _NAMES.get(kinds, "standard's")
        raise TypeError(f"{fn}: 'dtype' must be one of the {what} dtypes, got {dtype}")
    return dtype
