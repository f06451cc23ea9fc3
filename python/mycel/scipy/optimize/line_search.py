"""A step length along a direction that satisfies the strong Wolfe conditions: algorithms 3.5
(bracketing) and 3.6 (zoom) of Nocedal and Wright, Numerical Optimization, as one loop with one
evaluation of the function a turn."""

from collections import namedtuple

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.scipy._operands import floating, op

__all__ = ["line_search"]

LineSearchResults = namedtuple(
    "LineSearchResults", "failed nit nfev ngev k a_k f_k g_k status".split()
)

# What the loop carries: a point is a step length with the value and the slope there.
_Point = namedtuple("_Point", "a f d")
_State = namedtuple(
    "_State", "turn zooming done failed low high last found gradient nfev".split()
)  # fmt: skip


def value_and_gradient(fn, jac):
    """x -> (fn(x), its gradient), by `jac` where it is given."""
    from mycel.ops._transforms import interpreted, value_and_grad

    if jac is None:
        return value_and_grad(fn)
    fn, jac = interpreted(fn), interpreted(jac)
    return lambda x: (fn(x), jac(x))


def where(condition, a, b):
    """select on tensors and, element by element, on tuples of them."""
    if isinstance(a, tuple):
        parts = [where(condition, x, y) for x, y in zip(a, b)]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    return op("select")(condition, a, b)


def dot(a, b):
    return op("reduce_sum")(a * b)


def _middle(low, high, cubic=True):
    """The minimum of the cubic through both points with their slopes, or the middle of the interval
    where it lies too near to an end."""
    width = high.a - low.a
    t = low.d + high.d - 3 * op("div_no_nan")(low.f - high.f, low.a - high.a)
    inner = t * t - low.d * high.d
    root = op("sqrt")(op("relu")(inner)) * op("sign")(width)
    share = 1 - op("div_no_nan")(high.d + root - t, high.d - low.d + 2 * root)
    fits = op("logical_and")(inner >= 0, op("logical_and")(share > 0.1, share < 0.9))
    return low.a + width * where(fits, share, op("zeros_like")(share) + 0.5)


def search(f, xk, pk, start, gradient, first, c1, c2, maxiter):
    """The loop, from f and slope `start` at 0, with `first` as the first step length."""
    zero = op("zeros_like")(start)
    slope = dot(gradient, pk)
    origin = _Point(zero, start, slope)
    no, count = Tensor(False, mstype.bool_), Tensor(0, mstype.int32)
    state = _State(count, no, no, no, origin, origin, origin, origin, gradient, count)

    def turn(s):
        trial = where(s.zooming, _middle(s.low, s.high), where(s.turn > 0, s.last.a * 2, first))
        value, g = f(xk + trial * pk)
        p = _Point(trial, op("cast")(value, zero.dtype), dot(g, pk))
        steep = op("logical_not")(p.f <= start + c1 * trial * slope)  # NaN is too high, too
        flat = op("abs")(p.d) <= -c2 * slope
        # Bracketing compares with the last point, zooming with the best one so far.
        rose = op("logical_and")(p.f >= s.low.f, op("logical_or")(s.zooming, s.turn > 0))
        high = op("logical_or")(steep, rose)
        done = op("logical_and")(op("logical_not")(high), flat)
        turned = where(s.zooming, p.d * (s.high.a - s.low.a) >= 0, p.d >= 0)
        # The new interval: beyond the point, or between it and the old best.
        low = where(high, s.low, p)
        other = where(op("logical_or")(turned, op("logical_not")(s.zooming)), s.low, s.high)
        upper = where(high, p, other)
        zooming = op("logical_or")(s.zooming, op("logical_or")(high, turned))
        # An interval that rounding has closed holds nothing better.
        closed = op("abs")(upper.a - low.a) <= 4 * op("abs")(low.a) * _epsilon(zero)
        failed = op("logical_and")(op("logical_and")(zooming, closed), op("logical_not")(done))
        better = op("logical_not")(high)
        return _State(
            s.turn + 1, zooming, done, failed, low, upper, p, where(better, p, s.found),
            where(better, g, s.gradient), s.nfev + 1,
        )  # fmt: skip

    from mycel.ops._transforms import flatten, unflatten

    flat = []
    key = flatten(state, flat)

    def again(ts):
        s = unflatten(key, iter(ts))
        over = op("logical_or")(s.done, s.failed)
        return [op("logical_and")(op("logical_not")(over), s.turn < maxiter)]

    def body(ts):
        out = []
        flatten(turn(unflatten(key, iter(ts))), out)
        return out

    return unflatten(key, iter(_mycel.while_loop(again, body, flat)))


def _epsilon(x):
    return 2.2e-16 if x.dtype == mstype.float64 else 1.2e-7


@entry
def line_search(
    f, xk, pk, jac=None, gfk=None, old_fval=None, old_old_fval=None, c1=1e-4, c2=0.9, maxiter=20
):
    """A step a_k with f(xk + a_k pk) <= f(xk) + c1 a_k slope and |slope there| <= c2 |slope|.

    f takes a vector and gives a number; pk must lead downhill. jac gives the gradient, found by
    differentiation where it is None. gfk and old_fval are gradient and value at xk, computed when
    absent; old_old_fval, the value before, sets the first step tried, which else is 1. Result:
    failed, nit, nfev, ngev, k (all turns of the loop), a_k, f_k, g_k at the best point found,
    status: 0, 1 for an interval without a solution, 3 when maxiter turns did not suffice."""
    xk, pk = floating("line_search", "xk", xk), floating("line_search", "pk", pk)
    if xk.ndim != 1 or pk.shape != xk.shape:
        raise ValueError(
            f"line_search: xk and pk must be vectors of one length, got {xk.shape}, {pk.shape}"
        )
    both = value_and_gradient(f, jac)
    extra = 0
    if gfk is None or old_fval is None:
        old_fval, gfk = both(xk)
        extra = 1
    start = op("cast")(old_fval, xk.dtype)
    first = first_step(start, old_old_fval, dot(gfk, pk))
    return results(search(both, xk, pk, start, gfk, first, c1, c2, maxiter), extra)


def first_step(start, before, slope):
    """What would lower f as much as the step before did (Nocedal and Wright 3.60), at most 1."""
    one = op("ones_like")(start)
    if before is None:
        return one
    guess = 1.01 * 2 * (start - before) / slope
    good = op("logical_and")(op("isfinite")(guess), guess > 0)
    return where(good, op("minimum")(guess, one), one)


def results(s, extra=0):
    failed = op("logical_not")(s.done)
    three, one = Tensor(3, mstype.int32), Tensor(1, mstype.int32)
    status = where(failed, where(s.failed, one, three), Tensor(0, mstype.int32))
    calls = s.nfev + extra
    return LineSearchResults(
        failed, s.turn, calls, calls, s.turn, s.found.a, s.found.f, s.gradient, status
    )
