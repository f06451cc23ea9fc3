"""Products, differences, histograms, polynomials and windows of mycel.numpy against NumPy."""

import mycel as ms
import numpy as np
import pytest
from numpy_inputs import (
    EMPTY,
    POSITIVE,
    RISING,
    SCALAR,
    SPECIAL,
    T3,
    B,
    F,
    G,
    I,
    J,
    V,
    W,
    case,
    labels,
)
from numpy_reference import agree

A3 = F[:, :3]
TABLE = np.array([0.0, 1, 2, 4], np.float32)
ROWS = np.cumsum(POSITIVE[:, 0])

_CASES = [
    *(
        case("dot", a, b)
        for a, b in (
            (V, W), (F, G.T), (F, V), (T3, G.T), (F, SCALAR), (T3, np.ones((2, 4, 3), np.float32)),
            (EMPTY, np.ones((3, 2), np.float32)), (I, J.T),
        )
    ),
    *(case("inner", a, b) for a, b in ((V, W), (F, G), (F, V), (F, SCALAR), (T3, F), (I, J))),
    case("outer", F, W),
    case("outer", [1, 2], [3, 4]),
    case("matmul", F, G.T),
    case("matmul", T3, V),
    case("matmul", V, G.T),
    case("matmul", V, W),
    case("matmul", T3, np.ones((4, 2), np.float32)),
    case("matmul", I, J.T),
    case("tensordot", T3, T3, ([0, 2], [0, 2])),
    case("tensordot", T3, T3, (0, 0)),
    case("tensordot", F, G.T, 1),
    case("tensordot", V, W, 0),
    case("tensordot", F, G),
    case("kron", F, G[:2, :2]),
    case("kron", V, F),
    case("kron", [1, 2], [3, 4]),
    case("kron", SCALAR, F),
    case("cross", A3, G[:, :3]),
    case("cross", F[:, :2], G[:, :3]),
    case("cross", F[:, :2], G[:, :2]),
    case("cross", F, G, axisa=0, axisb=0, axisc=0),
    case("cross", F, G, axis=0),
    case("cross", A3[0], A3),
    case("trace", F),
    case("trace", T3, 1, 1, 2),
    case("trace", I),
    *(
        case(name, a, b, mode)
        for name in ("convolve", "correlate")
        for mode in ("full", "same", "valid")
        for a, b in ((V, W[:2]), (V[:2], W), (V, W), (V, W[:3]), (V[:3], W), (I[0], J[1, :3]))
    ),
    case("correlate", [1, 2, 3], [0, 1]),
    case("convolve", [1, 2, 3], 2),
    case("diff", F),
    case("diff", F, 2, 0),
    case("diff", F, 9),
    case("diff", I),
    case("diff", B),
    case("diff", F, prepend=0.0, append=F),
    case("diff", V, prepend=W, append=1.0),
    case("diff", B, 2, prepend=True),
    case("diff", F, 0),
    case("ediff1d", F),
    case("ediff1d", V, to_begin=[1.0, 2.0], to_end=3.0),
    case("ediff1d", I),
    case("gradient", F),
    case("gradient", F, axis=0),
    case("gradient", F, edge_order=2),
    case("gradient", F, 0.5, axis=1),
    case("gradient", V, 2.0),
    case("gradient", F, 2.0, 3.0),
    case("gradient", V, RISING),
    case("gradient", F, ROWS, RISING, edge_order=2),
    case("interp", F, TABLE, W),
    case("interp", [0.5, 9], TABLE, W, left=-1.0, right=7.0),
    case("interp", 1.5, [1, 2], [3, 4]),
    case("interp", SPECIAL, TABLE, W),
    case("interp", F, [1.0], [2.0]),
    case("unwrap", np.array([0, 4, 8.5, 1, -3], np.float32)),
    case("unwrap", F * 6, axis=0),
    case("unwrap", F * 6, discont=4.0),
    *(
        c
        for side in ("left", "right")
        for c in (
            case("searchsorted", np.sort(V), F, side),
            case("searchsorted", [1, 2, 2, 3], 2, side),
            case("searchsorted", V, F, side, np.argsort(V)),
            case("searchsorted", np.sort(V), SPECIAL, side),
        )
    ),
    *(
        c
        for right in (False, True)
        for c in (
            case("digitize", F, np.array([-1.0, 0, 1], np.float32), right),
            case("digitize", F, np.array([1.0, 0, -1], np.float32), right),
            case("digitize", np.array([0, 1, 2]), [0, 1], right),
            case("digitize", F, np.zeros(0, np.float32), right),
        )
    ),
    case("bincount", np.array([0, 1, 1, 5])),
    case("bincount", np.array([0, 1, 1, 5]), W),
    case("bincount", np.array([0, 1]), minlength=7),
    case("bincount", np.array([], np.int32), minlength=2),
    case("histogram", F),
    case("histogram", F, 3, (-1.0, 1.0)),
    case("histogram", F, np.array([-1.0, 0.0, 0.5], np.float32)),
    case("histogram", F, 4, weights=POSITIVE),
    case("histogram", F, 4, density=True),
    case("histogram", I, 5),
    case("histogram", np.ones(3, np.float32), 2),
    case("histogram", np.zeros(0, np.float32), 2),
    case("histogram_bin_edges", F, 5),
    case("histogram2d", V, W, 3),
    case("histogram2d", V, W, [2, 3], [(-1.0, 1.0), (-2.0, 2.0)]),
    case("histogram2d", V, W, np.array([-1.0, 0, 2.0], np.float32)),
    case("histogramdd", F, 2),
    case("histogramdd", F[:, :2], (2, 3), density=True),
    case("polyadd", [1, 2], [3, 4, 5]),
    case("polysub", V, W[:2]),
    case("polymul", V, W),
    case("polyval", V, F),
    case("polyval", [1, 2], 3),
    case("polyder", V),
    case("polyder", [1, 2, 3], 2),
    case("polyder", V, 0),
    case("polyder", V, 9),
    case("polyint", V),
    case("polyint", V, 2, [1.0, 2.0]),
    case("polyint", V, 2, 3.0),
    case("polyint", [1, 2, 3]),
    *(
        case(name, n)
        for name in ("bartlett", "blackman", "hamming", "hanning")
        for n in (0, 1, 2, 5, 8, -1)
    ),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("name, args, kwargs", _CASES, ids=labels(_CASES))
def test_cases(name, args, kwargs):
    agree(name, *args, **kwargs)


def _trapezoids(y, x=None, dx=1.0, axis=-1):
    y = np.moveaxis(np.asarray(y, np.float64), axis, -1)
    if x is None:
        return ((y[..., 1:] + y[..., :-1]) / 2 * dx).sum(-1)
    gaps = np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(x, axis, -1))
    return ((y[..., 1:] + y[..., :-1]) / 2 * gaps).sum(-1)


@pytest.mark.parametrize(
    "args, kwargs",
    [
        ((F,), {}),
        ((F,), {"dx": 0.5}),
        ((F,), {"axis": 0}),
        ((F, RISING), {}),
        ((T3, ROWS), {"axis": 1}),
        ((F, G), {}),
        (([1, 2, 3],), {}),
        ((T3, F), {}),
    ],
)
def test_trapz(args, kwargs):
    agree("trapz", *args, want=_trapezoids(*args, **kwargs), **kwargs)


def test_norms():
    for x in (F, V, T3):
        agree("norm", x, want=np.linalg.norm(x))
    for order in (None, 0, 1, 2, 3, np.inf, -np.inf):
        agree("norm", F, order, 1, want=np.linalg.norm(F, order, 1))
        agree("norm", T3, order, -1, True, want=np.linalg.norm(T3, order, -1, True))
    for order in (None, "fro", 1, -1, np.inf, -np.inf):
        agree("norm", F, order, want=np.linalg.norm(F, order))
        agree("norm", T3, order, (0, 2), True, want=np.linalg.norm(T3, order, (0, 2), True))
        agree("norm", T3, order, (2, 0), want=np.linalg.norm(T3, order, (2, 0)))


def test_chains_of_matrices():
    for chain in ([F, G.T, F[:, :2], V[:2]], [F, G.T], [V, G.T, F]):
        agree("multi_dot", chain, want=np.linalg.multi_dot(chain))


def test_integer_products_are_exact():
    a, b = np.array([2**61, 3], np.int64), np.array([1, -1], np.int64)
    agree("convolve", a, b, dtype=None)
    agree("correlate", a, b, "full")
    agree("bincount", np.array([0, 9]), want=np.array([1.0, 0.0]), length=2)


@pytest.mark.parametrize("name", "dot inner outer matmul tensordot kron".split())
def test_products_of_bools_are_bools(name):
    agree(name, B[:, :3], B[:, 1:], dtype=ms.bool_)


def test_published_dtypes():
    agree("bincount", np.array([1, 2]), dtype=ms.float32)
    agree("searchsorted", [1, 2, 3], 2, dtype=ms.int32)
    agree("digitize", V, TABLE, dtype=ms.int32)
    agree("trapz", [1, 2, 3], dtype=ms.float32, want=4.0)
    agree("convolve", [1, 2], [1, 2], dtype=ms.int32)
