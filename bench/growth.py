"""How time and memory of a training step grow with its size: batch, depth, length of a sequence,
vocabulary, threads. Each point is a process of its own: compile time, median time of a step, peak
memory beyond the imports. The exponent compares a point with the one before it: 1 is linear.

    python bench/growth.py [batch depth sequence vocabulary threads] [--quick]
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time

SIZES = {
    "batch": [1, 2, 4, 8, 16, 32, 64],
    "depth": [10, 30, 100, 300, 1000],
    "sequence": [128, 256, 512, 1024, 2048, 4096],
    "vocabulary": [10**4, 10**5, 10**6, 10**7],
    "threads": [1, 2],
}
WHAT = {
    "batch": "training steps of a residual network on 3 x 32 x 32, by batch",
    "depth": "training steps of dense layers 64 to 64 with ReLU, batch 32, by layers",
    "sequence": "training steps of two transformer layers of 256, 4 heads, batch 1, by tokens",
    "vocabulary": "training steps of a table of embeddings x 16, 4,096 words a step, by rows",
    "threads": "training steps of the residual network, batch 16, by threads",
}


def peak_mib():
    """Of this process, from its start."""
    with open("/proc/self/status") as f:
        line = next(line for line in f if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def networks():
    from mycel import nn, ops

    class Block(nn.Cell):
        def __init__(self, c):
            super().__init__()
            self.f = nn.SequentialCell(
                nn.Conv2d(c, c, 3), nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, c, 3)
            )

        def construct(self, x):
            return x + self.f(x)

    class Residual(nn.Cell):
        def __init__(self):
            super().__init__()
            self.f = nn.SequentialCell(
                nn.Conv2d(3, 32, 3), Block(32), nn.Conv2d(32, 64, 3, 2), Block(64), Block(64)
            )
            self.head = nn.Dense(64, 10)

        def construct(self, x):
            return self.head(ops.ReduceMean()(self.f(x), (2, 3)))

    class Layer(nn.Cell):
        def __init__(self, width, heads):
            super().__init__()
            self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
            self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
            self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)

        def construct(self, x):
            x = self.norm1(x + self.attention(x, x, x, need_weights=False)[0])
            return self.norm2(x + self.down(ops.gelu(self.up(x))))

    class Words(nn.Cell):
        def __init__(self, rows):
            super().__init__()
            self.table = nn.EmbeddingLookup(rows, 16, "zeros", target="DEVICE")

        def construct(self, ids):
            return self.table(ids)

    return Residual, Layer, Words


def step_of(kind, size):
    """A training step: a function without arguments."""
    import mycel as ms
    import numpy as np
    from mycel import Tensor, nn, ops

    ms.set_context(mode=ms.GRAPH_MODE)
    if kind == "threads":
        ms.set_context(runtime_num_threads=size)
        kind, size = "batch", 16
    residual, layer, words = networks()
    draw = np.random.default_rng(0)

    def some(*shape):
        return Tensor(draw.standard_normal(shape).astype(np.float32))

    if kind == "batch":
        net, inputs = residual(), [some(size, 3, 32, 32)]
    elif kind == "depth":
        parts = [p for _ in range(size) for p in (nn.Dense(64, 64, "he_uniform"), nn.ReLU())]
        net, inputs = nn.SequentialCell(parts), [some(32, 64)]
    elif kind == "sequence":
        net, inputs = nn.SequentialCell([layer(256, 4), layer(256, 4)]), [some(1, size, 256)]
    else:
        net = words(size)
        inputs = [Tensor(draw.integers(0, size, 4096).astype(np.int32))]

    class Loss(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = net

        def construct(self, x):
            return ops.ReduceMean()(ops.square(self.net(x)))

    loss = Loss()
    if kind == "vocabulary":
        optimizer = nn.LazyAdam(net.trainable_params(), 1e-3)
    else:
        optimizer = nn.Momentum(net.trainable_params(), 1e-3, 0.9)
    train = nn.TrainOneStepCell(loss, optimizer)
    train.set_train()
    return lambda: train(*inputs).asnumpy()


def point(kind, size, seconds):
    import mycel  # noqa: F401

    before = peak_mib()
    step = step_of(kind, size)
    start = time.perf_counter()
    step()
    first = time.perf_counter() - start
    step()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    median = statistics.median(times)
    return {"first_s": first, "step_ms": 1e3 * median, "mib": peak_mib() - before}


def exponent(now, before, size, size_before):
    return math.log(now / before) / math.log(size / size_before)


def table(kind, sizes, seconds):
    print(
        f"\n{WHAT[kind]}\n\n| {kind} | first call, s | step, ms | exponent | peak, MiB | exponent |"
    )
    print("|---|---|---|---|---|---|")
    last = None
    for size in sizes:
        command = [sys.executable, __file__, "--point", kind, str(size), str(seconds)]
        # The compiled kernels on disk would hide what a first call costs.
        env = dict(os.environ, MYCEL_CACHE="off")
        run = subprocess.run(command, capture_output=True, text=True, env=env)
        if run.returncode:
            print(f"| {size} | failed: {run.stderr.strip().splitlines()[-1:]} |")
            last = None
            continue
        p = json.loads(run.stdout.splitlines()[-1])
        grown = [""] * 2
        if last:
            grown = [f"{exponent(p[k], last[1][k], size, last[0]):.2f}" for k in ("step_ms", "mib")]
        print(
            f"| {size:,} | {p['first_s']:.2f} | {p['step_ms']:.2f} | {grown[0]} | "
            f"{p['mib']:.0f} | {grown[1]} |",
            flush=True,
        )
        last = size, p


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", help="default: all")
    parser.add_argument("--quick", action="store_true", help="a fifth of the time a point")
    parser.add_argument("--point", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.point:
        kind, size, seconds = args.point
        print(json.dumps(point(kind, int(size), float(seconds))))
        return
    for kind in args.kinds or SIZES:
        if kind not in SIZES:
            parser.error(f"there is no '{kind}'; expected {', '.join(SIZES)}")
        table(kind, SIZES[kind], 0.4 if args.quick else 2)


if __name__ == "__main__":
    main()
