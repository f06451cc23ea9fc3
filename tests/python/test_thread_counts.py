"""Results have the same bits whatever the number of threads. oneDNN decides how to share work out
when a primitive is made, so each count gets a process of its own."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.one_mode("the program runs in both")

PROGRAM = """
import hashlib
import numpy as np
import mycel as ms
from mycel import ops

rng = np.random.default_rng(0)

def some(*shape):
    return ms.Tensor(rng.standard_normal(shape).astype(np.float32))

def show(*values):
    print([hashlib.md5(v.asnumpy().tobytes()).hexdigest() for v in values])

for m, n, k in [(64, 64, 20000), (10, 512, 2048), (768, 512, 300), (1, 3072, 768)]:
    for ta, tb in [(False, False), (True, False), (False, True)]:
        a, b = some(*((k, m) if ta else (m, k))), some(*((n, k) if tb else (k, n)))
        show(ops.MatMul(transpose_a=ta, transpose_b=tb)(a, b))

# batch, channels in and out, size, kernel, stride, groups
CONVOLUTIONS = [
    (16, 64, 64, 28, 3, 1, 1), (16, 128, 64, 28, 1, 1, 1), (16, 256, 512, 14, 1, 1, 1),
    (5, 64, 128, 28, 3, 2, 1), (2, 256, 256, 7, 3, 1, 1), (32, 6, 16, 14, 5, 1, 1),
    (8, 32, 32, 28, 3, 1, 32), (1, 3, 64, 56, 7, 2, 1), (4, 16, 32, 30, 3, 1, 4),
]
for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
    ms.set_context(mode=mode)
    for n, ci, co, size, k, s, g in CONVOLUTIONS:
        conv = ops.Conv2D(co, k, pad_mode="pad", pad=k // 2, stride=s, group=g)
        x, w = some(n, ci, size, size), some(co, ci // g, k, k)
        y = conv(x, w)
        gradient = ops.GradOperation(get_all=True, sens_param=True)(conv)
        show(y, *gradient(x, w, some(*y.shape)))
"""


@pytest.mark.ci
def test_bits_do_not_depend_on_threads():
    def run(threads):
        env = dict(os.environ, MYCEL_NUM_THREADS=str(threads))
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        return run.stdout.splitlines()

    alone = run(1)
    assert len(alone) == 12 + 2 * 9
    assert run(2) == alone
    assert run(5) == alone
