"""The debugger: values of compiled and eager programs against NumPy, each watchpoint on a network
that has what it looks for, pausing and stepping from outside, dumps, and damaged ones."""

import json
import os
import random
import threading
import time

import insight_server
import mycel as ms
import numpy as np
import pytest
from mycel import Parameter, Tensor, _mycel, nn, ops
from mycel import dataset as ds
from mycel.insight import Debugger, debugger, dump_plan
from mycel.train import Callback, Model

CONDITIONS = json.loads(_mycel.debug.conditions())


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1, self.act, self.fc2 = nn.Dense(8, 16), nn.Tanh(), nn.Dense(16, 4)

    def construct(self, x):
        return self.fc2(self.act(self.fc1(x)))


class Planted(nn.Cell):
    """Net with a logarithm of what is negative in places."""

    def __init__(self):
        super().__init__()
        self.fc1, self.act, self.fc2 = nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 4)

    def construct(self, x):
        y = self.act(self.fc1(x))
        y = y + 0 * ops.log(y)  # PLANTED
        return self.fc2(y)


def train(net, callbacks, steps=3, rate=0.1, label=None):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((16 * steps, 8)).astype("float32")
    t = rng.integers(0, 4, 16 * steps).astype("int32")
    data = ds.NumpySlicesDataset((x, t), ["x", "t"], shuffle=False).batch(16)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), rate, 0.9))
    model.train(1, data, callbacks=callbacks)
    return x, t


def seeded(net=Net):
    ms.set_seed(3)
    return net()


def names(hits, condition):
    return [h["name"] for h in hits if h["condition"] == condition]


def test_there_are_the_conditions_of_the_field():
    found = {c["name"] for c in CONDITIONS}
    assert len(found) == len(CONDITIONS) >= 22
    assert {"tensor_overflow", "gradient_vanishing", "weight_not_changed"} <= found
    for c in CONDITIONS:
        assert c["doc"].endswith(".") and c["chinese"]
        for p in c["parameters"]:
            assert p["doc"].endswith("."), (c["name"], p)
        name = c["published"] or "".join(w.title() for w in c["name"].split("_")) + "Condition"
        assert issubclass(getattr(debugger, name), debugger.ConditionBase)


def test_values_are_those_of_numpy(tmp_path):
    net = seeded()
    first = {p.name: p.asnumpy().copy() for p in net.get_parameters()}
    d = Debugger(tmp_path, watchpoints=(), pause="never", online=False, dump=dump_plan())
    x, t = train(net, [d])
    a = debugger.DumpAnalyzer(tmp_path)
    assert a.get_iterations() == [1, 2, 3]

    def value(name, step=1):
        (tensor,) = a.select_tensors(name, iterations=[step])
        return tensor.value()

    h = x[:16] @ first["fc1.weight"].T + first["fc1.bias"]
    np.testing.assert_allclose(value("Net/fc1/dense-0"), h, rtol=1e-5, atol=1e-6)
    y = np.tanh(h)
    (act,) = [n for n in a.select_nodes("Net/act/") if "Gradients" not in n.name]
    assert act._entry["role"] == "activation"
    np.testing.assert_allclose(value(act.name), y, rtol=1e-5, atol=1e-6)
    z = y @ first["fc2.weight"].T + first["fc2.bias"]
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    loss = -np.log(p[np.arange(16), t[:16]]).mean()
    np.testing.assert_allclose(value("Loss"), loss, rtol=1e-5)
    p[np.arange(16), t[:16]] -= 1
    gradient = (p / 16).T @ y
    np.testing.assert_allclose(
        value("ParameterGradients/fc2.weight"), gradient, rtol=1e-4, atol=1e-7
    )
    after = first["fc2.weight"] - 0.1 * gradient
    np.testing.assert_allclose(value("Parameters/fc2.weight"), after, rtol=1e-5, atol=1e-7)
    # What went into what: the way from a weight's layer to the loss's gradient.
    assert {n.name for n in act.get_input_nodes()} == {"Net/fc1/dense-0"}
    assert "Net/act/" in act.get_input_nodes()[0].get_output_nodes()[0].name
    (dense,) = a.select_tensors("Net/fc1/dense-0", iterations=[1])
    affected = [n.name for n in a.list_affected_nodes(dense)]
    assert any("ParameterGradients" in n or "softmax" in n for n in affected)
    assert not any("Parameters/fc2" in n for n in affected if n.startswith("States"))


def test_results_are_the_same_bits_as_without_it(tmp_path):
    """Where nothing is fused the debugged program is the program; weights agree closely anyway."""
    plain, watched = seeded(), seeded()
    train(plain, [])
    train(watched, [Debugger(tmp_path, pause="never", online=False)])
    again = seeded()
    train(again, [])
    for a, b, c in zip(*(n.get_parameters() for n in (plain, watched, again))):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=2e-5, atol=1e-7)
        assert a.asnumpy().tobytes() == c.asnumpy().tobytes()  # nothing of it stays behind


def test_where_a_nan_begins(tmp_path):
    d = Debugger(tmp_path, ["operator_overflow"], pause="never", online=False)
    train(seeded(Planted), [d])
    first = d.hits[0]
    with open(__file__, encoding="utf-8") as f:
        line = 1 + next(i for i, text in enumerate(f) if "# PLANTED" in text)
    assert first["op"] == "log" and first["scope"] == "Planted" and first["step"] == 1
    assert f"test_debugger.py:{line}" in first["at"]
    assert first["findings"][0]["measured"] > 0
    # It is said once a step, not for all that it spoils.
    assert len([h for h in d.hits if h["step"] == 1]) <= 3


class Deep(nn.Cell):
    """Sigmoids one behind the other: the first layer learns next to nothing."""

    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(8, 8) for _ in range(12)])
        self.act, self.last = nn.Sigmoid(), nn.Dense(8, 4)

    def construct(self, x):
        for layer in self.layers:
            x = self.act(layer(x))
        return self.last(x)


def test_a_vanishing_gradient_is_found_with_its_line(tmp_path):
    watch = {"condition": "gradient_vanishing", "parameters": {"abs_mean_lt": 1e-7}}
    d = Debugger(tmp_path, [watch], pause="never", online=False)
    train(seeded(Deep), [d], 2)
    found = set(names(d.hits, "gradient_vanishing"))
    assert "ParameterGradients/layers.0.weight" in found
    assert not {n for n in found if "last" in n or "layers.11" in n}
    hit = next(h for h in d.hits if h["name"] == "ParameterGradients/layers.0.weight")
    assert "in Deep.construct" in hit["at"]


# A watchpoint, what it is set on, a tensor that it must find, and one that it must not.
CASES = [
    ("tensor_overflow", {}, [1, np.inf], [1, 2]),
    ("tensor_all_zero", {"zero_percentage_ge": 50}, [0, 0, 1], [0, 1, 1]),
    ("tensor_negative", {}, [1, -1], [0, 1]),
    ("tensor_too_large", {"max_gt": 5}, [6, 0], [5, 0]),
    ("tensor_too_small", {"abs_mean_lt": 1}, [0.5, -0.5], [1, -1]),
    (
        "tensor_range",
        {"range_start_inclusive": 0, "range_end_inclusive": 1, "range_percentage_lt": 60},
        [0.5, 2],
        [0.5, 1],
    ),
    ("tensor_general", {"sd_gt": 1}, [0, 3], [0, 1]),
    ("tensor_initialization", {}, [0, 0], [0, 1]),
    ("tensor_range", {"max_min_gt": 2}, [0, 3], [0, 1]),
]


@pytest.mark.parametrize("condition,parameters,found,passed", CASES)
def test_conditions_on_one_tensor(tmp_path, condition, parameters, found, passed):
    class Same(nn.Cell):
        def construct(self, x):
            return x * 1.0

    watch = {"condition": condition, "parameters": parameters, "scopes": ["Same"]}
    for values, expected in ((found, True), (passed, False)):
        net = Same()
        with Debugger(tmp_path / str(expected), [watch], "never", False).watch(net) as d:
            with d.step(1):
                net(Tensor(np.array(values, "float32")))
            assert bool(d.hits) == expected, d.hits


CHANGES = [
    ("weight_change_too_large", {"abs_mean_update_ratio_gt": 0.5}, 2.0, 1.2),
    ("weight_change_too_small", {"abs_mean_update_ratio_lt": 0.01}, 1.001, 1.1),
    ("weight_not_changed", {}, 1.0, 1.001),
    ("tensor_unchanged", {"rtol": 0.01, "atol": 0}, 1.005, 1.02),
    ("tensor_change_too_large", {"abs_mean_update_ratio_gt": 0.5}, 1.6, 1.4),
    ("tensor_change_too_small", {"abs_mean_update_ratio_lt": 0.1}, 1.05, 1.2),
    ("weight_too_large", {"max_gt": 6}, 4.0, 1.5),
    ("weight_too_small", {"max_lt": 3}, 0.5, 1.5),
    ("weight_overflow", {}, float("nan"), 2.0),
]


@pytest.mark.parametrize("condition,parameters,hit,missed", CHANGES)
def test_conditions_on_a_weight(tmp_path, condition, parameters, hit, missed):
    class One(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0, -2.0, 4.0]), name="w")

        def construct(self):
            return self.w.sum()

    watch = {"condition": condition, "parameters": parameters, "scopes": ["w"]}
    for factor, expected in ((hit, True), (missed, False)):
        net = One()
        with Debugger(tmp_path / str(expected), [watch], "never", False).watch(net) as d:
            for step in (1, 2):
                with d.step(step):
                    net()
                    if step == 2:
                        net.w.set_data(Tensor(net.w.asnumpy() * np.float32(factor)))
            assert bool([h for h in d.hits if h["step"] == 2]) == expected, d.hits


def test_activations_gradients_and_losses(tmp_path):
    net = seeded()
    for p in net.fc1.trainable_params():
        p.set_data(Tensor(p.asnumpy() * 1000))
    d = Debugger(
        tmp_path,
        [
            {"condition": "activation_saturation"},
            {"condition": "gradient_too_large", "parameters": {"max_gt": 1e-12}},
            {"condition": "loss_too_large", "parameters": {"mean_gt": 0.01}},
            {"condition": "activation_range", "parameters": {"max_min_gt": 0.5}},
            {"condition": "weight_initialization", "parameters": {"max_gt": 20}},
        ],
        "never",
        False,
    )
    train(net, [d], 2)
    assert all("Net/act/" in n for n in names(d.hits, "activation_saturation"))
    assert names(d.hits, "activation_saturation") and names(d.hits, "activation_range")
    assert "ParameterGradients/fc2.bias" in names(d.hits, "gradient_too_large")
    assert names(d.hits, "loss_too_large") == ["Loss", "Loss"]
    assert [h["step"] for h in d.hits if h["condition"] == "weight_initialization"] == [1]


def test_what_is_no_watchpoint(tmp_path):
    for watch, kind in (
        ("tensor_overfow", KeyError),
        ({"condition": "tensor_too_large", "parameters": {"max_gtt": 1}}, KeyError),
        ({"condition": "tensor_too_large", "parameters": {"max_gt": "1"}}, ValueError),
        ({"condition": "tensor_general"}, ValueError),
        ({}, ValueError),
        (7, TypeError),
    ):
        with pytest.raises(kind):
            Debugger(tmp_path, [watch])
    with pytest.raises(KeyError, match=r"Did you mean \W*tensor_overflow"):
        Debugger(tmp_path, ["tensor_overfow"])
    with pytest.raises(ValueError, match="dataset_sink_mode"):
        x = np.zeros((4, 8), "float32"), np.zeros(4, "int32")
        net = seeded()
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
        model = Model(net, loss, nn.SGD(net.trainable_params()))
        data = ds.NumpySlicesDataset(x, ["x", "t"]).batch(2)
        model.train(1, data, callbacks=[Debugger(tmp_path)], dataset_sink_mode=True)


def test_loops_show_their_last_turn(tmp_path):
    class Loop(nn.Cell):
        def construct(self, x):
            i = x.sum() * 0
            while i < 5:
                x = x * 2
                i = i + 1
            return x

    net = Loop()
    plan = dump_plan()
    with Debugger(tmp_path, (), "never", False, plan).watch(net) as d:
        with d.step(1):
            net(Tensor([1.0, 3.0]))
    a = debugger.DumpAnalyzer(tmp_path)
    values = [t.value() for t in a.select_tensors("Loop/mul")]
    assert any(np.array_equal(v, [32, 96]) for v in values)


@pytest.mark.one_mode("files")
def test_published_dump_configuration(tmp_path, monkeypatch):
    config = tmp_path / "dump.json"
    common = {
        "dump_mode": 2,
        "path": str(tmp_path / "out"),
        "net_name": "Digits",
        "iteration": "0|2",
        "saved_data": "full",
        "input_output": 0,
        "kernels": [],
        "support_device": [0],
    }
    config.write_text(json.dumps({"common_dump_settings": common}))
    monkeypatch.setenv("MYCEL_DUMP_CONFIG", str(config))
    net = seeded()
    ms.set_dump(net.fc2)
    train(net, [])
    a = debugger.DumpAnalyzer(tmp_path / "out" / "Digits")
    assert a.get_iterations() == [1, 3]
    found = {n.name for n in a.select_nodes("")}
    assert found and all("Net/fc2" in n for n in found)
    for change, match in (
        ({"dump_mode": 3}, "dump_mode"),
        ({"path": "out"}, "absolute"),
        ({"iteration": "5-1"}, "before it begins"),
        ({"odd": 1}, "no setting 'odd'"),
    ):
        config.write_text(json.dumps({"common_dump_settings": {**common, **change}}))
        with pytest.raises(ValueError, match=match):
            train(seeded(), [])
    with pytest.raises(ValueError, match="Cell"):
        ms.set_dump(3)


@pytest.mark.one_mode("files")
def test_offline_api(tmp_path):
    d = Debugger(tmp_path, (), "never", False, dump_plan("1-2"))
    train(seeded(Planted), [d])
    a = debugger.DumpAnalyzer(str(tmp_path))
    assert a.get_ranks() == [0] and "iterations: [1, 2]" in a.summary()
    weight = debugger.Watchpoint(
        a.select_tensors("Parameters/fc1"), debugger.TensorOverflowCondition()
    )
    begins = debugger.Watchpoint(None, debugger.OperatorOverflowCondition())
    hits = a.check_watchpoints([weight, begins])
    assert hits[0].tensor.node.name == "Planted/log-0" and "PLANTED" in open(__file__).read()
    assert hits[0].tensor.node.stack.split(":")[0].endswith("test_debugger.py")
    assert {h.tensor.node.name for h in hits if h.get_threshold() is weight.condition} == {
        "Parameters/fc1.weight",
        "Parameters/fc1.bias",
    }
    low = debugger.TensorTooSmallCondition(abs_mean_lt=1e3)
    assert low.param_dict == {"abs_mean_lt": 1e3} and "abs_mean_lt=1000" in repr(low)
    (hit, *_) = a.check_watchpoints([debugger.Watchpoint("States/learning_rate", low)])
    ((threshold, measured),) = hit.get_hit_detail().values()
    assert threshold == 1e3 and measured == pytest.approx(0.1)
    with pytest.raises(TypeError):
        debugger.TensorTooSmallCondition(abs_mean_lt="1")
    with pytest.raises(TypeError):
        a.check_watchpoints([low])


@pytest.mark.one_mode("files")
def test_damaged_dumps_are_left_out(tmp_path):
    train(seeded(), [Debugger(tmp_path, (), "never", False, dump_plan("1-2"))])
    folder = tmp_path / "debug" / "dump"
    lines = (folder / "step_1" / "index.jsonl").read_text().split("\n")
    at = json.loads(lines[0])
    lines[1] = lines[1][: len(lines[1]) // 2]
    lines[2] = json.dumps({**json.loads(lines[2]), "shape": [1 << 40, 1 << 40]})
    lines[3] = json.dumps({**json.loads(lines[3]), "file": "../../../secret.npy"})
    (folder / "step_1" / "index.jsonl").write_text("\n".join(lines))
    (folder / "step_1" / at["file"]).write_bytes(b"\x93NUMPY")
    fifth = json.loads(lines[4])
    os.remove(folder / "step_1" / fifth["file"])
    os.symlink("/etc/hostname", folder / "step_1" / fifth["file"])
    os.symlink("/etc", folder / "step_77")
    a = debugger.DumpAnalyzer(tmp_path)
    assert a.get_iterations() == [1, 2]
    assert [t.value() is None for t in a.select_tensors(at["name"], iterations=[1, 2])] == [
        True,
        False,
    ]
    assert a.select_tensors(fifth["name"], iterations=[1])[0].value() is None
    text = a.summary()
    assert text.count("a line of its index is damaged") == 1
    assert "is no array" in text
    pick = random.Random(5)
    for _ in range(50):  # whatever is in the files, reading them ends in an answer
        path = pick.choice([p for p in (folder / "step_2").iterdir()])
        data = bytearray(path.read_bytes() or b"x")
        data[pick.randrange(len(data))] = pick.randrange(256)
        path.write_bytes(bytes(data))
        b = debugger.DumpAnalyzer(tmp_path)
        for t in b.select_tensors("", iterations=[2]):
            t.value()


def waiting(server, run, wanted, seconds=30):
    return server.wait(lambda: s if wanted(s := server.ask("debug", run=run)) else None, seconds)


def post(server, body, **headers):
    import urllib.error
    import urllib.request

    request = urllib.request.Request(
        server.url + "api/debug",
        data=body if isinstance(body, bytes) else json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "X-Mycel": "1", **headers},
        method="POST",
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Steps(Callback):
    def __init__(self):
        self.count = 0

    def on_train_step_end(self, run_context):
        self.count += 1


@pytest.mark.ci
@pytest.mark.one_mode("a server")
def test_from_outside(tmp_path):
    """Pauses at the start, steps by node and iteration, sets a watchpoint, goes on."""
    counted, failed = Steps(), []
    ms.set_context(mode=ms.GRAPH_MODE)
    d = Debugger(tmp_path / "run", (), "start")

    def run():
        try:
            train(seeded(Planted), [d, counted], 6)
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        with insight_server.serving(tmp_path, tmp_path / "index") as s:
            s.wait(lambda: s.ask("runs"))
            (r,) = [r["id"] for r in s.ask("runs")]
            state = waiting(s, r, lambda x: x.get("paused"))
            assert state["why"] == "start" and state["step"] == 1
            assert post(s, {"run": r, "ask": "go", "how": "node"})[0] == 200
            state = waiting(s, r, lambda x: x["paused"] and x["values"] == 1)
            post(s, {"run": r, "ask": "go", "how": "node", "until": "Planted/act"})
            state = waiting(s, r, lambda x: x["paused"] and "Planted/act" in x["at"])
            tensor = s.ask("debugtensor", run=r, name=state["at"], slice="0,:")
            assert tensor["shape"] == [16, 16] and tensor["role"] == "activation"
            assert len(tensor["window"]["values"]) == 1
            lines = s.ask("debugsource", run=r, path=tensor["at"].split(":")[0], line=30)
            assert any("class Net" in x or "construct" in x for x in lines["lines"])
            post(s, {"run": r, "ask": "go", "how": "step", "steps": 2})
            state = waiting(s, r, lambda x: x["paused"] and x["why"] == "step")
            assert state["step"] == 2 and counted.count <= 2
            weight = s.ask("debugtensor", run=r, name="Parameters/fc1.weight")
            assert weight["before"]["step"] == 1 and weight["statistics"]["nan"] > 0
            watch = {"condition": "operator_overflow"}
            assert post(s, {"run": r, "ask": "watch", "watchpoint": watch})[0] == 200
            tree = s.ask("debugtree", run=r)
            assert {"Planted", "Gradients", "Parameters"} <= {g["name"] for g in tree["groups"]}
            found = s.ask("debugtree", run=r, role="gradient", text="fc2")
            assert {e["name"] for e in found["entries"]} == {
                "ParameterGradients/fc2.weight",
                "ParameterGradients/fc2.bias",
            }
            post(s, {"run": r, "ask": "go", "how": "on"})
            # Everything is NaN by now, so no operation makes one: it runs to its end.
            deadline = time.time() + 60
            while thread.is_alive() and time.time() < deadline:
                state = s.ask("debug", run=r)
                if state.get("paused"):
                    post(s, {"run": r, "ask": "go", "how": "on"})
                time.sleep(0.05)
            thread.join(1)
            assert not failed and counted.count == 6
            assert s.wait(lambda: s.ask("debug", run=r).get("live") is False)
            assert post(s, {"run": r, "ask": "pause"})[0] == 404
    finally:
        d.close()
        thread.join(5)


@pytest.mark.ci
@pytest.mark.one_mode("a server")
def test_commands_are_guarded(tmp_path):
    train(seeded(), [Debugger(tmp_path / "a", pause="never", dump=dump_plan("1-2"))])
    with insight_server.serving(tmp_path, tmp_path / "index") as s:
        s.wait(lambda: s.ask("runs"))
        check = {"run": 1, "ask": "check", "watchpoints": [{"condition": "tensor_negative"}]}
        status, answer = post(s, check)
        assert status == 200 and answer["hits"]
        host = s.url.removeprefix("http://").rstrip("/")
        for headers, expected in (
            ({"X-Mycel": ""}, 403),
            ({"Content-Type": "text/plain"}, 403),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Host": "evil.example"}, 403),
            ({"Sec-Fetch-Site": "cross-site"}, 403),
            ({"Origin": f"http://{host}"}, 200),
        ):
            assert post(s, check, **headers)[0] == expected, headers
        import urllib.error
        import urllib.request

        for path in ("api/runs", "", "api/debugtensor"):
            request = urllib.request.Request(s.url + path, data=b"{}", method="POST")
            with pytest.raises(urllib.error.HTTPError) as error:
                urllib.request.urlopen(request, timeout=20)
            assert error.value.code == 405
        for name in ("../../etc/passwd", "/etc/passwd", "step_1/../../x", "\0"):
            for question in ("debugtensor", "debugsource"):
                from urllib.parse import urlencode

                args = urlencode({"run": 1, "name": name, "path": name})
                assert s.raw(f"api/{question}?{args}")[0] == 404
        pick = random.Random(7)
        odd = [None, -1, 1, 1e400, "", "x", [], {}, True, "9" * 40, "\0", "*" * 500, [[]] * 50]
        keys = "ask run how steps until watchpoint id watchpoints name step slice row".split()
        asks = "go pause watch unwatch check state tree tensor".split()
        for _ in range(400):
            body = {k: pick.choice(odd) for k in pick.sample(keys, pick.randrange(6))}
            body.setdefault("run", 1)
            body["ask"] = pick.choice([*asks, *odd])
            assert post(s, body)[0] in (200, 400, 404), body
        for body in (b"", b"{", b"[" * 5000, b"\xff\xfe", b'{"run":1}' * 3):
            assert post(s, body)[0] == 400
        watch = {"condition": "tensor_general", "parameters": {"max_gt": 1}, "scopes": ["*a" * 200]}
        begun = time.time()
        post(s, {"run": 1, "ask": "check", "watchpoints": [watch]})
        assert time.time() - begun < 10
        questions = "debug debugtree debugtensor debugsource conditions cluster explain".split()
        names = "run step name slice row column text role scope path line sort limit from".split()
        for _ in range(400):
            args = {n: str(pick.choice(odd)) for n in pick.sample(names, pick.randrange(6))}
            args.setdefault("run", pick.choice(["1", "2", "x"]))
            status = s.raw(f"api/{pick.choice(questions)}?{urlencode(args)}")[0]
            assert status in (200, 400, 404), args


@pytest.mark.one_mode("a socket")
def test_only_its_user_may_connect(tmp_path):
    with Debugger(tmp_path, ()).watch(seeded()):
        mode = os.stat(tmp_path / "debug" / "control.sock").st_mode & 0o777
        assert mode == 0o600
    assert not (tmp_path / "debug" / "control.sock").exists()


@pytest.mark.one_mode("a table")
def test_the_documentation_has_the_conditions():
    docs = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "insight.md")
    with open(docs, encoding="utf-8") as f:
        assert _mycel.debug.conditions_markdown() in f.read()


@pytest.mark.one_mode("a program")
def test_hits_in_the_terminal(tmp_path):
    import subprocess

    train(
        seeded(Planted),
        [Debugger(tmp_path / "a", "operator_overflow", "never", False, dump_plan())],
    )

    def said(*args):
        command = [insight_server.PROGRAM, "debug", *args]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    (run,) = json.loads(said(str(tmp_path), "--json"))
    assert run["run"] == "a" and run["hits"][0]["name"] == "Planted/log-0"
    assert "test_debugger.py" in said(str(tmp_path))
    checked = said(str(tmp_path), "--check", "weight_overflow")
    assert "Parameters/fc1.weight" in checked and "operator_overflow" not in checked
    assert said("--conditions") == _mycel.debug.conditions_markdown()


@pytest.mark.one_mode("files and a server")
def test_records_of_ranks_and_explanations(tmp_path):
    from mycel.insight import ClusterRecord, ExplainRecord

    for rank in range(4):
        with ClusterRecord(tmp_path / "c", rank, 4, f"node{rank}") as record:
            for step in range(200):
                took = 0.2 if rank == 2 else 0.1
                record.step(step, 0.25, took, [("send", (rank + 1) % 4, 0.01, 1000)], 10, 20)
    with pytest.raises(ValueError):
        ClusterRecord(tmp_path / "c", 4, 4)
    image = np.zeros((3, 4, 5), "float32")
    with ExplainRecord(tmp_path / "e", ["cat", "dog"]) as record:
        n = record.sample(image, 1, [0.7, 0.3], {"Gradient": {0: np.arange(20.0).reshape(4, 5)}})
        record.counterfactual(n, 0, [(image, 0.7), (image, 0.2)])
        record.score("Gradient", "Faithfulness", 0.5)
        record.score("Gradient", "Faithfulness", 0.6)
        for wrong in (
            lambda: record.sample(image[0], 1),
            lambda: record.sample(image, 2),
            lambda: record.sample(image, 1, [0.5]),
            lambda: record.sample(image, 1, [0.5, 1.5]),
            lambda: record.sample(image, 1, [], {"G": {0: image}}),
            lambda: record.counterfactual(9, 0, [(image, 0.5)]),
            lambda: record.score("G", "F", float("nan")),
        ):
            with pytest.raises(ValueError):
                wrong()
    damaged = _mycel.insight.Recorder(str(tmp_path / "c"), "events", "", 0)
    damaged.record("cluster/steps", "{")
    damaged.close()
    with insight_server.serving(tmp_path, tmp_path / "index") as s:
        runs = s.wait(
            lambda: r if len(r := {x["name"]: x["id"] for x in s.ask("runs")}) == 2 else 0
        )
        c = s.wait(lambda: x if (x := s.ask("cluster", run=runs["c"]))["ranks"]["damaged"] else 0)
        rows = {r["rank"]: r for r in c["ranks"]["rows"]}
        assert len(rows) == 4 and all(r["steps"] == 200 for r in rows.values())
        np.testing.assert_allclose([rows[r]["compute"] for r in range(4)], [0.1, 0.1, 0.2, 0.1])
        assert c["advice"][0] == {"kind": "slow_rank", "rank": 2, "host": "node2", "slower": 1.0}
        e = s.wait(lambda: x if (x := s.ask("explain", run=runs["e"]))["scores"] else 0)
        assert e["labels"] == ["cat", "dog"] and e["count"] == 1 and e["right"] == 0
        assert [x["value"] for x in e["scores"]] == [0.6]
        (sample,) = e["samples"]
        assert sample["maps"][0]["high"] == 19 and sample["predicted"] == 0
        found = s.ask("explain", run=runs["e"], sample=0)["counterfactuals"]
        assert [x["probability"] for x in found[0]["steps"]] == [0.7, 0.2]
        assert s.raw(f"api/image?run={runs['e']}&tag=explain/map")[2][:4] == b"\x89PNG"
