"""Primitives that published code takes from the inner module instead of from ops."""

from mycel import ops
from mycel.ops.primitive import Primitive


def __getattr__(name):
    return getattr(ops, name)


class GpuConvertToDynamicShape(Primitive):
    """Its operand: shapes may change from call to call without a mark in the program."""

    def __call__(self, x):
        return ops.identity(x)


class ConvertToDynamic(Primitive):
    """Its operand, as GpuConvertToDynamicShape."""

    def __init__(self, is_dynamic_rank=False):
        super().__init__()
        if not isinstance(is_dynamic_rank, bool):
            raise TypeError(
                f"ConvertToDynamic: 'is_dynamic_rank' must be a bool, got {is_dynamic_rank!r}"
            )
        self.add_prim_attr("is_dynamic_rank", is_dynamic_rank)

    def __call__(self, x):
        return ops.identity(x)


class MixedPrecisionCast(Primitive):
    """Called with a dtype and a tensor, or nested tuples and dicts of tensors: floats in it."""

    def __call__(self, dst_dtype, input_x):
        return ops.mixed_precision_cast(dst_dtype, input_x)
