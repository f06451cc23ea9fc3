"""Post-training quantization: a trained network on 8-bit integers answers as it did on floats."""

import pathlib
import subprocess

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, nn
from safetensors.numpy import load_file, save_file

pytestmark = pytest.mark.one_mode("the program of its own runs no Python")
DATA = pathlib.Path(ms.__file__).parent / "data" / "digits.safetensors"


class Net(nn.Cell):
    """Two convolutions and two dense layers: images [n, 1, 8, 8] to ten scores."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, weight_init="HeUniform", has_bias=True)
        self.conv2 = nn.Conv2d(32, 64, 3, weight_init="HeUniform")
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        self.dense = nn.Dense(256, 128, weight_init="HeUniform")
        self.head = nn.Dense(128, 10, weight_init="HeUniform")

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.head(self.relu(self.dense(self.flatten(x))))


def program():
    path = pathlib.Path(ms.__file__).parents[2] / "bin" / "mycel"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return str(path)


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A trained network in a file, samples to calibrate on, and images it has not seen."""
    folder = tmp_path_factory.mktemp("digits")
    data = load_file(DATA)
    x = data["images"].astype(np.float32).reshape(-1, 1, 8, 8)
    x, y = x / x.max(), data["labels"].astype(np.int32).ravel()
    order = np.random.default_rng(0).permutation(len(x))
    x, y = x[order], y[order]
    held = len(x) // 5
    ms.set_seed(1)
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Adam(net.trainable_params(), 2e-3))
    step.set_train()
    for epoch in range(8):
        at = np.random.default_rng(epoch).permutation(len(x) - held) + held
        for i in range(0, len(at) - 31, 32):
            step(Tensor(x[at[i : i + 32]]), Tensor(y[at[i : i + 32]]))
    net.set_train(False)
    model = folder / "net.mindir"
    ms.export(net, Tensor(x[:held]), file_name=str(model.with_suffix("")), file_format="MINDIR")
    save_file({"x": x[held : 4 * held]}, folder / "samples.safetensors")
    save_file({"x": x[:held]}, folder / "held.safetensors")
    want = net(Tensor(x[:held])).asnumpy()
    return folder, y[:held], want


def run(*args):
    return subprocess.run([program(), *map(str, args)], capture_output=True, text=True, check=False)


def scores(folder, model):
    out = folder / "out.safetensors"
    done = run("predict", model, "--input", folder / "held.safetensors", "--output", out)
    assert done.returncode == 0, done.stderr
    return next(iter(load_file(out).values()))


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--observer", "moving_average"],
        ["--observer", "percentile", "--percentile", "99.9"],
        ["--observer", "entropy"],
        ["--asymmetric"],
        ["--per-tensor"],
        ["--no-bias-correction"],
    ],
)
def test_digits(digits, options):
    """At most one in a hundred of the held-out digits is read less well than by floats."""
    folder, labels, floats = digits
    to = folder / "int8.mindir"
    done = run(
        "convert", folder / "net.mindir", "--to", "mycel", "-o", to, "--quantize", "int8",
        "--calibrate", folder / "samples.safetensors", *options,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "conv2" in done.stdout and "dB" in done.stdout, done.stdout
    got = scores(folder, to)
    before, after = ((s.argmax(1) == labels).mean() for s in (floats, got))
    assert before > 0.95
    assert after >= before - 0.01
    noise = np.square(got - floats).sum() / np.square(floats).sum()
    assert 0 < noise < 10 ** (-18 / 10)  # at least 18 dB, and not the floats again
    assert to.stat().st_size < 0.5 * (folder / "net.mindir").stat().st_size


def test_layers_that_are_skipped(digits):
    folder, _, floats = digits
    to = folder / "none.mindir"
    done = run(
        "convert", folder / "net.mindir", "--to", "mycel", "-o", to, "--quantize", "int8",
        "--calibrate", folder / "samples.safetensors", "--skip", "conv", "--skip", "dense",
        "--skip", "head",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "skipped: 'conv'" in done.stdout
    np.testing.assert_allclose(scores(folder, to), floats, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "options, text",
    [
        (["--quantize", "int8"], "int8 needs samples"),
        (["--quantize", "int3"], "allowed: int8"),
        (["--quantize", "int8", "--observer", "best"], "best"),
    ],
)
def test_refusals(digits, options, text):
    folder, _, _ = digits
    done = run("convert", folder / "net.mindir", "--to", "mycel", "-o", folder / "no", *options)
    assert done.returncode != 0
    assert text in done.stderr
