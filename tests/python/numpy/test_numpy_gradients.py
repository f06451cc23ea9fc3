"""Gradients of mycel.numpy's float functions against central differences in float64."""

import mycel as ms
import mycel.numpy as mnp
import numpy as np
import pytest
from mycel import Tensor
from numpy_inputs import POSITIVE, RISING, T3, F, G, I, V, W

X, Y, P3 = F.astype(np.float64), G.astype(np.float64), T3.astype(np.float64)
A, B, UP = V.astype(np.float64), W.astype(np.float64), RISING.astype(np.float64)
POS = POSITIVE.astype(np.float64)
NANS = X.copy()
NANS[0, 1] = np.nan
TABLE = np.array([-3.0, -1, 0.3, 4])
STEP = 1e-6


def _weighted(value):
    """One number that depends on every float element of a result, each with its own weight."""
    parts = value if isinstance(value, (tuple, list)) else [value]
    total = 0.0
    for part in parts:
        if part.dtype in (ms.float32, ms.float64):
            at = ms.ops.arange(0, part.size, 1, ms.float64)
            total = total + (part.reshape((part.size,)) * ms.ops.cos(at)).sum()
    return total


def _differences(fn, x):
    slope = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += STEP
        down[i] -= STEP
        slope[i] = (fn(Tensor(up)).item() - fn(Tensor(down)).item()) / (2 * STEP)
    return slope


def _case(name, *args, wrt=0, **kwargs):
    return pytest.param(name, args, kwargs, wrt, id=name)


_CASES = [
    *(_case(n, X) for n in "arcsinh arctan cbrt cos cosh deg2rad exp exp2 expm1 fabs sin".split()),
    *(_case(n, X) for n in "sinh square tan tanh abs negative positive rad2deg".split()),
    *(_case(n, POS) for n in "log log10 log1p log2 sqrt reciprocal".split()),
    *(_case(n, X * 0.3) for n in "arcsin arccos arctanh".split()),
    _case("arccosh", POS + 1),
    *(
        _case(n, X, Y, wrt=w)
        for n in "add subtract multiply divide maximum minimum hypot arctan2 logaddexp".split()
        for w in (0, 1)
    ),
    *(_case(n, X, A, wrt=1) for n in "multiply divide logaddexp2".split()),
    _case("copysign", X, Y),
    _case("mod", X, POS),
    _case("fmod", X, POS),
    *(_case("power", POS, Y, wrt=w) for w in (0, 1)),
    _case("float_power", POS, 2.5),
    _case("clip", X, -0.5, 0.5),
    *(
        _case(n, X, axis=a)
        for n in "sum mean max min std var ptp cumsum cumprod average".split()
        for a in (None, 0)
    ),
    *(_case(n, NANS, axis=0) for n in "nansum nanmean nanmax nanmin nanstd nanvar".split()),
    _case("average", X, axis=1, weights=POS),
    *(_case(n, X) for n in "ravel transpose flip atleast_3d diagonal diag tril triu".split()),
    _case("reshape", X, (2, 6)),
    _case("roll", X, 2),
    _case("rot90", X),
    _case("tile", X, (2, 1)),
    _case("repeat", X, [1, 0, 2], 0),
    _case("moveaxis", P3, 0, -1),
    _case("concatenate", (X, Y)),
    _case("stack", (X, Y)),
    _case("array_split", X, 3, 1),
    _case("where", X > 0, X, Y, wrt=1),
    _case("take", X, [5, 1, 5]),
    _case("take_along_axis", X, np.argsort(X, 1), 1),
    _case("choose", np.array([0, 1, 1, 0]), (A, B), wrt=1),
    _case("select", [X > 0.2], [X], 0.0, wrt=1),
    *(_case("pad", X, 2, m) for m in "edge linear_ramp mean median maximum reflect wrap".split()),
    _case("pad", X, 1, "symmetric", reflect_type="odd"),
    *(_case("dot", X, Y.T, wrt=w) for w in (0, 1)),
    _case("inner", X, Y),
    _case("outer", X, B),
    _case("matmul", P3, A, wrt=1),
    _case("tensordot", P3, P3 + 1, ([0, 2], [0, 2])),
    _case("kron", X, Y[:2, :2], wrt=1),
    *(_case("cross", X[:, :3], Y[:, :3], wrt=w) for w in (0, 1)),
    _case("trace", X, 1),
    *(_case("norm", X, o) for o in (None, "fro", 1, np.inf)),
    *(_case("norm", X, o, 1) for o in (1, 2, 3, np.inf)),
    *(_case(n, A, B, "full", wrt=0) for n in ("convolve", "correlate")),
    *(_case(n, A, B, "same", wrt=1) for n in ("convolve", "correlate")),
    *(_case(n, X) for n in "cov corrcoef diff ediff1d gradient trapz unwrap".split()),
    _case("cov", X, aweights=POS[0]),
    _case("gradient", A, UP, wrt=1),
    _case("trapz", X, UP, wrt=1),
    *(_case("interp", X, TABLE, B, wrt=w) for w in (0, 1, 2)),
    _case("histogram", X, np.array([-1.0, 0, 1]), None, POS, wrt=3),
    *(_case("polyval", A, X, wrt=w) for w in (0, 1)),
    _case("polymul", A, B[:2]),
    _case("polyint", A, 2),
    _case("polyder", A),
    _case("linspace", A, B, 4, wrt=1),
    _case("geomspace", POS[0], POS[1] + 1, 3),
    _case("vander", A, 3),
    _case("multi_dot", [X, Y.T, X]),
    _case("heaviside", X, Y),
]  # fmt: skip


@pytest.mark.parametrize("name, args, kwargs, wrt", _CASES)
def test_gradient(name, args, kwargs, wrt):
    operand, inside = args[wrt], isinstance(args[wrt], (tuple, list))
    x = operand[0] if inside else operand
    kwargs = {k: Tensor(v) if isinstance(v, np.ndarray) else v for k, v in kwargs.items()}
    fixed = [
        type(a)(Tensor(v) if isinstance(v, np.ndarray) else v for v in a)
        if isinstance(a, (tuple, list))
        else Tensor(a)
        if isinstance(a, np.ndarray)
        else a
        for a in args
    ]

    def value(v):
        given = list(fixed)
        given[wrt] = type(operand)([v, *fixed[wrt][1:]]) if inside else v
        return _weighted(getattr(mnp, name)(*given, **kwargs))

    slope = ms.grad(value)
    if ms.get_context("mode") == ms.GRAPH_MODE:
        slope = ms.jit(slope)
    got = slope(Tensor(x)).asnumpy()
    want = _differences(value, x)
    there = ~np.isnan(x)
    assert np.abs(want[there]).max() > 0 or name == "heaviside"
    np.testing.assert_allclose(got[there], want[there], rtol=2e-6, atol=2e-6)
    if name.startswith("nan"):
        assert (got[~there] == 0).all()


def test_integers_have_no_gradient_but_pass_it_on():
    def value(x):
        return (mnp.take(x, Tensor(np.abs(I) % 4), 1) * mnp.add(Tensor(I[0, 0]), 1.0)).sum()

    got = ms.grad(value)(Tensor(X)).asnumpy()
    counts = np.zeros(4)
    np.add.at(counts, (np.abs(I) % 4).ravel(), 1)
    np.testing.assert_allclose(got, np.tile(counts * (I[0, 0] + 1.0), (3, 1)))
