"""Model files: what export writes computes the same bits when it is loaded, for fixed and unknown
dims; what is no model file is refused by name."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, nn, ops


def values(*shape, seed=0):
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def unknown(*shape):
    return Tensor(shape=shape, dtype=ms.float32)


def exported(net, path, *inputs):
    ms.export(net, *inputs, file_name=str(path / "net"), file_format="MINDIR")
    return nn.GraphCell(ms.load(str(path / "net.mindir")))


def check_equal(net, path, inputs, *calls):
    graph = exported(net, path, *inputs)
    net.set_train(False)
    for args in calls:
        np.testing.assert_array_equal(graph(*args).asnumpy(), net(*args).asnumpy())


class Attention(nn.Cell):
    def construct(self, q):
        return ops.matmul(ops.softmax(ops.matmul(q, q.transpose(0, 2, 1)) / 2.0), q)


class Rows(nn.Cell):
    def construct(self, x):
        return ops.reshape(x, (-1, 3)).sum(axis=1)


def small_network():
    return nn.SequentialCell(
        nn.Conv2d(3, 4, 3, has_bias=True),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dense(4, 2),
    )


def test_fixed_shapes(tmp_path):
    x = values(2, 3, 8, 8)
    check_equal(small_network(), tmp_path, [x], [x])


@pytest.mark.parametrize(
    ("net", "declared", "shapes"),
    [
        (lambda: nn.Dense(3, 4), (None, 3), [(2, 3), (5, 3), (2, 3)]),
        (small_network, (None, 3, None, None), [(2, 3, 8, 8), (1, 3, 12, 9)]),
        (lambda: nn.LayerNorm((3,)), (None, 3), [(2, 3), (1, 3)]),
        (lambda: nn.Flatten(), (None, 2, None), [(2, 2, 3), (4, 2, 1)]),
        (Attention, (None, None, 3), [(4, 2, 3), (1, 5, 3)]),
        (Rows, (None, 2, 3), [(4, 2, 3), (1, 2, 3)]),
    ],
)
def test_unknown_dims(tmp_path, net, declared, shapes):
    calls = [(values(*s, seed=i),) for i, s in enumerate(shapes)]
    check_equal(net(), tmp_path, [unknown(*declared)], *calls)


def test_set_inputs_makes_dims_unknown(tmp_path):
    net = nn.Dense(3, 4)
    net.set_inputs(unknown(None, 3))
    check_equal(net, tmp_path, [values(2, 3)], [values(2, 3)], [values(7, 3)])


def test_other_inputs_are_refused(tmp_path):
    graph = exported(nn.Dense(3, 4), tmp_path, unknown(None, 3))
    with pytest.raises(ValueError, match=r"input 'input0' is float32\(2, 4\); it was exported for"):
        graph(values(2, 4))
    with pytest.raises(ValueError, match="2 inputs given, 1 expected"):
        graph(values(2, 3), values(2, 3))


def test_files_that_are_no_model(tmp_path):
    path = tmp_path / "net.mindir"
    with pytest.raises(OSError, match="net.mindir"):
        ms.load(str(path))
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match="net.mindir.*no exported network"):
        ms.load(str(path))
    exported(nn.Dense(3, 4), tmp_path, values(2, 3))
    good = path.read_bytes()
    path.write_bytes(good[:-1])
    with pytest.raises(ValueError, match="net.mindir.*the file is damaged"):
        ms.load(str(path))
    path.write_bytes(good[:8] + b"\x63" + good[9:])
    with pytest.raises(ValueError, match="written in version 99"):
        ms.load(str(path))
    path.write_bytes(good[:-5] + b"\x63" + good[-4:])
    with pytest.raises(ValueError, match="checksum of the weights"):
        ms.load(str(path))


def test_gradients_through_a_loaded_graph(tmp_path):
    net, x = nn.Dense(3, 4), values(2, 3)
    graph = exported(net, tmp_path, x)
    want = ms.grad(lambda v: ops.tanh(net(v)).sum())(x).asnumpy()
    got = ms.grad(lambda v: ops.tanh(graph(v)).sum())(x).asnumpy()
    np.testing.assert_allclose(got, want, rtol=1e-6)


class Halved(nn.Cell):
    """Halves until the sum is below a limit; which branch is taken depends on the values."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)

    def construct(self, x):
        y = self.dense(x)
        if y.sum() > 0:
            y = ops.tanh(y)
        else:
            y = -y
        turns = 0
        while y.sum() > 0.25:
            y = y / 2
            turns = turns + 1
        return y, turns


@pytest.mark.parametrize("dims", [(4, 3), (None, 3)])
def test_control_flow(tmp_path, dims):
    net = Halved()
    graph = exported(net, tmp_path, unknown(*dims))
    weight, bias = net.dense.weight.asnumpy(), net.dense.bias.asnumpy()
    taken = set()
    for seed in range(6):
        x = values(4 if dims[0] else seed + 1, 3, seed=seed)
        y = x.asnumpy() @ weight.T + bias
        taken.add(bool(y.sum() > 0))
        y = np.tanh(y) if y.sum() > 0 else -y
        turns = 0
        while y.sum() > 0.25:
            y, turns = y / 2, turns + 1
        got, count = graph(x)
        np.testing.assert_allclose(got.asnumpy(), y, rtol=1e-5, atol=1e-6)
        assert int(count.asnumpy()) == turns
    assert taken == {True, False}
