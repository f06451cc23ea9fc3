"""What the functions of the module begin with: operands become float tensors."""

from mycel import _mycel
from mycel._mycel import Tensor
from mycel.common import dtype as mstype

op = _mycel.op


def floating(fn, name, x):
    """A float or complex tensor; integers and bools become float64, lists too."""
    if not isinstance(x, Tensor):
        x = Tensor(x)
    if x.dtype in (mstype.float32, mstype.float64, mstype.complex64, mstype.complex128):
        return x
    if x.dtype in mstype.int_type or x.dtype in mstype.uint_type or x.dtype == mstype.bool_:
        return op("cast")(x, mstype.float64)
    raise TypeError(
        f"{fn}: '{name}' must be float32, float64, complex64, complex128 or of integers, got "
        f"{x.dtype}"
    )


def matrix(fn, name, x, square=False):
    """As floating, with two dims or more."""
    x = floating(fn, name, x)
    if x.ndim < 2:
        raise ValueError(f"{fn}: '{name}' must be a matrix, got shape {x.shape}")
    if square and x.shape[-2] != x.shape[-1]:
        raise ValueError(f"{fn}: '{name}' must be a square matrix, got shape {x.shape}")
    return x


def together(*tensors):
    """The tensors in their common dtype."""
    wide = any(t.dtype in (mstype.float64, mstype.complex128) for t in tensors)
    if any(t.dtype in (mstype.complex64, mstype.complex128) for t in tensors):
        kind = mstype.complex128 if wide else mstype.complex64
    else:
        kind = mstype.float64 if wide else mstype.float32
    return tuple(t if t.dtype == kind else op("cast")(t, kind) for t in tensors)


def flag(fn, name, value):
    if not isinstance(value, bool):
        raise TypeError(f"{fn}: '{name}' must be a bool, got {type(value).__name__}")
    return value


def adjoint(x):
    return op("adjoint")(x)
