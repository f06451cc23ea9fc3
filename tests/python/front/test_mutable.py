"""`mutable`, tuples, lists and dicts as arguments, networks for inputs of unknown dims: values and
sizes that differ between calls need no other program, loops over them are not unrolled."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, mutable, nn, ops

V = np.array([1.0, 2.0, 3.0], np.float32)


@pytest.fixture
def compiled(mode):
    return ms.jit if mode == "graph" else lambda f: f


def equal(got, want):
    np.testing.assert_allclose(getattr(got, "asnumpy", lambda: got)(), want, rtol=1e-6)


def programs(f):
    return getattr(f, "signatures", 1)


def test_numbers(compiled):
    @compiled
    def f(x, n, s):
        for i in range(n):
            x = x + s * i
        return x / n

    for n, s in ((1, 2.0), (5, 0.5), (3, -1.0)):
        equal(f(Tensor(V), mutable(n), mutable(s)), (V + s * sum(range(n))) / n)
    assert programs(f) == 1


def test_the_loop_is_not_unrolled():
    @ms.jit
    def f(x, n):
        for _ in range(n):
            x = ops.sin(x)
        return x

    text = f.graph(Tensor(V), mutable(1000))
    assert "while_loop" in text and text.count("sin") == 1
    assert "while_loop" not in f.graph(Tensor(V), 3)


def test_branches_on_numbers(compiled):
    @compiled
    def f(x, n):
        if n > 2:
            return x * n
        elif n == 0:
            return x
        return -x

    for n, want in ((3, 3 * V), (0, V), (1, -V), (5, 5 * V)):
        equal(f(Tensor(V), mutable(n)), want)
    assert programs(f) == 1


def test_structures(compiled):
    @compiled
    def f(pair, named):
        first, (n, s) = pair
        return first * n + s * named["a"], [named["b"][0], n + 1]

    for n in (2, 3):
        pair = mutable((Tensor(V), [n, 0.5]))
        a, b = f(pair, mutable({"a": n / 2, "b": (Tensor(-V),)}))
        equal(a, V * n + 0.25 * n)
        equal(b[0], -V)
        equal(b[1], n + 1)
    assert programs(f) == 1


def test_sequences_of_unknown_length(compiled):
    @compiled
    def f(items, k):
        total = items[0] * 0
        for i, v in enumerate(items):
            total = total + v * (i + 1)
        return total, len(items), items[k]

    for n in (2, 5, 3):
        items = [i * V for i in range(n)]
        total, length, last = f(mutable(list(map(Tensor, items)), dynamic_len=True), mutable(n - 1))
        equal(total, sum((i + 1) * v for i, v in enumerate(items)))
        equal(length, n)
        equal(last, items[-1])
    assert programs(f) == 1


def test_enumerate_and_zip_over_tensors_are_loops(compiled):
    @compiled
    def f(a, b, n):
        total = a[0] * 0
        for i, (x, y) in enumerate(zip(a, b), 1):
            total = total + i * x * y
        for k, (i, x) in zip(range(n, 0, -2), enumerate(a)):
            total = total + k * i * x
        for k in reversed(range(1, n, 3)):
            total = total * 2 + k
        return total

    a, b = np.arange(12.0).reshape(4, 3).astype(np.float32), np.ones((5, 3), np.float32)
    for n in (0, 1, 5, 9):
        want = sum((i + 1) * a[i] for i in range(4))
        want = want + sum(k * i * a[i] for i, k in enumerate(list(range(n, 0, -2))[:4]))
        for k in reversed(range(1, n, 3)):
            want = want * 2 + k
        equal(f(Tensor(a), Tensor(b), mutable(n)), want)
    assert programs(f) == 1
    if hasattr(f, "graph"):
        assert f.graph(Tensor(a), Tensor(b), mutable(3)).count("while_loop") == 3


def test_without_mutable_numbers_are_constants():
    f = ms.jit(lambda x, n: x * n)
    for n in (1, 2, 2):
        f(Tensor(V), n)
    assert f.signatures == 2


def test_values_are_themselves_in_eager_code():
    assert mutable(3) + 1 == 4 and isinstance(mutable(3), int)
    assert mutable((1, 2.5))[1] == 2.5 and isinstance(mutable([1]), list)
    assert mutable({"a": 1})["a"] == 1
    t = mutable(Tensor(V, const_arg=True))
    assert not t.const_arg


@pytest.mark.parametrize("bad", [True, "s", (1, "s"), None])
def test_what_mutable_refuses(bad):
    with pytest.raises(TypeError, match="mutable: 'input_data' must be"):
        mutable(bad)
    with pytest.raises(TypeError, match="must be a tuple or a list, got int"):
        mutable(5, dynamic_len=True)
    with pytest.raises(ValueError, match=r"one dtype and shape.*Float32\[3\], Float32\[2\]"):
        mutable((Tensor(V), Tensor(V[:2])), dynamic_len=True)


def test_gradients_of_structures(compiled):
    grad = ops.GradOperation(get_all=True)
    f = compiled(lambda z, d: grad(lambda z, d: (z[0] * z[1] * d["k"]).sum())(z, d))
    (dx, dy), named = f(mutable((Tensor(V), Tensor(2 * V))), {"k": Tensor(3 * V)})
    equal(dx, 6 * V * V)
    equal(dy, 3 * V * V)
    equal(named["k"], 2 * V * V)
    dz = compiled(lambda z: ops.GradOperation()(lambda z: (z[0] * z[1]).sum())(z))([Tensor(V)] * 2)
    assert isinstance(dz, list)
    equal(dz[1], V)


class Pool(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2, weight_init="ones")

    def construct(self, x):
        y = self.fc(x)
        total = y[0] * 0
        for i in range(x.shape[0]):
            total = total + y[i] * i
        return total, y.mean() + len(x), ops.softmax(y)


def test_networks_for_unknown_dims(mode):
    net = Pool()
    net.set_inputs(Tensor(shape=(None, 3), dtype=ms.float32))
    for n in (1, 4, 2):
        a, b, c = net(Tensor(np.stack([V] * n)))
        equal(a, [6 * sum(range(n))] * 2)
        equal(b, 6 + n)
        equal(c, np.full((n, 2), 0.5))
    if mode == "graph":
        assert net._compiled["now"].signatures == 1
    with pytest.raises(ValueError, match="set_inputs|input_signature"):
        net(Tensor(V))


def test_signatures_of_unknown_dims():
    f = ms.jit(lambda x: x[::2] * x.shape[0], Tensor(shape=(None,), dtype=ms.float32))
    for n in (3, 6):
        equal(f(Tensor(np.ones(n, np.float32))), np.full((n + 1) // 2, n))
    assert f.signatures == 1


def test_shapes_that_must_be_known_are_compiled_one_by_one():
    def rows(x):
        return ops.zeros((x.shape[0], 2), ms.float32) + x.sum()

    f = ms.jit(rows, Tensor(shape=(None,), dtype=ms.float32))
    for n in (3, 2, 3):
        assert f(Tensor(np.ones(n, np.float32))).shape == (n, 2)
    assert f.signatures == 2
