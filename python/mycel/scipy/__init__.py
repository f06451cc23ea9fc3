"""The SciPy-like module: linear algebra, iterative solvers and minimization on tensors, in eager
and compiled code."""

from mycel.scipy import linalg, optimize, sparse

__all__ = ["linalg", "optimize", "sparse"]
