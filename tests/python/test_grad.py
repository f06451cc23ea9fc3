"""Derivatives of Python functions: published forms, higher orders, custom rules."""

import math

import mycel as ms
import numpy as np
import pytest
from mycel import Parameter, ParameterTuple, Tensor, ops


def close(a, b, rtol=1e-5, atol=1e-6):
    np.testing.assert_allclose(np.asarray(a), b, rtol=rtol, atol=atol)


X, Y = Tensor([1.0, 2.0, 3.0]), Tensor([4.0, 5.0, 6.0])


def cost(x, y):
    return x * (x + y)


def test_grad_all_of_a_function():
    dx, dy = ops.grad_all(cost)(X, Y)
    close(dx, 2 * X.asnumpy() + Y.asnumpy())
    close(dy, X.asnumpy())


class Net:
    """A network in the small: a callable with a parameter."""

    def __init__(self):
        self.w = Parameter(Tensor([2.0, 2.0, 2.0]), name="w")

    def trainable_params(self):
        return [self.w]

    def __call__(self, x, y):
        return self.w * x * (x + y)


def test_grad_all_of_a_network():
    (dx, dy), (dw,) = ops.grad_all(Net())(X, Y)
    close(dx, 2 * (2 * X.asnumpy() + Y.asnumpy()))
    close(dy, 2 * X.asnumpy())
    close(dw, cost(X, Y).asnumpy())


def test_grad_operation_forms():
    net = Net()
    close(ops.GradOperation()(net)(X, Y), 2 * (2 * X.asnumpy() + Y.asnumpy()))
    dx, dy = ops.GradOperation(get_all=True)(net)(X, Y)
    close(dy, 2 * X.asnumpy())
    (dw,) = ops.GradOperation(get_by_list=True)(net, ParameterTuple([net.w]))(X, Y)
    close(dw, cost(X, Y).asnumpy())
    seed = Tensor([1.0, 0.0, 2.0])
    dx = ops.GradOperation(sens_param=True)(net)(X, Y, seed)
    close(dx, 2 * (2 * X.asnumpy() + Y.asnumpy()) * seed.asnumpy())
    both = ops.GradOperation(get_all=True, get_by_list=True)(net, ParameterTuple([net.w]))(X, Y)
    assert len(both) == 2 and len(both[0]) == 2 and len(both[1]) == 1
    assert net.w.asnumpy().tolist() == [2, 2, 2]  # restored


def test_grad_positions_and_weights():
    close(ms.grad(cost)(X, Y), 2 * X.asnumpy() + Y.asnumpy())
    close(ms.grad(cost, 1)(X, Y), X.asnumpy())
    dx, dy = ms.grad(cost, (0, 1))(X, Y)
    close(dy, X.asnumpy())
    net = Net()
    dx, dw = ms.grad(net, 0, net.w)(X, Y)
    close(dw, cost(X, Y).asnumpy())
    (dw,) = ms.grad(net, None, [net.w])(X, Y)
    close(dw, cost(X, Y).asnumpy())


def test_value_and_grad_and_aux():
    value, g = ms.value_and_grad(lambda x: (x * x).sum())(X)
    close(value, 14.0)
    close(g, 2 * X.asnumpy())
    g, aux = ms.grad(lambda x: ((x * x).sum(), x + 1), has_aux=True)(X)
    close(g, 2 * X.asnumpy())
    close(aux[0], X.asnumpy() + 1)


def nested(fn, order):
    for _ in range(order):
        fn = ms.grad(fn)
    return fn


@pytest.mark.parametrize("order", range(5))
def test_any_order(order):
    x = Tensor(np.array([0.3, 1.1], np.float64))
    a = x.asnumpy()
    close(
        nested(ops.sin, order)(x),
        [np.sin, np.cos, lambda v: -np.sin(v), lambda v: -np.cos(v), np.sin][order](a),
    )
    power = math.factorial(5) // math.factorial(5 - order)
    close(nested(lambda v: v**5, order)(x), power * a ** (5 - order))
    close(nested(lambda v: ops.exp(v) * v, order)(x), np.exp(a) * (a + order))


def test_vjp_and_jvp():
    value, pull = ms.vjp(cost, X, Y)
    close(value, cost(X, Y).asnumpy())
    dx, dy = pull(Tensor([1.0, 1.0, 1.0]))
    close(dx, 2 * X.asnumpy() + Y.asnumpy())
    value, tangent = ms.jvp(ops.sin, X, Tensor([1.0, 0.0, 2.0]))
    close(tangent, np.cos(X.asnumpy()) * [1, 0, 2])
    # a Hessian-vector product, forward over reverse
    v = Tensor([1.0, -1.0, 0.5])
    _, hv = ms.jvp(ms.grad(lambda x: (x**3).sum()), X, v)
    close(hv, 6 * X.asnumpy() * v.asnumpy())


def test_stop_gradient_and_broadcast():
    close(ms.grad(lambda x: ops.stop_gradient(x) * x)(X), X.asnumpy())
    close(ms.grad(lambda b: (X * b).sum())(Tensor(2.0)), 6.0)


def test_python_control_flow_follows_values():
    def f(x):
        for _ in range(3):
            x = x * 2 if float(x.sum()) < 20 else x
        return x.sum()

    close(ms.grad(f)(X), [4.0, 4.0, 4.0])


def test_custom_rule():
    from mycel.ops._transforms import custom_gradient

    def f(x):
        return custom_gradient(lambda v: v * v, lambda v, out, dout: dout * 100, (x,))

    close(f(X), X.asnumpy() ** 2)
    close(ms.grad(f)(X), [100.0, 100.0, 100.0])
    close(ms.grad(lambda x: f(x * 3))(X), [300.0, 300.0, 300.0])


def test_gradient_of_tuples_in_arguments():
    g = ms.grad(lambda pair: (pair[0] * pair[1]).sum())((X, Y))
    close(g[0], Y.asnumpy())
    close(g[1], X.asnumpy())


def test_parameters_assigned_while_differentiated_keep_the_value():
    count = Parameter(Tensor(0.0), name="count")

    def f(x):
        ops.assign_add(count, Tensor(1.0))
        return x * x

    ms.grad(f)(X)
    assert float(count) == 1.0


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: ms.grad(cost, 2)(X, Y), ValueError, "grad_position 2 is out of range"),
        (lambda: ms.grad(cost)(1.0, Y), TypeError, "argument 0 of cost is no tensor"),
        (lambda: ms.grad(5), TypeError, "must be a function or Cell"),
        (lambda: ms.grad(lambda x: None)(X), TypeError, "must return a tensor"),
        (lambda: ops.GradOperation(get_all=1), TypeError, "'get_all' must be True or False"),
        (lambda: ms.grad(cost, 0, [X])(X, Y), TypeError, "weights must be Parameters"),
        (lambda: ms.jvp(cost, (X, Y), X), ValueError, "1 directions given for 2 inputs"),
        (lambda: ms.grad(cost, None), ValueError, "nothing to differentiate"),
    ],
)
def test_mistakes(make, error, text):
    with pytest.raises(error, match=text):
        make()
