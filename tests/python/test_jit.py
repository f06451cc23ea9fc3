"""Compiled functions: same results as eager calls, signatures, parameters, random numbers,
mistakes."""

import mycel as ms
import numpy as np
import pytest
from mycel import Parameter, Tensor, ops

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


def test_same_result_and_one_trace():
    calls = []

    @ms.jit
    def f(x, y, scale=2.0):
        calls.append(scale)
        return ops.exp(x) * y + scale, (x + y).sum()

    for _ in range(3):
        a, b = f(X, X)
    np.testing.assert_allclose(a.asnumpy(), np.exp(X.asnumpy()) * X.asnumpy() + 2, rtol=1e-5)
    np.testing.assert_allclose(b.asnumpy(), 30)
    assert f.signatures == 1 and calls == [2.0] * 3
    f(X, X, scale=3.0)
    f(X[0], X[0])
    assert calls == [2.0] * 3 + [3.0, 2.0] and f.signatures == 3


def test_structures_pass_through():
    @ms.jit
    def f(pair, named):
        return {"sum": pair[0] + pair[1], "named": [named["a"] * 2, "text"]}

    out = f((X, X), {"a": X})
    np.testing.assert_array_equal(out["sum"].asnumpy(), 2 * X.asnumpy())
    np.testing.assert_array_equal(out["named"][0].asnumpy(), 2 * X.asnumpy())
    assert out["named"][1] == "text"


def test_parameters_are_read_and_assigned():
    w = Parameter(Tensor([1.0, 2.0, 3.0]), name="w")
    steps = Parameter(Tensor(0), name="steps")

    @ms.jit
    def f(x):
        ops.assign_add(steps, 1)
        return x * w

    np.testing.assert_array_equal(f(X).asnumpy(), X.asnumpy() * [1, 2, 3])
    w.set_data(Tensor([0.0, 1.0, 0.0]))
    np.testing.assert_array_equal(f(X).asnumpy(), X.asnumpy() * [0, 1, 0])
    assert int(steps) == 2 and f.signatures == 1


def test_gradient_of_a_compiled_function_and_the_other_way_round():
    f = ms.jit(lambda x: (x**3).sum())
    want = 3 * X.asnumpy() ** 2
    np.testing.assert_allclose(ms.grad(f)(X).asnumpy(), want, rtol=1e-5)
    np.testing.assert_allclose(ms.jit(ms.grad(f))(X).asnumpy(), want, rtol=1e-5)
    np.testing.assert_allclose(
        ms.grad(lambda x: ms.grad(f)(x).sum())(X).asnumpy(), 6 * X.asnumpy(), rtol=1e-5
    )


def test_gradient_with_respect_to_parameters_inside():
    w = Parameter(Tensor([1.0, 2.0, 3.0]), name="w")

    @ms.jit
    def step(x):
        loss, (g,) = ms.value_and_grad(lambda v: (v * w).sum(), None, [w])(x)
        w.set_data(w - 0.1 * g)
        return loss

    step(X)
    np.testing.assert_allclose(
        w.asnumpy(), np.array([1, 2, 3]) - 0.1 * X.asnumpy().sum(0), rtol=1e-5
    )


def test_closures_over_watched_tensors():
    def outer(x):
        inner = ms.jit(lambda y: (y * x).sum())
        return inner(X)

    np.testing.assert_allclose(ms.grad(outer)(X).asnumpy(), X.asnumpy())
    np.testing.assert_allclose(ms.grad(outer)(X).asnumpy(), X.asnumpy())


def test_number_of_an_unknown_value():
    @ms.jit
    def f(x):
        return x * float(x.sum())

    with pytest.raises(ValueError, match="is not known while a graph is being compiled") as e:
        f(X)
    assert "test_jit.py" in str(e.value) and "return x * float(x.sum())" in str(e.value)


def test_cond_and_while():
    @ms.jit
    def f(x):
        y = ops.cond(x.sum() > 0, lambda v: v * 2, lambda v: -v, x)
        return ops.while_loop(lambda v: v.sum() < 1000, lambda v: v * 2, y)

    got = f(X).asnumpy()
    want = X.asnumpy() * 2
    while want.sum() < 1000:
        want = want * 2
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(f(-X - 1).asnumpy().shape, (2, 3))


def test_method_and_const_arg():
    class Scale:
        def __init__(self, k):
            self.k = k

        @ms.jit
        def run(self, x):
            return x * self.k

    a, b = Scale(2.0), Scale(3.0)
    np.testing.assert_array_equal(a.run(X).asnumpy(), 2 * X.asnumpy())
    np.testing.assert_array_equal(b.run(X).asnumpy(), 3 * X.asnumpy())

    @ms.jit
    def pick(x, n):
        return x * int(n)

    np.testing.assert_array_equal(pick(X, Tensor(3, const_arg=True)).asnumpy(), 3 * X.asnumpy())
    assert "graph" in dir(pick) and "mul" in pick.graph(X, Tensor(3, const_arg=True))


def test_input_signature():
    f = ms.jit(lambda x: x + 1, input_signature=Tensor(shape=(2, None), dtype=ms.float32))
    assert f(X).shape == (2, 3)
    with pytest.raises(ValueError, match="input_signature says"):
        f(X[0])
