"""Solvers that only multiply with a matrix."""

from mycel.scipy.sparse import linalg

__all__ = ["linalg"]
