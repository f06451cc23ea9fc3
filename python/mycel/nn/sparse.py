"""Layers on sparse tensors."""

from mycel import ops
from mycel.common.sparse_tensor import COOTensor
from mycel.nn.cell import Cell


class SparseToDense(Cell):
    """The dense tensor of a COOTensor."""

    def construct(self, sparse_tensor):
        if not isinstance(sparse_tensor, COOTensor):
            raise TypeError(
                f"SparseToDense: a COOTensor is needed, got {type(sparse_tensor).__name__}"
            )
        return sparse_tensor.to_dense()


class SparseTensorDenseMatmul(Cell):
    """The product of a COO matrix (indices, values, sparse_shape) and a dense one; the adjoint of
    either is taken when asked."""

    def __init__(self, adjoint_st=False, adjoint_dt=False):
        super().__init__()
        for name, flag in (("adjoint_st", adjoint_st), ("adjoint_dt", adjoint_dt)):
            if not isinstance(flag, bool):
                raise TypeError(
                    f"SparseTensorDenseMatmul: '{name}' must be True or False, got {flag!r}"
                )
        self.adj_st, self.adj_dt = adjoint_st, adjoint_dt

    def construct(self, indices, values, sparse_shape, dense):
        multiply = ops.SparseTensorDenseMatmul(self.adj_st, self.adj_dt)
        return multiply(indices, values, sparse_shape, dense)


__all__ = ["SparseTensorDenseMatmul", "SparseToDense"]
