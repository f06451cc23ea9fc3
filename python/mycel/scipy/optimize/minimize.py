"""Minimization by quasi-Newton methods: BFGS with a matrix (algorithm 6.1 of Nocedal and Wright,
Numerical Optimization), LBFGS with the last steps (algorithm 7.4)."""

from collections import namedtuple

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.scipy._operands import floating, op
from mycel.scipy.optimize.line_search import (
    dot,
    first_step,
    results,
    search,
    value_and_gradient,
    where,
)

__all__ = ["minimize"]

OptimizeResults = namedtuple(
    "OptimizeResults", "x success status fun jac hess_inv nfev njev nit".split()
)

_State = namedtuple("_State", "nit nfev found stuck line x f g before memory".split())


class _Matrix:
    """The inverse Hessian, updated by each step."""

    def __init__(self, x, _history):
        self.start = (op("eye")(x.shape[0], x.shape[0], x.dtype),)

    def direction(self, memory, g):
        return -op("matmul")(memory[0], g)

    def updated(self, memory, s, y):
        (h,) = memory
        rho = op("div_no_nan")(op("ones_like")(dot(s, y)), dot(s, y))
        row = lambda v: op("expand_dims")(v, 0)
        column = lambda v: op("expand_dims")(v, 1)
        hy = op("matmul")(h, y)
        # (1 - rho s y^T) h (1 - rho y s^T) + rho s s^T, taken apart
        cross = column(s) * row(hy)
        fresh = h - rho * (cross + op("transpose")(cross))
        return (fresh + (rho * rho * dot(y, hy) + rho) * column(s) * row(s),)


class _History:
    """The last steps and changes of the gradient, the newest last."""

    def __init__(self, x, history):
        none = op("zeros")((history, x.shape[0]), x.dtype)
        self.size = history
        self.start = (none, none)

    def direction(self, memory, g):
        steps, changes = memory
        rho = [
            op("div_no_nan")(op("ones_like")(d), d)
            for d in (dot(steps[i], changes[i]) for i in range(self.size))
        ]
        alpha = [None] * self.size
        for i in reversed(range(self.size)):
            alpha[i] = rho[i] * dot(steps[i], g)
            g = g - alpha[i] * changes[i]
        last = changes[-1]
        scale = op("div_no_nan")(dot(steps[-1], last), dot(last, last))
        g = g * where(scale > 0, scale, op("ones_like")(scale))
        for i in range(self.size):
            g = g + (alpha[i] - rho[i] * dot(changes[i], g)) * steps[i]
        return -g

    def updated(self, memory, s, y):
        add = lambda rows, v: op("concat")([rows[1:], op("expand_dims")(v, 0)], 0)
        return add(memory[0], s), add(memory[1], y)


_METHODS = {"bfgs": _Matrix, "lbfgs": _History}
_OPTIONS = {
    "bfgs": ("maxiter", "norm", "gtol", "line_search_maxiter"),
    "lbfgs": ("maxiter", "norm", "gtol", "line_search_maxiter", "history_size"),
}


def _run(both, x, model, maxiter, norm, gtol, turns):
    size = lambda g: op("norm")(g, float(norm))
    f, g = both(x)
    f = op("cast")(f, x.dtype)
    count = Tensor(0, mstype.int32)
    # As if the first step were to be |g| / 2 long.
    before = f + op("euclidean_norm")(g) / 2
    start = _State(
        count, count + 1, size(g) < gtol, Tensor(False, mstype.bool_), count, x, f, g, before,
        model.start,
    )  # fmt: skip

    def step(s):
        p = model.direction(s.memory, s.g)
        # A model that rounding has spoiled gives way to the steepest descent.
        down = dot(p, s.g) < 0
        p = where(down, p, -s.g)
        first = first_step(s.f, s.before, dot(p, s.g))
        r = results(search(both, s.x, p, s.f, s.g, first, 1e-4, 0.9, turns))
        move = r.a_k * p
        change = r.g_k - s.g
        curved = dot(move, change) > 0
        memory = where(curved, model.updated(s.memory, move, change), s.memory)
        # Without any better point there is nothing more to do.
        stuck = op("logical_and")(r.failed, op("logical_not")(r.f_k < s.f))
        return _State(
            s.nit + 1, s.nfev + r.nfev, size(r.g_k) < gtol, stuck, r.status, s.x + move, r.f_k,
            r.g_k, s.f, memory,
        )  # fmt: skip

    from mycel.ops._transforms import flatten, unflatten

    flat = []
    key = flatten(start, flat)

    def again(ts):
        s = unflatten(key, iter(ts))
        over = op("logical_or")(s.found, s.stuck)
        return [op("logical_and")(op("logical_not")(over), s.nit < maxiter)]

    def body(ts):
        out = []
        flatten(step(unflatten(key, iter(ts))), out)
        return out

    return unflatten(key, iter(_mycel.while_loop(again, body, flat)))


def _number(name, value, least):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= least:
        raise ValueError(f"minimize: option {name!r} must be at least {least}, got {value!r}")
    return value


@entry
def minimize(
    func, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(),
    tol=None, callback=None, options=None,
):  # fmt: skip
    """A minimum of func(x, *args), a number, near the vector x0.

    method: "BFGS" or "LBFGS". jac(x, *args) gives the gradient, found by differentiation where it
    is None. tol is another name of the option gtol. options: maxiter (200 n), norm (inf: the order
    of the norm of the gradient), gtol (1e-5: where that norm ends the search), line_search_maxiter
    (10) and for LBFGS history_size (20: steps remembered). Result: x, success, status (0 found, 1
    maxiter reached, 2 and more: the line search failed with that status less 2), fun, jac,
    hess_inv (None with LBFGS), nfev, njev, nit. NotImplementedError for other methods, hess, hessp,
    bounds, constraints and callback."""
    refused = dict(hess=hess, hessp=hessp, bounds=bounds, constraints=constraints or None)
    for name, value in {**refused, "callback": callback}.items():
        if value is not None:
            raise NotImplementedError(f"minimize: '{name}' is not supported; 'jac' is")
    if not isinstance(args, tuple):
        raise TypeError(f"minimize: 'args' must be a tuple, got {type(args).__name__}")
    if not isinstance(method, str):
        raise ValueError(f"minimize: 'method' must be 'BFGS' or 'LBFGS', got {method!r}")
    kind = method.lower()
    if kind not in _METHODS:
        raise NotImplementedError(f"minimize: 'method' must be 'BFGS' or 'LBFGS', got {method!r}")
    given = dict(options or {})
    if set(given) - set(_OPTIONS[kind]):
        raise ValueError(
            f"minimize: options of {method} are {', '.join(_OPTIONS[kind])}, got {sorted(given)}"
        )
    x = floating("minimize", "x0", x0)
    if x.ndim != 1 or x.dtype not in (mstype.float32, mstype.float64):
        raise ValueError(f"minimize: 'x0' must be a real vector, got {x.dtype}{x.shape}")
    if tol is not None:
        given.setdefault("gtol", tol)
    limit = given.get("maxiter")
    limit = 200 * x.shape[0] if limit is None else _number("maxiter", limit, 0)
    norm = float(given.get("norm", float("inf")))
    model = _METHODS[kind](x, int(_number("history_size", given.get("history_size", 20), 1)))
    from mycel.ops._transforms import interpreted

    func = interpreted(func)
    slope = interpreted(jac) if jac is not None else None
    both = value_and_gradient(
        lambda v: func(v, *args), None if slope is None else lambda v: slope(v, *args)
    )
    turns = _number("line_search_maxiter", given.get("line_search_maxiter", 10), 1)
    s = _run(both, x, model, limit, norm, _number("gtol", given.get("gtol", 1e-5), 0), turns)
    reached = where(s.stuck, s.line + 2, Tensor(1, mstype.int32))
    status = where(s.found, Tensor(0, mstype.int32), reached)
    inverse = s.memory[0] if kind == "bfgs" else None
    return OptimizeResults(s.x, s.found, status, s.f, s.g, inverse, s.nfev, s.nfev, s.nit)
