"""The arrays that the tests of mycel.numpy are fed with: random ones and the edges."""

import numpy as np

_random = np.random.default_rng(0)

F = _random.normal(size=(3, 4)).astype(np.float32)
G = _random.normal(size=(3, 4)).astype(np.float32)
T3 = _random.normal(size=(2, 3, 4)).astype(np.float32)
V, W = F[0], G[1]
POSITIVE = np.abs(F) + np.float32(0.1)
INSIDE = np.clip(F, -0.9, 0.9)
I = _random.integers(-5, 6, (3, 4)).astype(np.int32)
J = _random.integers(1, 6, (3, 4)).astype(np.int32)
B = F > 0
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5], np.float32)
WITH_NAN = F.copy()
WITH_NAN[0, 1] = np.nan
WITH_NAN[1, :] = np.nan
EMPTY = np.zeros((0, 3), np.float32)
SCALAR = np.array(2.5, np.float32)
RISING = np.cumsum(POSITIVE[0])


def case(name, *args, **kwargs):
    """One call of a table."""
    return name, args, kwargs


def label(value):
    """A readable name for pytest: of a case, the function's."""
    return value[0] if isinstance(value, tuple) and value and isinstance(value[0], str) else None


def labels(cases):
    """Names of the cases of a table, numbered."""
    return [f"{i}-{name}" for i, (name, _, _) in enumerate(cases)]
