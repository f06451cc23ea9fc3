"""Exported networks pass onnx.checker and give onnxruntime the numbers that they give here; read
back they give them again. Every published form of op_form_cases.py that ONNX has words for too."""

import mycel as ms
import mycel.onnx
import numpy as np
import op_form_cases as forms
import pytest
from mycel import Tensor, nn, ops

pytestmark = [pytest.mark.ci, pytest.mark.one_mode("export compiles from the source in any mode")]

r = np.random.default_rng(0)


def values(*shape):
    return Tensor(r.standard_normal(shape).astype(np.float32))


class Net(nn.Cell):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def construct(self, *inputs):
        return self.fn(*inputs)


def flat(value):
    if isinstance(value, (tuple, list)):
        return [x for item in value for x in flat(item)]
    return [value]


def by_onnxruntime(path, inputs):
    import onnx
    import onnxruntime

    onnx.checker.check_model(onnx.load(path), full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feeds = {f"input{i}": x.asnumpy() for i, x in enumerate(inputs)}
    names = {i.name for i in session.get_inputs()}
    return session.run(None, {k: v for k, v in feeds.items() if k in names})


def check(net, inputs, folder, declared=None, rtol=2e-4, atol=2e-5):
    path = mycel.onnx.export(net, *(declared or inputs), file=folder / "net")
    net.set_train(False)
    want = [t.asnumpy() for t in flat(net(*inputs))]
    back = [t.asnumpy() for t in flat(mycel.onnx.load(path)(*inputs))]
    for results in (by_onnxruntime(path, inputs), back):
        assert len(results) == len(want)
        for got, w in zip(results, want, strict=True):
            assert (got.shape, got.dtype) == (w.shape, w.dtype)
            np.testing.assert_allclose(got, w, rtol=rtol, atol=atol)


def until_large(x):
    while x.sum() < 100.0:
        x = x * 2 + 1
    return x


def by_sign(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def indexed(x):
    return x[1:, ::2], x[::-1], ops.roll(x, 1, 0), ops.tril(x), ops.triu(x, 1), ops.flip(x, (0,))


def resized(x):
    return (
        ops.interpolate(x, size=(8, 10), mode="bilinear"),
        ops.interpolate(x, size=(8, 10), mode="nearest"),
        ops.interpolate(x, size=(7, 9), mode="bilinear", align_corners=True),
        ops.interpolate(x, size=(12, 15), mode="bicubic"),
    )


def bools(x, y):
    p, q = x > 0, y > 0
    return p + q, p * q, ops.maximum(p, q), p < q, ops.logical_xor(p, q), ops.abs(p), x[0] == y[0]


def integers(x):
    n = ops.cast(x * 10, ms.int32)
    return n // 3, n % 3, n / 2, ops.abs(n), -n, n.sum(), n > 2, ops.cumsum(n, 1), ops.trunc(n)


def network(*cells):
    return lambda: nn.SequentialCell(*(cell() for cell in cells))


NETS = {
    "convolutions": (
        network(
            lambda: nn.Conv2d(3, 8, 3, has_bias=True),
            lambda: nn.BatchNorm2d(8),
            nn.ReLU,
            lambda: nn.MaxPool2d(3, 2, pad_mode="same"),
            lambda: nn.Conv2dTranspose(8, 4, 2, stride=2),
            lambda: nn.AvgPool2d(3, 2, pad_mode="same"),
            lambda: nn.AdaptiveAvgPool2d(1),
            nn.Flatten,
            lambda: nn.Dense(4, 5),
            lambda: nn.LayerNorm((5,)),
            nn.GELU,
            lambda: nn.Dropout(0.9),
        ),
        [values(2, 3, 16, 16)],
    ),
    "norms": (
        network(
            lambda: nn.GroupNorm(2, 4),
            lambda: nn.InstanceNorm2d(4),
            nn.LeakyReLU,
            nn.SiLU,
            lambda: nn.Softmax(1),
        ),
        [values(2, 4, 6, 6)],
    ),
    "one dim": (
        network(
            lambda: nn.Conv1d(3, 4, 3),
            nn.ReLU6,
            lambda: nn.Conv1d(4, 4, 3, pad_mode="valid", dilation=2),
        ),
        [values(2, 3, 17)],
    ),
    "three dims": (network(lambda: nn.Conv3d(1, 2, 3), nn.ELU), [values(1, 1, 5, 6, 7)]),
    "transposed": (
        network(
            lambda: nn.Conv2dTranspose(3, 4, 3, stride=2, pad_mode="same"),
            lambda: nn.Conv2dTranspose(4, 2, 4, stride=2, pad_mode="pad", padding=1),
        ),
        [values(1, 3, 7, 8)],
    ),
    "lstm": (
        lambda: nn.LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True),
        [values(2, 5, 3)],
    ),
    "gru": (lambda: nn.GRU(3, 4), [values(5, 2, 3)]),
    "attention": (
        lambda: nn.TransformerEncoderLayer(8, 2, dim_feedforward=16),
        [values(2, 5, 8)],
    ),
    "embedding": (
        network(lambda: nn.Embedding(10, 4), lambda: nn.Dense(4, 3)),
        [Tensor(r.integers(0, 10, (2, 5)).astype(np.int32))],
    ),
    "while": (lambda: Net(until_large), [Tensor(np.ones(3, np.float32))]),
    "if": (lambda: Net(by_sign), [values(3, 4)]),
    "indices": (lambda: Net(indexed), [values(3, 4)]),
    "resized": (lambda: Net(resized), [values(1, 2, 4, 5)]),
    "bools": (lambda: Net(bools), [values(3, 4), values(3, 4)]),
    "integers": (lambda: Net(integers), [values(3, 4)]),
}


@pytest.mark.parametrize("name", NETS)
def test_network(name, tmp_path):
    make, inputs = NETS[name]
    check(make(), inputs, tmp_path)


def test_open_dims(tmp_path):
    net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
    declared = [Tensor(shape=[None, 3], dtype=ms.float32)]
    for rows in (1, 5):
        check(net, [values(rows, 3)], tmp_path, declared)


def _form(name):
    fn, *arrays = forms.CASES[name]
    places = [i for i, a in enumerate(arrays) if not isinstance(a, forms.F)]
    fixed = [Tensor(a.array) if isinstance(a, forms.F) else None for a in arrays]

    def call(*given):
        operands = list(fixed)
        for place, value in zip(places, given, strict=True):
            operands[place] = value
        return fn(*operands)

    return Net(call), [Tensor(arrays[i]) for i in places]


def test_published_forms(tmp_path):
    """Each is exported and right, or refused with the name of an op."""
    right, wrong = 0, []
    for name in forms.CASES:
        net, inputs = _form(name)
        try:
            check(net, inputs, tmp_path, rtol=1e-3, atol=1e-4)
            right += 1
        except NotImplementedError as e:
            if "export to ONNX: " not in str(e):
                wrong.append(f"{name}: {e}")
        except Exception as e:  # noqa: BLE001
            wrong.append(f"{name}: {type(e).__name__}: {str(e).strip()[:200]}")
    assert not wrong, "\n".join(wrong)
    assert right > 60


def test_what_onnx_cannot_say_is_refused_by_name(tmp_path):
    with pytest.raises(NotImplementedError, match="export to ONNX: lgamma: ONNX has no op"):
        mycel.onnx.export(Net(ops.lgamma), values(2), file=tmp_path / "net")
    assert not (tmp_path / "net.onnx").exists()
    with pytest.raises(ValueError, match="draws random numbers"):
        mycel.onnx.export(Net(lambda x: ops.dropout(x, 0.5)), values(2), file=tmp_path / "net")


def test_published_export(tmp_path):
    path = ms.export(
        nn.Dense(3, 2), values(1, 3), file_name=str(tmp_path / "a"), file_format="ONNX"
    )
    assert path.endswith("a.onnx")
    assert len(by_onnxruntime(path, [values(1, 3)])) == 1
