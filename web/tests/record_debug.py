"""Runs for the tests of the pages Debugger, Cluster and Explain: trainings with a planted NaN and
with a vanishing gradient, 1,024 simulated ranks, and a small network's decisions with saliency
maps and counterfactuals. What is to be read back goes to expected_debug.json."""

import json
import os
import sys

import mycel as ms
import numpy as np
from mycel import Tensor, nn, ops
from mycel import dataset as ds
from mycel.insight import ClusterRecord, Debugger, ExplainRecord, dump_plan
from mycel.train import Model

folder = sys.argv[1]
expected = {}
rng = np.random.default_rng(0)


class Planted(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.flat = nn.Conv2d(1, 6, 3), nn.Flatten()
        self.fc, self.relu = nn.Dense(6 * 8 * 8, 10), nn.ReLU()

    def construct(self, x):
        y = self.relu(self.conv(x))
        y = y + 0 * ops.log(y)  # the mistake
        return self.fc(self.flat(y))


class Deep(nn.Cell):
    def __init__(self):
        super().__init__()
        self.flat = nn.Flatten()
        sizes = [64] + [16] * 12
        self.layers = nn.CellList([nn.Dense(a, b) for a, b in zip(sizes, sizes[1:])])
        self.act, self.last = nn.Sigmoid(), nn.Dense(16, 10)

    def construct(self, x):
        x = self.flat(x)
        for layer in self.layers:
            x = self.act(layer(x))
        return self.last(x)


class Digits(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.relu, self.flat = nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten()
        self.fc = nn.Dense(8 * 8 * 8, 10)

    def construct(self, x):
        return self.fc(self.flat(self.relu(self.conv(x))))


def images(n):
    labels = rng.integers(0, 10, n).astype("int32")
    x = rng.random((n, 1, 8, 8)).astype("float32") * 0.3
    x[np.arange(n), 0, labels % 8, labels // 2] += 1
    return x, labels


def model_of(net, rate=0.05):
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Model(net, loss, nn.Momentum(net.trainable_params(), rate, 0.9))


def data_of(n, batch=16):
    return ds.NumpySlicesDataset(images(n), ["image", "label"], shuffle=False).batch(batch)


ms.set_context(mode=ms.GRAPH_MODE)
if len(sys.argv) > 2:  # a run that is debugged while the test clicks
    ms.set_seed(4)
    model_of(Planted()).train(
        1, data_of(320), callbacks=[Debugger(folder, ["operator_overflow"], "start")]
    )
    sys.exit()

ms.set_seed(1)
net = Planted()
d = Debugger(
    f"{folder}/planted", ["operator_overflow", "weight_overflow"], "never", dump=dump_plan()
)
model_of(net).train(1, data_of(48), callbacks=[d])
with open(__file__, encoding="utf-8") as f:
    line = 1 + next(i for i, text in enumerate(f) if "# the mistake" in text)
first = d.hits[0]
nan = np.isnan(np.load(f"{folder}/planted/debug/dump/step_1/{first['order']}.npy")).sum()
inf = np.isinf(np.load(f"{folder}/planted/debug/dump/step_1/{first['order']}.npy")).sum()
expected["planted"] = {
    "line": line,
    "name": first["name"],
    "bad": int(nan + inf),
    "hits": len(d.hits),
}

ms.set_seed(2)
watch = {"condition": "gradient_vanishing", "parameters": {"abs_mean_lt": 1e-7}}
d = Debugger(f"{folder}/vanishing", [watch], "never", dump=dump_plan("1-2", saved_data="full"))
model_of(Deep()).train(1, data_of(64), callbacks=[d])
expected["vanishing"] = sorted({h["name"] for h in d.hits})

# Ranks: host 37 computes a third longer, the link from 200 to 201 is slow, rank 900 takes much
# memory.
ranks, steps = 1024, 40
compute = 0.08 * (1 + 0.02 * rng.standard_normal((ranks, steps)))
compute[37 * 8 : 38 * 8] *= 1.35
for rank in range(ranks):
    with ClusterRecord(f"{folder}/cluster", rank, ranks, host=f"node{rank // 8:03d}") as record:
        for step in range(steps):
            rate = 12e9 * (0.3 if rank == 200 else 1) * (1 + 0.02 * rng.standard_normal())
            links = [
                ("allreduce", -1, 0.02, 10**8),
                ("send", (rank + 1) % ranks, 5e7 / rate, 5 * 10**7),
            ]
            memory = int((30 if rank != 900 else 62) * 2**30 * (1 - 0.5 / (1 + step)))
            record.step(
                step, compute[rank, step] + 0.03, compute[rank, step], links, memory, memory, 0.002
            )
expected["cluster"] = {
    "slow": [int(r) for r in np.argsort(-compute.mean(1))[:8]],
    "share": float(compute.mean() / (compute.mean() + 0.03)),
}

# Decisions of a network that has learned a little.
ms.set_seed(3)
net = Digits()
model_of(net).train(6, data_of(512))
x, labels = images(24)
x[5] = rng.random((1, 8, 8))  # one that it cannot know
x[7, 0] = 0.1


def probabilities(values):
    return ops.softmax(net(Tensor(values))).asnumpy()


found = probabilities(x)
saliency = ms.grad(lambda values, cls: net(values)[:, cls].sum())
scores = {"Gradient": [], "Gradient×Input": []}
with ExplainRecord(f"{folder}/explained", [f"digit {i}" for i in range(10)]) as record:
    for i in range(len(x)):
        top = [int(c) for c in np.argsort(-found[i])[:2]]
        maps = {"Gradient": {}, "Gradient×Input": {}}
        for cls in top:
            g = saliency(Tensor(x[i : i + 1]), cls).asnumpy()[0, 0]
            maps["Gradient"][cls] = np.abs(g)
            maps["Gradient×Input"][cls] = g * x[i, 0]
        number = record.sample(x[i], labels[i], found[i], maps)
        for method, by_class in maps.items():
            # Masking what counts most must cost probability: the area that is lost.
            order = np.argsort(-by_class[top[0]].ravel())
            masked, drops = x[i].copy(), []
            shown = [(masked.copy(), found[i][top[0]])]
            for k in range(6):
                masked.reshape(-1)[order[k * 3 : k * 3 + 3]] = 0
                p = float(probabilities(masked[None])[0, top[0]])
                drops.append(found[i][top[0]] - p)
                shown.append((masked.copy(), p))
            scores[method].append(np.mean(drops))
            if i < 6:
                record.counterfactual(number, top[0], shown, method)
        if i == 0:
            expected["counterfactual"] = {"class": top[0], "last": p}
    for method, values in scores.items():
        record.score(method, "Faithfulness", float(np.mean(values)))
        record.score(method, "Localization", float(np.median(values)), cls=3)
expected["explain"] = {
    "count": len(x),
    "right": int((found.argmax(1) == labels).sum()),
    "wrong": int((found.argmax(1) != labels).sum()),
    "scores": {m: float(np.mean(v)) for m, v in scores.items()},
}
with open(os.path.join(folder, "expected_debug.json"), "w", encoding="utf-8") as f:
    json.dump(expected, f)
