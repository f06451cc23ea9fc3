"""What the profiler costs: steps of networks in graph mode with it and without it, in turn in one
process; the figures are medians over the rounds of the time of a step, and of what it is above the
run without it of the same round. Beside it, how far the rows of a profile are from the time that
passed, and how much of that no row explains."""

import argparse
import contextlib
import io
import shutil
import statistics
import tempfile
import time

import mycel as ms
import numpy as np
from mycel import Profiler, nn
from mycel import dataset as ds
from mycel.train import Model


def conv(i, o):
    return nn.SequentialCell(nn.Conv2d(i, o, 3), nn.BatchNorm2d(o), nn.ReLU())


def lenet():
    return nn.SequentialCell(
        nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Flatten(), nn.Dense(400, 120, activation="relu"), nn.Dense(120, 10),
    )  # fmt: skip


def deep():
    return nn.SequentialCell(
        conv(1, 32), *[conv(32, 32) for _ in range(12)], nn.Flatten(), nn.Dense(32 * 32 * 32, 10)
    )


def trainer(make, batch, steps):
    rng = np.random.default_rng(0)
    images = rng.standard_normal((steps * batch, 1, 32, 32)).astype("float32")
    labels = rng.integers(0, 10, steps * batch).astype("int32")
    data = ds.NumpySlicesDataset((images, labels), ["x", "y"], shuffle=False).batch(batch)
    net = make()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Model(net, loss, nn.Momentum(net.trainable_params(), 0.01, 0.9)), data


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    folder = tempfile.mkdtemp()
    for name, make, batch, steps, mode in (
        ("LeNet, batch 32", lenet, 32, 100, ms.GRAPH_MODE),
        ("LeNet, batch 32, eager", lenet, 32, 100, ms.PYNATIVE_MODE),
        ("13 convolutions, batch 16", deep, 16, 10, ms.GRAPH_MODE),
    ):
        if options.only and options.only not in name:
            continue
        ms.set_context(mode=mode)
        model, data = trainer(make, batch, steps)
        times = {way: [] for way in ("off", "on", "memory", "no data")}
        for _ in range(options.rounds + 1):
            for way, seconds in times.items():
                if way != "off":
                    p = Profiler(
                        output_path=folder,
                        profile_memory=way == "memory",
                        data_process=way != "no data",
                    )
                begin = time.perf_counter()
                model.train(1, data, dataset_sink_mode=False)
                seconds.append((time.perf_counter() - begin) / steps)
                if way != "off":
                    p.stop()
        with contextlib.redirect_stdout(io.StringIO()) as text:
            p.analyse()
        rest = [line for line in text.getvalue().splitlines() if "not attributed" in line][0]
        off = statistics.median(times["off"][1:])
        print(f"{name:28} {off * 1e6:9.1f} us a step", end="")
        for way in ("on", "memory", "no data"):
            more = statistics.median(a / b - 1 for a, b in zip(times[way][1:], times["off"][1:]))
            print(f"   {way} {100 * more:+6.2f} %", end="")
        print(f"   {' '.join(rest.split())}", flush=True)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
