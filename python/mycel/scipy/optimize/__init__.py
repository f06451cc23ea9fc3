"""Minimization of functions of a vector."""

from mycel.scipy.optimize.line_search import line_search
from mycel.scipy.optimize.minimize import minimize

__all__ = ["line_search", "minimize"]
