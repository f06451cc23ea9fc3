"""Random numbers from the process's state, which mycel.set_seed sets."""

from mycel import _mycel
from mycel._mycel import entry
from mycel.common import dtype as mstype
from mycel.numpy._arrays import dtype_of, integer, is_float, kind_of, op, shape_of


def _sizes(shape, fn):
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    return shape_of(tuple(shape) if shape else (1,), fn)


def _float_dtype(dtype, fn):
    dtype = dtype_of(dtype)
    if not is_float(dtype) or kind_of(dtype) == 3:
        raise ValueError(f"{fn}: 'dtype' must be a float type, got {dtype}")
    return dtype


@entry
def rand(*shape, dtype=mstype.float32):
    """Uniform numbers in [0, 1) of a shape given as ints or one tuple; one number without."""
    dtype = _float_dtype(dtype, "rand")
    return op("keyed_uniform")(_sizes(shape, "rand"), key=_mycel.next_key(0), dtype=dtype)


@entry
def randn(*shape, dtype=mstype.float32):
    """Normal numbers of mean 0 and deviation 1 of a shape given as ints or one tuple."""
    dtype = _float_dtype(dtype, "randn")
    return op("keyed_normal")(_sizes(shape, "randn"), key=_mycel.next_key(0), dtype=dtype)


@entry
def randint(minval, maxval=None, shape=None, dtype=mstype.int32):
    """Integers in [minval, maxval), in [0, minval) without maxval; shape: an int or a tuple, one
    number when None. ValueError for an empty interval."""
    low = 0 if maxval is None else integer(minval, "randint", "minval")
    high = integer(minval if maxval is None else maxval, "randint", "maxval")
    if low >= high:
        raise ValueError(f"randint: there is no integer in [{low}, {high})")
    dtype = dtype_of(dtype)
    if kind_of(dtype) != 1:
        raise ValueError(f"randint: 'dtype' must be an integer type, got {dtype}")
    sizes = shape_of((1,) if shape is None else shape, "randint")
    return op("keyed_randint")(sizes, low, high, key=_mycel.next_key(0), dtype=dtype)


__all__ = ["rand", "randint", "randn"]
