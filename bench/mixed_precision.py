"""Training in bfloat16 (mycel.amp, levels O2 and O3) against float32: time of a step, and how far
the losses of the same steps lie apart.

Usage: python bench/mixed_precision.py [network ...] [--steps N]    (resnet50 gpt; 6)
Each row comes from a process of its own. `step` is the fastest after the first, `gain` the time of
float32 over it, `apart` the largest difference of the losses from those in float32, relative. Needs
a CPU with AVX512-BF16 or AMX to gain anything.
"""

import argparse
import json
import subprocess
import sys
import time

LEVELS = ("O0", "O2", "O3")


def gpt(ms, nn, ops, layers=6, width=512, heads=8, length=256, words=8192, batch=8):
    """A decoder as of Radford et al. 2018 with normalisation first, its inputs and its loss."""

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.norms = nn.CellList([nn.LayerNorm((width,)) for _ in range(2)])
            self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
            self.up, self.down, self.act = (
                nn.Dense(width, 4 * width),
                nn.Dense(4 * width, width),
                nn.GELU(),
            )
            self.product, self.mix = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul()
            self.mask = ms.Tensor(
                [[-1e9 if j > i else 0.0 for j in range(length)] for i in range(length)]
            )

        def construct(self, x):
            split = self.qkv(self.norms[0](x)).reshape(batch, length, 3, heads, width // heads)
            q, k, v = split.transpose(2, 0, 3, 1, 4)
            scores = self.product(q, k) * (width // heads) ** -0.5 + self.mask.astype(q.dtype)
            mixed = self.mix(ops.softmax(scores, -1), v).transpose(0, 2, 1, 3)
            x = x + self.out(mixed.reshape(batch * length, width))
            return x + self.down(self.act(self.up(self.norms[1](x))))

    class Gpt(nn.Cell):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
            self.blocks = nn.SequentialCell([Block() for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm((width,)), nn.Dense(width, words)

        def construct(self, ids):
            x = self.words(ids) + self.places(ops.arange(0, length))
            return self.head(self.norm(self.blocks(x.reshape(batch * length, width))))

    return Gpt(), (batch, length), words


def child(network, level, steps):
    """Prints the times of the steps and their losses as JSON."""
    import mycel as ms
    import numpy as np
    from mycel import amp, nn, ops
    from resnet_compile import resnet50

    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(1)
    rng = np.random.default_rng(0)
    if network == "resnet50":
        net = resnet50(nn)
        x = rng.standard_normal((16, 3, 224, 224), np.float32)
        y = rng.integers(0, 1000, 16).astype(np.int32)
        optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    else:
        net, shape, words = gpt(ms, nn, ops)
        x = rng.integers(0, words, shape).astype(np.int32)
        y = rng.integers(0, words, shape[0] * shape[1]).astype(np.int32)
        optimizer = nn.Adam(net.trainable_params(), 1e-4)
    amp.auto_mixed_precision(net, level, ms.bfloat16)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    x, y = ms.Tensor(x), ms.Tensor(y)
    times, losses = [], []
    for _ in range(steps):
        start = time.perf_counter()
        losses.append(float(step(x, y).asnumpy()))
        times.append(time.perf_counter() - start)
    print(json.dumps({"times": times, "losses": losses}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("networks", nargs="*", default=["resnet50", "gpt"])
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--child", nargs=2, metavar=("NETWORK", "LEVEL"))
    a = parser.parse_args()
    if a.child:
        return child(*a.child, a.steps)
    print("network   level    first     step   gain    apart   seconds")
    for network in a.networks:
        base = None
        for level in LEVELS:
            command = [sys.executable, __file__, "--steps", str(a.steps), "--child", network, level]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            r = json.loads(done.stdout.splitlines()[-1])
            base = base or r
            best = min(r["times"][1:])
            gain = min(base["times"][1:]) / best
            apart = max(abs(p - q) / abs(q) for p, q in zip(r["losses"], base["losses"]))
            print(
                f"{network:9} {level:>5} {r['times'][0]:8.3f} {best:8.3f} {gain:6.2f} {apart:8.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
