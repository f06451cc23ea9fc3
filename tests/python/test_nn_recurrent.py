"""Recurrent layers against the formulas in NumPy, float64. Tolerance: ten float32 steps, 1e-5."""

import numpy as np
import pytest
from mycel import Tensor, nn, ops

RNG = np.random.default_rng(0)
T, N, IN, H = 4, 3, 5, 2


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(kind, x, h, c, w_ih, w_hh, b_ih, b_hh):
    a, b = x @ w_ih.T + b_ih, h @ w_hh.T + b_hh
    if kind == "RNN":
        return np.tanh(a + b), c
    if kind == "GRU":
        (ar, az, an), (br, bz, bn) = np.split(a, 3, -1), np.split(b, 3, -1)
        z, new = sigmoid(az + bz), np.tanh(an + sigmoid(ar + br) * bn)
        return (1 - z) * new + z * h, c
    i, f, g, o = np.split(a + b, 4, -1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def weights(layer, suffix):
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return [getattr(layer, n + suffix).asnumpy().astype(np.float64) for n in names]


def reference(kind, layer, x, lengths):
    """Two directions of one layer."""
    out = np.zeros((T, N, 2 * H))
    last = []
    for d, suffix in enumerate(("_l0", "_l0_reverse")):
        w = weights(layer, suffix)
        h = c = np.zeros((N, H))
        for t in range(T) if d == 0 else reversed(range(T)):
            runs = (lengths > t)[:, None]
            h2, c2 = step(kind, x[t], h, c, *w)
            out[t, :, d * H : (d + 1) * H] = np.where(runs, h2, 0)
            h, c = np.where(runs, h2, h), np.where(runs, c2, c)
        last.append((h, c))
    return out, np.stack([h for h, _ in last]), np.stack([c for _, c in last])


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("lengths", [None, [4, 1, 3]])
def test_sequences(kind, lengths):
    layer = getattr(nn, kind)(IN, H, bidirectional=True)
    x = RNG.normal(size=(T, N, IN)).astype(np.float32)
    length = None if lengths is None else Tensor(np.array(lengths, np.int32))
    out, state = layer(Tensor(x), None, length)
    want, h, c = reference(kind, layer, x, np.array(lengths or [T] * N))
    np.testing.assert_allclose(out.asnumpy(), want, atol=1e-5)
    got = state if kind == "LSTM" else (state,)
    for a, b in zip(got, (h, c)):
        np.testing.assert_allclose(a.asnumpy(), b, atol=1e-5)


def test_batch_first_and_depth():
    layer = nn.LSTM(IN, H, num_layers=2, batch_first=True)
    x = Tensor(RNG.normal(size=(N, T, IN)).astype(np.float32))
    h0 = Tensor(RNG.normal(size=(2, N, H)).astype(np.float32))
    out, (h, c) = layer(x, (h0, h0))
    assert out.shape == (N, T, H) and h.shape == c.shape == (2, N, H)
    np.testing.assert_allclose(out.asnumpy()[:, -1], h.asnumpy()[1], atol=1e-6)
    with pytest.raises(TypeError, match="pair"):
        layer(x, h0)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_cells(kind):
    cell = getattr(nn, kind + "Cell")(IN, H)
    x, h, c = (RNG.normal(size=(N, n)).astype(np.float32) for n in (IN, H, H))
    state = (Tensor(h), Tensor(c)) if kind == "LSTM" else Tensor(h)
    got = cell(Tensor(x), state)
    want = step(kind, x, h, c, *weights(cell, ""))
    for a, b in zip(got if kind == "LSTM" else (got,), want):
        np.testing.assert_allclose(a.asnumpy(), b, atol=1e-5)


def test_gradient_reaches_every_weight():
    layer = nn.GRU(IN, H, num_layers=2)
    x = Tensor(RNG.normal(size=(T, N, IN)).astype(np.float32))
    params = layer.trainable_params()
    grads = ops.grad(lambda t: layer(t)[0].sum(), None, params)(x)
    assert all(np.abs(g.asnumpy()).max() > 0 for g in grads)
