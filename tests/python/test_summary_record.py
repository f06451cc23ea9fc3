"""Records of runs: what is in the files, read back by event_files.py; kinds of errors as published
(MindSpore 2.0 raised the same in a trial of each)."""

import io
import json
import os
import signal
import subprocess
import sys
import time

import event_files
import mycel as ms
import numpy as np
import pytest
from mycel import dataset as ds
from mycel import nn, ops
from mycel.train import Callback, Model, SummaryCollector, SummaryRecord
from PIL import Image


def by_tag(folder, kind):
    out = {}
    for tag, step, k, value in event_files.values(folder):
        if k == kind:
            out.setdefault(tag, []).append((step, value))
    return out


def test_values_of_every_kind(tmp_path):
    rng = np.random.default_rng(0)
    w = rng.standard_normal((30, 40)).astype("float32")
    images = rng.integers(0, 256, (3, 1, 4, 5)).astype("uint8")
    with SummaryRecord(str(tmp_path), file_prefix="xx", file_suffix="_yy") as r:
        assert os.path.dirname(r.log_dir) == str(tmp_path)
        name = os.path.basename(r.log_dir)
        assert name.startswith("xx.") and "tfevents" in name and name.endswith("_yy")
        for step in (1, 2):
            r.add_value("scalar", "loss", ms.Tensor(0.5 * step))
            r.add_value("histogram", "w", ms.Tensor(w))
            assert r.record(step) is True
        r.add_value("image", "im", ms.Tensor(images))
        r.add_value("tensor", "t", ms.Tensor(w))
        r.add_value("scalar", "no", ms.Tensor(1.0))
        assert r.record(3, plugin_filter=lambda plugin: plugin != "scalar")
        assert r.record(4)  # nothing is left
    assert by_tag(tmp_path, "scalar") == {"loss": [(1, 0.5), (2, 1.0)]}
    (step, (numbers, limits, counts)), _ = by_tag(tmp_path, "histogram")["w"]
    assert step == 1
    np.testing.assert_allclose(
        [numbers[i] for i in (1, 2, 3, 4, 5)],
        [w.min(), w.max(), w.size, w.sum(dtype="d"), np.square(w, dtype="d").sum()],
        rtol=1e-6,
    )
    want, edges = np.histogram(w, len(counts))
    np.testing.assert_allclose(limits, edges[1:], rtol=1e-5, atol=1e-7)
    assert (
        np.abs(np.array(counts) - want).sum() <= 4
    )  # an element at an edge may fall on its other side
    assert sum(counts) == w.size
    ((_, png),) = by_tag(tmp_path, "image")["im"]
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png))), np.hstack(images[:, 0]))
    ((_, content),) = by_tag(tmp_path, "tensor")["t"]
    np.testing.assert_array_equal(np.frombuffer(content, "float32"), w.ravel())


class Watched(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scalar, self.histogram = ops.ScalarSummary(), ops.HistogramSummary()
        self.image, self.tensor = ops.ImageSummary(), ops.TensorSummary()

    def construct(self, x):
        y = x * 2
        self.scalar("mean", y.mean())
        self.histogram("y", y)
        self.image("x", x)
        self.tensor("first", y[0])
        z = y + 1  # so that y's memory is free to be used again
        return (z * z).sum()


def test_summary_operators(tmp_path):
    x = np.arange(48, dtype="float32").reshape(2, 1, 4, 6) / 48
    net = Watched()
    net(ms.Tensor(x))  # nobody listens
    with SummaryRecord(str(tmp_path)) as r:
        for step in (1, 2):
            ms.grad(net)(ms.Tensor(x * step))
            r.record(step)
        r.set_mode("eval")
        net(ms.Tensor(x))
        r.record(3)
        r.set_mode("train")
        net(ms.Tensor(x * 5))
        r.record(4)
    scalars = by_tag(tmp_path, "scalar")["mean"]
    np.testing.assert_allclose(
        scalars, [(s, 2 * f * x.mean()) for s, f in ((1, 1), (2, 2), (4, 5))]
    )
    tensors = by_tag(tmp_path, "tensor")["first"]
    np.testing.assert_array_equal(np.frombuffer(tensors[1][1], "float32"), 4 * x[0].ravel())
    assert by_tag(tmp_path, "histogram")["y"][2][1][0][2] == np.float32(10 * x.max())
    assert len(by_tag(tmp_path, "image")["x"]) == 3


@pytest.mark.one_mode("arguments")
def test_what_is_refused(tmp_path):
    r = SummaryRecord(str(tmp_path))
    for error, call in (
        (ValueError, lambda: r.add_value("scalr", "x", ms.Tensor(1.0))),
        (ValueError, lambda: r.add_value("scalar", "", ms.Tensor(1.0))),
        (TypeError, lambda: r.add_value("scalar", "x", 1.0)),
        (ValueError, lambda: r.add_value("scalar", "x", ms.Tensor([1.0, 2.0]))),
        (ValueError, lambda: r.add_value("image", "x", ms.Tensor(np.ones((5, 6), "f")))),
        (TypeError, lambda: r.record("1")),
        (TypeError, lambda: r.record(1, train_network=3)),
        (ValueError, lambda: r.set_mode("test")),
        (TypeError, lambda: SummaryRecord(str(tmp_path), file_prefix=1)),
        (TypeError, lambda: SummaryRecord(str(tmp_path), max_file_size="1")),
        (ValueError, lambda: SummaryRecord(str(tmp_path), max_file_size=0)),
        (ValueError, lambda: SummaryRecord(str(tmp_path), export_options={"a": 1})),
        (ValueError, lambda: SummaryCollector(str(tmp_path), collect_freq=0)),
        (ValueError, lambda: SummaryCollector(str(tmp_path), collect_specified_data={"x": True})),
        (
            TypeError,
            lambda: SummaryCollector(str(tmp_path), collect_specified_data={"collect_graph": 1}),
        ),
        (TypeError, lambda: SummaryCollector(str(tmp_path), custom_lineage_data={1: 2})),
        (TypeError, lambda: SummaryCollector(str(tmp_path), custom_lineage_data={"a": [1]})),
        (
            NotImplementedError,
            lambda: SummaryCollector(
                str(tmp_path), collect_specified_data={"collect_landscape": {"unit": "step"}}
            ),
        ),
    ):
        with pytest.raises(error):
            call()
    r.close()
    r.close()
    assert r.record(1) is False
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        SummaryRecord(str(tmp_path / "file"))


@pytest.mark.one_mode("files")
def test_sizes_and_exports(tmp_path):
    with SummaryRecord(
        str(tmp_path), max_file_size=20000, export_options={"tensor_format": "npy"}
    ) as r:
        for step in range(50):
            r.add_value("tensor", "a/b", ms.Tensor(np.full(1000, step, "float32")))
            r.record(step)
            r.flush()
        assert os.path.getsize(r.log_dir) <= 20000
    steps = [step for step, _ in by_tag(tmp_path, "tensor")["a/b"]]
    assert steps == list(range(len(steps))) and len(steps) >= 3
    (folder,) = tmp_path.glob("export_*/tensor")
    assert len(list(folder.iterdir())) == 50
    np.testing.assert_array_equal(np.load(folder / "a_b_7.npy"), np.full(1000, 7, "float32"))


def run_of(folder, epochs=2, **options):
    rng = np.random.default_rng(0)
    x = rng.random((64, 1, 8, 8)).astype("float32")
    data = ds.NumpySlicesDataset((x, rng.integers(0, 4, 64).astype("int32")), ["x", "y"]).batch(8)
    net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dense(128, 4))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics={"acc"})
    losses, weights = {}, {}

    class Seen(Callback):
        def on_train_step_end(self, run_context):
            p = run_context.original_args()
            losses[p.cur_step_num] = float(p.net_outputs.asnumpy())
            weights[p.cur_step_num] = net.trainable_params()[0].asnumpy().copy()

    model.fit(epochs, data, data, callbacks=[SummaryCollector(folder, **options), Seen()])
    return losses, weights


@pytest.mark.plain_calls("a whole run")
def test_collector(tmp_path, mode):
    losses, weights = run_of(tmp_path, collect_freq=3, custom_lineage_data={"who": "me", "k": 2})
    scalars = by_tag(tmp_path, "scalar")
    due = [1, 3, 6, 9, 12, 15]
    assert [s for s, _ in scalars["loss/auto"]] == due
    np.testing.assert_allclose([v for _, v in scalars["loss/auto"]], [losses[s] for s in due])
    assert [s for s, _ in scalars["eval/acc"]] == [8, 16]
    histograms = by_tag(tmp_path, "histogram")
    assert len(histograms) == 3  # all parameters
    for step, (numbers, _, _) in histograms["0.weight/auto"]:
        assert numbers[1] == weights[step].min() and numbers[2] == weights[step].max()
    assert len(by_tag(tmp_path, "image")["input_data/auto"]) == len(due)
    ours = by_tag(tmp_path, "mycel")
    train = json.loads(ours["lineage/train"][-1][1])
    assert train["state"] == "ended" and train["optimizer"] == "Momentum" and train["step"] == 16
    assert train["train_batch_size"] == 8 and abs(train["learning_rate"] - 0.1) < 1e-6
    assert json.loads(ours["lineage/custom"][0][1]) == {"who": "me", "k": 2}
    pipeline = json.loads(ours["dataset_graph/train"][-1][1])
    assert pipeline["op"].startswith("batch(8") and pipeline["made"] > 0
    assert json.loads(ours["environment"][0][1])["cores"] == os.cpu_count()
    assert len(by_tag(tmp_path, "hparams")) == 2
    assert (len(by_tag(tmp_path, "graph")) == 1) == (mode == "graph")
    if mode == "graph":
        nodes = json.loads(ours["graph/train_network"][0][1])["nodes"]
        assert any(n["op"] == "conv2d" for n in nodes)


@pytest.mark.one_mode("what is asked for")
def test_collector_records_what_is_asked_for(tmp_path):
    run_of(
        tmp_path,
        collect_freq=1,
        collect_specified_data={"collect_metric": True, "histogram_regular": ".*bias"},
        keep_default_action=False,
    )
    assert set(by_tag(tmp_path, "histogram")) == {"3.bias/auto"}
    assert len(by_tag(tmp_path, "scalar")["loss/auto"]) == 16
    assert not by_tag(tmp_path, "image") and not by_tag(tmp_path, "hparams")
    two = [SummaryCollector(tmp_path), SummaryCollector(tmp_path)]
    net = nn.Dense(2, 2)
    data = ds.NumpySlicesDataset((np.ones((4, 2), "f"), np.ones((4, 2), "f")), ["x", "y"]).batch(2)
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params()))
    with pytest.raises(ValueError, match="has one"):
        model.train(1, data, callbacks=two)


_KILLED = """
import sys, time, mycel as ms
from mycel.train import SummaryRecord
r = SummaryRecord(sys.argv[1])
step = 0
while True:
    step += 1
    r.add_value("scalar", "time", ms.Tensor(time.time() - float(sys.argv[2]), ms.float64))
    r.add_value("scalar", "loss", ms.Tensor(1.0 / step))
    r.record(step)
    time.sleep(0.001)
"""


@pytest.mark.one_mode("processes")
def test_a_killed_run_loses_at_most_its_last_second(tmp_path):
    start = time.time()
    run = subprocess.Popen([sys.executable, "-c", _KILLED, str(tmp_path), str(start)])
    deadline = start + 60
    while not by_tag(tmp_path, "scalar") and time.time() < deadline:
        time.sleep(0.1)
    time.sleep(1.7)
    killed = time.time() - start
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    scalars = by_tag(tmp_path, "scalar")  # checks every record
    assert killed - scalars["time"][-1][1] < 1
    assert [s for s, _ in scalars["loss"]] == list(range(1, len(scalars["loss"]) + 1))
