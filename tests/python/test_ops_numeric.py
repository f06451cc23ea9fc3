"""Order statistics, cuts, places, windows, patches and distances of `ops` against NumPy."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, ops

_random = np.random.default_rng(1)
X = _random.normal(size=(3, 5)).astype(np.float32)
Y = _random.normal(size=(4, 5)).astype(np.float32)
V = X[0]


def _same(got, want, tolerance=1e-5):
    np.testing.assert_allclose(got.asnumpy(), want, rtol=tolerance, atol=tolerance)


def test_median():
    values, places = ops.median(Tensor(X), 1)
    want = np.sort(X, 1)[:, 2]
    _same(values, want, 0)
    np.testing.assert_array_equal(np.take_along_axis(X, places.asnumpy()[:, None], 1)[:, 0], want)
    values, places = Tensor(X).median(0, True)
    assert values.shape == (1, 5) and places.dtype == ms.int64
    _same(values, np.sort(X, 0)[1:2], 0)
    values, places = ops.median(Tensor([1.0, np.nan, 2.0]))
    assert np.isnan(values.asnumpy()) and places.item() == 1
    values, _ = ops.Median(global_median=True)(Tensor(X))
    _same(values, np.sort(X.ravel())[7], 0)


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_quantiles(axis, keepdims):
    holes = X.copy()
    holes[0, 1] = holes[2, 3] = np.nan
    for q in (0.3, 1.0, np.array([0.0, 0.25, 0.9], np.float32)):
        given = Tensor(q) if isinstance(q, np.ndarray) else q
        _same(
            ops.quantile(Tensor(X), given, axis, keepdims),
            np.quantile(X, q, axis, keepdims=keepdims),
        )
        want = np.nanquantile(holes, q, axis, keepdims=keepdims)
        _same(ops.nanquantile(Tensor(holes), given, axis, keepdims), want)
    assert np.isnan(ops.quantile(Tensor(holes), 0.5).asnumpy())
    assert np.isnan(ops.quantile(Tensor(X), 1.5).asnumpy())
    infinite = Tensor([1.0, np.inf, np.inf])
    assert np.isposinf(ops.quantile(infinite, 0.75).asnumpy())


def test_cuts():
    t = Tensor(X)
    for got, want in (
        (ops.tensor_split(t, 2, 1), np.array_split(X, 2, 1)),
        (ops.tensor_split(t, (1, 3), 1), np.array_split(X, (1, 3), 1)),
        (t.tensor_split(2), np.array_split(X, 2)),
        (ops.hsplit(t, 5), np.hsplit(X, 5)),
        (t.hsplit((2,)), np.hsplit(X, (2,))),
        (ops.vsplit(t, 3), np.vsplit(X, 3)),
        (
            ops.dsplit(Tensor(X[:, :, None].repeat(4, 2)), 2),
            np.dsplit(X[:, :, None].repeat(4, 2), 2),
        ),
    ):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            _same(g, w, 0)


def test_choices():
    a, b = Tensor([1, 2]), Tensor([3, 4, 5])
    want = [[1, 3], [1, 4], [1, 5], [2, 3], [2, 4], [2, 5]]
    np.testing.assert_array_equal(ops.cartesian_prod(a, b).asnumpy(), want)
    np.testing.assert_array_equal(ops.combinations(b).asnumpy(), [[3, 4], [3, 5], [4, 5]])
    again = [[3, 3], [3, 4], [3, 5], [4, 4], [4, 5], [5, 5]]
    np.testing.assert_array_equal(ops.combinations(b, 2, True).asnumpy(), again)
    blocks = ops.block_diag(Tensor([[1, 2], [3, 4]]), b, Tensor(6))
    want = np.zeros((4, 6), int)
    want[:2, :2], want[2, 2:5], want[3, 5] = [[1, 2], [3, 4]], [3, 4, 5], 6
    np.testing.assert_array_equal(blocks.asnumpy(), want)


def test_places():
    for lower, name in ((True, "tril_indices"), (False, "triu_indices")):
        want = (np.tril_indices if lower else np.triu_indices)(3, 1, 4)
        got = getattr(ops, name)(3, 4, 1)
        assert got.dtype == ms.int64
        np.testing.assert_array_equal(got.asnumpy(), want)
        primitive = ops.TrilIndices if lower else ops.TriuIndices
        assert primitive(3, 4, 1)().dtype == ms.int32
    got = ops.UnravelIndex()(Tensor([5, 4], ms.int32), (2, 3))
    np.testing.assert_array_equal(got.asnumpy(), np.unravel_index([5, 4], (2, 3)))


@pytest.mark.parametrize("name", "bartlett blackman hamming hann kaiser".split())
def test_windows(name):
    numpy_name = {"hann": "hanning"}.get(name, name)
    more = (12.0,) if name == "kaiser" else ()
    window = getattr(ops, f"{name}_window")
    for n in (1, 2, 5, 8):
        _same(window(n, False), getattr(np, numpy_name)(n, *more))
        _same(window(n), getattr(np, numpy_name)(n + 1, *more)[:-1] if n > 1 else [1.0])
    assert window(4, dtype=ms.float64).dtype == ms.float64
    assert window(0).shape == (0,)
    with pytest.raises(ValueError, match=f"{name}_window: window_length must not be negative"):
        window(-1)


@pytest.mark.plain_calls("a length is known while compiling")
def test_sizes_given_as_tensors():
    got = ops.UnravelIndex()(Tensor([5, 4], ms.int32), Tensor([2, 3], ms.int32))
    np.testing.assert_array_equal(got.asnumpy(), np.unravel_index([5, 4], (2, 3)))
    one = Tensor([1.0, 1, 1])
    counts = ops.Bincount()(Tensor([1, 2, 9], ms.int32), Tensor(4, ms.int32), one)
    np.testing.assert_array_equal(counts.asnumpy(), [0, 1, 1, 0])
    _same(ops.HammingWindow(False)(Tensor([5], ms.int32)), np.hamming(5))
    _same(ops.BlackmanWindow()(Tensor(4, ms.int32)), np.blackman(5)[:-1])
    _same(ops.BartlettWindow(False, ms.float64)(Tensor(4, ms.int32)), np.bartlett(4))


def _patches(x, k, dilation, padding, stride):
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    high, wide = (
        (x.shape[2 + i] - dilation[i] * (k[i] - 1) - 1) // stride[i] + 1 for i in range(2)
    )
    out = np.zeros((x.shape[0], x.shape[1], k[0], k[1], high, wide), x.dtype)
    for i in range(k[0]):
        for j in range(k[1]):
            r, c = i * dilation[0], j * dilation[1]
            out[:, :, i, j] = x[
                :, :, r : r + stride[0] * high : stride[0], c : c + stride[1] * wide : stride[1]
            ]
    return out.reshape(x.shape[0], -1, high * wide)


@pytest.mark.parametrize(
    "geometry",
    [
        ((2, 3), (1, 1), (0, 0), (1, 1)),
        ((2, 2), (2, 1), (1, 2), (2, 1)),
        ((3, 3), (1, 1), (1, 1), (2, 2)),
    ],
)
def test_patches(geometry):
    x = _random.normal(size=(2, 3, 6, 7)).astype(np.float32)
    columns = ops.unfold(Tensor(x), *geometry)
    want = _patches(x, *geometry)
    _same(columns, want, 0)
    # fold adds up: of patches of ones it gives how often each place was read.
    counts = np.zeros(6 * 7)
    flat = _patches(np.arange(1.0, 43).reshape(1, 1, 6, 7), *geometry).astype(int).ravel()
    np.add.at(counts, flat[flat > 0] - 1, 1)
    back = ops.fold(columns, (6, 7), *geometry)
    _same(back, x * counts.reshape(6, 7))
    kernel, dilation, padding, stride = geometry
    tall = ops.Im2Col(kernel, stride, dilation, padding)(Tensor(x))
    _same(tall.reshape(want.shape), want, 0)
    again = ops.Col2Im(kernel, dilation, padding, stride)(tall, (6, 7))
    _same(again, x * counts.reshape(6, 7))


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, float("inf")])
def test_distances(p):
    gaps = np.abs(X[:, None] - Y[None]).astype(np.float64)
    want = np.linalg.norm(gaps, p, axis=-1)
    _same(ops.cdist(Tensor(X), Tensor(Y), p), want)
    _same(ops.Cdist(p)(Tensor(X), Tensor(Y)), want)
    own = np.linalg.norm((Y[:, None] - Y[None]).astype(np.float64), p, axis=-1)
    _same(ops.pdist(Tensor(Y), p), own[np.triu_indices(4, 1)])


def test_the_distance_of_equal_rows_has_gradient_zero():
    slope = ms.grad(lambda v: ops.cdist(v, v).sum())(Tensor(X))
    assert np.isfinite(slope.asnumpy()).all()


def test_products_and_differences():
    a, b = Tensor(X[:, :3]), Tensor(Y[:3, :3])
    _same(ops.cross(a, b, 1), np.cross(X[:, :3], Y[:3, :3]))
    _same(a.cross(b, 1), np.cross(X[:, :3], Y[:3, :3]))
    _same(ops.Cross()(a, b), np.cross(X[:, :3], Y[:3, :3], axis=0))
    _same(ops.kron(a, b), np.kron(X[:, :3], Y[:3, :3]))
    _same(ops.cov(Tensor(X)), np.cov(X))
    _same(Tensor(X).cov(correction=0), np.cov(X, bias=True))
    _same(ops.diff(Tensor(X), 2, 0), np.diff(X, 2, 0))
    _same(Tensor(X).diff(axis=0, prepend=Tensor(X)), np.diff(X, axis=0, prepend=X))
    _same(ops.trapz(Tensor(V), dx=0.5), ((V[1:] + V[:-1]) / 4).sum())
    _same(ops.logspace(0, 2, 3), [1, 10, 100])
    _same(ops.LogSpace(4, 2)(Tensor(0.0), Tensor(3.0)), [1, 2, 4, 8])
    _same(ops.L2Loss()(Tensor(V)), (V**2).sum() / 2)


def test_complex_matrices():
    z = (X[:, :3] + 1j * Y[:3, :3]).astype(np.complex64)
    _same(ops.adjoint(Tensor(z)), z.conj().T, 0)
    _same(Tensor(X).adjoint(), X.T, 0)
    _same(ops.view_as_real(Tensor(z)), np.stack([z.real, z.imag], -1), 0)


def test_searching():
    line, values = np.sort(V), Y
    assert Tensor(line).searchsorted(Tensor(values)).dtype == ms.int32
    for right, side in ((False, "left"), (True, "right")):
        want = np.searchsorted(line, values, side)
        got = ops.SearchSorted(ms.int64, right)(Tensor(line), Tensor(values))
        np.testing.assert_array_equal(got.asnumpy(), want)
        primitive = ops.UpperBound() if right else ops.LowerBound()
        got = primitive(Tensor(line[None].repeat(4, 0)), Tensor(values))
        np.testing.assert_array_equal(got.asnumpy(), want)
        assert got.dtype == ms.int32
    got = ops.Bucketize([0.0, 2.0, 5.0])(Tensor([-1.0, 0, 2, 3, 9]))
    np.testing.assert_array_equal(got.asnumpy(), [0, 1, 2, 2, 3])
    np.testing.assert_array_equal(Tensor(V).take([0, 9, 1]).asnumpy(), V[[0, 4, 1]])


@pytest.mark.one_mode("errors come while calls are made")
@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: ops.median(Tensor(X), 2), "median: .*2"),
        (lambda: ops.quantile(Tensor(np.zeros((0, 2), np.float32)), 0.5), "quantile: there is no"),
        (lambda: ops.hsplit(Tensor(X), 2), "hsplit: axis 1 of size 5 cannot be cut into 2 equal"),
        (lambda: ops.dsplit(Tensor(X), 2), "dsplit: at least 3 dims needed"),
        (lambda: ops.tensor_split(Tensor(X), 0), "tensor_split: 'indices_or_sections' must be"),
        (lambda: ops.tensor_split(Tensor(X), 2, 5), "tensor_split: 'axis' must be an int in"),
        (lambda: ops.cross(Tensor(Y), Tensor(Y)), "cross: no dim has size 3 in"),
        (
            lambda: ops.fold(Tensor(X[None]), (4, 4), 2),
            "fold: the 3 rows of .* no multiple of the 4",
        ),
        (lambda: ops.unfold(Tensor(X), 2), "unfold: the operand must have 4 dims"),
        (lambda: ops.cdist(Tensor(X), Tensor(Y), -1.0), "cdist: p must not be negative"),
        (lambda: ops.cov(Tensor(X), fweights=Tensor([1, 2])), "cov: 'fweights' must be a vector"),
        (lambda: ops.combinations(Tensor(X)), "combinations: the operand must be a vector"),
        (lambda: ops.block_diag(Tensor(X[None])), "block_diag: tensors must have at most 2 dims"),
    ],
)
def test_bad_input(call, text):
    with pytest.raises(ValueError, match=text):
        call()
