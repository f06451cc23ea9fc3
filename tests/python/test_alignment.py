"""Losses over alignments against the sum over all paths, recurrent primitives and attention against
their formulas, all in NumPy float64. Tolerances: float64 sums of a few hundred terms, 1e-9; float32
results a few roundings, 1e-5."""

import itertools

import numpy as np
import pytest
from mycel import Tensor, nn, ops

RNG = np.random.default_rng(3)


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def read(path, blank, merge=True):
    """What a path says: repeats merged, blanks dropped."""
    kept = [c for i, c in enumerate(path) if not (merge and i and path[i - 1] == c)]
    return [c for c in kept if c != blank]


def ctc_by_paths(x, target, blank, merge=True):
    """(loss, gradient) of one sample x [t, c] by all paths."""
    t, c = x.shape
    total, gradient = 0.0, np.zeros_like(x)
    for path in itertools.product(range(c), repeat=t):
        if read(path, blank, merge) == list(target):
            p = np.exp(sum(x[i, k] for i, k in enumerate(path)))
            total += p
            for i, k in enumerate(path):
                gradient[i, k] -= p
    return -np.log(total), gradient / total


@pytest.mark.parametrize("blank", [0, 2])
def test_ctc_is_the_sum_over_paths(blank):
    x = log_softmax(RNG.normal(size=(4, 3, 3)))
    labels = [k for k in range(3) if k != blank]
    targets = np.array([[labels[0], labels[1]], [labels[1], labels[1]], [labels[0], 0]])
    frames, lengths = np.array([4, 3, 2]), np.array([2, 2, 1])
    want = [ctc_by_paths(x[: frames[n], n], targets[n, : lengths[n]], blank) for n in range(3)]
    loss = lambda v: ops.ctc_loss(
        v, Tensor(targets), Tensor(frames), Tensor(lengths), blank, "none"
    )[0]
    np.testing.assert_allclose(loss(Tensor(x)).asnumpy(), [w[0] for w in want], 1e-9)
    weight = Tensor(np.array([1.0, 2.0, -0.5]))
    gradient = ops.grad(lambda v: (loss(v) * weight).sum())(Tensor(x)).asnumpy()
    for n, (_, g) in enumerate(want):
        scale = weight.asnumpy()[n]
        np.testing.assert_allclose(gradient[: frames[n], n], g * scale, 1e-9, 1e-12)
        assert not gradient[frames[n] :, n].any()


def test_ctc_reductions_and_joined_targets():
    x = log_softmax(RNG.normal(size=(5, 2, 4)))
    rows, joined = np.array([[1, 2], [3, 0]]), np.array([1, 2, 3])
    frames, lengths = (5, 4), (2, 1)
    each = np.array([ctc_by_paths(x[:5, 0], [1, 2], 0)[0], ctc_by_paths(x[:4, 1], [3], 0)[0]])
    for targets in (rows, joined):
        for how, want in (("sum", each.sum()), ("mean", (each / lengths).mean())):
            got = ops.ctc_loss(Tensor(x), Tensor(targets), frames, lengths, reduction=how)[0]
            np.testing.assert_allclose(got.asnumpy(), want, 1e-9)
    got = nn.CTCLoss(reduction="sum")(Tensor(x), Tensor(rows), frames, lengths)
    np.testing.assert_allclose(got.asnumpy(), each.sum(), 1e-9)


def test_impossible_targets():
    x = Tensor(log_softmax(RNG.normal(size=(2, 1, 3))))
    target, frames, lengths = Tensor(np.array([[1, 1]])), Tensor([2]), Tensor([2])
    loss = lambda v, zero: ops.ctc_loss(v, target, frames, lengths, 0, "none", zero)[0]
    assert np.isinf(loss(x, False).asnumpy()).all()
    assert loss(x, True).asnumpy() == 0
    gradient = ops.grad(lambda v: loss(v, True).sum())(x)
    assert not gradient.asnumpy().any()


def test_ctc_refuses():
    x = Tensor(log_softmax(RNG.normal(size=(3, 1, 3))))
    one = Tensor([1])
    with pytest.raises(ValueError, match="class 7 at position 0 is outside"):
        ops.ctc_loss(x, Tensor([[7]]), Tensor([3]), one)
    with pytest.raises(ValueError, match="input length 4 at position 0 is outside"):
        ops.ctc_loss(x, Tensor([[1]]), Tensor([4]), one)
    first = ops.grad(lambda v: ops.ctc_loss(v, Tensor([[1]]), Tensor([3]), one)[0].sum())
    with pytest.raises(RuntimeError, match="first derivatives only"):
        ops.grad(lambda v: first(v).sum())(x)


@pytest.mark.parametrize("merge", [True, False])
def test_ctc_of_sparse_labels(merge):
    scores = RNG.normal(size=(4, 2, 3)).astype(np.float32)
    indices = Tensor(np.array([[0, 0], [0, 1], [1, 0]]))
    values, frames = Tensor(np.array([0, 1, 1], np.int32)), Tensor(np.array([4, 3], np.int32))
    loss, gradient = ops.CTCLoss(ctc_merge_repeated=merge)(Tensor(scores), indices, values, frames)
    x = log_softmax(scores.astype(np.float64))
    want = [
        ctc_by_paths(x[:4, 0], [0, 1], 2, merge), ctc_by_paths(x[:3, 1], [1], 2, merge)
    ]  # fmt: skip
    np.testing.assert_allclose(loss.asnumpy(), [w[0] for w in want], 1e-5)
    for n, (count, (_, g)) in enumerate(zip((4, 3), want)):
        through = g - np.exp(x[:count, n]) * g.sum(-1, keepdims=True)
        np.testing.assert_allclose(gradient.asnumpy()[:count, n], through, 1e-4, 1e-5)


def test_more_labels_than_frames():
    x = Tensor(RNG.normal(size=(3, 2, 3)).astype(np.float32))
    indices = Tensor(np.array([[0, 0], [0, 1], [1, 0]]))
    values, frames = Tensor(np.array([0, 1, 1], np.int32)), Tensor(np.array([1, 3], np.int32))
    with pytest.raises(ValueError, match="CTCLoss: there are more labels"):
        ops.CTCLoss()(x, indices, values, frames)
    loss, gradient = ops.CTCLoss(ignore_longer_outputs_than_inputs=True)(x, indices, values, frames)
    assert loss.asnumpy()[0] == 0 and loss.asnumpy()[1] > 0
    assert not gradient.asnumpy()[:, 0].any()


def rnnt_by_paths(x, labels, blank=0):
    """Minus the log probability of one sample x [t, u + 1, c] by all monotone paths."""
    t, u = x.shape[0], len(labels)
    total = 0.0
    for frames in itertools.combinations_with_replacement(range(t), u):
        p, at = 0.0, 0
        for frame in range(t):
            while at < u and frames[at] == frame:
                p += x[frame, at, labels[at]]
                at += 1
            p += x[frame, at, blank]
        total += np.exp(p)
    return -np.log(total)


def test_transducer_loss_is_the_sum_over_paths():
    x = log_softmax(RNG.normal(size=(2, 4, 3, 5)))
    labels = np.array([[2, 4], [1, 0]], np.int32)
    frames, lengths = np.array([4, 3], np.int32), np.array([2, 1], np.int32)
    run = lambda v: ops.RNNTLoss()(Tensor(v), Tensor(labels), Tensor(frames), Tensor(lengths))
    costs, gradient = run(x)
    by_hand = lambda v: np.array(
        [rnnt_by_paths(v[n, : frames[n]], labels[n, : lengths[n]]) for n in range(2)]
    )
    np.testing.assert_allclose(costs.asnumpy(), by_hand(x), 1e-9)
    for place in [(0, 0, 0, 2), (0, 3, 2, 0), (1, 1, 1, 0), (1, 2, 0, 1), (1, 3, 1, 0)]:
        moved = x.copy()
        moved[place] += 1e-6
        slope = (by_hand(moved).sum() - by_hand(x).sum()) / 1e-6
        np.testing.assert_allclose(gradient.asnumpy()[place], slope, 1e-4, 1e-6)


def test_greedy_decoder():
    scores = np.full((5, 2, 3), 0.1, np.float32)
    for t, (a, b) in enumerate([(0, 2), (0, 1), (2, 1), (0, 0), (1, 1)]):
        scores[t, 0, a] = scores[t, 1, b] = 1.0 + t
    run = lambda merge: ops.ctc_greedy_decoder(
        Tensor(scores), Tensor(np.array([5, 4], np.int32)), merge
    )
    indices, values, shape, score = run(True)
    np.testing.assert_array_equal(values.asnumpy(), [0, 0, 1, 1, 0])
    np.testing.assert_array_equal(indices.asnumpy(), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]])
    np.testing.assert_array_equal(shape.asnumpy(), [2, 3])
    np.testing.assert_allclose(score.asnumpy(), [[-15.0], [-10.0]])
    np.testing.assert_array_equal(run(False)[1].asnumpy(), [0, 0, 0, 1, 1, 1, 0])


# -- recurrent primitives


def arrays(*shapes):
    return [RNG.normal(size=s).astype(np.float32) for s in shapes]


def close(got, want):
    np.testing.assert_allclose(got.asnumpy(), want, 1e-5, 1e-5)


@pytest.mark.parametrize("clip", [-1.0, 0.2])
def test_dynamic_rnn(clip):
    x, w, b, h, c = arrays((3, 2, 4), (4 + 5, 20), (20,), (1, 2, 5), (1, 2, 5))
    net = ops.DynamicRNN(cell_clip=clip, forget_bias=0.5)
    got = net(*(Tensor(v) for v in (x, w, b)), None, Tensor(h), Tensor(c))
    steps = []
    h, c = h[0], c[0]
    for row in x:
        i, j, f, o = np.split(np.concatenate([row, h], 1) @ w + b, 4, 1)
        i, j, f, o = sigmoid(i), np.tanh(j), sigmoid(f + 0.5), sigmoid(o)
        c = f * c + i * j
        c = np.clip(c, -clip, clip) if clip > 0 else c
        h = o * np.tanh(c)
        steps.append((h, h, c, i, j, f, o, np.tanh(c)))
    for g, want in zip(got, zip(*steps)):
        close(g, np.stack(want))
    with pytest.raises(ValueError, match="'direction' must be 'UNIDIRECTIONAL'"):
        ops.DynamicRNN(direction="BIDIRECTIONAL")(Tensor(x), Tensor(w), Tensor(b))


@pytest.mark.parametrize("order", ["rzh", "zrh"])
@pytest.mark.parametrize("after", [True, False])
def test_dynamic_gru(order, after):
    x, wi, wh, bi, bh, h = arrays((3, 2, 4), (4, 15), (5, 15), (15,), (15,), (2, 5))
    net = ops.DynamicGRUV2(gate_order=order, reset_after=after)
    got = net(*(Tensor(v) for v in (x, wi, wh, bi, bh)), None, Tensor(h))
    steps = []
    for row in x:
        a, s = np.split(row @ wi + bi, 3, 1), np.split(h @ wh + bh, 3, 1)
        first, second = sigmoid(a[0] + s[0]), sigmoid(a[1] + s[1])
        r, z = (first, second) if order == "rzh" else (second, first)
        hidden = s[2] if after else (r * h) @ wh[:, 10:] + bh[10:]
        n = np.tanh(a[2] + (r * hidden if after else hidden))
        h = (1 - z) * n + z * h
        steps.append((h, h, z, r, n, hidden))
    for g, want in zip(got, zip(*steps)):
        close(g, np.stack(want))


def test_basic_lstm_cell():
    x, h, c, w, b = arrays((2, 4), (2, 5), (2, 5), (9, 20), (20,))
    got = ops.BasicLSTMCell()(*(Tensor(v) for v in (x, h, c, w, b)))
    i, j, f, o = np.split(np.concatenate([x, h], 1) @ w + b, 4, 1)
    c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
    close(got[0], c)
    close(got[1], sigmoid(o) * np.tanh(c))


def test_lstm_primitive_is_the_layer():
    layer = nn.LSTM(4, 3, num_layers=2, bidirectional=True)
    x, h, c = arrays((5, 2, 4), (4, 2, 3), (4, 2, 3))
    suffixes = ("_l0", "_l0_reverse", "_l1", "_l1_reverse")
    part = lambda n: [getattr(layer, n + s).asnumpy().reshape(-1) for s in suffixes]
    bias = [a + b for a, b in zip(part("bias_ih"), part("bias_hh"))]
    w = np.concatenate([*part("weight_ih"), *part("weight_hh"), *bias])
    net = ops.LSTM(4, 3, 2, True, True, 0.0)
    got = net(Tensor(x), Tensor(h), Tensor(c), Tensor(w.reshape(-1, 1, 1)))
    y, (hn, cn) = layer(Tensor(x), (Tensor(h), Tensor(c)))
    for g, want in zip(got, (y, hn, cn)):
        close(g, want.asnumpy())


# -- attention


def test_attention_with_masks():
    layer = nn.MultiheadAttention(6, 2)
    q, k = arrays((3, 2, 6), (4, 2, 6))
    forbidden = np.zeros((3, 4), bool)
    forbidden[0, 1:] = forbidden[1, 2:] = True
    hidden = np.zeros((2, 4), bool)
    hidden[1, 0] = True
    forbidden[0, 1] = False
    out, weights = layer(
        Tensor(q), Tensor(k), Tensor(k), Tensor(hidden), True, Tensor(forbidden), False
    )
    w, b = layer.in_proj_weight.asnumpy(), layer.in_proj_bias.asnumpy()
    Q, K, V = (v @ m.T + o for v, m, o in zip((q, k, k), np.split(w, 3), np.split(b, 3)))
    want_out, want_weights = np.zeros((3, 2, 6)), np.zeros((2, 2, 3, 4))
    for n in range(2):
        for head in range(2):
            part = slice(3 * head, 3 * head + 3)
            scores = Q[:, n, part] @ K[:, n, part].T / np.sqrt(3)
            scores[forbidden | hidden[n]] = -np.inf
            p = np.exp(log_softmax(scores))
            want_weights[n, head] = p
            want_out[:, n, part] = p @ V[:, n, part]
    close(weights, want_weights)
    close(out, want_out @ layer.out_proj.weight.asnumpy().T + layer.out_proj.bias.asnumpy())
    (alone,) = layer(Tensor(q), Tensor(k), Tensor(k), need_weights=False)
    assert alone.shape == (3, 2, 6)


def test_attention_refuses():
    with pytest.raises(ValueError, match="'num_heads' 4 must divide 'embed_dim' 6"):
        nn.MultiheadAttention(6, 4)
    layer = nn.MultiheadAttention(6, 2)
    q, k = (Tensor(v) for v in arrays((3, 2, 6), (4, 2, 6)))
    with pytest.raises(ValueError, match=r"'attn_mask' must be \[3, 4\]"):
        layer(q, k, k, attn_mask=Tensor(np.zeros((4, 3), bool)))
    with pytest.raises(ValueError, match="'activation' must be 'relu', 'gelu'"):
        nn.TransformerEncoderLayer(6, 2, activation="tanh")
    with pytest.raises(ValueError, match="must have one batch"):
        nn.Transformer(6, 2, 1, 1, 8)(q, Tensor(np.zeros((3, 1, 6), np.float32)))


def test_stacks_have_layers_of_their_own():
    layer = nn.TransformerEncoderLayer(6, 2, 8)
    net = nn.TransformerEncoder(layer, 2, nn.LayerNorm((6,)))
    names = [n for n, _ in net.parameters_and_names()]
    assert "layers.0.self_attn.in_proj_weight" in names and "norm.gamma" in names
    assert net.layers[0].linear1.weight is not net.layers[1].linear1.weight
    (x,) = arrays((3, 2, 6))
    net.set_train(False)
    want = net.norm(net.layers[1](net.layers[0](Tensor(x))))
    close(net(Tensor(x)), want.asnumpy())


def test_examples_are_one_batch():
    x = log_softmax(RNG.normal(size=(3, 5, 2, 4)))
    targets, frames = np.array([[[1, 2], [3, 0]]] * 3), np.array([[5, 4], [3, 5], [4, 4]])
    lengths = np.array([[2, 1], [1, 1], [2, 0]])
    loss = lambda *v: ops.ctc_loss(*v, reduction="sum")[0]
    args = [Tensor(v) for v in (x, targets, frames, lengths)]
    got = ops.vmap(loss)(*args).asnumpy()
    gradient = ops.vmap(ops.grad(loss))(*args).asnumpy()
    for i in range(3):
        one = [Tensor(v[i]) for v in (x, targets, frames, lengths)]
        np.testing.assert_allclose(got[i], loss(*one).asnumpy(), 1e-9)
        np.testing.assert_allclose(gradient[i], ops.grad(loss)(*one).asnumpy(), 1e-9, 1e-12)
