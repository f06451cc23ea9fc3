"""What recording costs: steps of LeNet-5 (batch 32, graph mode) without a record, with every step's
loss recorded, and with everything that SummaryCollector records, each step and each tenth.

One process trains all of them in turn, round after round, so that a slow moment of the machine
meets all; the figures are medians over the rounds: of the time of a step, and of what it is above
the run without a record of the same round."""

import argparse
import shutil
import statistics
import tempfile
import time

import mycel as ms
import numpy as np
from mycel import dataset as ds
from mycel import nn
from mycel.train import Model, SummaryCollector

LOSS_ONLY = {"collect_metric": True}


class LeNet5(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid"),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid"),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Dense(400, 120, activation="relu"),
            nn.Dense(120, 84, activation="relu"),
            nn.Dense(84, 10),
        )

    def construct(self, x):
        return self.layers(x)


def trainer(rows, batch):
    rng = np.random.default_rng(0)
    images = rng.standard_normal((rows, 1, 32, 32)).astype("float32")
    labels = rng.integers(0, 10, rows).astype("int32")
    data = ds.NumpySlicesDataset((images, labels), ["x", "y"], shuffle=False).batch(batch)
    net = LeNet5()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Model(net, loss, nn.Momentum(net.trainable_params(), 0.01, 0.9)), data


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=32)
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE)
    model, data = trainer(options.steps * options.batch, options.batch)
    folder = tempfile.mkdtemp()
    ways = {
        "no record": lambda: None,
        "loss, every step": lambda: SummaryCollector(
            folder, 1, dict(LOSS_ONLY), keep_default_action=False
        ),
        "all parts, every step": lambda: SummaryCollector(folder, 1),
        "all parts, each tenth step": lambda: SummaryCollector(folder, 10),
    }
    times = {name: [] for name in ways}
    for r in range(options.rounds + 1):
        for name, make in ways.items():
            callback = make()
            begin = time.perf_counter()
            model.train(1, data, callbacks=[callback] if callback else None)
            if r:  # the first round compiles
                times[name].append((time.perf_counter() - begin) / options.steps)
    shutil.rmtree(folder)
    for name, seconds in times.items():
        more = statistics.median(a / b - 1 for a, b in zip(seconds, times["no record"]))
        print(f"{name:28} {statistics.median(seconds) * 1e6:9.1f} us a step   {100 * more:+6.2f} %")


if __name__ == "__main__":
    main()
