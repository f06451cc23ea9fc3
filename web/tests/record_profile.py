"""Profiles of real trainings for profiler.mjs: LeNet compiled, with memory; an eager network that
waits for its data; and a graph of more than 10,000 nodes. What is to be read back goes to
expected.json."""

import json
import os
import sys
import time

import mycel as ms
import numpy as np
from mycel import Profiler, nn
from mycel import dataset as ds
from mycel.train import Model, SummaryCollector, SummaryRecord

folder = sys.argv[1]


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool, self.flat, self.relu = nn.MaxPool2d(2, 2), nn.Flatten(), nn.ReLU()
        self.fc1, self.fc2 = nn.Dense(400, 120), nn.Dense(120, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.fc2(self.relu(self.fc1(self.flat(x))))


class Long(nn.Cell):
    def construct(self, x):
        for i in range(2600):
            x = ms.ops.tanh(x * (1.0 + i)) + x.max() * 0.5
        return x


def train(name, mode, data, steps, **options):
    ms.set_context(mode=mode)
    net = LeNet()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.01, 0.9))
    path = os.path.join(folder, name)
    profiler = Profiler(output_path=path, start_profile=False, **options)
    callbacks = [SummaryCollector(path)] if mode == ms.GRAPH_MODE else []
    profiler.start()
    begun = time.perf_counter()
    model.train(1, data, callbacks=callbacks, dataset_sink_mode=False)
    seconds = time.perf_counter() - begun
    profiler.analyse()
    return {"steps": steps, "seconds": seconds, "file": os.path.basename(profiler.path)}


rng = np.random.default_rng(0)
images = rng.standard_normal((1600, 1, 32, 32)).astype("float32")
labels = rng.integers(0, 10, 1600).astype("int32")


def slow_rows():
    for i in range(128):
        time.sleep(0.004)
        yield images[i], labels[i]


fast = ds.NumpySlicesDataset((images, labels), ["x", "y"], shuffle=False).batch(32)
slow = ds.GeneratorDataset(slow_rows, ["x", "y"], shuffle=False).batch(16)
expected = {
    "lenet": train("lenet", ms.GRAPH_MODE, fast, 50, profile_memory=True),
    "waits": train("waits", ms.PYNATIVE_MODE, slow, 8),
}
ms.set_context(mode=ms.GRAPH_MODE)
net = Long()
with SummaryRecord(os.path.join(folder, "long"), network=net) as record:
    net(ms.Tensor(images[0, 0]))
    record.record(1)
with open(os.path.join(folder, "expected.json"), "w") as f:
    json.dump(expected, f)
