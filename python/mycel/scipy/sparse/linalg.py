"""Iterative solvers of a x = b for matrices that may be given as functions: conjugate gradients,
stabilized biconjugate gradients, generalized minimal residuals. All are loops of ops, so they run
eagerly and compiled. Given a matrix, the gradient is that of the exact solution, found by a second
solve; given a function or a CSRTensor, that of the loop."""

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.common.sparse_tensor import CSRTensor
from mycel.scipy._operands import adjoint, floating, matrix, op, together

__all__ = ["bicgstab", "cg", "gmres"]


def _function(fn, name, a, b):
    """a as a function of vectors: a matrix, a function, or None for the identity."""
    if a is None:
        return lambda v: v
    if isinstance(a, Tensor) or not callable(a):
        a = matrix(fn, name, a, square=True)
        if a.ndim != 2 or a.shape[-1] != b.shape[0]:
            raise ValueError(f"{fn}: {name} of shape {a.shape} and b of shape {b.shape} do not fit")
        return lambda v: op("matmul")(op("cast")(a, v.dtype), v)
    from mycel.ops._transforms import interpreted

    return interpreted(a)


def _product_with(fn, a, b):
    """A sparse matrix as a function of vectors."""
    if a.shape[-1] != b.shape[0] or a.shape[0] != a.shape[-1]:
        raise ValueError(f"{fn}: A of shape {a.shape} and b of shape {b.shape} do not fit")
    return lambda v: op("reshape")(a.mm(op("reshape")(v, (-1, 1))), v.shape)


def _dot(a, b):
    return op("reduce_sum")(op("conj")(a) * b)


def _size(a):
    return op("euclidean_norm")(a)


def _ratio(a, b):
    """a / b, and 0 where b is: a solver that has arrived stays."""
    return op("div_no_nan")(a, b)


def _count(fn, name, value, otherwise):
    if value is None:
        return otherwise
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{fn}: {name!r} must be an int of at least 1 or None, got {value!r}")
    return value


class _Problem:
    """What the solvers share: x0, the size of a small enough residual, preconditioner, steps."""

    def __init__(self, fn, a, b, x0, tol, atol, maxiter, preconditioner):
        self.a = _function(fn, "A", a, b)
        self.m = _function(fn, "M", preconditioner, b)
        self.b = b
        self.x0 = op("zeros_like")(b) if x0 is None else x0
        self.maxiter = _count(fn, "maxiter", maxiter, 10 * b.size)
        self.enough = op("maximum")(_size(b) * tol, Tensor(float(atol), _size(b).dtype))

    def loop(self, unfinished, step, state):
        """step(state) while residuals are too large and steps are left; (state, steps)."""
        limit = self.maxiter

        def again(ts):
            return [op("logical_and")(unfinished(*ts[1:]), ts[0] < limit)]

        start = Tensor(0, mstype.int32)
        out = _mycel.while_loop(again, lambda ts: [ts[0] + 1, *step(*ts[1:])], [start, *state])
        return out[1:], out[0]

    def info(self, r, steps):
        """0, or the number of steps after which the residual was still too large."""
        return op("select")(_size(r) > self.enough, steps, op("zeros_like")(steps))


def _cg(p):
    def step(x, r, d, rho):
        q = p.a(d)
        alpha = _ratio(rho, _dot(d, q))
        x, r = x + alpha * d, r - alpha * q
        z = p.m(r)
        after = _dot(r, z)
        return x, r, z + _ratio(after, rho) * d, after

    r = p.b - p.a(p.x0)
    z = p.m(r)
    start = [p.x0, r, z, _dot(r, z)]
    (x, r, _, _), steps = p.loop(lambda x, r, d, rho: _size(r) > p.enough, step, start)
    return x, p.info(r, steps)


def _bicgstab(p):
    first = p.b - p.a(p.x0)

    def step(x, r, d, v, rho, alpha, omega):
        after = _dot(first, r)
        d = r + _ratio(after, rho) * _ratio(alpha, omega) * (d - omega * v)
        y = p.m(d)
        v = p.a(y)
        alpha = _ratio(after, _dot(first, v))
        s = r - alpha * v
        z = p.m(s)
        t = p.a(z)
        omega = _ratio(_dot(t, s), _dot(t, t))
        return x + alpha * y + omega * z, s - omega * t, d, v, after, alpha, omega

    one, none = _dot(p.b, p.b) * 0 + 1, op("zeros_like")(p.b)
    start = [p.x0, first, none, none, one, one, one]
    (x, r, *_), steps = p.loop(lambda x, r, *_: _size(r) > p.enough, step, start)
    return x, p.info(r, steps)


def _arnoldi(p, v, restart, unfinished):
    """Orthonormal vectors of the space of v, m a v, ..., as columns, and h with (m a) v = v h.
    Columns that were not made are those of the identity, which add nothing to a solution."""
    n = v.shape[0]
    places = Tensor(list(range(restart + 1)), mstype.int32)
    at = lambda j: op("cast")(op("equal")(places, j), v.dtype)
    outer = lambda x, y: op("expand_dims")(x, -1) * op("expand_dims")(y, 0)

    def step(j, basis, h):
        w = p.m(p.a(op("matmul")(basis, at(j))))
        size = _size(w)
        column = op("zeros_like")(at(j))
        for _ in range(2):  # twice is enough to be orthogonal
            part = op("matmul")(adjoint(basis), w)
            w, column = w - op("matmul")(basis, part), column + part
        rest = _size(w)
        tiny = op("cast")(rest <= size * (4e-16 if _is_wide(v) else 2e-7), rest.dtype)
        rest = rest * (1 - tiny)  # the space has no further vector
        basis = basis + outer(_ratio(w, op("cast")(rest, w.dtype)) * (1 - tiny), at(j + 1))
        empty = op("cast")(op("equal")(size, 0), rest.dtype)
        column = column + (rest + empty) * at(j + 1)
        return [j + 1, basis, h + outer(column - at(j + 1), at(j)[:restart])]

    zero = Tensor(0, mstype.int32)
    below = op("cast")(
        op("equal")(op("expand_dims")(places, -1), op("expand_dims")(places[:restart] + 1, 0)),
        v.dtype,
    )
    basis = outer(v, at(zero)) + op("zeros")((n, restart + 1), v.dtype)

    def again(ts):
        return [op("logical_and")(unfinished(ts[2]), ts[0] < restart)]

    _, basis, h = _mycel.while_loop(again, lambda ts: step(*ts), [zero, basis, below])
    return basis, h


def _is_wide(v):
    return v.dtype in (mstype.float64, mstype.complex128)


def _gmres(p, restart, incremental):
    shape = p.b.shape
    restart = min(restart, p.b.size)
    flat = lambda v: op("reshape")(v, (-1,))
    q = _Flat(p, shape)
    first = Tensor([1.0] + [0.0] * restart, p.b.dtype)

    def small(h, beta):
        """y that makes |beta e0 - h y| least, and how small that is."""
        right = op("expand_dims")(first * beta, -1)
        y = op("lstsq")(h, right)
        return flat(y), _size(right - op("matmul")(h, y))

    def step(x, r):
        z = q.m(r)
        beta = _size(z)
        v = _ratio(z, op("cast")(beta, z.dtype))
        # The size of the preconditioned residual stands for that of the residual itself.
        goal = _ratio(q.enough, _size(r)) * beta
        unfinished = lambda h: small(h, beta)[1] > goal
        basis, h = _arnoldi(
            q, v, restart, unfinished if incremental else lambda h: Tensor(True, mstype.bool_)
        )
        y, _ = small(h, beta)
        x = x + op("matmul")(basis[:, :restart], y)
        return x, flat(p.b) - q.a(x)

    start = flat(p.x0)
    (x, r), steps = p.loop(lambda x, r: _size(r) > p.enough, step, [start, flat(p.b) - q.a(start)])
    return op("reshape")(x, shape), p.info(r, steps)


class _Flat:
    """A problem whose vectors have one dim."""

    def __init__(self, p, shape):
        around = lambda f: lambda v: op("reshape")(f(op("reshape")(v, shape)), (-1,))
        self.a, self.m, self.enough = around(p.a), around(p.m), p.enough


def _solve(fn, method, a, b, x0, tol, atol, maxiter, preconditioner):
    """method(problem), differentiated through the exact solution where a is a matrix."""
    b = floating(fn, "b", b)
    if b.ndim == 0 or (b.ndim > 1 and b.shape[1:] != (1,) * (b.ndim - 1)):
        raise ValueError(f"{fn}: 'b' must be a vector or a column, got shape {b.shape}")
    if x0 is not None:
        b, x0 = together(b, floating(fn, "x0", x0))
        if x0.shape != b.shape:
            raise ValueError(f"{fn}: x0 of shape {x0.shape} and b of shape {b.shape} do not fit")
    if isinstance(a, CSRTensor):
        a = _product_with(fn, a, b)
    if callable(a) and not isinstance(a, Tensor):
        return method(_Problem(fn, a, b, x0, tol, atol, maxiter, preconditioner))
    a, b = together(matrix(fn, "A", a, square=True), b)
    start = op("zeros_like")(b) if x0 is None else op("cast")(x0, b.dtype)
    fixed = preconditioner if callable(preconditioner) else None
    given = [] if preconditioner is None or fixed is not None else [
        matrix(fn, "M", preconditioner, square=True)
    ]  # fmt: skip

    def forward(a, b, start, *m):
        m = m[0] if m else fixed
        return method(_Problem(fn, a, b, start, tol, atol, maxiter, m))

    def backward(a, b, start, *rest):
        (x, _), seeds = rest[-2:]
        turned = [adjoint(m) for m in rest[:-2]] or [None]
        db, _ = _solve(fn, method, adjoint(a), seeds[0], None, tol, atol, maxiter, turned[0])
        flat = lambda v: op("reshape")(v, (-1,))
        da = op("expand_dims")(flat(db), -1) * op("expand_dims")(flat(op("conj")(x)), 0)
        zeros = [op("zeros_like")(v) for v in (start, *rest[:-2])]
        return (-da, db, *zeros)

    from mycel.ops._transforms import custom_gradient

    return custom_gradient(forward, backward, (a, b, start, *given))


@entry
def cg(A, b, x0=None, *, tol=1e-05, atol=0.0, maxiter=None, M=None):  # noqa: N803
    """(x, info): x with A x = b for a Hermitian positive definite A, by conjugate gradients
    (Hestenes and Stiefel 1952).

    A is a matrix, a CSRTensor or a function of a vector; M, which stands for the inverse of A, is a
    matrix or a function. b and x0
    (zeros unless given) are vectors [n] or [n, 1]. Ends when |b - A x| <= max(tol |b|, atol), or
    after maxiter steps, 10 n unless given. info is an int32 tensor: 0 on success, else the steps
    made."""
    return _solve("cg", _cg, A, b, x0, tol, atol, maxiter, M)


@entry
def bicgstab(A, b, x0=None, *, tol=1e-05, atol=0.0, maxiter=None, M=None):  # noqa: N803
    """(x, info) for any regular A, by stabilized biconjugate gradients (van der Vorst 1992);
    arguments as those of cg."""
    return _solve("bicgstab", _bicgstab, A, b, x0, tol, atol, maxiter, M)


@entry
def gmres(
    A, b, x0=None, *, tol=1e-05, atol=0.0, restart=20, maxiter=None, M=None,  # noqa: N803
    solve_method="batched",
):  # fmt: skip
    """(x, info) for any regular A, by minimal residuals over spaces of up to `restart` vectors
    (Saad and Schultz 1986); maxiter counts restarts, other arguments are those of cg. "batched"
    makes every space in full, "incremental" stops within one as soon as the residual is small."""
    restart = _count("gmres", "restart", restart, 20)
    if solve_method not in ("batched", "incremental"):
        raise ValueError(
            f"gmres: 'solve_method' must be 'batched' or 'incremental', got {solve_method!r}"
        )
    method = lambda p: _gmres(p, restart, solve_method == "incremental")
    return _solve("gmres", method, A, b, x0, tol, atol, maxiter, M)
