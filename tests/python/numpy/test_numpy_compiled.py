"""mycel.numpy inside users' functions and cells, eagerly and compiled, with control flow and sizes
that depend on values."""

import mycel as ms
import mycel.numpy as mnp
import numpy as np
import pytest
from mycel import Parameter, Tensor, nn
from numpy_inputs import F
from numpy_reference import close, run


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(mnp.full((4,), 2.0), name="weight")

    def construct(self, x):
        y = mnp.concatenate((x, mnp.zeros_like(x)), 0) * self.weight
        z = mnp.where(y > 0, y, mnp.exp(y)) + mnp.arange(4)
        if mnp.sum(z) > 0:
            z = mnp.clip(z, 0, 5)
        return mnp.pad(z, 1), mnp.max(z, axis=(0,), keepdims=True), mnp.size(z)


def test_in_a_cell():
    padded, largest, size = Net()(Tensor(F))
    y = np.concatenate([F, np.zeros_like(F)]) * 2
    z = np.clip(np.where(y > 0, y, np.exp(y)) + np.arange(4), 0, 5)
    np.testing.assert_allclose(padded.asnumpy(), np.pad(z, 1), rtol=1e-5)
    np.testing.assert_allclose(largest.asnumpy(), z.max(0, keepdims=True), rtol=1e-5)
    assert size == z.size


def test_gradient_through_a_cell():
    net = Net()
    loss = lambda x: mnp.sum(net(x)[0])
    got = ms.grad(loss)(Tensor(F)).asnumpy()
    y = np.concatenate([F, np.zeros_like(F)]) * 2
    z = np.where(y > 0, y, np.exp(y)) + np.arange(4)
    slope = np.where((z > 0) & (z < 5), np.where(y > 0, 1, np.exp(y)) * 2, 0)[:3]
    np.testing.assert_allclose(got, slope, rtol=1e-5)


def test_loops_on_values():
    def climb(x, top):
        while mnp.max(x) < top:
            x = mnp.add(x, 1)
        return x

    want = F.copy()
    while want.max() < 4:
        want = want + 1
    np.testing.assert_allclose(run(climb, F, Tensor(4.0)).asnumpy(), want, rtol=1e-6)


def test_sizes_that_depend_on_values():
    def count(x):
        rows, columns = mnp.where(x > 0)
        return mnp.sum(rows), mnp.outer(rows, columns), x[x > 0].sum(), mnp.unique(rows)

    rows, pairs, total, unique = run(count, F)
    assert rows.item() == np.where(F > 0)[0].sum()
    np.testing.assert_array_equal(pairs.asnumpy(), np.outer(*np.where(F > 0)))
    np.testing.assert_allclose(total.asnumpy(), F[F > 0].sum(), rtol=1e-5)
    np.testing.assert_array_equal(unique.asnumpy(), np.unique(np.where(F > 0)[0]))


@pytest.mark.parametrize(
    "name", "sum mean max std var cumsum diff average flip histogram norm".split()
)
def test_of_a_part_of_unknown_size(name):
    # The positive elements: how many is known when the program runs.
    def part(x):
        x = x[x > 0]
        return (
            getattr(mnp, name)(x, 3, (0.0, 2.0)) if name == "histogram" else getattr(mnp, name)(x)
        )

    x = F[F > 0]
    if name == "norm":
        want = np.linalg.norm(x)
    else:
        want = np.histogram(x, 3, (0, 2)) if name == "histogram" else getattr(np, name)(x)
    close(run(part, F), want, name)


def test_checks_of_values():
    index = np.array([[1], [7]])
    with pytest.raises(ValueError, match=r"ravel_multi_index: an index is outside \[0, 3\)"):
        run("ravel_multi_index", index, (2, 3), "raise")


def test_batches():
    got = run(ms.ops.vmap(mnp.diff), F)
    np.testing.assert_allclose(got.asnumpy(), np.diff(F), rtol=1e-6)
    smooth = ms.ops.vmap(lambda a, b: mnp.convolve(a, b, "same"), in_axes=(0, None))
    want = np.stack([np.convolve(row, F[0, :2], "same") for row in F])
    np.testing.assert_allclose(run(smooth, F, F[0, :2]).asnumpy(), want, rtol=1e-5, atol=1e-6)
    middle = ms.ops.vmap(lambda a: ms.ops.quantile(a, 0.3))
    np.testing.assert_allclose(run(middle, F).asnumpy(), np.quantile(F, 0.3, 1), rtol=1e-5)
