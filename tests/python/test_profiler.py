"""The profiler: what it records against clocks and counts of the program itself, its files, its
questions to the server, its commands."""

import json
import os
import random
import subprocess
import time

import insight_server
import mycel as ms
import numpy as np
import pytest
from mycel import Profiler, nn
from mycel import dataset as ds
from mycel.train import Callback, Model

pytestmark = pytest.mark.one_mode("recordings of both modes are made here")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.relu, self.flat = nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Flatten()
        self.fc = nn.Dense(16 * 32 * 32, 10)

    def construct(self, x):
        return self.fc(self.flat(self.relu(self.conv(x))))


def model_and_data(steps=12, batch=16):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((steps * batch, 3, 32, 32)).astype("float32")
    labels = rng.integers(0, 10, steps * batch).astype("int32")
    data = ds.NumpySlicesDataset((rows, labels), ["x", "y"], shuffle=False).batch(batch)
    net = Net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Model(net, loss, nn.Momentum(net.trainable_params(), 0.01, 0.9)), data


def summary(folder, server=None):
    (file,) = [f for f in os.listdir(folder) if f.endswith(".profile")]
    with insight_server.serving(folder, str(folder) + "-index") as s:
        return s.ask("profile", file=file)


def record(folder, mode, run, **options):
    """The summary of what run() does, and the seconds it took."""
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        profiler = Profiler(output_path=str(folder), start_profile=False, **options)
        profiler.start()
        begun = time.perf_counter()
        run()
        seconds = time.perf_counter() - begun
        profiler.analyse()
    finally:
        ms.set_context(mode=before)
    return summary(folder), seconds


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("sink", [False, True])
def test_times_add_up(tmp_path, capsys, mode, sink):
    model, data = model_and_data()
    p, seconds = record(
        tmp_path, mode, lambda: model.train(2, data, dataset_sink_mode=sink), data_process=True
    )
    rows = sum(r["ns"] for r in p["rows"]) + p["unattributed"]
    assert rows == pytest.approx(p["wall"], rel=1e-6)
    assert p["wall"] == pytest.approx(1e9 * seconds, rel=0.02)
    assert [s["number"] for s in p["steps"]] == list(range(1, 25)) and not p["steps_guessed"]
    for s in p["steps"]:
        assert sum(s["parts"]) == pytest.approx(s["length"], rel=1e-6)
    typical = dict(zip(p["parts"], p["typical"]["parts"]))
    assert min(typical[k] for k in ("forward", "backward", "update", "data")) > 0
    kernels = [r for r in p["rows"] if r["kind"] in ("kernel", "eager") and "conv" in r["name"]]
    forward = [r for r in kernels if r["runs"] in (24, 1) and r["phase"] == "forward"]
    assert forward and any(r["flops"] > 0 for r in kernels)
    assert any("test_profiler.py" in r["where"] for r in kernels)
    assert p["dropped"] == 0 and p["problems"] == []
    text = capsys.readouterr().out
    assert "24 steps" in text and "advice" in text and "not attributed" in text


def test_steps_by_number(tmp_path):
    model, data = model_and_data()
    run = lambda: model.train(1, data, dataset_sink_mode=False)  # noqa: E731
    p, seconds = record(tmp_path, ms.GRAPH_MODE, run, start_step=4, stop_step=6)
    assert [s["number"] for s in p["steps"]] == [4, 5, 6]
    assert 0 < p["wall"] < 0.9e9 * seconds  # not the step that compiles
    assert p["compiles"]["all"] == 0


def test_start_and_stop_in_callbacks(tmp_path):
    class Middle(Callback):
        def __init__(self):
            self.profiler = Profiler(output_path=str(tmp_path), start_profile=False)

        def step_begin(self, run_context):
            if run_context.original_args().cur_step_num == 3:
                self.profiler.start()

        def step_end(self, run_context):
            if run_context.original_args().cur_step_num == 5:
                self.profiler.stop()

    model, data = model_and_data()
    middle = Middle()
    model.train(1, data, callbacks=[middle], dataset_sink_mode=False)
    middle.profiler.analyse()
    numbers = [s["number"] for s in summary(tmp_path)["steps"]]
    assert numbers in ([4, 5], [4])
    with pytest.raises(RuntimeError, match="ended"):
        middle.profiler.start()
    assert "conv2d" in middle.profiler.op_analyse("Conv2D").lower()


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_loops_of_the_users_own(tmp_path, mode):
    net = Net()
    optimizer = nn.SGD(net.trainable_params(), 0.01)
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")),
        optimizer,
    )
    x = ms.Tensor(np.zeros((4, 3, 32, 32), "float32"))
    y = ms.Tensor(np.zeros(4, "int32"))

    def run():
        for _ in range(7):
            step(x, y)

    p, _ = record(tmp_path, mode, run)
    assert p["steps_guessed"] and len(p["steps"]) == 7


def test_memory(tmp_path):
    held = []

    def run():
        a = ms.Tensor(np.ones((1024, 1024), "float32"))
        for _ in range(3):
            held.append(a * 2.0)  # 4 MiB each, alive at the peak
        gone = ms.ops.concat([a, a])  # 8 MiB, too
        del gone
        held.append(a + 1.0)

    p, _ = record(tmp_path, ms.PYNATIVE_MODE, run, profile_memory=True)
    m = p["memory"]
    assert m["recorded"] and sum(r["bytes"] for r in m["alive"]) == m["peak"]
    rows = {r["name"]: r for r in m["alive"]}
    assert rows["mul"]["bytes"] == 3 * 4 * 2**20 and rows["mul"]["blocks"] == 3
    assert rows["concat"]["bytes"] == 8 * 2**20
    assert "test_profiler.py" in rows["mul"]["where"] and "run" in rows["mul"]["where"]
    assert "add" not in rows
    assert m["bytes"] == sorted(m["bytes"]) or max(m["bytes"]) == m["peak"]


def test_options(tmp_path):
    make = lambda **o: Profiler(output_path=str(tmp_path), start_profile=False, **o)  # noqa: E731
    make(profile_communication=False, aicore_metrics=0, l2_cache=False, timeline_limit=1)
    for options, error in (
        ({"profile_communication": True}, NotImplementedError),
        ({"aicore_metrics": 1}, NotImplementedError),
        ({"op_time": False}, NotImplementedError),
        ({"profile_memory": 1}, TypeError),
        ({"timeline_limit": 0}, ValueError),
        ({"start_step": 5, "stop_step": 4}, ValueError),
        ({"start_step": 0}, ValueError),
        ({"unknown": 1}, TypeError),
    ):
        with pytest.raises(error):
            make(**options)
    with pytest.raises(TypeError):
        Profiler(output_path=3)
    p = make()
    with pytest.raises(RuntimeError, match="not started"):
        p.stop()
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        p.analyse()
    p.start()
    with pytest.raises(RuntimeError, match="started already"):
        p.start()
    with pytest.raises(RuntimeError, match="another"):
        make().start()
    p.stop()
    with pytest.raises(TypeError):
        p.op_analyse("")
    assert json.loads(p.op_analyse(["nothing"])) == {"nothing": []}


def test_room_is_bounded(tmp_path):
    a = ms.Tensor(np.ones(4, "float32"))

    def run():
        for _ in range(60000):
            a + a

    p, _ = record(tmp_path, ms.PYNATIVE_MODE, run, timeline_limit=1)
    assert 10000 < p["dropped"] < 60000
    assert p["advice"][0]["rule"] == "incomplete"


@pytest.mark.ci
def test_environment(tmp_path):
    code = "import mycel as ms\na = ms.ops.ones((4,), ms.float32)\nfor _ in range(9): a * a\n"
    options = json.dumps({"start": True, "output_path": str(tmp_path)})
    done = subprocess.run(
        [os.sys.executable, "-c", code],
        env={**os.environ, "MYCEL_PROFILER_OPTIONS": options},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "advice" in done.stdout and "mul" in done.stdout


@pytest.mark.ci
def test_commands_and_answers(tmp_path):
    model, data = model_and_data(steps=3)
    folder = tmp_path / "runs" / "one"
    p = Profiler(output_path=str(folder), profile_memory=True)
    model.train(1, data, dataset_sink_mode=False)
    p.analyse()
    program = insight_server.PROGRAM
    text = subprocess.run(
        [program, "runs", "profile", str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout
    assert p.summary in text
    out = tmp_path / "trace.json"
    subprocess.run([program, "runs", "trace", str(tmp_path), "-o", str(out)], check=True)
    events = json.loads(out.read_text())["traceEvents"]
    assert {e["ph"] for e in events} == {"X", "M", "C"}
    for e in events:
        assert e["ph"] != "X" or (e["dur"] >= 0 and isinstance(e["tid"], int) and e["name"])

    whole = open(p.path, "rb").read()
    (folder / "cut.profile").write_bytes(whole[: len(whole) * 3 // 4])
    (folder / "odd.profile").write_bytes(b"MYCELPRF nothing of the kind")
    (folder / "out.profile").symlink_to("/etc/passwd")
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 255
    (folder / "damaged.profile").write_bytes(damaged)
    draw = random.Random(1)
    with insight_server.serving(tmp_path, tmp_path / "index") as s:
        files = {f["file"] for f in s.ask("profiles")}
        name = os.path.basename(p.path)
        assert files == {f"runs/one/{n}.profile" for n in ("cut", "odd", "damaged")} | {
            f"runs/one/{name}"
        }
        assert s.raw("api/profile?file=runs/one/odd.profile")[0] == 500
        assert s.raw("api/profile?file=runs/one/out.profile")[0] == 404
        assert s.raw("api/profile?file=../../etc/passwd")[0] == 404
        assert s.raw("api/profile")[0] == 400
        for bad in ("cut", "damaged"):
            status, _, body = s.raw(f"api/profile?file=runs/one/{bad}.profile")
            assert status == 500 or json.loads(body)["problems"]
        status, headers, body = s.raw(f"api/trace?file=runs/one/{name}")
        assert status == 200 and "attachment" in headers["Content-Disposition"]
        assert len(json.loads(body)["traceEvents"]) == len(events)
        numbers = ["0", "-1", "5", "1e9", "99999999999999999999", "x", "", "1000", "9" * 18]
        for _ in range(300):
            args = {
                k: draw.choice(numbers) for k in ("from", "to", "columns") if draw.random() < 0.7
            }
            args["find"] = "".join(chr(draw.randrange(1, 0x3000)) for _ in range(draw.randrange(9)))
            status, _, body = s.raw(
                f"api/slices?file=runs/one/{name}&" + insight_server.urllib.parse.urlencode(args)
            )
            assert status in (200, 400), (args, body)
            if status == 200:
                assert json.loads(body)["tracks"]
        assert len(s.ask("profiles")) == 4


def test_curves_for_notebooks(tmp_path):
    import xml.etree.ElementTree as tree

    from mycel import _mycel
    from mycel.insight import plot

    for run, scale in (("a", 1.0), ("b<", 2.0)):
        r = _mycel.insight.Recorder(str(tmp_path / run), "events", "", 0)
        for step in range(1000):
            r.scalar("loss", scale / (step + 1), step)
            r.scalar("acc & more", step / 1000, step)
        r.close()
    svg = plot(tmp_path)._repr_html_()
    root = tree.fromstring(svg[svg.index("<svg") : svg.rindex("</svg>") + 6])
    texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"loss", "acc & more", "a", "b<", "step 999"} <= set(texts)
    one = plot(tmp_path, "loss", runs="a", logarithmic=True, language="zh").svg
    assert "步" in one and "acc" not in one and one.count("<rect") == 1
    path = tmp_path / "curves.svg"
    plot(tmp_path / "a").save(path)
    tree.parse(path)
    with pytest.raises(KeyError, match="loss"):
        plot(tmp_path, "nothing")
    with pytest.raises(ValueError):
        plot(tmp_path, language="fr")
    with pytest.raises(TypeError):
        plot(tmp_path, [1])
