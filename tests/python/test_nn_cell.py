"""Cells in Python: parameters, children, hooks, custom gradients, modes, copies, text."""

import copy
import pickle

import mycel as ms
import numpy as np
import pytest
from mycel import Parameter, Tensor, nn, ops
from mycel.common.initializer import initializer


class Block(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Dense(width, width, activation="relu")
        self.scale = Parameter(initializer("ones", (width,)), name="scale")

    def construct(self, x):
        return self.fc(x) * self.scale


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.block = Block(4)
        self.rest = nn.SequentialCell(nn.Dense(4, 3), nn.ReLU(), nn.Dense(3, 2))

    def construct(self, x):
        return self.rest(self.block(x))


NAMES = ["block.scale", "block.fc.weight", "block.fc.bias", "rest.0.weight", "rest.0.bias",
         "rest.2.weight", "rest.2.bias"]  # fmt: skip


@pytest.fixture
def x():
    return Tensor(np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32))


def test_parameters_are_named_by_path():
    net = Net()
    assert [n for n, _ in net.parameters_and_names()] == NAMES
    assert [p.name for p in net.get_parameters()] == NAMES
    assert list(net.parameters_dict()) == NAMES
    assert net.rest[0].weight is net.parameters_dict()["rest.0.weight"]
    net.block.scale.requires_grad = False
    assert [p.name for p in net.trainable_params()] == NAMES[1:]
    assert [p.name for p in net.untrainable_params()] == NAMES[:1]


def test_children():
    net = Net()
    assert list(net.name_cells()) == ["block", "rest"]
    assert [n for n, _ in net.cells_and_names()][:3] == ["", "block", "block.fc"]
    assert isinstance(net.block.fc.activation, nn.ReLU)
    with pytest.raises(TypeError, match="child cell"):
        net.block = 3
    with pytest.raises(AttributeError, match="super"):

        class Bad(nn.Cell):
            def __init__(self):
                self.fc = nn.Dense(2, 2)

        Bad()


def test_a_shared_parameter_is_seen_by_the_layer(x):
    a, b = nn.Dense(4, 4), nn.Dense(4, 4)
    b.weight = a.weight
    b.bias = a.bias
    a.weight.set_data(Tensor(np.eye(4, dtype=np.float32)))
    assert np.allclose(b(x).asnumpy(), x.asnumpy())


def test_training_mode_reaches_everything(x):
    net = nn.SequentialCell(nn.Dropout(0.5), nn.BatchNorm1d(4))
    assert np.array_equal(net[0](x).asnumpy(), x.asnumpy())
    net.set_train()
    assert net[0].training and net[1].training
    assert (net[0](x).asnumpy() == 0).any()
    net(x)
    assert not np.allclose(net[1].moving_mean.asnumpy(), 0)


def test_subclass_of_a_layer(x):
    class Twice(nn.Dense):
        def construct(self, x):
            return super().construct(x) * 2

    layer = Twice(4, 3)
    plain = (x.asnumpy() @ layer.weight.asnumpy().T) * 2
    assert np.allclose(layer(x).asnumpy(), plain, atol=1e-5)
    # Inside a C++ layer the subclass computes too.
    outer = nn.Dense(4, 4, activation=Twice(4, 3))
    inner = (
        x.asnumpy() @ outer.weight.asnumpy().T + outer.bias.asnumpy()
    ) @ outer.activation.weight.asnumpy().T
    assert np.allclose(outer(x).asnumpy(), inner * 2, atol=1e-5)


def test_hooks(x):
    seen = []
    cell = nn.ReLU()
    pre = cell.register_forward_pre_hook(lambda i, inputs: seen.append(len(inputs)))
    after = cell.register_forward_hook(lambda i, inputs, out: out * 2)
    assert np.allclose(cell(x).asnumpy(), 2 * np.maximum(x.asnumpy(), 0))
    assert seen == [1]
    pre.remove()
    after.remove()
    assert np.allclose(cell(x).asnumpy(), np.maximum(x.asnumpy(), 0))
    assert seen == [1]


def test_backward_hook_sees_and_changes_gradients():
    seen = []

    class Inner(nn.Cell):
        def __init__(self):
            super().__init__()
            self.relu = nn.ReLU()
            self.relu.register_backward_hook(self.hook)

        def hook(self, cell_id, grad_input, grad_output):
            seen.append((grad_input[0].asnumpy(), grad_output[0].asnumpy()))
            return grad_output[0] * 10

        def construct(self, x):
            return self.relu(x * 2) * 3

    (g,) = ops.GradOperation(get_all=True)(Inner())(Tensor(np.array([1.0, -1.0], np.float32)))
    assert np.allclose(seen[0][0], [3, 3]) and np.allclose(seen[0][1], [3, 0])
    assert np.allclose(g.asnumpy(), [60, 0])


def test_custom_bprop():
    class Straight(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (dout * 100 + out,)

    g = ops.grad(Straight())(Tensor(np.array([2.0, 3.0], np.float32)))
    assert np.allclose(g.asnumpy(), [104, 109])


def test_recompute_gives_the_same_gradients(x):
    net = Net()
    weights = net.trainable_params()
    plain = ops.grad(net, 0, weights)(x)
    net.block.recompute()
    again = ops.grad(net, 0, weights)(x)
    assert np.allclose(plain[0].asnumpy(), again[0].asnumpy(), atol=1e-6)


def test_to_float_computes_in_another_type(x):
    class Custom(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(np.full((4, 2), 0.1, np.float32)), name="w")
            self.b = Parameter(Tensor(np.full(2, 0.3, np.float32)), name="b")

        def construct(self, x):
            return ops.matmul(x, self.w) + self.b

    cells = (
        nn.Dense(4, 3, activation="tanh"),
        nn.LayerNorm((4,)),
        nn.SequentialCell(nn.Dense(4, 3), nn.PReLU()),
        Custom(),
    )
    for net in cells:
        for kind in (ms.float16, ms.bfloat16, ms.float32):
            assert net.to_float(kind)(x).dtype == kind
        weights = net.trainable_params()
        assert all(p.dtype == ms.float32 for p in weights)
        grads = ops.grad(net.to_float(ms.float16), None, weights)(x)
        assert all(g.dtype == ms.float32 for g in grads)
    want = x.asnumpy().astype(np.float16) @ np.full((4, 2), 0.1, np.float16) + np.float16(0.3)
    got = cells[-1](x)
    assert np.allclose(got.asnumpy(), want, rtol=2e-3)  # two roundings of half precision
    with pytest.raises(ValueError, match="floating"):
        cells[0].to_float(ms.int32)


def test_to_float_leaves_states_alone():
    net = nn.BatchNorm1d(2, momentum=0.9).to_float(ms.float16)
    net.set_train()
    mean = np.float32(1 + 2**-10)  # a float16; a tenth of it is none
    net(Tensor(np.full((4, 2), mean)))
    want = np.float32(0.1) * mean
    assert net.moving_mean.dtype == ms.float32
    assert np.allclose(net.moving_mean.asnumpy(), want, rtol=1e-6)


@pytest.mark.plain_calls("pickle finds a class by its module")
def test_copies_are_apart(x):
    ms.set_seed(1)  # some first weights leave nothing behind the ReLU
    net = Net()
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert np.array_equal(twin(x).asnumpy(), net(x).asnumpy())
        twin.rest[0].weight.set_data(ops.zeros_like(twin.rest[0].weight))
        assert [p.name for p in twin.get_parameters()] == NAMES
        assert not np.array_equal(net.rest[0].weight.asnumpy(), twin.rest[0].weight.asnumpy())
        assert not np.array_equal(twin(x).asnumpy(), net(x).asnumpy())


def test_a_hook_that_is_removed(x):
    cell = nn.ReLU()
    plain = cell(x).asnumpy()
    handle = cell.register_forward_hook(lambda i, inputs, out: out * 2)
    assert np.allclose(cell(x).asnumpy(), 2 * plain)
    handle.remove()
    assert np.allclose(cell(x).asnumpy(), plain)


def test_text():
    text = repr(Net())
    assert text.startswith(
        "Net<\n  (block): Block<\n    (fc): Dense<\n      in_channels=4, out_channels=4"
    )
    assert text.endswith("\n  >")


def test_errors_carry_the_path(x):
    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = nn.SequentialCell(nn.ReLU(), nn.Dense(7, 2))

        def construct(self, x):
            return self.first(x)

    with pytest.raises(ValueError, match=r"^In Outer\.first\.1 \(Dense\): "):
        Outer()(x)


def test_signatures_and_refusals():
    import inspect

    signature = inspect.signature(nn.Dense)
    assert str(signature).startswith(
        "(in_channels, out_channels, weight_init='normal', bias_init='zeros'"
    )
    with pytest.raises(TypeError, match="weight_init"):
        nn.Dense(3, 4, weigth_init="ones")
    with pytest.raises(ValueError, match="positive"):
        nn.Dense(0, 4)
    with pytest.raises(TypeError):
        nn.Conv2d(1, 2, "3")


def test_containers():
    cells = nn.CellList([nn.ReLU(), nn.Dense(2, 2)])
    cells.append(nn.Tanh())
    cells.insert(0, nn.Sigmoid())
    assert [type(c).__name__ for c in cells] == ["Sigmoid", "ReLU", "Dense", "Tanh"]
    assert cells[2].weight.name == "2.weight"
    assert [type(c).__name__ for c in cells[1:3]] == ["ReLU", "Dense"]
    assert cells[-1] is list(cells)[3]
    del cells[0]
    assert len(cells) == 3
    with pytest.raises(IndexError):
        cells[3]
    with pytest.raises(NotImplementedError):
        cells(Tensor(1.0))


def test_set_inputs(x):
    net = nn.Dense(4, 3)
    net.set_inputs(Tensor(shape=(None, 4), dtype=ms.float32))
    net(x)
    with pytest.raises(ValueError, match="set_inputs"):
        net(x.reshape((20,)))


def test_a_refused_member_is_no_obstacle_to_a_name(x):
    """`place` and `shard` are published members that one device refuses: networks use the names."""

    class Named(nn.Cell):
        def __init__(self):
            super().__init__()
            self.place = Parameter(Tensor(np.full(3, 2, np.float32)), name="place")
            self.insert_child_to_cell("shard", nn.ReLU())

        def construct(self, x):
            return self.shard(x * self.place)

    net = Named()
    assert [p.name for p in net.trainable_params()] == ["place"]
    t = Tensor(np.array([[-1, 0, 3]], np.float32))
    assert net(t).asnumpy().tolist() == [[0, 0, 6]]
    with pytest.raises(KeyError, match="the name 'set_train' is taken"):
        net.insert_param_to_cell("set_train", Parameter(t, name="p"))
