"""Mixed precision: which dtype each part computes in, and that training still converges. Loss
scalers against their rule written out."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, amp, nn, ops
from mycel.common.initializer import Normal


class Block(nn.Cell):
    """Notes the dtypes that pass through it."""

    def __init__(self):
        super().__init__()
        ms.set_seed(3)
        self.conv = nn.Conv2d(1, 2, 3, weight_init=Normal(1.0), has_bias=True)
        self.bn = nn.BatchNorm2d(2)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(32, 3, weight_init=Normal(1.0))
        self.matmul = ops.MatMul()
        self.seen = []

    def construct(self, x):
        a = self.conv(x)
        b = self.bn(a)
        c = self.fc(self.flatten(b))
        d = self.matmul(c, Tensor(np.eye(3, dtype=np.float32)).astype(c.dtype))
        self.seen = [str(t.dtype) for t in (a, b, c, d)]
        return d


X = np.linspace(-1, 1, 16, dtype=np.float32).reshape(1, 1, 4, 4)


@pytest.mark.parametrize("dtype, short", [(ms.float16, "Float16"), (ms.bfloat16, "BFloat16")])
def test_levels_choose_what_is_computed_in_16_bits(dtype, short):
    want = Block()(Tensor(X)).asnumpy()
    for level, kinds in (
        ("O0", ["Float32"] * 4),
        ("O1", ["Float32"] * 4),  # what the white list names is cast back
        ("O2", [short] * 4),
        ("O3", [short] * 4),
    ):
        net = amp.auto_mixed_precision(Block(), level, dtype)
        out = net(Tensor(X))
        assert net.seen == kinds, level
        assert out.dtype == ms.float32
        assert net.conv.weight.dtype == ms.float32
        error = np.abs(out.asnumpy() - want).max()
        assert error < 0.1 * np.abs(want).max()
        assert (error == 0) == (level == "O0")  # the others do round
        # The black list computes in float32 at O2.
        assert net.bn._float_type == {"O2": ms.float32, "O3": dtype}.get(level)


def test_custom_lists():
    net = amp.custom_mixed_precision(Block(), white_list=[nn.Dense])
    net(Tensor(X))
    assert net.fc._float_type == ms.float16 and net.conv._float_type is None
    net = amp.custom_mixed_precision(Block(), black_list=[*amp.get_black_list(), nn.Dense])
    net(Tensor(X))
    assert net.fc._float_type == ms.float32 and net.conv._float_type == ms.float16
    with pytest.raises(ValueError, match="give a white_list or a black_list"):
        amp.custom_mixed_precision(Block())
    with pytest.raises(TypeError, match="no layer or primitive"):
        amp.custom_mixed_precision(Block(), white_list=[int])


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3"])
def test_training_converges_at_every_level(level, mode):
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        ms.set_seed(1)
        net = nn.SequentialCell(nn.Dense(4, 16), nn.ReLU(), nn.Dense(16, 1))
        options = (
            {"loss_scale_manager": ms.FixedLossScaleManager(64.0, False)} if level == "O3" else {}
        )
        step = amp.build_train_network(
            net, nn.Adam(net.trainable_params(), 0.01), nn.MSELoss(), level, **options
        )
        rng = np.random.default_rng(2)
        x = rng.normal(size=(32, 4)).astype(np.float32)
        y = x.sum(1, keepdims=True)
        losses = []
        for _ in range(80):
            out = step(Tensor(x), Tensor(y))
            losses.append(float(out[0] if isinstance(out, tuple) else out))
        assert losses[-1] < 0.2 * losses[0]
        assert all(p.dtype == ms.float32 for p in net.trainable_params())
    finally:
        ms.set_context(mode=before)


def test_levels_that_do_not_exist():
    net = nn.Dense(2, 2)
    with pytest.raises(ValueError, match="must be one of O0, O1, O2, O3"):
        amp.auto_mixed_precision(net, "O4")
    with pytest.raises(ValueError, match="'auto' chooses for GPUs"):
        ms.Model(net, amp_level="auto")
    with pytest.raises(TypeError, match="no option 'lossscale'"):
        amp.build_train_network(net, nn.SGD(net.trainable_params()), lossscale=1)
    with pytest.raises(ValueError, match="float16 or bfloat16"):
        amp.auto_mixed_precision(net, "O2", ms.float64)


def test_all_finite():
    good, bad = Tensor([1.0, 2.0]), Tensor([np.inf, 0.0])
    assert bool(amp.all_finite((good, good))) and not bool(amp.all_finite((good, bad)))
    assert not bool(amp.all_finite(Tensor(float("nan"))))


def test_loss_scalers():
    static = amp.StaticLossScaler(8.0)
    assert float(static.scale(Tensor(2.0))) == 16.0
    assert [float(t) for t in static.unscale((Tensor(16.0), Tensor(4.0)))] == [2.0, 0.5]
    assert static.adjust(Tensor(True)) is False

    dynamic = amp.DynamicLossScaler(16.0, 2, 3)
    scale, good = 16.0, 0
    for finite in (True, True, True, False, True, True, True, False, False, False, False, False):
        dynamic.adjust(Tensor(finite))
        good = good + 1 if finite else 0
        if not finite:
            scale = max(scale / 2, 1.0)
        elif good == 3:
            scale, good = scale * 2, 0
        assert float(dynamic.scale_value) == scale
    with pytest.raises(ValueError, match="at least 1"):
        amp.DynamicLossScaler(0.5, 2, 3)


class SmallConv(nn.Cell):
    """Convolutions with batch normalisation and a skip connection, as residual networks have."""

    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(1, 16, 3), nn.BatchNorm2d(16)
        self.narrow, self.norm1 = nn.Conv2d(16, 16, 1), nn.BatchNorm2d(16)
        self.wide, self.norm2 = nn.Conv2d(16, 16, 3), nn.BatchNorm2d(16)
        self.relu, self.head = nn.ReLU(), nn.Dense(16, 4)

    def construct(self, x):
        x = self.relu(self.norm(self.stem(x)))
        y = self.relu(self.norm1(self.narrow(x)))
        x = self.relu(x + self.norm2(self.wide(y)))
        return self.head(x.mean((2, 3)))


class SmallAttention(nn.Cell):
    """One block of attention with layer normalisation and GELU."""

    def __init__(self):
        super().__init__()
        self.up, self.out = nn.Dense(8, 32), nn.Dense(32, 32)
        self.q, self.k, self.v = nn.Dense(32, 32), nn.Dense(32, 32), nn.Dense(32, 32)
        self.norm1, self.norm2 = nn.LayerNorm((32,)), nn.LayerNorm((32,))
        self.act, self.head = nn.GELU(), nn.Dense(32, 4)

    def construct(self, x):
        x = self.up(x.reshape(-1, 8, 8))
        y = self.norm1(x)
        scores = ops.bmm(self.q(y), self.k(y).transpose(0, 2, 1)) * 32**-0.5
        x = x + self.out(ops.bmm(ops.softmax(scores, -1), self.v(y)))
        return self.head(self.act(self.norm2(x)).mean(1))


def losses_of(network, level, seed, steps=60):
    """The losses of training on noisy pictures of four textures."""
    ms.set_seed(seed)
    net = amp.auto_mixed_precision(network(), level, ms.bfloat16)
    optimizer = nn.Adam(net.trainable_params(), 5e-3)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
    rng = np.random.default_rng(7)
    textures = rng.normal(size=(4, 1, 8, 8))
    losses = []
    for _ in range(steps):
        label = rng.integers(0, 4, 32)
        x = (textures[label] + rng.normal(size=(32, 1, 8, 8))).astype(np.float32)
        losses.append(float(step(Tensor(x), Tensor(label.astype(np.int32)))))
    return np.array(losses)


@pytest.mark.parametrize("network", [SmallConv, SmallAttention])
def test_loss_curves_in_bfloat16_are_those_in_float32_within_noise(network):
    def smooth(*run):
        return np.convolve(losses_of(network, *run), np.ones(10) / 10, "valid")

    curves = [smooth("O0", seed) for seed in (1, 2, 3)]
    # How far runs that differ in their first weights alone lie apart, all along the curve.
    noise = np.ptp(curves, axis=0).mean()
    assert curves[0][-1] < 0.7 * curves[0][0]  # there is something to follow
    for level in ("O2", "O3"):
        apart = np.abs(smooth(level, 1) - curves[0])
        assert 0 < apart.mean() < 0.5 * noise, (level, apart.mean(), noise)
        assert apart.max() < 0.05 * curves[0][0], (level, apart.max())
