"""The converter and the Lite runtime: .lite files give what the network gives, whatever their
shapes, control flow and threads; a training step keeps its weights; what cannot run is refused."""

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, lite, nn, ops

pytestmark = pytest.mark.one_mode("a .lite file runs without Python")


def conv(*args, **kwargs):
    return nn.Conv2d(*args, weight_init="he_uniform", **kwargs)


class Convolutions(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.SequentialCell(
            conv(3, 20, 3, 2, pad_mode="pad", padding=1), nn.BatchNorm2d(20), nn.ReLU6()
        )
        self.deep = nn.SequentialCell(
            conv(20, 20, 3, group=20, has_bias=True), nn.ReLU(), conv(20, 36, 1), nn.Tanh()
        )
        self.grouped = conv(36, 12, 3, group=4, pad_mode="valid", dilation=2)
        self.pool = nn.MaxPool2d(2, 2)
        self.head = nn.Dense(12, 5, weight_init="he_uniform")

    def construct(self, x):
        x = self.grouped(self.deep(self.pool(self.stem(x))))
        return self.head(ops.ReduceMean()(x, (2, 3))), ops.softmax(x, 1)


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm = nn.LayerNorm((16,))
        self.up, self.down = nn.Dense(16, 33), nn.Dense(33, 16)

    def construct(self, x):
        x = self.norm(x + self.attention(x, x, x)[0])
        return x + self.down(ops.gelu(self.up(x)))


class Loop(nn.Cell):
    def construct(self, x):
        i = Tensor(0, ms.int32)
        while i < 5:
            if ops.reduce_sum(x) > 3.0:
                x = x * 0.5
            else:
                x = x + 1.25
            i = i + 1
        return x


def opened(net, example, folder, threads=2, **options):
    ms.export(net, example, file_name=str(folder / "net"), file_format="MINDIR")
    converter = lite.Converter()
    for name, value in options.items():
        setattr(converter, name, value)
    converter.convert(folder / "net.mindir", folder / "net.lite")
    return lite.Model().build_from_file(
        folder / "net.lite", context=lite.Context(thread_num=threads)
    )


def compare(net, model, x, tolerance=2e-5):
    want = net(Tensor(x))
    want = [w.asnumpy() for w in (want if isinstance(want, tuple) else (want,))]
    got = [t.get_data_to_numpy() for t in model.predict([x])]
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert g.shape == w.shape and g.dtype == w.dtype
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance * max(1, np.abs(w).max()))


def numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("threads", [1, 2])
def test_convolutions(tmp_path, threads):
    net, x = Convolutions().set_train(False), numbers(2, 3, 30, 34)
    compare(net, opened(net, Tensor(x), tmp_path, threads), x)


def test_encoder(tmp_path):
    net, x = Encoder().set_train(False), numbers(2, 7, 16)
    compare(net, opened(net, Tensor(x), tmp_path), x)


def test_control_flow(tmp_path):
    net = Loop()
    model = opened(net, Tensor(numbers(4)), tmp_path)
    for scale in (0.1, 1, 30):
        compare(net, model, np.abs(numbers(4)) * np.float32(scale))


def test_open_dims(tmp_path):
    net = Convolutions().set_train(False)
    model = opened(net, Tensor(shape=[None, 3, None, None], dtype=ms.float32), tmp_path)
    assert model.get_inputs()[0].shape == [-1, 3, -1, -1]
    for shape in ((1, 3, 30, 30), (3, 3, 41, 26), (1, 3, 30, 30)):
        compare(net, model, numbers(*shape))
    with pytest.raises(ValueError, match=r"\[1, 4, 30, 30\]; expected \[\?, 3, \?, \?\]"):
        model.predict([numbers(1, 4, 30, 30)])


def test_half_of_the_bytes(tmp_path):
    net, x = Convolutions().set_train(False), numbers(1, 3, 30, 30)
    compare(net, opened(net, Tensor(x), tmp_path, quantize="fp16"), x, 3e-3)


def test_threads_give_the_same_bits(tmp_path):
    net, x = Encoder().set_train(False), numbers(3, 65, 16)
    got = []
    for threads in (1, 2, 3):
        model = opened(net, Tensor(x), tmp_path, threads)
        got += [model.predict([x])[0].get_data_to_numpy() for _ in range(2)]
    for other in got[1:]:
        assert got[0].tobytes() == other.tobytes()


def test_training_step_keeps_its_weights(tmp_path):
    rng = np.random.default_rng(1)
    x, y = numbers(16, 6), rng.integers(0, 3, 16).astype(np.int32)
    w, b = Tensor(rng.standard_normal((3, 6)).astype(np.float32)), Tensor(np.zeros(3, np.float32))

    def loss(w, b, x, y):
        return ops.cross_entropy(ops.matmul(x, w.T) + b, y)

    def step(x, y, w, b):
        value, (dw, db) = ms.value_and_grad(loss, (0, 1))(w, b, x, y)
        return value, w - 0.3 * dw, b - 0.3 * db

    lite.export_training(step, [Tensor(x), Tensor(y)], {"w": w, "b": b}, tmp_path / "step.lite")
    model = lite.Model().build_from_file(tmp_path / "step.lite")
    assert [t.name for t in model.get_inputs()] == ["input0", "input1"]
    losses = []
    for _ in range(20):
        got = model.predict([x, y])
        value, w, b = step(Tensor(x), Tensor(y), w, b)
        losses.append(got[0].get_data_to_numpy().item())
        np.testing.assert_allclose(losses[-1], value.asnumpy().item(), rtol=1e-4)
        np.testing.assert_allclose(model.state["w"], w.asnumpy(), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(model.state["b"], b.asnumpy(), rtol=1e-4, atol=1e-5)
    assert losses[-1] < 0.7 * losses[0]


def test_refusals(tmp_path):
    class Sorted(nn.Cell):
        def construct(self, x):
            return ops.Sort()(x)[0]

    ms.export(Sorted(), Tensor(numbers(4)), file_name=str(tmp_path / "s"), file_format="MINDIR")
    with pytest.raises(NotImplementedError, match="Lite: sort"):
        lite.Converter().convert(tmp_path / "s.mindir", tmp_path / "s.lite")
    (tmp_path / "bad.lite").write_bytes(b"MYCELITE" + bytes(200))
    with pytest.raises(ValueError, match=r"bad.lite': the file is damaged"):
        lite.Model().build_from_file(tmp_path / "bad.lite")
    with pytest.raises(ValueError, match="convert the file to .lite first"):
        lite.Model().build_from_file(tmp_path / "s.mindir", lite.ModelType.MINDIR)


def test_damage_is_found(tmp_path):
    net, x = Encoder().set_train(False), numbers(1, 3, 16)
    opened(net, Tensor(x), tmp_path)
    good = (tmp_path / "net.lite").read_bytes()
    rng = np.random.default_rng(2)
    for _ in range(40):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        (tmp_path / "bad.lite").write_bytes(bad)
        with pytest.raises(ValueError, match=r"damaged|no \.lite file|version|format"):
            lite.Model().build_from_file(tmp_path / "bad.lite")
