"""Updates of optimizers as ops: Parameters after two steps against the formulas in NumPy."""

import numpy as np
import pytest
from mycel import Parameter, Tensor, ops

RNG = np.random.default_rng(7)
G = [RNG.normal(size=(4, 3)).astype(np.float32) for _ in range(2)]


def states(*first):
    start = RNG.uniform(0.5, 1.5, (4, 3)).astype(np.float32)
    values = [start] + [np.full((4, 3), v, np.float32) for v in first]
    return [Parameter(Tensor(v), name=f"p{i}") for i, v in enumerate(values)], values


def close(params, values):
    for p, v in zip(params, values):
        np.testing.assert_allclose(p.asnumpy(), v, 2e-5, 2e-6)


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum(nesterov):
    (p, a), (w, acc) = states(0.1)
    op = ops.ApplyMomentum(use_nesterov=nesterov, gradient_scale=0.5)
    for g in G:
        got = op(p, a, 0.1, Tensor(g), 0.9)
        acc = 0.9 * acc + 0.5 * g
        w = w - 0.1 * (0.5 * g + 0.9 * acc if nesterov else acc)
    close((p, a, got), (w, acc, w))


def adam(w, m, v, g, t, nesterov=False):
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    step = 0.9 * m + 0.1 * g if nesterov else m
    rate = 0.1 * np.sqrt(1 - 0.99**t) / (1 - 0.9**t)
    return w - rate * step / (np.sqrt(v) + 1e-3), m, v


@pytest.mark.parametrize("nesterov", [False, True])
def test_adam(nesterov):
    params, values = states(0.0, 0.0)
    op = ops.Adam(use_nesterov=nesterov)
    for t, g in enumerate(G, 1):
        op(*params, 0.9**t, 0.99**t, 0.1, 0.9, 0.99, 1e-3, Tensor(g))
        values = adam(*values, g, t, nesterov)
    close(params, values)


def test_adaptive():
    (p, a), (w, acc) = states(0.1)
    (p2, a2), (w2, _) = states(0.1)
    for g in G:
        ops.ApplyAdagrad()(p, a, 0.1, Tensor(g))
        ops.ApplyAdagradV2(0.3)(p2, a2, 0.1, Tensor(g))
        acc = acc + g * g
        w, w2 = w - 0.1 * g / np.sqrt(acc), w2 - 0.1 * g / (np.sqrt(acc) + 0.3)
    close((p, a, p2, a2), (w, acc, w2, acc))
    ops.ApplyAdagrad(update_slots=False)(p, a, 0.1, Tensor(G[0]))
    close((p, a), (w - 0.1 * G[0] / np.sqrt(acc), acc))

    (p, s, m), (w, square, moment) = states(0.5, 0.0)
    for g in G:
        ops.ApplyRMSProp()(p, s, m, 0.1, Tensor(g), 0.9, 0.8, 1e-3)
        square = 0.9 * square + 0.1 * g * g
        moment = 0.8 * moment + 0.1 * g / np.sqrt(square + 1e-3)
        w = w - moment
    close((p, s, m), (w, square, moment))

    (p, a, d), (w, acc, delta) = states(0.1, 0.2)
    for g in G:
        ops.ApplyAdadelta()(p, a, d, 0.5, 0.9, 1e-2, Tensor(g))
        acc = 0.9 * acc + 0.1 * g * g
        step = np.sqrt(delta + 1e-2) / np.sqrt(acc + 1e-2) * g
        delta, w = 0.9 * delta + 0.1 * step**2, w - 0.5 * step
    close((p, a, d), (w, acc, delta))


def ftrl(w, acc, linear, g, lr=0.5, l1=0.2, l2=0.1):
    now = acc + g * g
    linear = linear + g - (np.sqrt(now) - np.sqrt(acc)) / lr * w
    pulled = (np.sign(linear) * l1 - linear) / (np.sqrt(now) / lr + 2 * l2)
    return np.where(np.abs(linear) > l1, pulled, 0), now, linear


def proximal(w, acc, g, lr=0.3, l1=0.2, l2=0.1):
    acc = acc + g * g
    rate = lr / np.sqrt(acc)
    z = w - rate * g
    return np.sign(z) * np.maximum(np.abs(z) - rate * l1, 0) / (1 + rate * l2), acc


def test_proximal():
    params, values = states(0.1, 0.0)
    for g in G:
        ops.ApplyFtrl()(*params, Tensor(g), 0.5, 0.2, 0.1, -0.5)
        values = ftrl(*values, g)
    close(params, values)
    params, values = states(0.1)
    for g in G:
        ops.ApplyProximalAdagrad()(*params, 0.3, 0.2, 0.1, Tensor(g))
        values = proximal(*values, g)
    close(params, values)
    (p,), (w,) = states()
    ops.ApplyGradientDescent()(p, 0.1, Tensor(G[0]))
    ops.ApplyProximalGradientDescent()(p, 0.3, 0.2, 0.1, Tensor(G[1]))
    z = w - 0.1 * G[0] - 0.3 * G[1]
    close([p], [np.sign(z) * np.maximum(np.abs(z) - 0.06, 0) / 1.03])


ROWS = np.array([2, 0, 2], np.int32)
GRAD = RNG.normal(size=(3, 3)).astype(np.float32)


def rows(update, values):
    """The update of rows 0 and 2 by the sums of their gradients."""
    total = np.zeros((4, 3), np.float32)
    np.add.at(total, ROWS, GRAD)
    fresh = update(*values, total)
    out = [v.copy() for v in values]
    for o, f in zip(out, fresh):
        o[[0, 2]] = f[[0, 2]]
    return out, fresh


def test_sparse():
    grad, at = Tensor(GRAD), Tensor(ROWS)
    for name in ("SparseApplyFtrl", "FusedSparseFtrl"):
        params, values = states(0.1, 0.0)
        getattr(ops, name)(0.5, 0.2, 0.1, -0.5)(*params, grad, at)
        close(params, rows(ftrl, values)[0])
    for name in ("SparseApplyProximalAdagrad", "FusedSparseProximalAdagrad"):
        params, values = states(0.1)
        getattr(ops, name)()(*params, 0.3, 0.2, 0.1, grad, at)
        close(params, rows(proximal, values)[0])

    def step(w, m, v, g):
        return adam(w, m, v, g, 1)

    factors = (0.9, 0.99, 0.1, 0.9, 0.99, 1e-3)
    params, values = states(0.3, 0.4)
    ops.FusedSparseLazyAdam()(*params, *factors, grad, at)
    close(params, rows(step, values)[0])
    params, values = states(0.3, 0.4)
    ops.FusedSparseAdam()(*params, *factors, grad, at)
    close(params, rows(step, values)[1])
    params, values = states(0.1)
    ops.SparseApplyAdagradV2(0.1, 0.3)(*params, grad, at)
    want, _ = rows(lambda w, a, g: (w - 0.1 * g / (np.sqrt(a + g * g) + 0.3), a + g * g), values)
    close(params, want)


def test_states_are_parameters():
    x = Tensor(G[0])
    with pytest.raises(TypeError, match="'accum' must be a Parameter"):
        ops.ApplyAdagrad()(Parameter(x, name="w"), x, 0.1, x)
    with pytest.raises(ValueError, match="'grad' must fit 'var'"):
        (p, a), _ = states(0.1)
        ops.ApplyAdagrad()(p, a, 0.1, Tensor(np.ones(2, np.float32)))
