"""Collective ops whose published form differs from the record's."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.ops.primitive import Primitive


class ReduceOp:
    """How all_reduce and reduce_scatter join values."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"


class Broadcast(Primitive):
    """The tensors of a tuple as the process root_rank has them, in all processes of the group."""

    @entry
    def __init__(self, root_rank, group="hccl_world_group"):
        super().__init__("Broadcast")
        self.root_rank, self.group = root_rank, group

    @entry
    def __call__(self, input_x):
        if not isinstance(input_x, tuple) or not all(isinstance(t, Tensor) for t in input_x):
            raise TypeError(f"Broadcast: 'input_x' must be a tuple of tensors, got {input_x!r}")
        return tuple(_mycel.op("broadcast")(t, self.root_rank, self.group) for t in input_x)


__all__ = ["Broadcast", "ReduceOp"]
