"""Compares a function of mycel.numpy with NumPy's of the same name, in the mode of the running
test. Tolerances by dtype stand in one table."""

import mycel as ms
import mycel.numpy as mnp
import numpy as np
from mycel import Tensor

# Relative tolerance, and absolute one against 1.
TOLERANCE = {
    "float16": 4e-3,
    "float32": 2e-5,
    "float64": 1e-10,
    "complex64": 2e-5,
    "complex128": 1e-10,
}


def tensors(value):
    """NumPy arrays in nested sequences become tensors; everything else stays."""
    if isinstance(value, np.ndarray):
        return Tensor(value)
    if isinstance(value, (tuple, list)):
        return type(value)(map(tensors, value))
    if isinstance(value, dict):
        return {k: tensors(v) for k, v in value.items()}
    return value


def run(fn, *args, **kwargs):
    """fn(*args, **kwargs) in the mode of the test: compiled in graph mode."""
    fn = getattr(mnp, fn) if isinstance(fn, str) else fn
    if ms.get_context("mode") == ms.GRAPH_MODE:
        fn = ms.jit(fn)
    return fn(*tensors(args), **tensors(kwargs))


def close(got, want, where, tolerance=None):
    """Equal structures, shapes and values within the tolerance of the dtype of `got`."""
    if isinstance(want, (tuple, list)):
        assert isinstance(got, (tuple, list)) and len(got) == len(want), where
        for g, w in zip(got, want):
            close(g, w, where, tolerance)
        return
    want = np.asarray(want)
    got = got.asnumpy() if isinstance(got, Tensor) else np.asarray(got)
    assert got.shape == want.shape, f"{where}: shape {got.shape}, NumPy {want.shape}"
    limit = TOLERANCE.get(got.dtype.name, 0) if tolerance is None else tolerance
    if got.dtype.kind in "iub" and want.dtype.kind in "fc":
        want = want.astype(got.dtype)
    np.testing.assert_allclose(got, want, rtol=limit, atol=limit, err_msg=where)


def agree(name, *args, want=None, dtype=None, tolerance=None, **kwargs):
    """mycel.numpy's `name` gives what NumPy's gives (or `want`), with the dtype if one is named."""
    where = f"{name}{args}{kwargs}"[:300]
    if want is None:
        with np.errstate(all="ignore"):
            want = getattr(np, name)(*args, **kwargs)
    got = run(name, *args, **kwargs)
    if dtype is not None:
        assert got.dtype == dtype, f"{where}: {got.dtype}, not {dtype}"
    close(got, want, where, tolerance)
