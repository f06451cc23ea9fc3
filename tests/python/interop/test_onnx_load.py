"""mycel.onnx.load: a model read from a file is a network that trains, compiles and is refused by
name where it is damaged. The file tests/data/two_layers.onnx: relu(x @ w1 + b1) @ w2, float32."""

from pathlib import Path

import mycel as ms
import mycel.onnx
import numpy as np
import pytest
from mycel import Tensor, nn

FILE = Path(__file__).resolve().parents[2] / "data" / "two_layers.onnx"


def by_hand(net, x):
    w1, b1, w2 = (p.asnumpy() for p in net.get_parameters())
    return np.maximum(x @ w1 + b1, 0) @ w2


def values(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def test_a_loaded_model_is_a_network():
    net = mycel.onnx.load(FILE)
    assert [p.name for p in net.get_parameters()] == ["w1", "b1", "w2"]
    assert net.inputs == [("x", "float32[batch, 3]")]
    for batch in (2, 5):
        x = values(batch, 3)
        np.testing.assert_allclose(net(Tensor(x)).asnumpy(), by_hand(net, x), rtol=1e-5, atol=1e-6)


def test_bytes_and_backend_give_the_same():
    x = values(4, 3)
    net = mycel.onnx.load(FILE.read_bytes())
    handle = mycel.onnx.prepare(str(FILE))
    np.testing.assert_allclose(handle.run({"x": x})[0], by_hand(net, x), rtol=1e-5, atol=1e-6)
    assert handle.how == "compiled"


def test_it_trains():
    net = mycel.onnx.load(FILE)
    x, target = Tensor(values(8, 3)), Tensor(np.ones((8, 2), np.float32))
    before = [p.asnumpy().copy() for p in net.get_parameters()]
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.05)
    )
    step.set_train()
    losses = [float(step(x, target).asnumpy()) for _ in range(20)]
    assert losses[-1] < 0.5 * losses[0]
    assert all(
        np.abs(p.asnumpy() - b).max() > 0 for p, b in zip(net.get_parameters(), before, strict=True)
    )


def test_the_gradient_is_that_of_the_formula():
    net = mycel.onnx.load(FILE)
    x = values(4, 3)
    gradient = ms.grad(lambda t: net(t).sum())(Tensor(x)).asnumpy()
    w1, b1, w2 = (p.asnumpy() for p in net.get_parameters())
    want = ((x @ w1 + b1 > 0) * w2.sum(axis=1)) @ w1.T
    np.testing.assert_allclose(gradient, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda b: b[:-3], "damaged at byte"),
        (lambda b: b"", "empty"),
        (lambda b: b.replace(b"Relu", b"Relo"), "op Relo of opset 17 is not supported"),
        (lambda b: b.replace(b"hidden", b"hiddem", 1), "its input 'hidden' is no result"),
    ],
)
def test_damaged_models_are_refused_by_name(damage, text):
    with pytest.raises((ValueError, NotImplementedError), match=text):
        mycel.onnx.load(damage(FILE.read_bytes()))(Tensor(values(2, 3)))


def test_inputs_are_checked():
    net = mycel.onnx.load(FILE)
    with pytest.raises(ValueError, match=r"input 'x' is float32\(2, 4\); the model takes float32"):
        net(Tensor(values(2, 4)))
    with pytest.raises(ValueError, match="2 inputs given, 1 expected"):
        net(Tensor(values(2, 3)), Tensor(values(2, 3)))


def test_what_is_exported_reads_back_the_same(tmp_path):
    net = mycel.onnx.load(FILE)
    x = values(4, 3)
    path = mycel.onnx.export(net, Tensor(x), file=tmp_path / "again")
    again = mycel.onnx.load(path)
    assert [p.name for p in again.get_parameters()] == ["w1", "b1", "w2"]
    np.testing.assert_allclose(again(Tensor(x)).asnumpy(), by_hand(net, x), rtol=1e-5, atol=1e-6)


def test_branches_loops_functions_and_typed_elements():
    """tests/data/every_part.onnx: twice(loop of 3 additions of x to (x * 2 or x * 3)), where
    twice(a) = elu(a, 0.5) + a is a function of the model and the branch depends on the sum."""
    net = mycel.onnx.load(FILE.parent / "every_part.onnx")
    assert [p.name for p in net.get_parameters()] == ["two", "three", "half", "wide"]
    for x in (np.array([1.0, -0.5], np.float32), np.array([0.25, -2.0], np.float32)):
        a = x * (2 if x.sum() > 0 else 3) + 3 * x
        want = np.where(a > 0, a, 0.5 * np.expm1(a)) + a
        np.testing.assert_allclose(net(Tensor(x)).asnumpy(), want, rtol=1e-5, atol=1e-6)
        slope = ms.grad(lambda t: net(t).sum())(Tensor(x)).asnumpy()
        inner = 5.0 if x.sum() > 0 else 6.0
        expected = inner * (np.where(a > 0, 1, 0.5 * np.exp(a)) + 1)
        np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6)
    handle = mycel.onnx.prepare(FILE.parent / "every_part.onnx")
    np.testing.assert_allclose(handle.run([x])[0], want, rtol=1e-5, atol=1e-6)
    assert handle.how == "compiled"
