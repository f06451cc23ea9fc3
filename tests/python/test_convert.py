"""`mycel convert`: networks from one format to another give the same numbers."""

import os
import pathlib
import subprocess

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, nn, ops
from safetensors.numpy import load_file, save_file

pytestmark = pytest.mark.one_mode("the program of its own runs no Python")


class Small(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, weight_init="he_uniform", has_bias=True)
        self.head = nn.Dense(4, 5, weight_init="he_uniform")

    def construct(self, x):
        return self.head(ops.ReduceMean()(ops.relu(self.conv(x)), (2, 3)))


@pytest.fixture(scope="module")
def program():
    path = pathlib.Path(ms.__file__).parents[2] / "bin" / "mycel"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return str(path)


def convert(program, *args):
    return subprocess.run(
        [program, "convert", *map(str, args)], capture_output=True, text=True, check=False
    )


def predict(program, model, x, folder):
    save_file({"x": x}, folder / "in.safetensors")
    subprocess.run(
        [program, "predict", model, "--input", folder / "in.safetensors", "--output",
         folder / "out.safetensors"], check=True, env={**os.environ})  # fmt: skip
    return load_file(folder / "out.safetensors")["output0"]


def test_there_and_back(program, tmp_path):
    net = Small()
    x = np.random.default_rng(0).standard_normal((2, 3, 6, 6)).astype(np.float32)
    want = net(Tensor(x)).asnumpy()
    ms.export(net, Tensor(x), file_name=str(tmp_path / "net"), file_format="MINDIR")
    done = convert(program, tmp_path / "net.mindir", "--to", "onnx", "-o", tmp_path / "net.onnx")
    assert done.returncode == 0, done.stderr
    done = convert(program, tmp_path / "net.onnx", "--to", "mycel", "-o", tmp_path / "b.mindir")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(
        predict(program, tmp_path / "b.mindir", x, tmp_path), want, rtol=1e-5, atol=1e-6
    )


def test_open_dims_are_given(program, tmp_path):
    net = Small()
    ms.export(
        net, Tensor(shape=[None, 3, 6, 6], dtype=ms.float32),
        file_name=str(tmp_path / "net"), file_format="MINDIR",
    )  # fmt: skip
    args = [tmp_path / "net.mindir", "--to", "mycel", "-o", tmp_path / "b.mindir", "--shape"]
    assert convert(program, *args, "4,3,6,6").returncode == 0
    assert (
        "4, 3, 6, 6"
        in subprocess.run(
            [program, "ir", "show", tmp_path / "b.mindir"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    wrong = convert(program, *args, "4,2,6,6")
    assert wrong.returncode == 1 and "float32[?, 3, 6, 6]" in wrong.stderr


def test_refusals(program, tmp_path):
    (tmp_path / "text").write_text("no network")
    said = convert(program, tmp_path / "text", "--to", "onnx", "-o", tmp_path / "y")
    assert said.returncode == 1 and "is no network in a known format" in said.stderr
    said = convert(program, tmp_path / "none", "--to", "words", "-o", tmp_path / "y")
    assert said.returncode == 1 and "there is no format 'words' to write" in said.stderr
