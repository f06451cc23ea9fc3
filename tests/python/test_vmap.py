"""vmap against NumPy, closed forms and calls of single examples, eager and compiled."""

import mycel as ms
import numpy as np
import pytest
from mycel import Parameter, Tensor, nn, ops

RNG = np.random.default_rng(7)


def f64(*shape):
    return RNG.standard_normal(shape)


def both_modes(fn, *args):
    """The result of a function, eager and compiled, as arrays; fails unless they agree."""
    eager, compiled = fn(*args), ms.jit(fn)(*args)
    if isinstance(eager, (tuple, list)):
        out = [t.asnumpy() for t in eager]
        for a, b in zip(out, compiled):
            np.testing.assert_allclose(a, b.asnumpy(), rtol=1e-12)
        return out
    np.testing.assert_allclose(eager.asnumpy(), compiled.asnumpy(), rtol=1e-12)
    return eager.asnumpy()


def test_axes_as_published():
    x, y, z = f64(3, 2), f64(2, 3), f64(2)

    def add(a, b, c):
        return a + b + c

    got = both_modes(ops.vmap(add, in_axes=(0, 1, None), out_axes=1), *map(Tensor, (x, y, z)))
    np.testing.assert_allclose(got, (x + y.T + z).T)


def test_axes_nest_like_the_arguments_and_results():
    x, y = f64(4, 3), f64(3, 4)

    def f(pair, scale, table):
        return pair[0] * scale, (pair[1] + table["b"], 2.0)

    got = ops.vmap(f, in_axes=((0, -1), None, 0), out_axes=(0, (1, 0)))(
        (Tensor(x), Tensor(y)), 3.0, {"b": Tensor(x)}
    )
    np.testing.assert_allclose(got[0].asnumpy(), 3 * x)
    np.testing.assert_allclose(got[1][0].asnumpy(), (y.T + x).T)
    np.testing.assert_allclose(got[1][1].asnumpy(), np.full(4, 2.0))


def test_nested():
    x, y = f64(3), f64(4)

    def product(a, b):
        return a * b

    outer = ops.vmap(ops.vmap(product, in_axes=(None, 0)), in_axes=(0, None))
    np.testing.assert_allclose(both_modes(outer, Tensor(x), Tensor(y)), np.outer(x, y))


def collatz(n):
    steps = n * 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps = steps + 1
    return steps


def test_loops_and_branches_differ_between_examples():
    n = np.arange(1, 40)
    want = [int(collatz(int(i))) for i in n]
    assert both_modes(ops.vmap(collatz), Tensor(n)).tolist() == want


def test_break_continue_and_early_return():
    def f(x):
        total = x * 0
        for i in range(10):
            if total > 20:
                break
            if x < 0:
                continue
            total = total + x * i
        if total == 0:
            return x
        return total

    def plain(x):
        total = 0.0
        for i in range(10):
            if total > 20:
                break
            if x < 0:
                continue
            total = total + x * i
        return x if total == 0 else total

    x = np.array([0.5, -1.0, 3.0, 10.0, 0.0])
    np.testing.assert_allclose(both_modes(ops.vmap(f), Tensor(x)), [plain(v) for v in x])


def newton(a):
    """The square root of a by Newton's method; every example has its own number of steps."""
    x = a
    while ops.abs(x * x - a) > 1e-13 * a:
        x = 0.5 * (x + a / x)
    return x


@pytest.mark.parametrize(
    "transform, order",
    [
        (lambda f: ops.vmap(f), 0),
        (lambda f: ops.vmap(ms.grad(f)), 1),
        (lambda f: ms.grad(lambda v: ops.vmap(f)(v).sum()), 1),
        (lambda f: ops.vmap(lambda v: ms.jvp(f, v, ops.ones_like(v))[1]), 1),
        (lambda f: lambda v: ms.jvp(ops.vmap(f), v, ops.ones_like(v))[1], 1),
        (lambda f: ops.vmap(ms.grad(ms.grad(f))), 2),
        (lambda f: ms.grad(lambda v: ms.grad(lambda w: ops.vmap(f)(w).sum())(v).sum()), 2),
        (lambda f: lambda v: ms.jvp(ops.vmap(ms.grad(f)), v, ops.ones_like(v))[1], 2),
        (lambda f: ms.grad(lambda v: ops.vmap(ms.grad(f))(v).sum()), 2),
    ],
)
def test_derivatives_of_a_loop_that_examples_leave_at_different_times(transform, order):
    a = np.array([4.0, 1e-3, 1e4, 2.0])
    closed = [np.sqrt(a), 0.5 * a**-0.5, -0.25 * a**-1.5][order]
    # A step of Newton's method squares the error of value and derivatives alike.
    np.testing.assert_allclose(both_modes(transform(newton), Tensor(a)), closed, rtol=1e-5)


def test_a_branch_not_taken_leaks_nothing_into_gradients():
    def f(x):
        if x > 0:
            return ops.sqrt(x)
        return x * 2

    x = Tensor(np.array([4.0, 0.0, -3.0]))
    want = [0.25, 2.0, 2.0]
    np.testing.assert_allclose(both_modes(ops.vmap(ms.grad(f)), x), want)
    summed = ms.grad(lambda v: ops.vmap(f)(v).sum())
    np.testing.assert_allclose(both_modes(summed, x), want)


class SmallNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3)
        self.norm = nn.LayerNorm((3, 6, 6), begin_norm_axis=1, begin_params_axis=1)
        self.dense = nn.Dense(108, 4)

    def construct(self, x):
        x = ops.relu(self.norm(self.conv(x)))
        return self.dense(x.reshape(x.shape[0], -1))


def test_gradients_of_single_examples():
    net, loss = SmallNet(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def one(x, y):
        return loss(net(x.expand_dims(0)), y.expand_dims(0))

    gradient = ms.grad(one, None, net.trainable_params())
    x = Tensor(f64(5, 1, 6, 6).astype(np.float32))
    y = Tensor(np.array([0, 1, 3, 1, 2], np.int32))
    together = ops.vmap(gradient)(x, y)
    compiled = ms.jit(ops.vmap(gradient))(x, y)
    for i in range(5):
        for all_, again, alone in zip(together, compiled, gradient(x[i], y[i])):
            np.testing.assert_allclose(all_[i].asnumpy(), alone.asnumpy(), rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(again[i].asnumpy(), alone.asnumpy(), rtol=1e-4, atol=1e-5)


class Scaled(nn.Cell):
    def __init__(self, w):
        super().__init__()
        self.w = Parameter(Tensor(w, ms.float64), name="w")
        self.seen = Parameter(Tensor(0.0, ms.float64), name="seen", requires_grad=False)

    def construct(self, x):
        self.seen = self.seen + x.sum()
        return x * self.w


def test_an_ensemble_of_cells():
    cells = nn.CellList([Scaled(2.0), Scaled(5.0)])
    x = f64(2, 3)
    np.testing.assert_allclose(ops.vmap(cells)(Tensor(x)).asnumpy(), x * [[2.0], [5.0]])
    assert cells[0].seen.asnumpy() == pytest.approx(x[0].sum())
    assert cells[1].seen.asnumpy() == pytest.approx(x[1].sum())
    shared = ops.vmap(cells, in_axes=None)(Tensor(x))
    np.testing.assert_allclose(shared.asnumpy(), [2 * x, 5 * x])


def test_gradients_reach_every_cell_of_an_ensemble():
    cells = nn.CellList([Scaled(2.0), Scaled(5.0)])
    x = f64(2, 3)
    weights = [c.w for c in cells]
    grads = ms.grad(lambda v: (ops.vmap(cells)(v) ** 2).sum(), None, weights)(Tensor(x))
    want = [2 * w * (row**2).sum() for w, row in zip((2.0, 5.0), x)]
    np.testing.assert_allclose([g.asnumpy() for g in grads], want)


def test_an_ensemble_of_batch_norms_moves_the_statistics_of_each():
    cells = nn.CellList([nn.BatchNorm1d(3, momentum=0.5).set_train() for _ in range(2)])
    x = f64(2, 6, 3).astype(np.float32)
    got = ops.vmap(cells)(Tensor(x)).asnumpy()
    for cell, y, rows in zip(cells, got, x):
        want = (rows - rows.mean(0)) / np.sqrt(rows.var(0) + 1e-5)
        np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(cell.moving_mean.asnumpy(), 0.5 * rows.mean(0), rtol=1e-4)


class Doubling(nn.Cell):
    """Says that its derivative is 100 x."""

    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (dout * 100 * x,)


def test_own_gradients():
    net, x = Doubling(), Tensor(np.array([1.0, 2.0]))
    np.testing.assert_allclose(ops.vmap(net)(x).asnumpy(), [1, 4])
    np.testing.assert_allclose(ops.vmap(ms.grad(net))(x).asnumpy(), [100, 200])
    summed = ms.grad(lambda v: ops.vmap(net)(v).sum())
    np.testing.assert_allclose(summed(x).asnumpy(), [100, 200])


def test_prints_once_for_every_example_that_comes_by(capfd):
    def f(x):
        if x > 1:
            print("large", x)
        else:
            print("small")
        return x

    ops.vmap(f)(Tensor(np.array([2.0, 0.5, 3.0])))
    assert capfd.readouterr().out.split() == ["large", "2.0", "large", "3.0", "small"]


def test_random_numbers_are_the_same_for_all_examples():
    draws = ops.vmap(lambda x: x + ops.standard_normal((2,)))(Tensor(np.zeros((5, 2), np.float32)))
    assert np.unique(draws.asnumpy(), axis=0).shape == (1, 2)


def first(x, *_):
    return x


X, Y = Tensor(np.ones((2, 3))), Tensor(np.ones(3))


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: ops.vmap(first, 2)(X), "axis 2 of argument 0 is out of range; it has 2 dims"),
        (lambda: ops.vmap(first, (0, 0))(X), "in_axes has 2 entries, first is given 1 arguments"),
        (lambda: ops.vmap(first, None)(X), "no argument is mapped"),
        (lambda: ops.vmap(first, "a")(X), "'in_axes' must hold ints and None, got 'a'"),
        (lambda: ops.vmap(first)(X, Y), "argument 1 has 3 examples along its axis 0"),
        (lambda: ops.vmap(first)(X, 3), "argument 1 is int; only tensors have an axis"),
        (lambda: ops.vmap(first, ((0, 0),))(X), "argument 0 is a tensor, but (0, 0) is given"),
        (lambda: ops.vmap(first, ((0,),))((X, X)), "argument 0 has 2 items, but 1 axes"),
        (lambda: ops.vmap(first, 0, 2)(X), "axis 2 of result 0 is out of range"),
        (lambda: ops.vmap(first, 0, None)(X), "out_axes is None"),
        (lambda: ops.vmap(lambda x: (x, x), 0, (0, None))(X), "it differs between examples"),
        (lambda: ops.vmap(3), "'fn' must be a function or Cell, got int"),
        (lambda: ops.vmap(first)(x=X), "keyword argument 'x' has no axis"),
        (lambda: ops.vmap(Scaled(1.0))(X), "Parameter 'seen' a value that differs"),
        (lambda: ops.vmap(nn.CellList([Scaled(1.0), nn.Dense(3, 3)]))(X), "cell 1 of the CellList"),
        (
            lambda: ops.vmap(nn.BatchNorm1d(3).set_train())(Tensor(np.ones((2, 4, 3), np.float32))),
            "Parameter 'moving_mean' a value that differs",
        ),
    ],
)
def test_errors(call, text):
    with pytest.raises(RuntimeError) as error:
        call()
    assert text in str(error.value)
