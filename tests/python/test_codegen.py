"""`mycel codegen`: exported networks as C99, compiled by the system's compiler and, where they are
installed, by those for other processors, whose code QEMU runs. The generated program compares its
results with Mycel's; a damaged weight must make it fail."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, nn, ops
from safetensors.numpy import save_file

pytestmark = pytest.mark.one_mode("the program of its own runs no Python")


def conv(*args, **kwargs):
    return nn.Conv2d(*args, weight_init="he_uniform", **kwargs)


class Convolutions(nn.Cell):
    """A stem, an inverted residual block with ReLU6, a head."""

    def __init__(self):
        super().__init__()
        self.stem = nn.SequentialCell(
            conv(3, 8, 3, 2, pad_mode="pad", padding=1), nn.BatchNorm2d(8), nn.ReLU6()
        )
        self.block = nn.SequentialCell(
            conv(8, 24, 1), nn.BatchNorm2d(24), nn.ReLU6(),
            conv(24, 24, 3, group=24, pad_mode="pad", padding=1), nn.BatchNorm2d(24),
            nn.ReLU6(), conv(24, 8, 1), nn.BatchNorm2d(8),
        )  # fmt: skip
        self.pool = nn.MaxPool2d(2, 2)
        self.head = nn.Dense(8, 5, weight_init="he_uniform")

    def construct(self, x):
        x = self.stem(x)
        x = self.pool(x + self.block(x))
        return self.head(ops.ReduceMean()(x, (2, 3)))


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm((16,)), nn.LayerNorm((16,))
        self.up, self.down = nn.Dense(16, 32), nn.Dense(32, 16)

    def construct(self, x):
        x = self.norm1(x + self.attention(x, x, x)[0])
        return self.norm2(x + self.down(ops.gelu(self.up(x))))


class Odds(nn.Cell):
    """Results that are inputs, constants, views, twice the same, integers, bools."""

    def construct(self, x, n):
        y = ops.Concat(1)((x, ops.exp(-x)))[:, ::2]
        half = ops.cast(x, ms.float16) * 3
        classes = ops.Argmax(1)(x)
        return (
            x, y, y, ops.reshape(y, (-1,)), classes, x > 0.5, n * 3 - 1, half,
            ops.Tril()(ops.ones((3, 3), ms.int32)),
        )  # fmt: skip


def values(*shape):
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


NETWORKS = {
    "convolutions": (Convolutions, [values(1, 3, 16, 16)]),
    "encoder": (Encoder, [values(1, 6, 16)]),
    "odds": (Odds, [values(4, 6), np.arange(5, dtype=np.int64)]),
}

# Target, compiler, and what runs its programs.
TARGETS = {
    "x86": ("cc", []),
    "arm64": ("aarch64-linux-gnu-gcc", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
    "arm32a": ("arm-linux-gnueabihf-gcc", ["qemu-arm", "-L", "/usr/arm-linux-gnueabihf"]),
    "cortex-m": ("arm-none-eabi-gcc", ["qemu-system-arm"]),
}


def codegen(*args):
    command = [sys.executable, "-m", "mycel", "codegen", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def export(name, folder):
    ms.set_seed(5)
    network, inputs = NETWORKS[name]
    net = network()
    net.set_train(False)
    path = folder / f"{name}.mindir"
    ms.export(net, *map(Tensor, inputs), file_name=str(path), file_format="MINDIR")
    return path


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    return {name: export(name, folder) for name in NETWORKS}


def make(folder, *args):
    return subprocess.run(
        ["make", "-s", *args], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


def run_check(folder, runner):
    if runner and runner[0] == "qemu-system-arm":
        return make(folder, "run")
    return make(folder, "run", f"RUN={' '.join(runner)}")


STRICT = "CFLAGS=-std=c99 -O1 -ffp-contract=off -Wall -Wextra -Werror -Wno-unused-function"


@pytest.mark.parametrize("name", list(NETWORKS))
@pytest.mark.parametrize("target", ["x86", "arm32a"])
def test_code_computes_what_mycel_computes(exported, name, target, tmp_path):
    """The code for 32 bits is compiled for this machine too: only its indices are narrower."""
    written = codegen(exported[name], "--out", tmp_path, "--target", target, "--name", name)
    assert written.returncode == 0, written.stderr
    built = make(tmp_path, "CC=cc", STRICT)
    assert built.returncode == 0, built.stderr[:2000]
    ran = make(tmp_path, "run", "CC=cc", STRICT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("passed: difference ")


@pytest.mark.ci
@pytest.mark.parametrize("name", list(NETWORKS))
@pytest.mark.parametrize("target", list(TARGETS))
def test_on_other_processors(exported, name, target, tmp_path):
    compiler, runner = TARGETS[target]
    for tool in [compiler, *runner[:1]]:
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    written = codegen(exported[name], "--out", tmp_path, "--target", target)
    assert written.returncode == 0, written.stderr
    built = make(tmp_path)
    assert built.returncode == 0, built.stderr[:2000]
    ran = run_check(tmp_path, runner)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "passed" in ran.stdout


def test_damage_is_seen(exported, tmp_path):
    codegen(exported["convolutions"], "--out", tmp_path)
    weights = tmp_path / "network_weights.h"
    weights.write_text(re.sub(r"\{\n  [^,]*,", "{\n  7.0f,", weights.read_text()))
    ran = make(tmp_path, "run")
    assert ran.returncode != 0
    assert "failed: difference" in ran.stdout


def test_batch_norm_is_folded_and_memory_is_shared(exported, tmp_path):
    written = codegen(exported["convolutions"], "--out", tmp_path)
    source = (tmp_path / "network.c").read_text()
    assert source.count("/* conv2d") == 4
    assert "rsqrt" not in (tmp_path / "network_kernels.h").read_text()
    memory = int(re.search(r"(\d+) bytes of memory", written.stdout)[1])
    # Two tensors of 24 channels, 8 x 8, and what the residual keeps; all intermediates take more.
    assert memory <= 4 * 64 * (24 + 24 + 8)
    assert "malloc" not in source


def test_no_64_bit_indices_on_small_processors(exported, tmp_path):
    codegen(exported["convolutions"], "--out", tmp_path, "--target", "cortex-m")
    kernels = (tmp_path / "network_kernels.h").read_text()
    assert "int64" not in kernels
    assert "for (int32_t" in kernels


def test_given_inputs_fix_unknown_shapes(tmp_path):
    net = nn.Dense(4, 3)
    path = tmp_path / "dense.mindir"
    x = Tensor(shape=[None, 4], dtype=ms.float32)
    ms.export(net, x, file_name=str(path), file_format="MINDIR")
    refused = codegen(path, "--out", tmp_path / "c")
    assert refused.returncode == 1
    assert "unknown shape" in refused.stderr
    assert "--input" in refused.stderr
    save_file({"x": values(2, 4)}, tmp_path / "x.safetensors")
    written = codegen(path, "--out", tmp_path / "c", "--input", tmp_path / "x.safetensors")
    assert written.returncode == 0, written.stderr
    assert make(tmp_path / "c", "run").stdout.startswith("passed")


class Sorted(nn.Cell):
    def construct(self, x):
        return ops.Sort()(x)[0]


def test_refusals_name_the_op_and_the_line(exported, tmp_path):
    path = tmp_path / "sorted.mindir"
    ms.export(Sorted(), Tensor(values(3, 4)), file_name=str(path), file_format="MINDIR")
    refused = codegen(path, "--out", tmp_path / "c")
    assert refused.returncode == 1
    assert "sort has no loops that could be written as C" in refused.stderr
    assert "test_codegen.py" in refused.stderr
    assert not os.path.exists(tmp_path / "c")

    model = exported["odds"]
    for wrong, message in [
        (["--target", "mips"], "x86, arm64, arm32a, cortex-m"),
        (["--name", "a-b"], "must be an identifier, got 'a-b'"),
    ]:
        refused = codegen(model, "--out", tmp_path / "d", *wrong)
        assert refused.returncode == 1
        assert message in refused.stderr
    blocked = tmp_path / "file"
    blocked.write_text("")
    refused = codegen(model, "--out", blocked)
    assert refused.returncode == 1
    assert "cannot make the folder" in refused.stderr or "cannot write" in refused.stderr


CASES = np.load(pathlib.Path(__file__).resolve().parents[1] / "data" / "tflite_cases.npz")
QUANTIZED = [
    "conv_int8_3", "depthwise_int8", "dense_int8", "dense_int8_by_channel", "softmax_int8_0.1447",
    "logistic_int8", "add_int8", "average_pool_2d_same_int8", "max_pool_2d_valid_int8",
    "mean_int8", "conv_uint8",
]  # fmt: skip


@pytest.mark.parametrize("name", QUANTIZED)
@pytest.mark.parametrize("target", ["x86", "arm32a"])
def test_integers_bit_for_bit(name, target, tmp_path):
    """TFLite's integers from the file to C; what the reference kernels gave is in test_tflite."""
    path = tmp_path / "model.tflite"
    path.write_bytes(CASES[f"{name}/model"].tobytes())
    written = codegen(path, "--out", tmp_path / "c", "--target", target)
    assert written.returncode == 0, written.stderr
    ran = make(tmp_path / "c", "run", "CC=cc", STRICT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("passed: difference 0,")


def test_what_follows_a_convolution_is_joined_to_it(exported, tmp_path):
    codegen(exported["convolutions"], "--out", tmp_path)
    steps = re.findall(r"/\* (conv2d[^*]*) \*/", (tmp_path / "network.c").read_text())
    assert len(steps) == 4
    assert sum("minimum" in s or "clip" in s or "relu" in s for s in steps) >= 3
