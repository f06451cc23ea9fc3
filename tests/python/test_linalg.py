"""Linear algebra against NumPy and SciPy, gradients of vectors against differences."""

import itertools

import mycel as ms
import numpy as np
import pytest
import scipy.linalg
from mycel import Tensor, nn, ops

RNG = np.random.default_rng(7)
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def tolerance(dtype):
    return 2e-4 if np.finfo(dtype).eps > 1e-10 else 1e-9


def draw(shape, dtype):
    x = RNG.normal(size=shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * RNG.normal(size=shape)
    return x.astype(dtype)


def hermitian(shape, dtype):
    a = draw(shape, dtype)
    return a + adjoint(a)


def positive(shape, dtype):
    a = draw(shape, dtype)
    return (a @ adjoint(a) + 2 * np.eye(shape[-1])).astype(dtype)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def close(got, want, tol=1e-9):
    got = got.asnumpy() if isinstance(got, Tensor) else got
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(got, want, tol, tol)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(dtype):
    a, b = positive((2, 4, 4), dtype), draw((2, 4, 3), dtype)
    tol, low = tolerance(dtype), np.linalg.cholesky(a)
    close(ops.cholesky(Tensor(a)), low, tol)
    close(ops.cholesky(Tensor(a), upper=True), adjoint(low), tol)
    close(Tensor(a).cholesky(), low, tol)
    close(ops.Cholesky(upper=True)(Tensor(a)), adjoint(low), tol)
    close(ops.cholesky_inverse(Tensor(low)), np.linalg.inv(a), tol)
    close(ops.CholeskyInverse(True)(Tensor(adjoint(low))), np.linalg.inv(a), tol)
    close(ops.cholesky_solve(Tensor(b), Tensor(low)), np.linalg.solve(a, b), tol)
    close(ops.CholeskySolve(True)(Tensor(b), Tensor(adjoint(low))), np.linalg.solve(a, b), tol)


@pytest.mark.parametrize("dtype", DTYPES)
def test_solutions(dtype):
    a, b, tol = draw((2, 4, 4), dtype), draw((2, 4, 3), dtype), tolerance(dtype)
    close(ops.matrix_solve(Tensor(a), Tensor(b)), np.linalg.solve(a, b), tol)
    close(ops.MatrixSolve(True)(Tensor(a), Tensor(b)), np.linalg.solve(adjoint(a), b), tol)
    close(ops.inverse(Tensor(a)), np.linalg.inv(a), tol)
    close(ops.MatrixInverse(adjoint=True)(Tensor(a)), adjoint(np.linalg.inv(a)), tol)
    close(nn.MatInverse()(Tensor(a)), np.linalg.inv(a), tol)
    low = (np.tril(a) + 3 * np.eye(4)).astype(dtype)
    solve = ops.MatrixTriangularSolve(lower=True)
    close(solve(Tensor(low), Tensor(b)), np.linalg.solve(low, b), tol)
    back = ops.MatrixTriangularSolve(lower=False, adjoint=True)
    up = np.swapaxes(low, -1, -2)
    close(back(Tensor(up), Tensor(b)), np.linalg.solve(adjoint(up), b), tol)


@pytest.mark.parametrize("dtype", DTYPES)
def test_determinants(dtype):
    a, tol = draw((2, 4, 4), dtype), tolerance(dtype)
    close(ops.det(Tensor(a)), np.linalg.det(a), tol)
    close(ops.MatrixDeterminant()(Tensor(a)), np.linalg.det(a), tol)
    close(nn.MatDet()(Tensor(a)), np.linalg.det(a), tol)
    sign, size = ops.slogdet(Tensor(a))
    want = np.linalg.slogdet(a)
    close(sign, want[0], tol)
    close(size, want[1], tol)
    assert size.dtype == (ms.float64 if tol < 1e-6 else ms.float32)
    p = positive((3, 3), dtype)
    close(ops.logdet(Tensor(p)), np.log(np.linalg.det(p)), tol)


def test_singular_determinants():
    a = np.zeros((2, 2, 2), np.float32)
    a[1] = -np.eye(2) * [1, -3]
    sign, size = ops.log_matrix_determinant(Tensor(a))
    np.testing.assert_array_equal(sign.asnumpy(), [0, -1])
    np.testing.assert_allclose(size.asnumpy(), [-np.inf, np.log(3)], 1e-6)
    got = ops.logdet(Tensor(a)).asnumpy()
    assert got[0] == -np.inf and np.isnan(got[1])


def minors(a):
    """The cofactors of a matrix by their definition."""
    n = len(a)
    rest = lambda i, j: np.delete(np.delete(a, i, 0), j, 1)
    return np.array(
        [[(-1) ** (i + j) * np.linalg.det(rest(i, j)) for j in range(n)] for i in range(n)]
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradient_of_determinants(dtype):
    """Also where a matrix is singular, or all but a column is zero."""
    a = draw((4, 4, 4), dtype)
    a[1, :, 3] = a[1, :, 0] * 2
    a[2, :, 1:] = 0
    a[3, 2:] = a[3, :2]
    loss = lambda x: ops.reduce_sum(ops.real(ops.det(x)))
    got = ops.grad(loss)(Tensor(a)).asnumpy()
    want = np.conj(np.stack([minors(m.astype(np.complex128)) for m in a]))
    scale = np.abs(want).max()
    np.testing.assert_allclose(got, want, 0, scale * tolerance(dtype))


@pytest.mark.parametrize("shape", [(5, 3), (3, 3), (2, 3, 5), (1, 4), (4, 1)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_qr(dtype, shape):
    a, tol = draw(shape, dtype), tolerance(dtype)
    for mode in ("reduced", "complete"):
        q, r = ops.qr(Tensor(a), mode)
        want = np.linalg.qr(a, mode)
        close(q, want[0], tol)  # signs are LAPACK's
        close(r, want[1], tol)
    q, r = ops.Qr(full_matrices=True)(Tensor(a))
    close(q, np.linalg.qr(a, "complete")[0], tol)
    close(Tensor(a).qr(some=True)[1], np.linalg.qr(a)[1], tol)
    if len(shape) > 2:
        return
    y, tau = ops.geqrf(Tensor(a))
    packed, want_tau = scipy.linalg.qr(a, mode="raw")[0]
    close(y, packed, tol)
    close(tau, want_tau, tol)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reflectors(dtype):
    a, tol = draw((2, 5, 3), dtype), tolerance(dtype)
    y, tau = ops.geqrf(Tensor(a))
    whole = np.linalg.qr(a, "complete")[0]
    close(ops.orgqr(y, tau), np.linalg.qr(a)[0], tol)
    c, d = draw((2, 5, 2), dtype), draw((2, 2, 5), dtype)
    close(ops.ormqr(y, tau, Tensor(c)), whole @ c, tol)
    close(ops.ormqr(y, tau, Tensor(c), transpose=True), adjoint(whole) @ c, tol)
    close(ops.Ormqr(left=False)(y, tau, Tensor(d)), d @ whole, tol)
    close(ops.Ormqr(False, True)(y, tau, Tensor(d)), d @ adjoint(whole), tol)


@pytest.mark.parametrize("shape", [(5, 3), (3, 3), (2, 3, 5), (1, 4), (40, 30)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_svd(dtype, shape):
    a, tol = draw(shape, dtype), tolerance(dtype)
    want = np.linalg.svd(a, compute_uv=False)
    for full in (False, True):
        s, u, v = (t.asnumpy() for t in ops.svd(Tensor(a), full_matrices=full))
        close(s, want, tol)
        k = s.shape[-1]
        close((u[..., :k] * s[..., None, :]) @ adjoint(v[..., :k]), a, tol)
        for q in (u, v):
            eye = np.broadcast_to(np.eye(q.shape[-1]), q.shape[:-2] + (q.shape[-1],) * 2)
            close(adjoint(q) @ q, eye, tol)
        assert not full or (u.shape[-2] == u.shape[-1] and v.shape[-2] == v.shape[-1])
    close(ops.svd(Tensor(a), compute_uv=False), want, tol)
    close(Tensor(a).svd()[0], want, tol)
    close(ops.Svd(compute_uv=False)(Tensor(a))[0], want, tol)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvalues(dtype):
    a, h, tol = draw((2, 4, 4), dtype), hermitian((2, 4, 4), dtype), tolerance(dtype)
    w, v = (t.asnumpy() for t in ops.eig(Tensor(a)))
    close(a @ v, v * w[..., None, :], tol)
    close(np.linalg.norm(v, axis=-2), np.ones((2, 4)), tol)
    close(np.sort_complex(w), np.sort_complex(np.linalg.eigvals(a).astype(w.dtype)), tol)
    close(np.sort_complex(ops.eigvals(Tensor(a)).asnumpy()), np.sort_complex(w), tol)
    np.testing.assert_array_equal(ops.Eig(True)(Tensor(a))[0].asnumpy(), w)
    assert ops.Eig()(Tensor(a))[1].shape == ()
    w, v = (t.asnumpy() for t in ops.eigh(Tensor(np.tril(h))))
    close(w, np.linalg.eigvalsh(h), tol)
    close((v * w[..., None, :]) @ adjoint(v), h, tol)
    close(ops.eigvalsh(Tensor(h)), np.linalg.eigvalsh(h), tol)


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrix_functions(dtype):
    a, tol = draw((4, 4), dtype), tolerance(dtype)
    close(ops.matrix_exp(Tensor(a)), scipy.linalg.expm(a), 10 * tol)
    for n in (0, 1, 3, 6, -2):
        close(ops.matrix_power(Tensor(a), n), np.linalg.matrix_power(a, n), 10 * tol)
    p = positive((4, 4), dtype).astype(np.complex64 if tol > 1e-6 else np.complex128)
    close(ops.MatrixLogarithm()(Tensor(p)), scipy.linalg.logm(p), tol)
    m, x = draw((3, 1, 4), dtype), draw((4, 2), dtype)
    want = np.diag(m[1, 0]) + np.diag(m[0, 0, :3], 1) + np.diag(m[2, 0, 1:], -1)
    got = ops.TridiagonalMatMul()(Tensor(m[0]), Tensor(m[1]), Tensor(m[2]), Tensor(x))
    close(got, want @ x, tol)


@pytest.mark.parametrize("dtype", DTYPES)
def test_least_squares(dtype):
    tol = tolerance(dtype)
    for shape in ((5, 3), (3, 5)):
        a, b = draw(shape, dtype), draw((shape[0], 2), dtype)
        want = np.linalg.lstsq(a, b, rcond=None)[0]
        close(ops.lstsq(Tensor(a), Tensor(b)), want, tol)
        close(ops.Lstsq()(Tensor(a), Tensor(b[:, 0])), want[:, :1], tol)
        close(ops.pinv(Tensor(a)), np.linalg.pinv(a), tol)
        zero, some = Tensor(0.0, ms.float64), Tensor(0.5, ms.float64)
        close(ops.MatrixSolveLs()(Tensor(a), Tensor(b), zero), want, tol)
        close(ops.MatrixSolveLs(fast=False)(Tensor(a), Tensor(b), some), want, tol)
        ridge = adjoint(a) @ np.linalg.solve(a @ adjoint(a) + 0.5 * np.eye(shape[0]), b)
        close(ops.MatrixSolveLs(True)(Tensor(a), Tensor(b), some), ridge, tol)


def test_pinv_tolerances():
    a = RNG.normal(size=(2, 4, 3))
    a[0, :, 2] = a[0, :, 0] + a[0, :, 1]  # of rank 2
    close(ops.pinv(Tensor(a)), np.linalg.pinv(a))
    close(ops.pinv(Tensor(a), rtol=0.4), np.linalg.pinv(a, rcond=0.4))
    s = np.linalg.svd(a, compute_uv=False)
    atol = (s[:, 0] + s[:, 1]) / 2
    want = np.stack([np.linalg.pinv(m, rcond=t / v[0]) for m, t, v in zip(a, atol, s)])
    close(ops.pinv(Tensor(a), atol=Tensor(atol)), want)
    h = a[1] @ a[1].T
    close(ops.pinv(Tensor(np.tril(h)), hermitian=True), np.linalg.pinv(h, hermitian=True))
    sizes = Tensor(np.array([[0.0, 0.0], [0.3, 0.3]]))
    assert ops.pinv(Tensor(a), rtol=sizes).shape == (2, 2, 3, 4)


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (2, 4)])
def test_lu(shape):
    a = draw((3, *shape), np.float64)
    packed, pivots, order = ops.lu_factor(Tensor(a))
    for i in range(3):
        want = scipy.linalg.lu(a[i])
        p, low, up = ops.lu_unpack(packed[i], pivots[i] + 1)
        for got, part in zip((p, low, up), want):
            close(got, part)
        np.testing.assert_array_equal(a[i][order[i].asnumpy()], (want[0].T @ a[i]))
        if shape[0] == shape[1]:
            np.testing.assert_array_equal(pivots[i].asnumpy(), scipy.linalg.lu_factor(a[i])[1])
    if shape[0] == shape[1]:
        b = draw((3, 4, 2), np.float64)
        close(ops.lu_solve(Tensor(b), packed, pivots + 1), np.linalg.solve(a, b))
        close(Tensor(b).lu_solve(packed, pivots + 1), np.linalg.solve(a, b))
    assert ops.lu_unpack(packed, pivots + 1, unpack_data=False)[1] is None
    assert ops.LuUnpack(unpack_pivots=False)(packed, pivots + 1)[0] is None


@pytest.mark.parametrize("order", [None, "fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf])
def test_matrix_norms(order):
    a = draw((3, 4, 2), np.float64)
    for axes, keep in itertools.product([(0, 1), (-1, 0)], [False, True]):
        want = np.linalg.norm(a, order, axes, keep)
        close(ops.norm(Tensor(a), order, axes, keep), want)
        close(ms.numpy.norm(Tensor(a), order, axes, keep), want)
        close(Tensor(a).norm(order, axes, keep), want)
    close(ops.norm(Tensor(a[0]), order), np.linalg.norm(a[0], order))
    if order == "nuc":
        close(ops.NuclearNorm([0, 2], True)(Tensor(a)), np.linalg.norm(a, "nuc", (0, 2), True))
        close(ops.NuclearNorm()(Tensor(a[0])), np.linalg.norm(a[0], "nuc"))


def slope(fn, a, direction):
    step = 1e-6
    up = fn(Tensor(a + step * direction)).asnumpy()
    return (up - fn(Tensor(a - step * direction)).asnumpy()) / (2 * step)


def check_slope(fn, a):
    """The gradient of a real function against differences in a random direction."""
    direction = draw(a.shape, a.dtype.type)
    g = ops.grad(fn)(Tensor(a)).asnumpy()
    np.testing.assert_allclose(
        np.sum(np.conj(g) * direction).real, slope(fn, a, direction), 1e-5, 1e-6
    )


W = np.linspace(-1, 2, 9).reshape(3, 3)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_gradients_of_vectors(dtype):
    """Of singular vectors and eigenvectors: functions that do not see their phases."""
    weight = Tensor(W)

    def of_svd(x):
        s, u, v = ops.svd(x)
        projection = ops.matmul(u * ops.exp(s), ops.conj(ops.swapaxes(v, -1, -2)))
        return ops.reduce_sum(ops.real(projection * ops.cast(weight, x.dtype)))

    def of_sizes(x):
        s, u, v = ops.svd(x)
        return ops.reduce_sum(ops.abs(u) ** 2 * weight) + ops.reduce_sum(ops.abs(v) ** 4 * weight)

    def of_eig(x):
        w, v = ops.eig(x)
        return ops.reduce_sum(ops.abs(v) ** 2 * ops.expand_dims(ops.abs(w), 0))

    def of_eigh(x):
        w, v = ops.eigh(x + ops.conj(ops.swapaxes(x, -1, -2)))
        return ops.reduce_sum(ops.abs(v) ** 2 * weight * ops.sin(w))

    a = draw((3, 3), dtype)
    for fn in (of_svd, of_sizes, of_eig, of_eigh):
        check_slope(fn, a)
    check_slope(of_svd, draw((3, 3), dtype))


def test_second_derivative_of_singular_values():
    a = draw((3, 2), np.float64)
    nuclear = lambda x: ops.norm(x, "nuc")
    b = draw((3, 2), np.float64)
    inner = lambda x: ops.reduce_sum(ops.grad(nuclear)(x) * Tensor(b))
    check_slope(inner, a)


def test_refusals():
    square, wide = Tensor(np.ones((2, 2))), Tensor(np.ones((2, 3)))
    with pytest.raises(ValueError, match="cholesky: the matrix is not positive definite"):
        ops.cholesky(Tensor(-np.eye(2)))
    with pytest.raises(ValueError, match="matrix_solve: the matrix is singular"):
        ops.matrix_solve(square, square)
    with pytest.raises(ValueError, match="inverse: matrix 1 of 2 is singular"):
        ops.inverse(Tensor(np.stack([np.eye(2), np.ones((2, 2))])))
    with pytest.raises(ValueError, match="triangular_solve: the matrix is singular"):
        ops.MatrixTriangularSolve()(Tensor(np.zeros((2, 2))), square)
    with pytest.raises(ValueError, match="det: 'input' must hold square matrices, got 2 by 3"):
        ops.det(wide)
    with pytest.raises(ValueError, match="inverse: 'input' has 1 dims"):
        ops.inverse(Tensor(np.ones(3)))
    with pytest.raises(TypeError, match="float32, float64, complex64 or complex128"):
        ops.inverse(Tensor(np.eye(2).astype(np.float16)))
    with pytest.raises(ValueError, match="eigh: the matrix has no eigenvalues that were found"):
        ops.eigh(Tensor(np.full((3, 3), np.nan)))
    for op in (ops.svd, ops.pinv, lambda x: ops.norm(x, 2)):
        with pytest.raises(ValueError, match="the matrix holds NaN or inf"):
            op(Tensor(np.array([[1.0, np.inf], [2, 3]])))
    with pytest.raises(ValueError, match="columns of q beyond the 2"):
        ops.grad(lambda x: ops.reduce_sum(ops.qr(x, "complete")[0]))(Tensor(np.ones((3, 2))))
    with pytest.raises(ValueError, match="not unique and have no gradient"):
        ops.grad(lambda x: ops.reduce_sum(ops.svd(x, True)[1]))(Tensor(np.eye(3)[:, :2]))
    with pytest.raises(ValueError, match="'fro' or 'nuc'"):
        ops.norm(square, "max")
    with pytest.raises(ValueError, match="'l2_regularizer' must be 0.0"):
        ops.Lstsq(l2_regularizer=0.5)(square, square)
    with pytest.raises(IndexError, match="pivot 4 at 1 is outside of 2 rows"):
        ops.lu_solve(square, square, Tensor([1, 5]))


def test_empty_stacks():
    none = Tensor(np.zeros((0, 3, 3)))
    assert ops.inverse(none).shape == (0, 3, 3)
    assert ops.det(none).shape == (0,)
    assert [t.shape for t in ops.svd(Tensor(np.zeros((2, 0, 3))), True)] == [
        (2, 0),
        (2, 0, 0),
        (2, 3, 3),
    ]
    np.testing.assert_array_equal(ops.det(Tensor(np.zeros((2, 0, 0)))).asnumpy(), [1, 1])


def test_large_stack_is_the_same_on_many_threads():
    a = RNG.normal(size=(300, 6, 6))
    close(ops.inverse(Tensor(a)) @ Tensor(a), np.broadcast_to(np.eye(6), a.shape), 1e-7)
    b = RNG.normal(size=(200, 200))
    close(ops.matrix_solve(Tensor(b), Tensor(b)), np.eye(200), 1e-8)
