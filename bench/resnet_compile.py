"""Time of the first call of a ResNet-50 training step (forward, backward, momentum): with an empty
kernel cache, then with the cache that this left.

Usage: python bench/resnet_compile.py [batch:size ...]    (2:64 16:224)
Each line comes from a process of its own. `first` is the wall time of the first call, `run` that of
the fastest later one, which does the same work compiled. `trace` (front end and autodiff), `passes`
and `kernels` (plan included) are what MYCEL_LOG=compile reports, and `compile` is their sum; what
the first call takes beyond `compile` and `run` is the memory that it touches for the first time.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

STEPS = 4


def resnet50(nn, classes=1000):
    """The network of He et al. 2015, version 1.5 (the stride is in the 3x3 convolution)."""

    def conv(i, o, k, stride=1):
        return [nn.Conv2d(i, o, k, stride, pad_mode="same"), nn.BatchNorm2d(o)]

    class Bottleneck(nn.Cell):
        def __init__(self, i, width, o, stride):
            super().__init__()
            self.main = nn.SequentialCell(
                *conv(i, width, 1),
                nn.ReLU(),
                *conv(width, width, 3, stride),
                nn.ReLU(),
                *conv(width, o, 1),
            )
            plain = i == o and stride == 1
            self.side = None if plain else nn.SequentialCell(*conv(i, o, 1, stride))
            self.relu = nn.ReLU()

        def construct(self, x):
            side = x if self.side is None else self.side(x)
            return self.relu(self.main(x) + side)

    class Flat(nn.Cell):
        def construct(self, x):
            return x.mean((2, 3))

    cells = [*conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, pad_mode="same")]
    i = 64
    for stage, count in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for k in range(count):
            cells.append(Bottleneck(i, width, 4 * width, 2 if k == 0 and stage > 0 else 1))
            i = 4 * width
    return nn.SequentialCell(*cells, Flat(), nn.Dense(i, classes))


def child(batch, size):
    """Prints the times of the parts as JSON."""
    import numpy as np

    times = {}
    start = time.perf_counter()
    import mycel as ms
    from mycel import nn

    times["import"] = time.perf_counter() - start
    ms.set_context(mode=ms.GRAPH_MODE)
    start = time.perf_counter()
    net = resnet50(nn)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    times["build"] = time.perf_counter() - start
    rng = np.random.default_rng(0)
    x = ms.Tensor(rng.standard_normal((batch, 3, size, size), np.float32))
    y = ms.Tensor(rng.integers(0, 1000, batch).astype(np.int32))
    calls = []
    for _ in range(STEPS):
        start = time.perf_counter()
        float(step(x, y).asnumpy())
        calls.append(time.perf_counter() - start)
    times["first"], times["run"] = calls[0], min(calls[1:])
    print(json.dumps(times))


def measure(batch, size, cache):
    """The times of one process with this kernel cache."""
    # Waiting threads sleep: spinning ones would time whatever else runs on the machine.
    env = {"OMP_WAIT_POLICY": "passive", **os.environ, "MYCEL_CACHE": cache, "MYCEL_LOG": "compile"}
    done = subprocess.run(
        [sys.executable, __file__, "--child", str(batch), str(size)],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    times = json.loads(done.stdout.splitlines()[-1])
    for part in ("trace", "passes", "kernels"):
        times[part] = sum(map(float, re.findall(rf"{part} ([0-9.]+) s", done.stderr)))
    times["compile"] = times["trace"] + times["passes"] + times["kernels"]
    return times


COLUMNS = ("first", "run", "trace", "passes", "kernels", "compile")


def main():
    sizes = [tuple(map(int, a.split(":"))) for a in sys.argv[1:]] or [(2, 64), (16, 224)]
    print("batch  size cache" + "".join(f"{c:>9}" for c in COLUMNS) + "   seconds")
    for batch, size in sizes:
        with tempfile.TemporaryDirectory() as cache:
            for state in ("cold", "warm"):
                t = measure(batch, size, cache)
                figures = "".join(f"{t[c]:9.3f}" for c in COLUMNS)
                print(f"{batch:5} {size:5} {state:>5}{figures}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
