"""Tensors, parameters, element types, seeds and compiled functions."""

from mycel.common import dtype
from mycel.common.api import jit, jit_class, ms_class, ms_function, mutable
from mycel.common.dtype import *
from mycel.common.parameter import Parameter, ParameterTuple
from mycel.common.seed import get_seed, set_seed
from mycel.common.sparse_tensor import COOTensor, CSRTensor, RowTensor, SparseTensor
from mycel.common.tensor import Tensor, from_dlpack, from_numpy
