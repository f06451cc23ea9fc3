"""Parameters of distributions and bijectors: numbers, lists, arrays and tensors as tensors of one
float dtype, and the shape that they broadcast to."""

import numpy as np

from mycel._mycel import Tensor
from mycel.common import dtype as mstype
from mycel.common.parameter import Parameter
from mycel.common.tensor import _broadcast
from mycel.front.functions import wrap
from mycel.front.state import here

FLOATS = (mstype.float16, mstype.bfloat16, mstype.float32, mstype.float64)


def method(owner, name):
    """A method that a subclass may define, None when there is none; interpreted while a function
    is compiled."""
    found = getattr(owner, name, None)
    return wrap(found) if found is not None and here() is not None else found


def tensor_of(who, name, value, dtype):
    """A parameter's value as a tensor of this dtype; a Parameter stays itself."""
    if isinstance(value, Parameter):
        return value
    if isinstance(value, bool) or not isinstance(value, (Tensor, np.ndarray, list, int, float)):
        raise TypeError(
            f"{who}: '{name}' must be a number, list, array or Tensor, got {type(value).__name__}"
        )
    if isinstance(value, Tensor):
        return value if value.dtype == dtype else value.astype(dtype)
    return Tensor(value, dtype)


def need_tensor(who, name, value):
    """The value, which must be a Tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{who}: '{name}' must be a Tensor, got {type(value).__name__}")
    return value


def shape_of_all(values):
    """The shape that values broadcast to; None when one of them is None."""
    shape = ()
    for v in values:
        if v is None:
            return None
        shape = _broadcast(shape, np.shape(v) if not isinstance(v, Tensor) else v.shape)
    return tuple(shape)


def all_numbers(values):
    """Whether all values that are given are Python numbers."""
    return all(v is None or isinstance(v, (int, float)) for v in values)


def describe(names, values, shape, scalar):
    """What a repr shows: the values, or the shape when they are arrays."""
    if scalar:
        return ", ".join(f"{n} = {v}" for n, v in zip(names, values))
    return f"batch_shape = {shape}"
