"""`mycel ir show`, `run` and `diff` on graphs with control flow and unknown dims."""

import os
import pty
import subprocess
import sys

import mycel as ms
import numpy as np
import pytest
from mycel import nn
from safetensors.numpy import load_file, save_file

pytestmark = pytest.mark.one_mode("the program of its own runs no Python")

# Doubles x until its sum is at least `limit`; gives x and the number of turns.
LOOP = """graph doubled(%0: float32[?, 2] "x", %1: float32[] "limit") {
  %2 = fill_constant() {value=0.0, shape=[], dtype=int32} : int32[]
  %3, %4, %5 = while_loop(%0, %1, %2) {condition=graph condition(%0: float32[?, 2], \
%1: float32[], %2: int32[]) {
    %3 = reduce_sum(%0) : float32[]
    %4 = less(%3, %1) : bool[]
    return %4
  }, body=graph body(%0: float32[?, 2], %1: float32[], %2: int32[]) {
    %3 = add(%0, %0) : float32[?, 2]
    %4 = fill_constant() {value=1.0, shape=[], dtype=int32} : int32[]
    %5 = add(%2, %4) : int32[]
    return %3, %1, %5
  }} : float32[?, 2], float32[], int32[] @"loop.py:3"
  return %3, %5
}
"""


def run(*args, **kwargs):
    command = [sys.executable, "-m", "mycel", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)


@pytest.fixture
def loop(tmp_path):
    path = tmp_path / "loop.ir"
    path.write_text(LOOP)
    return path


def test_show_prints_what_it_reads(loop):
    shown = run("ir", "show", loop)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, LOOP, "")


def test_show_the_plan(loop):
    shown = run("ir", "show", "--plan", loop)
    assert shown.returncode == 0, shown.stderr
    assert "while_loop" in shown.stdout


@pytest.mark.parametrize("rows", [1, 3])
def test_run_a_loop_on_rows_of_any_number(loop, tmp_path, rows):
    x = np.full((rows, 2), 0.5, np.float32)
    save_file({"x": x, "limit": np.array(40, np.float32)}, tmp_path / "in.safetensors")
    done = run("ir", "run", loop, "--input", tmp_path / "in.safetensors", "--output",
               tmp_path / "out.safetensors")  # fmt: skip
    assert done.returncode == 0, done.stderr
    out = load_file(tmp_path / "out.safetensors")
    turns = int(np.ceil(np.log2(40 / rows)))
    np.testing.assert_array_equal(out["output0"], x * 2**turns)
    assert out["output1"] == turns


def test_run_says_what_does_not_fit(loop, tmp_path):
    save_file(
        {"x": np.ones((2, 3), np.float32), "limit": np.ones((), np.float32)},
        tmp_path / "in.safetensors",
    )
    done = run("ir", "run", loop, "--input", tmp_path / "in.safetensors")
    assert done.returncode == 1
    assert "argument 0 is float32(2, 3), takes float32[?, 2]" in done.stderr


def test_show_and_diff_of_model_files(tmp_path):
    class Net(nn.Cell):
        def __init__(self, act):
            super().__init__()
            self.dense, self.act = nn.Dense(3, 2), act

        def construct(self, x):
            y = self.dense(x)
            if y.sum() > 0:
                y = self.act(y)
            return y

    ms.set_context(mode=ms.GRAPH_MODE)
    x = ms.Tensor(np.ones((2, 3), np.float32))
    for name, act in (("a", nn.Tanh()), ("b", nn.ReLU())):
        ms.export(Net(act), x, file_name=str(tmp_path / name), file_format="MINDIR")
    a, b = tmp_path / "a.mindir", tmp_path / "b.mindir"
    shown = run("ir", "show", a)
    assert shown.returncode == 0, shown.stderr
    assert "cond(" in shown.stdout and "tanh(" in shown.stdout
    assert run("ir", "diff", a, a).returncode == 0
    done = run("ir", "diff", a, b)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "1 removed, 1 added, 1 changed"
    assert lines[0].endswith("cond, then:")
    assert "tanh(" in lines[1] and lines[1].startswith("- ")
    assert "relu(" in lines[2] and lines[2].startswith("+ ")


def test_diff_of_texts(loop, tmp_path):
    other = tmp_path / "other.ir"
    other.write_text(LOOP.replace("loop.py", "elsewhere.py"))
    same = run("ir", "diff", loop, other)
    assert (same.returncode, same.stdout, same.stderr) == (0, "", "")
    other.write_text(LOOP.replace("value=1.0", "value=2.0"))
    done = run("ir", "diff", loop, other)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == (
        "  in %3, %4, %5 while_loop, body:\n"
        "~   %4 fill_constant: value=1.0 -> 2.0\n"
        "0 removed, 0 added, 1 changed\n"
    )


def test_diff_of_what_cannot_be_read(loop, tmp_path):
    broken = tmp_path / "broken.ir"
    broken.write_text("graph g(")
    for pair in ((loop, broken), (loop, tmp_path / "absent.ir"), (broken, loop)):
        done = run("ir", "diff", *pair)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("mycel: ")
    assert run("ir", "diff", loop).returncode == 2


@pytest.mark.parametrize("colour", [True, False])
def test_diff_is_coloured_on_a_terminal_unless_refused(loop, tmp_path, colour):
    other = tmp_path / "other.ir"
    other.write_text(LOOP.replace("value=1.0", "value=2.0"))
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    if not colour:
        env["NO_COLOR"] = "1"
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "mycel", "ir", "diff", loop, other]
    done = subprocess.run(command, stdout=theirs, env=env, check=False)
    os.close(theirs)
    text = os.read(ours, 4096).decode()
    os.close(ours)
    assert done.returncode == 1
    assert ("\033[33m~   %4 fill_constant: value=1.0 -> 2.0\033[0m" in text) == colour
    assert ("\033[" in text) == colour
