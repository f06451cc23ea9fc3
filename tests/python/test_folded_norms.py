"""Batch normalisation with given statistics after convolutions, folded into their weights in
compiled programs: against the formulas in float64, and again when a weight or statistic changes."""

import itertools

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, nn

EPSILON = 1e-5


class Net(nn.Cell):
    """A plain, a depthwise and a pointwise convolution, each normalised; the last has a bias."""

    def __init__(self, channels=6):
        super().__init__()
        self.plain = nn.Conv2d(3, channels, 3, pad_mode="pad", padding=1)
        self.deep = nn.Conv2d(channels, channels, 3, 2, pad_mode="pad", padding=1, group=channels)
        self.point = nn.Conv2d(channels, channels, 1, has_bias=True, bias_init="normal")
        self.norms = nn.CellList([nn.BatchNorm2d(channels, eps=EPSILON) for _ in range(3)])
        self.relu, self.relu6 = nn.ReLU(), nn.ReLU6()

    def construct(self, x):
        x = self.relu(self.norms[0](self.plain(x)))
        x = self.relu6(self.norms[1](self.deep(x)))
        return self.norms[2](self.point(x)) + x


def convolution(x, w, stride, padding, groups):
    x = np.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    windows = windows[:, :, ::stride, ::stride]
    parts = zip(np.split(windows, groups, 1), np.split(w, groups, 0))
    return np.concatenate([np.einsum("nchwij,ocij->nohw", a, b) for a, b in parts], 1)


def expected(net, x):
    def array(p):
        return p.asnumpy().astype(np.float64)

    def norm(y, n):
        factor = array(n.gamma) / np.sqrt(array(n.moving_variance) + EPSILON)
        shift = array(n.beta) - array(n.moving_mean) * factor
        return y * factor[:, None, None] + shift[:, None, None]

    def conv(y, c, stride, padding, groups):
        y = convolution(y, array(c.weight), stride, padding, groups)
        return y + array(c.bias)[:, None, None] if c.has_bias else y

    y = np.maximum(norm(conv(x, net.plain, 1, 1, 1), net.norms[0]), 0)
    y = np.clip(norm(conv(y, net.deep, 2, 1, 6), net.norms[1]), 0, 6)
    return norm(conv(y, net.point, 1, 0, 1), net.norms[2]) + y


def changes(net, rng):
    """Each parameter in turn takes other values; yields its name."""
    for name, p in net.parameters_and_names():
        low, high = (0.5, 2.0) if "variance" in name else (-1.5, 1.5)
        p.set_data(Tensor(rng.uniform(low, high, p.shape).astype(np.float32)))
        yield name


@pytest.mark.parametrize("batch", [1, 3])
def test_the_folded_network_is_the_formula(batch):
    ms.set_seed(1)
    rng = np.random.default_rng(2)
    net = Net()
    net.set_train(False)
    x = rng.normal(size=(batch, 3, 9, 8)).astype(np.float32)
    for _ in changes(net, rng):
        pass  # all are drawn before the first call
    steps = 0
    for name in itertools.chain(["as drawn"], changes(net, rng)):
        got = net(Tensor(x)).asnumpy()
        want = expected(net, x.astype(np.float64))
        np.testing.assert_allclose(got, want, rtol=0, atol=3e-6 * np.abs(want).max(), err_msg=name)
        steps += 1
    assert steps == 1 + len(list(net.get_parameters()))


def test_a_nan_stays_in_its_place():
    net = Net()
    net.set_train(False)
    x = np.zeros((1, 3, 9, 8), np.float32)
    x[0, 1, 4, 4] = np.nan
    seen = np.isnan(net(Tensor(x)).asnumpy())
    assert seen[:, :, 2, 2].all() and not seen[:, :, 0].any() and not seen[:, :, 4].any()
