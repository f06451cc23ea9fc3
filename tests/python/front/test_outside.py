"""What compiled functions share with the rest of the program: globals, closures, attributes and
containers that change between calls, arguments that the function changes. Each program is the same
in both modes; `compiled` is the identity in eager mode."""

import mycel as ms
import numpy as np
import pytest
from mycel import Parameter, Tensor, nn, ops

V = np.array([1.0, 2.0, 3.0], np.float32)
SCALE = 2.0
TABLE = {"a": 1.0, "b": [1.0, 2.0]}


@pytest.fixture
def compiled(mode):
    return ms.jit if mode == "graph" else lambda f: f


def equal(got, want):
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)


def test_globals(compiled, monkeypatch):
    @compiled
    def f(x):
        return x * SCALE + TABLE["a"] + TABLE["b"][1]

    equal(f(Tensor(V)), V * 2 + 3)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    equal(f(Tensor(V)), V * 5 + 3)
    monkeypatch.setitem(TABLE, "a", 10.0)
    equal(f(Tensor(V)), V * 5 + 12)
    monkeypatch.setitem(TABLE, "b", [1.0, 5.0])
    equal(f(Tensor(V)), V * 5 + 15)
    TABLE["b"][1] = 0.0
    equal(f(Tensor(V)), V * 5 + 10)


def test_closures_and_functions_in_them(compiled):
    k, act = 2.0, ops.relu

    @compiled
    def f(x):
        return act(x) * k

    equal(f(Tensor(-V)), 0 * V)
    act = ops.abs
    equal(f(Tensor(-V)), 2 * V)
    k = -0.0
    assert np.signbit(f(Tensor(V)).asnumpy()).all()
    k = 0.0
    assert not np.signbit(f(Tensor(V)).asnumpy()).any()


class Config:
    def __init__(self):
        self.steps, self.names = 2, ["a"]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.config = Config()
        self.gain = 3.0
        self.offset = Tensor(np.float32(1))
        self.mask = np.array([1.0, 0.0, 1.0], np.float32)
        self.blocks = nn.CellList([nn.ReLU()])
        self.norm = nn.Dropout(0.5)

    def construct(self, x):
        for _ in range(self.config.steps):
            x = x + self.offset
        if "b" in self.config.names:
            x = x * 10
        for block in self.blocks:
            x = block(x)
        return x * self.gain * Tensor(self.mask)


def test_attributes_of_a_network():
    net = Net()
    keep = np.array([1, 0, 1], np.float32)
    equal(net(Tensor(V)), (V + 2) * 3 * keep)
    net.gain = 2.0
    equal(net(Tensor(V)), (V + 2) * 2 * keep)
    net.config.steps = 1
    equal(net(Tensor(V)), (V + 1) * 2 * keep)
    net.config.names.append("b")
    equal(net(Tensor(V)), (V + 1) * 20 * keep)
    net.config = Config()
    equal(net(Tensor(V)), (V + 2) * 2 * keep)
    net.mask[1] = 1
    equal(net(Tensor(V)), (V + 2) * 2)
    net.blocks.append(nn.GELU())
    equal(net(-100 * Tensor(V)), 0 * V)
    net.blocks[0] = nn.Tanh()
    assert net(-100 * Tensor(V)).asnumpy()[0] < 0


def test_a_tensor_that_changes_becomes_an_input(mode):
    net = Net()
    f = ms.jit(lambda x: net(x)) if mode == "graph" else net
    for i in range(6):
        net.offset = Tensor(np.float32(i))
        equal(f(Tensor(V)), (V + 2 * i) * 3 * net.mask)
    net.offset[()] = 7.0
    equal(f(Tensor(V)), (V + 14) * 3 * net.mask)
    if mode == "graph":
        assert f.signatures == 1
    net.offset = Tensor(V)
    equal(f(Tensor(V)), 3 * V * 3 * net.mask)


def test_switches_of_cells_in_closures(compiled):
    drop = nn.Dropout(0.5)
    f = compiled(lambda x: drop(x))
    x = Tensor(np.ones(1000, np.float32))
    equal(f(x), np.ones(1000))
    drop.set_train()
    assert 300 < int((f(x).asnumpy() == 0).sum()) < 700
    drop.set_train(False)
    equal(f(x), np.ones(1000))


def test_parameters_frozen_between_calls():
    net = nn.Dense(2, 2)
    grad = lambda x: ops.GradOperation(get_by_list=True)(net)(x)
    assert len(grad(Tensor(np.ones((1, 2), np.float32)))) == 2
    net.bias.requires_grad = False

    class Gradient(nn.Cell):
        def construct(self, x):
            return ops.GradOperation(get_by_list=True)(net)(x)

    cell = Gradient()
    cell.net = net
    assert len(cell(Tensor(np.ones((1, 2), np.float32)))) == 1
    net.bias.requires_grad = True
    assert len(cell(Tensor(np.ones((1, 2), np.float32)))) == 2


def test_a_parameter_of_another_shape():
    class Scale(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(V), name="w")

        def construct(self, x):
            return (x * self.w).sum()

    net = Scale()
    equal(net(Tensor(V)), 14)
    net.w.set_data(Tensor(np.ones((2, 3), np.float32)), slice_shape=True)
    equal(net(Tensor(V)), 12)


def test_arguments_that_are_no_tensors(compiled):
    @compiled
    def f(x, array, config, names):
        return x * Tensor(array) * config.steps + len(names)

    a, config = np.array([1.0, 2.0, 3.0], np.float32), Config()
    equal(f(Tensor(V), a, config, {"x"}), V * a * 2 + 1)
    a[0] = 5
    equal(f(Tensor(V), a, config, {"x"}), V * a * 2 + 1)
    config.steps = 4
    equal(f(Tensor(V), a, config, {"x", "y"}), V * a * 4 + 2)


def test_elements_of_an_argument_are_assigned(compiled):
    @compiled
    def f(x, i):
        x[i] = 7.0
        if x[2] > 0:
            x[0] = -1.0
        y = x
        y[1] = x[1] * 2
        return x.sum()

    x = Tensor(V)
    equal(f(x, Tensor(0)), -1 + 4 + 3)
    equal(x, [-1, 4, 3])
    equal(f(x, Tensor(2)), -1 + 8 + 7)
    equal(x, [-1, 8, 7])


def test_arguments_given_back_are_the_same_objects(compiled):
    f = compiled(lambda x, pair: (x, pair[1], x + 1))
    x, y = Tensor(V), Tensor(-V)
    a, b, c = f(x, (x, y))
    assert a is x and b is y
    equal(c, V + 1)


def test_lists_and_dicts_of_the_caller(compiled):
    log = []

    @compiled
    def f(items, named, x):
        items.append(x * 2)
        items[0] = x
        named["sum"] = items[0] + items[-1]
        log.append(x.sum())
        return named["sum"]

    items, named = [Tensor(V)], {}
    for n in (1, 2):
        equal(f(items, named, Tensor(n * V)), 3 * n * V)
        assert len(items) == 1 + n and len(log) == n
        equal(items[0], n * V)
        equal(items[-1], 2 * n * V)
        equal(named["sum"], 3 * n * V)
        equal(log[-1], 6 * n)


def test_elements_of_a_tensor_from_outside(compiled):
    buffer = Tensor(np.zeros(4, np.float32))

    @compiled
    def put(i, v):
        buffer[i] = v
        return buffer.sum()

    for i in range(4):
        equal(put(Tensor(i), Tensor(np.float32(i + 1))), (i + 1) * (i + 2) / 2)
        equal(buffer[: i + 1], np.arange(1, i + 2))


def test_parameters_as_arguments(compiled):
    p, q = Parameter(Tensor(V), name="p"), Parameter(Tensor(-V), name="q")

    @compiled
    def step(w, g):
        ops.assign_sub(w, g)
        return w

    assert step(p, Tensor(V)) is p and step(q, Tensor(V)) is q
    equal(p, 0 * V)
    equal(q, -2 * V)
