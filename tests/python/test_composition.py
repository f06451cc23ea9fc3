"""Random chains of transforms, vmap in the middle, on functions with branches, loops, nested
functions and a vmap of their own: eager and compiled, against finite differences."""

import random

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, ops

pytestmark = pytest.mark.one_mode("every chain runs in a mode of its own")


def branch(x):
    if x > 1:
        return ops.log(x) * x
    return ops.exp(x) / (x + 3)


def loop(x):
    y = x
    while y < 20:
        y = y * 1.7 + ops.sin(y) * 0.1
    return y


def branch_in_a_loop(x):
    t = x
    for i in range(4):
        if t > 2:
            t = ops.sqrt(t + i)
        else:
            t = t * t + 0.3 * x
    return t


def closure_and_break(x):
    def slope(z):
        return ops.tanh(z) * x

    total = x * 0
    while total < x * 3:
        total = total + slope(x + total * 0.1) + 0.2
        if total > 5:
            break
    return total * total


def matrices(x):
    v = ops.stack([x, x * x, ops.sin(x)])
    m = ops.matmul(v.reshape(3, 1), v.reshape(1, 3))
    return ops.softmax(m, -1)[1, 2] * m.sum() + v.max()


def own_vmap(x):
    return ops.vmap(lambda w: loop(w * x))(Tensor(np.array([0.5, 1.0, 3.0]))).sum()


FUNCTIONS = [branch, loop, branch_in_a_loop, closure_and_break, matrices, own_vmap]

# Derivatives of a function of one number, and of a function that is elementwise over examples.
ALONE = {
    "grad": ms.grad,
    "jvp": lambda f: lambda x: ms.jvp(f, x, ops.ones_like(x))[1],
    "vjp": lambda f: lambda x: ms.vjp(f, x)[1](ops.ones_like(x)),
    "derivative": lambda f: lambda x: ops.derivative(f, x, 1)[1],
    "linearize": lambda f: lambda x: ops.linearize(f, x)[1](ops.ones_like(x)),
    "jacfwd": ms.jacfwd,
    "jacrev": ms.jacrev,
}
TOGETHER = {
    "grad": lambda f: ms.grad(lambda x: f(x).sum()),
    "jvp": ALONE["jvp"],
    "derivative": ALONE["derivative"],
    "jacrev": lambda f: lambda x: ms.jacrev(f)(x).sum(0),
}

X = np.array([0.4, 1.6, 3.1, 0.9])


def differences(f, order, h=1e-5):
    """Values of a function, or central differences of its derivative of the order below."""
    for _ in range(order - 1):
        f = ms.grad(f)

    def at(x):
        return float(f(Tensor(x)).asnumpy())

    return [at(x) if order == 0 else (at(x + h) - at(x - h)) / (2 * h) for x in X]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_chains(f):
    rng = random.Random(f.__name__)
    want = [differences(f, order) for order in range(4)]
    for _ in range(40):
        order = rng.randint(0, 3)
        before = rng.choices(list(ALONE), k=rng.randint(0, order))
        after = rng.choices(list(TOGETHER), k=order - len(before))
        chain = f
        for name in before:
            chain = ALONE[name](chain)
        chain = ops.vmap(chain)
        for name in after:
            chain = TOGETHER[name](chain)
        if compiled := rng.random() < 0.5:
            chain = ms.jit(chain)
        np.testing.assert_allclose(
            chain(Tensor(X)).asnumpy(), want[order], rtol=1e-4, atol=1e-4,
            err_msg=f"{before} vmap {after} compiled={compiled}",
        )  # fmt: skip
