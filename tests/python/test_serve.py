"""`mycel serve`: the open inference protocol over HTTP. Answers are compared with the network's own
results; requests arrive from many threads, and none may be lost or get another's answer."""

import http.client
import json
import signal
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, nn, ops

pytestmark = pytest.mark.one_mode("the server is a program of its own")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.f = nn.Dense(3, 4, weight_init="he_uniform")

    def construct(self, x):
        y = self.f(x)
        return ops.tanh(y), ops.Argmax(1)(y)


class Words(nn.Cell):
    """Fails where an index is out of range: one request of a batch spoils the run."""

    def __init__(self):
        super().__init__()
        self.table = Tensor(np.arange(20, dtype=np.float32).reshape(10, 2))

    def construct(self, ids):
        return ops.gather(self.table, ids, 0)


class Server:
    def __init__(self, *args):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mycel", "serve", "--port", "0", *map(str, args)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        line = self.process.stdout.readline()
        assert line.startswith("http://"), line + self.process.stderr.read()
        self.at = urlsplit(line.strip())

    def connect(self):
        return http.client.HTTPConnection(self.at.hostname, self.at.port, timeout=30)

    def ask(self, method, path, body=None, headers=None, connection=None):
        c = connection or self.connect()
        c.request(method, path, body, headers or {})
        r = c.getresponse()
        return r.status, r.read().decode()

    def infer(self, name, *inputs, connection=None, **more):
        body = {"inputs": list(inputs), **more}
        status, text = self.ask(
            "POST", f"/v2/models/{name}/infer", json.dumps(body), connection=connection
        )
        return status, json.loads(text)

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(30)


def given(name, array, datatype="FP32"):
    return {
        "name": name,
        "shape": list(array.shape),
        "datatype": datatype,
        "data": array.reshape(-1).tolist(),
    }


def one(shape, data, datatype="FP32", **more):
    """A body with one input."""
    given = {"name": "input0", "datatype": datatype, "shape": shape, "data": data}
    return {"inputs": [given], **more}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    ms.set_seed(2)
    folder = tmp_path_factory.mktemp("served")
    net, words = Net(), Words()
    x = Tensor(shape=[None, 3], dtype=ms.float32)
    ms.export(net, x, file_name=str(folder / "net.mindir"), file_format="MINDIR")
    ids = Tensor(shape=[None], dtype=ms.int32)
    ms.export(words, ids, file_name=str(folder / "words.mindir"), file_format="MINDIR")
    return folder, net


@pytest.fixture(scope="module")
def server(models):
    s = Server(models[0] / "net.mindir", "--max-body", 100_000)
    yield s
    assert s.stop() == 0


def test_what_it_tells_about_itself(server):
    assert server.ask("GET", "/v2/health/live") == (200, '{"live":true}')
    assert server.ask("GET", "/v2/health/ready") == (200, '{"ready":true}')
    assert server.ask("GET", "/v2/models/net/ready")[0] == 200
    status, text = server.ask("GET", "/v2")
    assert status == 200
    assert json.loads(text)["name"] == "mycel"
    about = json.loads(server.ask("GET", "/v2/models/net")[1])
    assert about["inputs"] == [{"name": "input0", "datatype": "FP32", "shape": [-1, 3]}]
    assert [o["datatype"] for o in about["outputs"]] == ["FP32", "INT32"]


def test_answers(server, models):
    x = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    want = [t.asnumpy() for t in models[1](Tensor(x))]
    status, answer = server.infer("net", given("input0", x), id="mine")
    assert status == 200
    assert answer["id"] == "mine"
    assert answer["model_name"] == "net"
    for o, w in zip(answer["outputs"], want):
        assert o["shape"] == list(w.shape)
        got = np.array(o["data"], w.dtype).reshape(w.shape)
        # One rounding apart at most: the run has 8 rows, not 5.
        np.testing.assert_allclose(got, w, rtol=1e-6)
    nested = {"name": "input0", "shape": [5, 3], "datatype": "FP32", "data": x.tolist()}
    status, again = server.infer("net", nested, outputs=[{"name": "output1"}])
    assert [o["name"] for o in again["outputs"]] == ["output1"]
    assert again["outputs"][0]["data"] == answer["outputs"][1]["data"]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "no JSON object"),
        (b"[1]", 400, "no JSON object"),
        (b"\xff\xfe", 400, "no JSON object"),
        ({}, 400, "a list 'inputs' is needed"),
        ({"inputs": []}, 400, "input 'input0' is missing"),
        ({"inputs": [3]}, 400, "every input needs a 'name'"),
        ({"inputs": [{"name": "y"}]}, 400, "there is no input 'y'; inputs: input0"),
        (one([1, 3], [1, 2, 3], datatype="FP64"), 400,
         'the datatype must be FP32, got "FP64"'),
        (one([1, 4], [1, 2, 3, 4]),
         400, "shape [1,4] does not fit (?, 3)"),
        (one([1, 3], [1, 2]), 400,
         "2 numbers for shape (1, 3)"),
        (one([1, 3], [1, 2, 3, 4]),
         400, "more than 3 numbers"),
        (one([1, 3], [1, "a", 3]), 400,
         'expected a number, got "a"'),
        (one([10**15, 3], [1]), 400,
         "fewer numbers than shape"),
        (one([-1, 3], []), 400,
         "does not fit"),
        (one([1, 3], [1, 2, 3], outputs=[{"name": "z"}]), 400,
         "there is no output 'z'; outputs: output0 to output1"),
        (b"[" * 50_000, 400, "no JSON object"),
        (b" " * 200_000, 413, "too long"),
    ],
)  # fmt: skip
def test_malformed_bodies_are_refused(server, body, status, message):
    if isinstance(body, dict):
        body = json.dumps(body).encode()
    got, text = server.ask("POST", "/v2/models/net/infer", body)
    assert got == status
    assert message in json.loads(text)["error"]


def test_what_is_not_there(server):
    assert server.ask("GET", "/nothing")[0] == 404
    status, text = server.ask("GET", "/v2/models/other")
    assert status == 404
    assert "this server has 'net'" in text
    assert server.ask("GET", "/v2/health/live", headers={"Origin": "http://a.example"})[0] == 403
    assert server.ask("GET", "/v2", headers={"Sec-Fetch-Site": "cross-site"})[0] == 403


def load(server, name, make_input, check, requests, threads):
    """Requests from many threads, each over one connection; all answers are checked."""
    wrong, done = [], []

    def work(first):
        c = server.connect()
        for i in range(first, requests, threads):
            status, answer = server.infer(name, make_input(i), id=str(i), connection=c)
            if status != 200 or answer["id"] != str(i) or not check(i, answer):
                wrong.append((i, status, answer))
            done.append(i)

    all_threads = [threading.Thread(target=work, args=(t,)) for t in range(threads)]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join(300)
    assert sorted(done) == list(range(requests))
    assert not wrong, wrong[:3]


def number_after(text, name):
    return float(next(line for line in text.splitlines() if line.startswith(name)).split()[-1])


@pytest.mark.parametrize(
    "requests", [400, pytest.param(10_000, marks=pytest.mark.ci)], ids=["few", "many"]
)
def test_no_request_is_lost_or_mixed_up(models, requests):
    server = Server(models[0] / "words.mindir", "--max-delay-ms", 1)

    def make_input(i):
        ids = np.array([i % 10, (i * 7) % 10, 3][: 1 + i % 3], np.int32)
        return given("input0", ids, "INT32")

    def check(i, answer):
        ids = [i % 10, (i * 7) % 10, 3][: 1 + i % 3]
        return answer["outputs"][0]["data"] == [v for k in ids for v in (2 * k, 2 * k + 1)]

    try:
        load(server, "words", make_input, check, requests, 16)
        metrics = server.ask("GET", "/metrics")[1]
        assert number_after(metrics, 'mycel_requests_total{model="words",status="200"}') == requests
        assert number_after(metrics, "mycel_request_seconds_count") == requests
        rows = sum(1 + i % 3 for i in range(requests))
        assert number_after(metrics, "mycel_rows_total") == rows
        # Requests were joined: fewer runs than requests.
        assert number_after(metrics, "mycel_runs_total") < requests
    finally:
        assert server.stop() == 0


def test_one_bad_request_does_not_spoil_a_batch(models):
    server = Server(models[0] / "words.mindir", "--max-delay-ms", 50)
    answers = {}

    def ask(i):
        answers[i] = server.infer("words", given("input0", np.array([i], np.int32), "INT32"))

    try:
        threads = [threading.Thread(target=ask, args=(i,)) for i in [1, 2, 99, 4]]
        for t in threads:
            t.start()
        for t in threads:
            t.join(30)
        for i in [1, 2, 4]:
            assert answers[i][0] == 200
            assert answers[i][1]["outputs"][0]["data"] == [2 * i, 2 * i + 1]
        assert answers[99][0] == 400
        assert "99" in answers[99][1]["error"]
    finally:
        assert server.stop() == 0


def test_a_full_queue_says_so(models):
    server = Server(models[0] / "net.mindir", "--queue", 1, "--max-delay-ms", 300)
    statuses = []

    def ask():
        x = given("input0", np.ones((1, 3), np.float32))
        statuses.append(server.infer("net", x)[0])

    try:
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(30)
        assert statuses.count(200) >= 1
        assert statuses.count(503) >= 1
        assert len(statuses) == 8
    finally:
        assert server.stop() == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_ends_gracefully(models, how):
    """What was taken is answered; readiness says no before connections end."""
    server = Server(models[0] / "net.mindir", "--max-delay-ms", 400)
    answers = []
    x = given("input0", np.ones((1, 3), np.float32))
    waiting = threading.Thread(target=lambda: answers.append(server.infer("net", x)[0]))
    waiting.start()
    time.sleep(0.15)
    probe = server.connect()
    assert server.ask("GET", "/v2/health/ready", connection=probe)[0] == 200
    server.process.send_signal(how)
    time.sleep(0.05)
    assert server.ask("GET", "/v2/health/ready", connection=probe)[0] == 503
    waiting.join(30)
    assert answers == [200]
    assert server.stop() == 0


def test_errors_before_it_serves(models, tmp_path):
    def fails(*args):
        command = [sys.executable, "-m", "mycel", "serve", *map(str, args)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 1
        return run.stderr

    assert "nothing.mindir" in fails(tmp_path / "nothing.mindir")
    model = models[0] / "net.mindir"
    assert "at least 1 row" in fails(model, "--max-batch", 0)
    assert "may have letters" in fails(model, "--name", "a/b")
    s = Server(model)
    try:
        assert "cannot be had" in fails(model, "--port", s.at.port)
    finally:
        s.stop()
