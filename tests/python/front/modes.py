"""Runs a function eagerly and compiled; both must give what plain Python on numbers gives."""

import mycel as ms
import numpy as np


def plain(value):
    """Tensors as nested NumPy arrays."""
    if isinstance(value, ms.Tensor):
        return value.asnumpy()
    if isinstance(value, (tuple, list)):
        return (
            type(value)(plain(v) for v in value)
            if type(value) in (tuple, list)
            else [plain(v) for v in value]
        )
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def same(got, want):
    """Fails unless both are equal to rounding."""
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
    elif isinstance(want, dict):
        assert list(got) == list(want)
        for k in want:
            same(got[k], want[k])
    elif isinstance(want, str) or want is None:
        assert got == want
    else:
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5, atol=1e-6)


def check(fn, *cases):
    """fn on each (arguments, expected result): eager, and one compiled function for all."""
    compiled = ms.jit(fn)
    for args, want in cases:
        tensors = [ms.Tensor(a) if isinstance(a, (np.ndarray, float)) else a for a in args]
        same(plain(fn(*tensors)), want)
        tensors = [ms.Tensor(a) if isinstance(a, (np.ndarray, float)) else a for a in args]
        same(plain(compiled(*tensors)), want)
    return compiled
