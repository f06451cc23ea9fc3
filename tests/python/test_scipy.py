"""The SciPy-like module against SciPy."""

import mycel as ms
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from mycel import Tensor, ops
from mycel.scipy import linalg, optimize
from mycel.scipy.sparse import linalg as iterative

RNG = np.random.default_rng(11)
A = RNG.normal(size=(5, 5))
P = A @ A.T + np.eye(5)
B = RNG.normal(size=(5, 2))


def close(got, want, tol=1e-9):
    assert got.shape == want.shape
    np.testing.assert_allclose(got.asnumpy(), want, tol, tol)


def test_block_diag():
    parts = [np.array([[1, 0], [0, 1]]), np.array([[3, 4, 5], [6, 7, 8]]), np.array([[7]])]
    got = linalg.block_diag(*map(Tensor, parts))
    np.testing.assert_array_equal(got.asnumpy(), scipy.linalg.block_diag(*parts))


def test_inverse_and_determinant():
    close(linalg.inv(Tensor(A)), scipy.linalg.inv(A))
    close(linalg.expm(Tensor(A)), scipy.linalg.expm(A))
    close(linalg.det(Tensor(A)), np.array(scipy.linalg.det(A)))
    whole = np.array([[0, 2, 3], [4, 5, 6], [7, 8, 9]], np.int32)
    assert linalg.det(Tensor(whole)).dtype == ms.float64
    close(linalg.det(Tensor(whole)), np.array(3.0))
    close(linalg.inv(Tensor(whole)), np.linalg.inv(whole))


@pytest.mark.parametrize("lower", [False, True])
def test_cholesky(lower):
    close(linalg.cholesky(Tensor(P), lower), scipy.linalg.cholesky(P, lower))
    c, flag = linalg.cho_factor(Tensor(P), lower)
    assert flag is lower
    for b in (B, B[:, 0]):
        close(linalg.cho_solve((c, flag), Tensor(b)), np.linalg.solve(P, b))


@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_solve_triangular(trans, lower, unit):
    a = A + 3 * np.eye(5) + 1j * A.T
    for b in (B, B[:, 0]):
        want = scipy.linalg.solve_triangular(a, b, trans, lower, unit)
        close(linalg.solve_triangular(Tensor(a), Tensor(b), trans, lower, unit), want)


@pytest.mark.parametrize("shape", [(5, 5), (5, 3), (3, 5)])
def test_lu(shape):
    a = A[: shape[0], : shape[1]]
    for got, want in zip(linalg.lu(Tensor(a)), scipy.linalg.lu(a)):
        close(got, want)
    for got, want in zip(linalg.lu(Tensor(a), True), scipy.linalg.lu(a, True)):
        close(got, want)
    if shape[0] != shape[1]:
        return
    packed, pivots = linalg.lu_factor(Tensor(a))
    want = scipy.linalg.lu_factor(a)
    close(packed, want[0])
    np.testing.assert_array_equal(pivots.asnumpy(), want[1])
    for trans in (0, 1, 2):
        for b in (B, B[:, 0]):
            close(
                linalg.lu_solve((packed, pivots), Tensor(b), trans),
                scipy.linalg.lu_solve(want, b, trans),
            )


@pytest.mark.parametrize("lower", [False, True])
def test_eigh(lower):
    h = A + A.T + 1j * (A - A.T)
    part = np.tril(h) if lower else np.triu(h)
    w, v = linalg.eigh(Tensor(part), lower=lower)
    close(w, np.linalg.eigvalsh(h))
    np.testing.assert_allclose(h @ v.asnumpy(), v.asnumpy() * w.asnumpy(), 1e-9, 1e-9)
    close(linalg.eigh(Tensor(part), lower=lower, eigvals_only=True), np.linalg.eigvalsh(h))
    w, v = linalg.eigh(Tensor(part), lower=lower, eigvals=(1, 3))
    assert v.shape == (5, 3)
    close(w, np.linalg.eigvalsh(h)[1:4])


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_generalized_eigh(kind):
    h = A + A.T
    want = scipy.linalg.eigh(h, P, type=kind)
    w, v = linalg.eigh(Tensor(h), Tensor(P), type=kind)
    close(w, want[0])
    # Vectors are normed alike; their signs are free.
    np.testing.assert_allclose(np.abs(v.asnumpy()), np.abs(want[1]), 1e-8, 1e-8)


def test_refusals():
    with pytest.raises(ValueError, match="inv: 'a' must be a square matrix"):
        linalg.inv(Tensor(B))
    with pytest.raises(ValueError, match="det: 'a' must be a matrix"):
        linalg.det(Tensor(B[0]))
    with pytest.raises(TypeError, match="Float16"):
        linalg.inv(Tensor(A.astype(np.float16)))
    with pytest.raises(ValueError, match="'trans' must be"):
        linalg.solve_triangular(Tensor(A), Tensor(B), trans=3)
    with pytest.raises(ValueError, match="do not fit"):
        linalg.solve_triangular(Tensor(A), Tensor(B[:3]))
    with pytest.raises(ValueError, match="'type' must be 1, 2 or 3"):
        linalg.eigh(Tensor(A), type=4)
    with pytest.raises(ValueError, match="not positive definite"):
        linalg.cholesky(Tensor(-P))


SOLVERS = {
    "cg": (iterative.cg, P),
    "bicgstab": (iterative.bicgstab, A + 6 * np.eye(5)),
    "gmres": (iterative.gmres, A),
}


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_iterative(name, dtype):
    solve, a = SOLVERS[name]
    if dtype == np.complex128:  # Hermitian for cg
        a = a + 0.3j * (A - A.T)
        a = a if name != "cg" else (a + a.conj().T) / 2 + np.eye(5) * 3
    a, b = a.astype(dtype), B[:, 0].astype(dtype)
    tol, want = (1e-5, 1e-3) if dtype == np.float32 else (1e-11, 1e-8)
    x, info = solve(Tensor(a), Tensor(b), tol=tol)
    assert info.asnumpy() == 0
    close(x, np.linalg.solve(a, b), want)
    close(solve(Tensor(a), Tensor(b[:, None]), tol=tol)[0], x.asnumpy()[:, None], want)
    jacobi = np.diag(1 / np.diag(a))
    close(solve(Tensor(a), Tensor(b), tol=tol, M=Tensor(jacobi))[0], x.asnumpy(), want)
    close(solve(Tensor(a), Tensor(b), Tensor(x), tol=tol)[0], x.asnumpy(), want)
    times = lambda v: ops.matmul(Tensor(a), v)
    close(solve(times, Tensor(b), tol=tol)[0], x.asnumpy(), want)


@pytest.mark.parametrize("name", SOLVERS)
def test_gradients_of_solutions(name):
    """With x = a^-1 b and the loss x.x: db = 2 a^-T x, da = -db x^T."""
    solve, a = SOLVERS[name]
    b = B[:, 0]
    loss = lambda m, v: ops.reduce_sum(solve(m, v, tol=1e-12)[0] ** 2)
    da, db = ops.grad(loss, (0, 1))(Tensor(a), Tensor(b))
    x = np.linalg.solve(a, b)
    want = np.linalg.solve(a.T, 2 * x)
    close(db, want, 1e-7)
    close(da, -np.outer(want, x), 1e-7)
    # The gradient of db's sum, by differences of the closed form.
    total = lambda v: ops.reduce_sum(ops.grad(lambda u: loss(Tensor(a), u))(v))
    inverse = np.linalg.inv(a)
    close(ops.grad(total)(Tensor(b)), 2 * inverse.T @ inverse @ np.ones(5), 1e-6)
    # Through the loop, where a is a function.
    of = lambda v: ops.reduce_sum(solve(lambda u: ops.matmul(Tensor(a), u), v, tol=1e-12)[0] ** 2)
    close(ops.grad(of)(Tensor(b)), want, 1e-5)


def test_gmres_restarts():
    a = np.eye(30) * 4 + RNG.normal(size=(30, 30)) / 4
    b = RNG.normal(size=30)
    want = np.linalg.solve(a, b)
    for method in ("batched", "incremental"):
        for restart in (3, 30, 50):
            x, info = iterative.gmres(
                Tensor(a), Tensor(b), tol=1e-10, restart=restart, solve_method=method
            )
            assert info.asnumpy() == 0
            close(x, want, 1e-7)
    # A space that ends early: two eigenvalues, solved within two steps.
    d = np.diag([2.0, 2, 5, 5])
    x, info = iterative.gmres(Tensor(d), Tensor(np.ones(4)), tol=1e-12)
    close(x, 1 / np.diag(d))
    x, info = iterative.gmres(Tensor(a), Tensor(b * 0))
    close(x, b * 0)


@pytest.mark.parametrize("name", SOLVERS)
def test_sparse_matrices(name):
    solve, a = SOLVERS[name]
    rows = Tensor(np.arange(0, 26, 5, dtype=np.int32))
    columns = Tensor(np.tile(np.arange(5, dtype=np.int32), 5))
    want = np.linalg.solve(a, B[:, 0])

    def solution(values, b):
        return solve(ms.CSRTensor(rows, columns, values, (5, 5)), b, tol=1e-12)[0]

    values = Tensor(a.reshape(-1))
    close(solution(values, Tensor(B[:, 0])), want, 1e-7)
    close(solution(values, Tensor(B[:, :1])), want[:, None], 1e-7)
    total = lambda v, b: ops.reduce_sum(solution(v, b))
    dv, db = ops.grad(total, (0, 1))(values, Tensor(B[:, 0]))
    slope = np.linalg.solve(a.T, np.ones(5))
    close(db, slope, 1e-5)
    # Conjugate gradients take the matrix for symmetric: only that part of a slope means anything.
    shown = (lambda m: m + m.T) if name == "cg" else lambda m: m
    dv = shown(dv.asnumpy().reshape(5, 5))
    np.testing.assert_allclose(dv, shown(-np.outer(slope, want)), 1e-5, 1e-5)


def test_solvers_that_do_not_arrive():
    x, info = iterative.cg(Tensor(P), Tensor(B[:, 0]), tol=1e-14, maxiter=2)
    assert info.asnumpy() == 2
    with pytest.raises(ValueError, match="'maxiter' must be an int of at least 1"):
        iterative.cg(Tensor(P), Tensor(B[:, 0]), maxiter=0)
    with pytest.raises(ValueError, match="'solve_method'"):
        iterative.gmres(Tensor(P), Tensor(B[:, 0]), solve_method="best")
    with pytest.raises(ValueError, match="must be a vector or a column"):
        iterative.cg(Tensor(P), Tensor(B))


def rosenbrock(x):
    return ops.reduce_sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def himmelblau(p):
    x, y = p[0], p[1]
    return (x**2 + y - 11.0) ** 2 + (x + y**2 - 7.0) ** 2


def matyas(p):
    x, y = p[0], p[1]
    return 0.26 * (x**2 + y**2) - 0.48 * x * y


FUNCTIONS = [
    (rosenbrock, [-1.2, 1.0, 0.5], [1, 1, 1]),
    (himmelblau, [0.0, 0.0], [3, 2]),
    (matyas, [1.0, -2.0], [0, 0]),
]


@pytest.mark.parametrize("method", ["BFGS", "LBFGS", "bfgs"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fn, start, want", FUNCTIONS)
def test_minimize(fn, start, want, dtype, method):
    r = optimize.minimize(fn, Tensor(np.array(start, dtype)), method=method, tol=1e-4)
    assert r.success.asnumpy() and r.status.asnumpy() == 0
    np.testing.assert_allclose(r.x.asnumpy(), want, 0, 5e-3)
    assert np.abs(r.jac.asnumpy()).max() < 1e-4
    assert r.nit.asnumpy() <= r.nfev.asnumpy() < 120
    if method == "LBFGS":
        assert r.hess_inv is None


def test_minimize_with_arguments():
    fn = lambda x, a, b: ops.reduce_sum(a * (x - b) ** 2)
    jac = lambda x, a, b: 2 * a * (x - b)
    a, b = np.array([1.0, 10.0, 0.1]), np.array([1.0, -2.0, 3.0])
    for given in (None, jac):
        r = optimize.minimize(
            fn, Tensor(np.zeros(3)), (Tensor(a), Tensor(b)), "BFGS", given, options={"gtol": 1e-9}
        )
        close(r.x, b, 1e-7)
        # Of a quadratic function the inverse Hessian is found, too.
        close(r.hess_inv, np.diag(1 / (2 * a)), 2e-2)
    args = (Tensor(a), Tensor(b))
    r = optimize.minimize(fn, Tensor(np.zeros(3)), args, "BFGS", options={"maxiter": 1})
    assert r.status.asnumpy() == 1 and not r.success.asnumpy() and r.nit.asnumpy() == 1
    options = {"history_size": 2, "norm": 2, "line_search_maxiter": 20}
    r = optimize.minimize(fn, Tensor(np.zeros(3)), args, "LBFGS", options=options)
    np.testing.assert_allclose(r.x.asnumpy(), b, 1e-3, 1e-3)


def test_minimize_refuses():
    fn, x = himmelblau, Tensor([0.0, 0.0])
    with pytest.raises(ValueError, match="'method' must be 'BFGS' or 'LBFGS'"):
        optimize.minimize(fn, x)
    with pytest.raises(NotImplementedError, match="'LAGRANGE'"):
        optimize.minimize(fn, x, method="LAGRANGE")
    with pytest.raises(NotImplementedError, match="'bounds' is not supported"):
        optimize.minimize(fn, x, method="BFGS", bounds=[(0, 1)])
    with pytest.raises(ValueError, match="options of BFGS are"):
        optimize.minimize(fn, x, method="BFGS", options={"history_size": 3})
    with pytest.raises(TypeError, match="'args' must be a tuple"):
        optimize.minimize(fn, x, [1], "BFGS")
    with pytest.raises(ValueError, match="must be a real vector"):
        optimize.minimize(fn, Tensor([[0.0, 0.0]]), method="BFGS")


def test_in_compiled_functions():
    """All of it inside one compiled function, and differentiated there."""

    def all_of_it(a, b):
        lower, flag = linalg.cho_factor(a, lower=True)
        x = linalg.cho_solve((lower, flag), b)
        y, info = iterative.gmres(a, b, tol=1e-12)
        r = optimize.minimize(lambda v: ops.reduce_sum((v - x) ** 2), b, method="LBFGS")
        return linalg.det(a) * ops.reduce_sum((x + y) * b), info, r.x

    with_gradient = ms.jit(lambda a, b: ops.grad(lambda m, v: all_of_it(m, v)[0])(a, b))
    value, info, x = ms.jit(all_of_it)(Tensor(P), Tensor(B[:, 0]))
    want = np.linalg.solve(P, B[:, 0])
    close(value, np.array(2 * np.linalg.det(P) * want @ B[:, 0]), 1e-7)
    close(x, want, 1e-4)
    assert info.asnumpy() == 0
    inner = want @ B[:, 0]
    slope = 2 * np.linalg.det(P) * (inner * np.linalg.inv(P) - np.outer(want, want))
    got = with_gradient(Tensor(P), Tensor(B[:, 0])).asnumpy()
    # Only the symmetric part is told: a factorization reads one triangle's mean.
    np.testing.assert_allclose((got + got.T) / 2, slope, 1e-6, 1e-6)


@pytest.mark.parametrize("fn, start, _", FUNCTIONS)
def test_line_search(fn, start, _):
    x = np.array(start)
    value, slope = fn(Tensor(x)), ops.grad(fn)(Tensor(x)).asnumpy()
    for scale in (1e-3, 1.0, 100.0):
        p = -slope * scale
        r = optimize.line_search(fn, Tensor(x), Tensor(p), maxiter=40)
        assert not r.failed.asnumpy() and r.status.asnumpy() == 0
        a, downhill = r.a_k.asnumpy(), slope @ p
        assert r.f_k.asnumpy() <= value.asnumpy() + 1e-4 * a * downhill
        assert abs(r.g_k.asnumpy() @ p) <= -0.9 * downhill
        np.testing.assert_allclose(r.f_k.asnumpy(), fn(Tensor(x + a * p)).asnumpy(), 1e-9)
    uphill = optimize.line_search(fn, Tensor(x), Tensor(slope), maxiter=5)
    assert uphill.failed.asnumpy() and uphill.status.asnumpy() == 3
