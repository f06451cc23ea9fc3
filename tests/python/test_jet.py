"""Taylor mode against closed forms, power series by hand and nested derivatives."""

import math

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, nn, ops

X = np.array([0.3, 1.7, 2.5])


def falling(n, k):
    return math.prod(n - i for i in range(k))


CLOSED = {
    "exp": (ops.exp, lambda x, k: np.exp(x)),
    "log": (ops.log, lambda x, k: (-1) ** (k - 1) * math.factorial(k - 1) / x**k),
    "sin": (ops.sin, lambda x, k: np.sin(x + k * np.pi / 2)),
    "cos": (ops.cos, lambda x, k: np.cos(x + k * np.pi / 2)),
    "sqrt": (ops.sqrt, lambda x, k: falling(0.5, k) * x ** (0.5 - k)),
    "reciprocal": (lambda x: 1 / x, lambda x, k: falling(-1, k) * x ** (-1.0 - k)),
    "power": (lambda x: x**7, lambda x, k: falling(7, k) * x ** (7.0 - k)),
    "product": (lambda x: x * ops.exp(x), lambda x, k: (x + k) * np.exp(x)),
    "sinh": (ops.sinh, lambda x, k: np.cosh(x) if k % 2 else np.sinh(x)),
    "log1p": (ops.log1p, lambda x, k: falling(-1, k - 1) * (1 + x) ** (-float(k))),
}


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("order", [1, 2, 3, 6, 10])
def test_derivatives_of_functions(name, order):
    f, closed = CLOSED[name]
    value, got = ops.derivative(f, Tensor(X), order)
    np.testing.assert_allclose(value.asnumpy(), f(Tensor(X)).asnumpy())
    np.testing.assert_allclose(got.asnumpy(), closed(X, order), rtol=1e-12)
    _, compiled = ms.jit(lambda x: ops.derivative(f, x, order))(Tensor(X))
    np.testing.assert_allclose(compiled.asnumpy(), closed(X, order), rtol=1e-12)


def test_tanh_by_its_differential_equation():
    # y' = 1 - y^2: (k + 1) y_{k+1} = -sum y_i y_{k-i} for k > 0.
    order, x = 20, 0.3
    y = [math.tanh(x), 1 - math.tanh(x) ** 2]
    for k in range(1, order):
        y.append(-sum(y[i] * y[k - i] for i in range(k + 1)) / (k + 1))
    _, got = ops.derivative(ops.tanh, Tensor(x, ms.float64), order)
    assert float(got.asnumpy()) == pytest.approx(y[order] * math.factorial(order), rel=1e-11)


class SinExp(nn.Cell):
    def __init__(self):
        super().__init__()
        self.sin, self.exp = ops.Sin(), ops.Exp()

    def construct(self, x):
        return self.exp(self.sin(x))


def test_published_example():
    primals = Tensor(np.array([[1, 2], [3, 4]], np.float32))
    series = Tensor(np.array([[[1, 1], [1, 1]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]], np.float32))
    value, got = ops.jet(SinExp(), primals, series)
    want = [
        [[1.2533808, -1.0331168], [-1.1400385, -0.3066662]],
        [[-1.2748207, -1.8274734], [0.966121, 0.55551505]],
        [[-4.0515366, 3.6724353], [0.5053504, -0.52061415]],
    ]
    np.testing.assert_allclose(value.asnumpy(), np.exp(np.sin(primals.asnumpy())), rtol=1e-6)
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-5)
    _, third = ops.derivative(SinExp(), primals, 3)
    np.testing.assert_allclose(third.asnumpy(), want[2], rtol=1e-5)


def test_a_curve_through_several_inputs_and_results():
    # x(t) = 2 + 3t + t^2, y(t) = 1 - t + 4 t^2: x y^2 and x / y up to t^3.
    t = np.polynomial.polynomial
    x, y = [2.0, 3, 1], [1.0, -1, 4]
    product = t.polymul(x, t.polymul(y, y))[:4]
    quotient = [2.0]
    for k in range(1, 4):
        top = x[k] if k < 3 else 0
        quotient.append(top - sum(y[j] * quotient[k - j] for j in range(1, min(k, 2) + 1)))
    factorials = np.array([1, 1, 2, 6])

    def series(c):
        return Tensor(np.array([c[1], 2 * c[2], 0.0]))

    (a, b), (da, db) = ops.jet(
        lambda u, v: (u * v * v, u / v),
        (Tensor(2.0, ms.float64), Tensor(1.0, ms.float64)),
        (series(x), series(y)),
    )
    np.testing.assert_allclose([float(a.asnumpy()), *da.asnumpy()], product * factorials)
    np.testing.assert_allclose([float(b.asnumpy()), *db.asnumpy()], quotient * factorials)


def network(x, w, v):
    h = ops.tanh(ops.matmul(x, w))
    return ops.softmax(ops.matmul(h, v), -1).max(-1).sum()


def test_a_network_against_nested_jvp():
    rng = np.random.default_rng(0)
    x, w, v = (Tensor(rng.standard_normal(s)) for s in ((4, 3), (3, 5), (5, 2)))
    d = Tensor(rng.standard_normal((3, 5)))

    def along(f):
        return lambda t: ms.jvp(f, t, Tensor(1.0, ms.float64))[1]

    def curve(t):
        return network(x, w + t * d, v)

    series = ops.stack([d] + [ops.zeros_like(d)] * 3)
    _, got = ops.jet(lambda m: network(x, m, v), w, series)
    nested = curve
    for k in range(4):
        nested = along(nested)
        want = nested(Tensor(0.0, ms.float64)).asnumpy()
        np.testing.assert_allclose(got[k].asnumpy(), want, rtol=1e-9)


def squaring(x):
    while x < 100:
        x = x * x
    if x > 1000:
        return ops.log(x)
    return x


def test_through_loops_and_branches():
    # From 2: 256 = 2^8. From 1.9: 1.9^8 = 169.8; from 3: 6561, whose logarithm is 8 log x.
    for x, closed in (
        (2.0, lambda k: falling(8, k) * 2.0 ** (8 - k)),
        (3.0, lambda k: 8 * (-1) ** (k - 1) * math.factorial(k - 1) / 3.0**k),
    ):
        for order in (1, 2, 4):
            f = lambda v: ops.derivative(squaring, v, order)[1]  # noqa: E731, B023
            for g in (f, ms.jit(f)):
                got = float(g(Tensor(x, ms.float64)).asnumpy())
                assert got == pytest.approx(closed(order), rel=1e-12)


def test_composes_with_the_other_transforms():
    x = Tensor(X)

    def third(v):
        return ops.derivative(lambda u: u * ops.sin(u), v, 3)[1]

    # x sin x: order 3 is -3 sin x - x cos x, order 4 is -4 cos x + x sin x.
    fourth = -4 * np.cos(X) + X * np.sin(X)
    np.testing.assert_allclose(ms.grad(lambda v: third(v).sum())(x).asnumpy(), fourth)
    np.testing.assert_allclose(ops.vmap(ms.grad(third))(x).asnumpy(), fourth)
    np.testing.assert_allclose(ms.jvp(third, x, ops.ones_like(x))[1].asnumpy(), fourth)
    of_gradient = ops.derivative(ms.grad(lambda u: (u * ops.sin(u)).sum()), x, 3)[1]
    np.testing.assert_allclose(of_gradient.asnumpy(), fourth)
    compiled = ms.jit(ops.vmap(lambda v: ops.derivative(squaring, v, 2)[1]))
    got = compiled(Tensor(np.array([2.0, 3.0, 1.5])))
    np.testing.assert_allclose(got.asnumpy(), [56 * 2.0**6, -8 / 9, 240 * 1.5**14])


def test_the_gradient_of_a_loop():
    # 2 x^8's gradient through the loop's stacks: 8 x^7.
    _, got = ops.derivative(ms.grad(squaring), Tensor(2.0, ms.float64), 3)
    assert float(got.asnumpy()) == pytest.approx(8 * 7 * 6 * 5 * 2.0**4)


def test_code_grows_polynomially_with_the_order():
    def lines(order):
        f = ms.jit(lambda x: ops.derivative(lambda v: ops.sin(v) * ops.tanh(v), x, order))
        return f.graph(Tensor(X)).count("\n")

    assert lines(16) < 10 * lines(8)


def test_integers_count_as_floats():
    value, got = ops.derivative(lambda x: x * x * x, Tensor(np.array([1, 2])), 2)
    assert value.dtype == got.dtype == ms.float32
    np.testing.assert_allclose(got.asnumpy(), [6, 12])


T = Tensor(X)


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda: ops.derivative(ops.exp, T, 0), ValueError, "'order' must be at least 1, got 0"),
        (lambda: ops.derivative(ops.exp, T, 1.0), TypeError, "'order' must be an int"),
        (lambda: ops.derivative(ops.exp, 3, 1), TypeError, "'primals' must be a tensor"),
        (lambda: ops.jet(ops.exp, T, (T,)), TypeError, "both a tensor or both a tuple"),
        (lambda: ops.jet(ops.exp, T, T), ValueError, "series 0 must have the shape"),
        (lambda: ops.jet(ops.mul, (T, T), (ops.stack([T]),)), ValueError, "1 series given for 2"),
        (
            lambda: ops.jet(ops.mul, (T, T), (ops.stack([T]), ops.stack([T, T]))),
            ValueError,
            "series 1 has 2 derivatives, series 0 1",
        ),
        (lambda: ops.jet(3, T, ops.stack([T])), TypeError, "'fn' must be a function or Cell"),
    ],
)
def test_errors(call, kind, text):
    with pytest.raises(kind) as error:
        call()
    assert text in str(error.value)
