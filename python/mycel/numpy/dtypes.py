"""Element types under NumPy's names, and how they meet."""

from mycel._mycel import Tensor, entry
from mycel.common.dtype import (
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from mycel.numpy._arrays import NUMBERS, array_of, common_dtype, dtype_of, is_array, meet

int_, float_ = int32, float32


@entry
def promote_types(type1, type2):
    """The dtype of a result of operands of two dtypes. Integers meet as in NumPy; a float type
    stays as it is when it meets integers; of two floats the larger.

    type1, type2: dtypes, or their names. TypeError for what is none."""
    return meet(dtype_of(type1), dtype_of(type2))


@entry
def result_type(*arrays_and_dtypes):
    """The dtype of a result of tensors, lists, numbers and dtypes. Python numbers decide only the
    kind: a float beside integers gives float32. ValueError without arguments."""
    if not arrays_and_dtypes:
        raise ValueError("result_type: at least one array or dtype is needed")
    return common_dtype(*map(_typed, arrays_and_dtypes))


def _typed(x):
    if isinstance(x, NUMBERS) and not is_array(x):
        return x
    if isinstance(x, (Tensor, list, tuple)) or is_array(x):
        return array_of(x, "result_type")
    return dtype_of(x)


__all__ = [
    "bool_",
    "float16",
    "float32",
    "float64",
    "float_",
    "int16",
    "int32",
    "int64",
    "int8",
    "int_",
    "promote_types",
    "result_type",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]
