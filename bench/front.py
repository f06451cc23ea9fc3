"""CPU time per op of compiling a Python function whose loop over Python values unrolls: tracing the
source, the passes, and the plan with its kernels. A linear front end has the same figures in every
row; the kernels of a row are few and the same whatever its length.

Usage: python bench/front.py [ops ...]    (1000 10000 100000)
Each row comes from a process of its own, after a small function has warmed it up.
"""

import os
import re
import subprocess
import sys
import time

PER_TURN = 4


def child(ops_wanted):
    """Compiles a function of about that many ops and prints the CPU time of the first call."""
    import mycel as ms
    import numpy as np
    from mycel import jit, ops

    ms.set_context(mode=ms.GRAPH_MODE)

    def unrolled(turns):
        @jit
        def f(x, w):
            for i in range(turns):
                x = ops.matmul(ops.tanh(x + i), w) * x
            return x

        return f

    x, w = ms.Tensor(np.ones((4, 4), np.float32)), ms.Tensor(np.ones((4, 4), np.float32))
    unrolled(8)(x, w)
    print("measured", file=sys.stderr, flush=True)
    start = time.process_time()
    unrolled(ops_wanted // PER_TURN)(x, w)
    print(time.process_time() - start)


def measure(count):
    """The times of one process in seconds."""
    env = {**os.environ, "MYCEL_LOG": "compile", "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(
        [sys.executable, __file__, "--child", str(count)],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    log = done.stderr.split("measured")[1]
    times = {"CPU, all": float(done.stdout)}
    for part in ("trace", "passes", "kernels"):
        times[part] = sum(map(float, re.findall(rf"{part} ([0-9.]+) s", log)))
    return times


COLUMNS = ("trace", "passes", "kernels", "CPU, all")


def main():
    counts = [int(a) for a in sys.argv[1:]] or [1000, 10000, 100000]
    print("    ops" + "".join(f"{c:>10}" for c in COLUMNS) + "   us an op")
    for count in counts:
        t = measure(count)
        print(f"{count:7}" + "".join(f"{t[c] / count * 1e6:10.2f}" for c in COLUMNS), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(int(sys.argv[2]))
    else:
        main()
