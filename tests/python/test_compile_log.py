"""MYCEL_LOG=compile: a line for each compiled program, with the reason; none for equal calls."""

import os
import re
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.one_mode("each test is a program of its own")

LINE = re.compile(
    r"[\d:.]+ info compile: (.*); trace \d+\.\d{3} s, passes \d+\.\d{3} s, kernels \d+\.\d{3} s"
)

HEAD = """
import numpy as np
import mycel as ms
from mycel import nn
ms.set_context(mode=ms.GRAPH_MODE)
def t(*shape, dtype=np.float32):
    return ms.Tensor(np.ones(shape, dtype))
"""


def logged(tmp_path, program):
    """The lines that a program causes, without their times."""
    path = tmp_path / "program.py"
    path.write_text(HEAD + textwrap.dedent(program))
    env = {**os.environ, "MYCEL_LOG": "compile"}
    done = subprocess.run(
        [sys.executable, str(path)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [LINE.fullmatch(line)[1] for line in done.stderr.splitlines()]


def test_arguments(tmp_path):
    lines = logged(
        tmp_path,
        """
        @ms.jit
        def f(x, n, pair):
            return x * n + pair[0]

        pair = t(1), t(1)
        for _ in range(3):
            f(t(2, 3), 2, pair)
        f(t(4, 3), 2, pair)
        f(t(4, 3, dtype=np.float16), 2, pair)
        f(t(2, 3), 3, pair)
        f(t(2, 3), 2, pair=(t(3), t(1)))
        f(t(2, 3), 2, (t(1),))
        f(t(2, 3), t(3), pair)
        f(t(4, 3), 2, pair)
        """,
    )
    assert lines == [
        "f: program 1: first call",
        "f: program 2: argument 'x' has another shape: [4, 3] instead of [2, 3]",
        "f: program 3: argument 'x' has another dtype: float16 instead of float32",
        "f: program 4: argument 'n' has another value: 3 instead of 2",
        "f: program 5: argument 'pair'[0] has another shape: [3] instead of [1]",
        "f: program 6: argument 'pair' has another structure: (tensor,) instead of "
        "(tensor, tensor)",
        "f: program 7: argument 'n' is float32[3] instead of 3",
    ]


def test_networks(tmp_path):
    lines = logged(
        tmp_path,
        """
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.dense = nn.Dense(3, 2)
                self.k = 2

            def construct(self, x):
                return self.dense(x) * self.k

        net = Net()
        net(t(2, 3))
        net(t(2, 3))
        net.set_train()
        net(t(2, 3))
        net.k = 3
        net(t(2, 3))
        net.dense.weight.requires_grad = False
        net(t(2, 3))
        net.set_train(False)
        net(t(2, 3))
        """,
    )
    assert lines == [
        "Net: program 1: first call",
        "Net: program 2: Net has another mode: training instead of evaluation",
        "Net: program 3: 'Net.k' has another value: 3 instead of 2",
        "Net: program 4: the list of frozen parameters has another value: ['dense.weight'] "
        "instead of []",
        "Net: program 5: Net has another mode: evaluation instead of training",
    ]


def test_silent_unless_asked(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(HEAD + "ms.jit(lambda x: x + 1)(t(2))\n")
    env = {k: v for k, v in os.environ.items() if not k.startswith("MYCEL_LOG")}
    done = subprocess.run([sys.executable, str(path)], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
