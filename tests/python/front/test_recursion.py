"""Functions that call themselves on a tensor: one function of the compiled program, its gradients
and what is refused."""

import math

import mycel as ms
import numpy as np
import pytest
from mycel import Parameter, Tensor, nn, ops


@pytest.fixture
def compiled(mode):
    return ms.jit if mode == "graph" else lambda f: f


def fact(n):
    if n <= 1:
        return 1
    return n * fact(n - 1)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def test_one_call(compiled):
    f = compiled(fact)
    assert [int(f(Tensor(n))) for n in (0, 1, 5, 12)] == [math.factorial(n) for n in (0, 1, 5, 12)]
    assert getattr(f, "signatures", 1) == 1


def test_two_calls(compiled):
    f = compiled(fib)
    assert [int(f(Tensor(n))) for n in range(10)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


def test_the_graph_holds_one_function():
    text = ms.jit(fact).graph(Tensor(5))
    assert text.count("call(") == 2 and "while_loop" not in text  # from outside and from inside


def even(n):
    if n == 0:
        return True
    return odd(n - 1)


def odd(n):
    if n == 0:
        return False
    return even(n - 1)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def test_functions_that_call_each_other(compiled):
    f, g, h = compiled(even), compiled(odd), compiled(ackermann)
    assert [bool(f(Tensor(n))) for n in range(6)] == [True, False] * 3
    assert [bool(g(Tensor(n))) for n in range(6)] == [False, True] * 3
    assert int(h(Tensor(2), Tensor(3))) == 9


def test_structures_and_numbers_that_become_tensors(compiled):
    def collect(state, total=0.0, steps=0):
        x, n = state["x"], state["n"]
        if n == 0:
            return {"total": total, "steps": steps}, (x,)
        return collect({"x": x * 0.5, "n": n - 1}, total + x, steps + 1)

    f = compiled(lambda x, n: collect({"x": x, "n": n}))
    for n in (0, 1, 4):
        out, (x,) = f(Tensor(np.float32(1)), Tensor(n))
        assert float(out["total"]) == 2 - 2 ** (1 - n) and int(out["steps"]) == n
        assert float(x) == 0.5**n


def power(x, n):
    if n == 0:
        return x * 0 + 1
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


def test_gradients_to_the_second_order(compiled):
    x = Tensor(np.array([1.5, -0.5], np.float64))
    f = compiled(power)
    first = compiled(lambda x, n: ms.grad(lambda v: power(v, n).sum())(x))
    second = compiled(
        lambda x, n: ms.grad(lambda v: ms.grad(lambda w: power(w, n).sum())(v).sum())(x)
    )
    for n in (1, 2, 5):
        v = x.asnumpy()
        np.testing.assert_allclose(f(x, Tensor(n)).asnumpy(), v**n, rtol=1e-12)
        np.testing.assert_allclose(first(x, Tensor(n)).asnumpy(), n * v ** (n - 1), rtol=1e-12)
        want = n * (n - 1) * v ** max(n - 2, 0)
        np.testing.assert_allclose(second(x, Tensor(n)).asnumpy(), want, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ms.grad(f)(x, Tensor(3)).asnumpy(), 3 * x.asnumpy() ** 2)


class Deep(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([0.5, 2.0], np.float32)), name="w")

    def construct(self, x, n):
        if n == 0:
            return x
        return self.construct(x * self.w, n - 1)


def test_cells_that_call_themselves():
    net, x = Deep(), Tensor(np.array([1.0, 3.0], np.float32))
    np.testing.assert_allclose(net(x, Tensor(3)).asnumpy(), [0.125, 24])
    grads = ops.GradOperation(get_by_list=True)(net, net.trainable_params())(x, Tensor(3))
    np.testing.assert_allclose(grads[0].asnumpy(), [3 * 0.25, 3 * 3 * 4])


def endless(n):
    if n > 0:
        return endless(n - 1)
    return endless(n + 1)


def printing(n):
    if n > 0:
        print(n)
        return printing(n - 1)
    return n


def counting(n, depth=0):
    if n > 0:
        return counting(n - 1, str(depth) + "x")
    return n


@pytest.mark.one_mode("about compiling")
@pytest.mark.parametrize(
    ("fn", "kind", "text"),
    [
        (endless, RecursionError, "endless calls itself on every path"),
        (printing, NotImplementedError, "printing calls itself on a tensor condition, and changes"),
        (counting, RecursionError, "calls are nested more than"),
    ],
)
def test_what_cannot_be_compiled(fn, kind, text):
    with pytest.raises(kind, match=text) as e:
        ms.jit(fn)(Tensor(3))
    assert "test_recursion.py:" in str(e.value)
