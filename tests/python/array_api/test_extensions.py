"""The extensions linalg and fft of the array API against NumPy and by what defines results."""

import math

import mycel.array_api as xp
import numpy as np
import pytest
from peers import ANY, COMPLEX, FLOATING, NUMERIC, REAL_FLOATING, check, ours, values

pytestmark = pytest.mark.one_mode("the ops' own tests compile them in every dtype")

SHAPES = [(3, 3), (2, 4, 4), (0, 3, 3), (2, 0, 0), (1, 1)]


def regular(dtype, shape):
    """Well conditioned matrices."""
    n = builtin_min(shape[-2:])
    return (values(dtype, shape, special=False) + 6 * np.eye(*shape[-2:], dtype=dtype) * (n > 0)) \
        .astype(dtype)  # fmt: skip


builtin_min = min


def hermitian(dtype, shape):
    x = values(dtype, shape, special=False)
    return (x + np.swapaxes(x, -1, -2).conj()).astype(dtype)


def near(got, want, scale=1.0):
    want = np.asarray(want)
    got = got.asnumpy()
    assert got.dtype == want.dtype and got.shape == want.shape
    bound = {4: 2e-4, 8: 1e-10 if want.dtype != np.complex64 else 2e-4, 16: 1e-10}
    np.testing.assert_allclose(got, want, rtol=bound[want.dtype.itemsize] * 10,
                               atol=bound[want.dtype.itemsize] * scale)  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATING)
def test_square_matrices(dtype):
    for shape in SHAPES:
        x = regular(dtype, shape)
        near(xp.linalg.det(ours(x)), np.linalg.det(x), 100)
        near(xp.linalg.inv(ours(x)), np.linalg.inv(x))
        for got, want in zip(xp.linalg.slogdet(ours(x)), np.linalg.slogdet(x)):
            near(got, want)
        for n in (0, 1, 3, -2):
            near(xp.linalg.matrix_power(ours(x), n), np.linalg.matrix_power(x, n), 100)
        right = values(dtype, (*shape[:-1], 2), seed=1, special=False)
        near(xp.linalg.solve(ours(x), ours(right)), np.linalg.solve(x, right))
        if x.size:
            vector = right[..., 0].reshape(-1)[: shape[-1]]
            near(
                xp.linalg.solve(ours(x), ours(vector)), np.linalg.solve(x, vector[:, None])[..., 0]
            )
        definite = x @ np.swapaxes(x, -1, -2).conj()
        near(xp.linalg.cholesky(ours(definite)), np.linalg.cholesky(definite))
        near(xp.linalg.cholesky(ours(definite), upper=True),
             np.linalg.cholesky(definite, upper=True))  # fmt: skip


def test_empty_systems_broadcast():
    for left, right, want in (
        ((0, 0), (3, 0, 2), (3, 0, 2)), ((2, 1, 0, 0), (3, 0, 1), (2, 3, 0, 1)),
        ((3, 3), (0, 3, 2), (0, 3, 2)), ((4, 2, 2), (2, 0), (4, 2, 0)), ((0, 2, 2), (2,), (0, 2)),
    ):  # fmt: skip
        matrix = np.broadcast_to(np.eye(left[-1], dtype="float32"), left)
        assert xp.linalg.solve(ours(matrix.copy()), xp.ones(right)).shape == want


@pytest.mark.parametrize("dtype", COMPLEX)
def test_zeros_beside_a_triangle_have_no_sign(dtype):
    for upper in (False, True):
        x = hermitian(dtype, (2, 4, 4)) + 40 * np.eye(4, dtype=dtype)
        factor = xp.linalg.cholesky(ours(x), upper=upper).asnumpy()
        out = np.tril(np.ones((4, 4), bool), -1) if upper else np.triu(np.ones((4, 4), bool), 1)
        assert not np.signbit(factor[:, out].real).any()
        assert not np.signbit(factor[:, out].imag).any()


@pytest.mark.parametrize("dtype", FLOATING)
def test_eigenvalues(dtype):
    for shape in SHAPES:
        x = hermitian(dtype, shape)
        w, v = xp.linalg.eigh(ours(x))
        near(w, np.linalg.eigvalsh(x))
        near(xp.linalg.eigvalsh(ours(x)), np.linalg.eigvalsh(x))
        w, v = w.asnumpy(), v.asnumpy()
        np.testing.assert_allclose(x @ v, v * w[..., None, :], atol=2e-4)
        x = regular(dtype, shape)
        result = xp.linalg.eig(ours(x))
        w, v = (t.asnumpy() for t in result)
        assert w.dtype == v.dtype == np.result_type(dtype, np.complex64)
        np.testing.assert_allclose(x @ v, v * w[..., None, :], atol=2e-3)
        assert result._fields == ("eigenvalues", "eigenvectors")
        found = np.sort_complex(xp.linalg.eigvals(ours(x)).asnumpy().reshape(-1))
        np.testing.assert_allclose(found, np.sort_complex(w.reshape(-1)), atol=1e-3)


@pytest.mark.parametrize("dtype", FLOATING)
def test_factors(dtype):
    for shape in [(3, 3), (5, 3), (2, 3, 5), (0, 3), (3, 0), (2, 0, 3, 2)]:
        x = values(dtype, shape, special=False)
        near(xp.linalg.svdvals(ours(x)), np.linalg.svd(x, compute_uv=False))
        for full in (True, False):
            u, s, vh = xp.linalg.svd(ours(x), full_matrices=full)
            want = np.linalg.svd(x, full_matrices=full)
            assert [u.shape, s.shape, vh.shape] == [w.shape for w in want]
            k = s.shape[-1]
            u, s, vh = (t.asnumpy() for t in (u, s, vh))
            np.testing.assert_allclose(
                (u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, atol=2e-4
            )
        for mode in ("reduced", "complete"):
            q, r = xp.linalg.qr(ours(x), mode=mode)
            want = np.linalg.qr(x, mode=mode)
            assert [q.shape, r.shape] == [w.shape for w in want]
            np.testing.assert_allclose(q.asnumpy() @ r.asnumpy(), x, atol=2e-4)
        near(xp.linalg.pinv(ours(x)), np.linalg.pinv(x))
        rank = xp.linalg.matrix_rank(ours(x))
        check(rank, np.asarray(np.linalg.matrix_rank(x)))
    twice = np.ones((3, 3), dtype)
    assert int(xp.linalg.matrix_rank(ours(twice))) == 1


@pytest.mark.parametrize("dtype", FLOATING)
def test_norms(dtype):
    for shape in [(3, 4), (2, 3, 3)]:
        x = values(dtype, shape, special=False)
        for order in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
            for keep in (True, False):
                near(xp.linalg.matrix_norm(ours(x), ord=order, keepdims=keep),
                     np.linalg.matrix_norm(x, ord=order, keepdims=keep))  # fmt: skip
        for order in (0, 1, 2, 3, 0.5, -1, math.inf, -math.inf):
            for axis in (None, 0, -1, (0, 1)):
                near(xp.linalg.vector_norm(ours(x), ord=order, axis=axis, keepdims=True),
                     np.linalg.vector_norm(x, ord=order, axis=axis, keepdims=True))  # fmt: skip
    with pytest.raises(ValueError, match="matrix_norm: 'ord' must be"):
        xp.linalg.matrix_norm(xp.ones((2, 2)), ord=3)


def test_diagonals_and_products():
    for dtype in ANY:
        x = values(dtype, (2, 3, 4), special=False)
        for offset in (0, 1, -1, 3, -2, 9, -9):
            check(xp.linalg.diagonal(ours(x), offset=offset), np.linalg.diagonal(x, offset=offset))
            if dtype in NUMERIC:
                check(xp.linalg.trace(ours(x), offset=offset), np.linalg.trace(x, offset=offset))
    for dtype in NUMERIC:
        a, b = values(dtype, (3,), special=False), values(dtype, (4,), 1, special=False)
        check(xp.linalg.outer(ours(a), ours(b)), np.linalg.outer(a, b))
        a, b = values(dtype, (2, 3), special=False), values(dtype, (4, 1, 3), 1, special=False)
        check(xp.linalg.cross(ours(a), ours(b)), np.linalg.cross(a, b))
        a, b = a.T.copy(), values(dtype, (3, 2), 2, special=False)
        check(xp.linalg.cross(ours(a), ours(b), axis=-2), np.linalg.cross(a, b, axis=-2))
        x = values(dtype, (3, 3), special=False)
        check(xp.linalg.matrix_power(ours(x), 3), np.linalg.matrix_power(x, 3))
    assert xp.linalg.matmul is xp.matmul and xp.linalg.vecdot is xp.vecdot


def test_what_linalg_refuses():
    for call, text in (
        (lambda: xp.linalg.det(xp.ones((2, 3))), "must hold square matrices"),
        (lambda: xp.linalg.inv(xp.ones((2,))), "at least 2 dims"),
        (lambda: xp.linalg.solve(xp.ones((2, 2)), xp.ones((3, 1))), "do not fit"),
        (lambda: xp.linalg.cross(xp.ones((2,)), xp.ones((2,))), "must have size 3"),
        (lambda: xp.linalg.outer(xp.ones((2, 2)), xp.ones((2,))), "must be vectors"),
        (lambda: xp.linalg.qr(xp.ones((2, 2)), mode="raw"), "'mode' must be"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="must have a floating-point dtype, got Int64"):
        xp.linalg.det(xp.asarray([[1]]))


TO_COMPLEX, FROM_REAL, TO_REAL = ("fft", "ifft"), ("rfft", "ihfft"), ("irfft", "hfft")


@pytest.mark.parametrize("name", (*TO_COMPLEX, *FROM_REAL, *TO_REAL))
def test_transforms(name):
    for dtype in REAL_FLOATING if name in FROM_REAL else COMPLEX:
        x = values(dtype, (3, 6, 5), special=False)
        for kwargs in ({}, {"axis": 1}, {"n": 4}, {"n": 9, "axis": 0}, {"norm": "ortho"},
                       {"norm": "forward"}):  # fmt: skip
            near(getattr(xp.fft, name)(ours(x), **kwargs), getattr(np.fft, name)(x, **kwargs), 10)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_transforms_over_axes(name):
    for dtype in REAL_FLOATING if name == "rfftn" else COMPLEX:
        x = values(dtype, (3, 4, 5), special=False)
        for kwargs in ({}, {"axes": (0, 2)}, {"axes": (1,)}, {"s": (2, 7), "axes": (0, 1)},
                       {"norm": "ortho"}, {"norm": "forward", "axes": (2, 0)}):  # fmt: skip
            near(getattr(xp.fft, name)(ours(x), **kwargs), getattr(np.fft, name)(x, **kwargs), 20)


def test_frequencies():
    for n in (1, 4, 7):
        for name in ("fftfreq", "rfftfreq"):
            got = getattr(xp.fft, name)(n, d=0.5, dtype=xp.float64)
            check(got, getattr(np.fft, name)(n, d=0.5), zeros=False)
            assert getattr(xp.fft, name)(n).dtype == xp.float32
    for dtype in ANY:
        x = values(dtype, (4, 5))
        for axes in (None, 0, (0, 1), (-1,)):
            for name in ("fftshift", "ifftshift"):
                check(
                    getattr(xp.fft, name)(ours(x), axes=axes), getattr(np.fft, name)(x, axes=axes)
                )


def test_what_fft_refuses():
    x = xp.ones((3,))
    for call, text in (
        (lambda: xp.fft.fft(x, norm="half"), "'norm' must be one of"),
        (lambda: xp.fft.fft(x, n=0), "'n' must be an int of at least 1"),
        (lambda: xp.fft.fftn(x, s=(2, 3), axes=(0,)), "2 sizes given for 1 axes"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="rfft: 'x' must have a real floating-point dtype"):
        xp.fft.rfft(xp.astype(x, xp.complex64))
