"""Jacobians, Hessians and linear approximations against closed forms and finite differences."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, nn, ops

RNG = np.random.default_rng(3)
A, B = RNG.standard_normal((2, 3)), RNG.standard_normal((3, 4))


def differences(f, x, h=1e-6):
    """The Jacobian of a function of arrays by central differences."""
    columns = []
    for i in range(x.size):
        step = np.zeros(x.size)
        step[i] = h
        step = step.reshape(x.shape)
        columns.append((f(x + step) - f(x - step)) / (2 * h))
    return np.stack(columns, -1).reshape(*np.shape(columns[0]), *x.shape)


def product(a, b):
    return ops.tanh(ops.matmul(a, b)), (a * a).sum()


def numpy_product(a, b):
    return np.tanh(a @ b), (a * a).sum()


@pytest.mark.parametrize("way", [ms.jacfwd, ms.jacrev])
@pytest.mark.parametrize("compiled", [False, True])
def test_blocks_of_results_and_arguments(way, compiled):
    jacobian = way(product, grad_position=(0, 1))
    got = (ms.jit(jacobian) if compiled else jacobian)(Tensor(A), Tensor(B))
    for j in range(2):
        want_a = differences(lambda a: numpy_product(a, B)[j], A)  # noqa: B023
        want_b = differences(lambda b: numpy_product(A, b)[j], B)  # noqa: B023
        np.testing.assert_allclose(got[j][0].asnumpy(), want_a, atol=1e-8)
        np.testing.assert_allclose(got[j][1].asnumpy(), want_b, atol=1e-8)


class Net(nn.Cell):
    def construct(self, x, y, z):
        return x**2 + y**2 + z**2, x * y * z


@pytest.mark.parametrize("way", [ms.jacfwd, ms.jacrev])
def test_further_results_pass_through(way):
    x = np.array([[1.0, 2], [3, 4]])
    jacobian, aux = way(Net(), grad_position=0, has_aux=True)(*[Tensor(x)] * 3)
    np.testing.assert_allclose(jacobian.asnumpy().reshape(4, 4), np.diag(2 * x.ravel()))
    np.testing.assert_allclose(aux.asnumpy(), x**3)


@pytest.mark.parametrize("way", [ms.jacfwd, ms.jacrev])
def test_through_a_loop_with_a_tensor_condition(way):
    def f(x):
        while x.max() < 100:
            x = x * x
        return x

    x = np.array([1.5, 1.2, -2.0])
    want = np.diag(8 * x**7)
    np.testing.assert_allclose(way(f)(Tensor(x)).asnumpy(), want)
    np.testing.assert_allclose(ms.jit(way(f))(Tensor(x)).asnumpy(), want)


def cost(a, b):
    return (ops.sin(a) * b * b).sum()


@pytest.mark.parametrize("compiled", [False, True])
def test_hessian(compiled):
    a, b = RNG.standard_normal(3), RNG.standard_normal(3)
    second = ops.hessian(cost, (0, 1))
    got = (ms.jit(second) if compiled else second)(Tensor(a), Tensor(b))
    want = [
        [np.diag(-np.sin(a) * b * b), np.diag(2 * np.cos(a) * b)],
        [np.diag(2 * np.cos(a) * b), np.diag(2 * np.sin(a))],
    ]
    for row, expected in zip(got, want):
        for block, w in zip(row, expected):
            np.testing.assert_allclose(block.asnumpy(), w, atol=1e-12)


def test_hessians_of_a_batch():
    x = RNG.standard_normal((5, 3))
    got = ops.vmap(ops.hessian(lambda v: (v**3).sum() * v[0]))(Tensor(x)).asnumpy()
    for h, v in zip(got, x):
        want = np.diag(6 * v * v[0])
        want[0] += 3 * v**2
        want[:, 0] += 3 * v**2
        np.testing.assert_allclose(h, want)


def test_either_mode_of_either_mode():
    x = RNG.standard_normal(3)
    c = np.einsum("i,j->ij", np.cos(x), np.cos(x)) - np.diag(np.cos(x) ** 2)
    c -= np.diag(np.sin(x) * (np.sin(x).sum() - np.sin(x)))

    def f(v):
        s = ops.sin(v)
        return s.sum() ** 2 / 2 - (s * s).sum() / 2

    for outer in (ms.jacfwd, ms.jacrev):
        for inner in (ms.jacfwd, ms.jacrev, ms.grad):
            got = outer(inner(f))(Tensor(x)).asnumpy()
            np.testing.assert_allclose(got, c, atol=1e-12)


def test_linearize_runs_the_function_once():
    calls = []

    def f(x, y):
        calls.append(1)
        return x * y

    x, y, v = (RNG.standard_normal(4) for _ in range(3))
    value, push = ops.linearize(f, (Tensor(x), Tensor(y)))
    np.testing.assert_allclose(value.asnumpy(), x * y)
    for scale in (1.0, 2.0):
        got = push((Tensor(scale * v), Tensor(v)))
        np.testing.assert_allclose(got.asnumpy(), scale * v * y + x * v)
    assert len(calls) == 1


def test_integers_have_zero_blocks():
    n = Tensor(np.array([1, 2]))
    got = ms.jacrev(lambda a, b: a * b, (0, 1))(Tensor(np.array([3.0, 4.0])), n)
    np.testing.assert_allclose(got[0].asnumpy(), np.diag([1.0, 2.0]))
    np.testing.assert_allclose(got[1].asnumpy(), np.zeros((2, 2)))


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda: ms.jacfwd(cost, 2)(Tensor(A), Tensor(A)), ValueError, "grad_position 2"),
        (lambda: ms.jacfwd(cost, "a")(Tensor(A), Tensor(A)), TypeError, "must be an int"),
        (lambda: ms.jacrev(cost, 0, 1), TypeError, "'has_aux' must be True or False, got 1"),
        (lambda: ms.jacrev(3), TypeError, "'fn' must be a function or Cell"),
        (lambda: ms.jacrev(cost, 0, True)(Tensor(A), Tensor(A)), TypeError, "at least two"),
        (lambda: ops.linearize(cost, (Tensor(A),) * 2)[1](Tensor(A)), ValueError, "1 directions"),
    ],
)
def test_errors(call, kind, text):
    with pytest.raises(kind) as error:
        call()
    assert text in str(error.value)
