"""Real trainings for the tests of the pages: a small network with four learning rates and a loop
in it, and a run with odd values and a damaged file. What is to be read back goes to
expected.json."""

import json
import os
import sys

import mycel as ms
import numpy as np
from mycel import _mycel, nn, ops
from mycel import dataset as ds
from mycel.train import Callback, Model, SummaryCollector

folder = sys.argv[1]
ms.set_context(mode=ms.GRAPH_MODE)
expected = {"runs": {}}


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3)
        self.relu, self.flat = nn.ReLU(), nn.Flatten()
        self.fc1, self.fc2 = nn.Dense(6 * 8 * 8, 32), nn.Dense(32, 10)
        self.scalar, self.tensor = ops.ScalarSummary(), ops.TensorSummary()

    def construct(self, x):
        y = self.relu(self.conv(x))
        self.scalar("activation/mean", y.mean())
        y = self.relu(self.fc1(self.flat(y)))
        i = y.sum() * 0
        while i < 3:  # on what is not known while compiling: a loop of the graph
            y = y * 0.9 + ops.tanh(y)
            i = i + 1
        self.tensor("features", y)
        return self.fc2(y)


class Losses(Callback):
    def __init__(self):
        self.last = None

    def on_train_step_end(self, run_context):
        self.last = float(run_context.original_args().net_outputs.asnumpy())


rng = np.random.default_rng(0)
labels = rng.integers(0, 10, 256).astype("int32")
images = rng.random((256, 1, 8, 8)).astype("float32") * 0.3
images[np.arange(256), 0, labels % 8, labels // 2] += 1
for rate in (0.01, 0.03, 0.1, 0.2):
    ms.set_seed(1)
    data = ds.NumpySlicesDataset((images, labels), ["image", "label"], shuffle=True).batch(16)
    net, losses = Net(), Losses()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), rate, 0.9), metrics={"acc"})
    name = f"lenet/rate-{rate}"
    collector = SummaryCollector(
        os.path.join(folder, name), collect_freq=1, custom_lineage_data={"rate": rate}
    )
    model.fit(3, data, data, callbacks=[collector, losses])
    expected["runs"][name] = {
        "rate": rate,
        "loss": losses.last,
        "acc": model.eval(data)["acc"],
        "weight": [
            float(net.conv.weight.asnumpy().min()),
            float(net.conv.weight.asnumpy().max()),
        ],
    }
recorder = _mycel.insight.Recorder(os.path.join(folder, "odd"), "events", "", 0)
recorder.text("note", "<img src=x onerror=alert(1)>", 1)
for step in range(100000):
    recorder.scalar("<b>tag</b>", 1e6 if step == 54321 else step % 7, step)
recorder.close()
with open(os.path.join(folder, "odd", "damaged.tfevents"), "wb") as f:
    f.write(b"nothing of the kind" * 10)
with open(os.path.join(folder, "expected.json"), "w") as f:
    json.dump(expected, f)
