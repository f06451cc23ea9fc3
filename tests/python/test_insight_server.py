"""The server of recorded runs: its answers against what was recorded, and whom it refuses."""

import os
import random
import threading
import time

import insight_server
import mycel as ms
import numpy as np
import pytest
from mycel import _mycel
from mycel.train import SummaryRecord

pytestmark = pytest.mark.one_mode("files and a server")


def record(folder, values, tag="loss", **others):
    """A run with these numbers and histograms."""
    recorder = _mycel.insight.Recorder(str(folder), "events", "", 0)
    for step, v in enumerate(values):
        recorder.scalar(tag, float(v), step)
    for name, value in others.items():
        recorder.histogram(name, ms.Tensor(value), 3)
    recorder.close()
    return recorder.path


def curve(server, run, tag="loss", **args):
    return server.ask("scalars", tag=tag, runs=run, **args)["runs"][str(run)]


def test_answers(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.standard_normal(100).astype("float32")
    weights = rng.standard_normal(500).astype("float32")
    record(tmp_path / "runs" / "b" / "c", values, w=weights)
    record(tmp_path / "runs", [1, float("nan"), 3, float("inf")])
    with SummaryRecord(str(tmp_path / "runs" / "a")) as r:
        r.add_value("image", "im", ms.Tensor(np.zeros((1, 3, 4, 5), "uint8")))
        r.add_value("tensor", "t", ms.Tensor(weights.reshape(20, 25)))
        r.add_value("custom_lineage_data", "mine", {"lr": 0.5, "who": "me", "deep": {"x": 1}})
        r.record(7)
        r._recorder.text("words", "<b>hello</b>", 7)
    with insight_server.serving(tmp_path / "runs", tmp_path / "index") as s:
        runs = {r["name"]: r for r in s.wait(lambda: s.ask("runs"))}
        assert set(runs) == {".", "a", "b/c"} and runs["b/c"]["step"] == 99
        c = curve(s, runs["b/c"]["id"])
        np.testing.assert_allclose(c["mean"], values, rtol=1e-8)
        assert c["step"] == list(range(100)) and "min" not in c
        c = curve(s, runs["."]["id"])
        assert c["mean"] == [1, None, 3, None] and c["not_finite"] == [0, 1, 0, 1]
        (h,) = s.ask("histograms", run=runs["b/c"]["id"], tag="w")
        assert sum(h["buckets"]) == 500 and h["max"] == weights.max()
        a = runs["a"]["id"]
        assert s.raw(f"api/image?run={a}&tag=im")[2][:4] == b"\x89PNG"
        t = s.ask("tensor", run=a, tag="t")
        assert t["shape"] == [20, 25]
        np.testing.assert_allclose(t["values"], weights, rtol=1e-6)
        assert s.ask("texts", run=a, tag="words")[0]["text"] == "<b>hello</b>"
        facts = next(r for r in s.ask("lineage") if r["run"] == a)["facts"]
        assert facts == {"lr": 0.5, "who": "me", "deep/x": 1}
        assert s.ask("problems") == []
        for path, status in (
            ("api/nothing", 404),
            ("api/scalars?tag=loss&runs=x", 400),
            ("api/scalars?runs=1", 400),
            ("api/histograms?run=1&tag=no", 404),
            ("api/image?run=1&tag=im&number=99999999999999999999", 400),
            ("nothing.html", 404),
        ):
            assert s.raw(path)[0] == status, path


def test_no_extreme_is_lost(tmp_path):
    values = np.random.default_rng(1).standard_normal(50000).astype("float32")
    values[[12345, 40000]] = 100, -70
    record(tmp_path / "runs" / "a", values)
    with insight_server.serving(tmp_path / "runs", tmp_path / "index") as s:
        s.wait(lambda: s.ask("runs"))
        for columns in (1, 7, 100, 3000):
            c = curve(s, 1, columns=columns)
            assert len(c["step"]) <= columns and sum(c["count"]) == len(values)
            edges = [*c["step"], len(values)]
            for i, (a, b) in enumerate(zip(edges, edges[1:])):
                part = values[a:b]
                assert c["count"][i] == b - a
                np.testing.assert_allclose(
                    [c["min"][i], c["max"][i], c["mean"][i]],
                    [part.min(), part.max(), part.mean(dtype="d")],
                    rtol=1e-6,
                    atol=1e-7,
                )
        zoomed = curve(s, 1, columns=300, **{"from": 12300, "to": 12400})
        np.testing.assert_allclose(zoomed["mean"], values[12300:12401], rtol=1e-8)


@pytest.mark.ci
def test_a_run_is_followed(tmp_path):
    folder, index = tmp_path / "runs", tmp_path / "index"
    folder.mkdir()
    with insight_server.serving(folder, index) as s:
        assert s.ask("runs") == []
        versions = []

        def listen():
            import urllib.request

            with urllib.request.urlopen(s.url + "api/changes", timeout=20) as stream:
                for line in stream:
                    if line.startswith(b"data:"):
                        versions.append(int(line[5:]))

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        with SummaryRecord(str(folder / "live")) as r:
            for step in range(3):
                r.add_value("scalar", "loss", ms.Tensor(float(step)))
                r.record(step)
                r.flush()
                s.wait(lambda n=step: s.ask("runs") and curve(s, 1)["mean"] == list(range(n + 1)))
        assert len(versions) >= 3 and versions == sorted(set(versions))
    # What is known stays known; what came in the meantime is added.
    record(folder / "live", [10, 11])
    with insight_server.serving(folder, index) as s:
        s.wait(lambda: sorted(curve(s, 1)["mean"]) == [0, 1, 2, 10, 11])
    # Without its index, or with a spoilt one, the same comes out of the files.
    for spoilt in (False, True):
        if spoilt:
            with open(index, "r+b") as f:
                f.write(b"nonsense" * 100)
        else:
            os.remove(index)
        with insight_server.serving(folder, index) as s:
            s.wait(lambda: s.ask("runs") and sorted(curve(s, 1)["mean"]) == [0, 1, 2, 10, 11])


def test_a_file_that_is_replaced_is_read_anew(tmp_path):
    path = record(tmp_path / "runs" / "a", range(100))
    with insight_server.serving(tmp_path / "runs", tmp_path / "index") as s:
        s.wait(lambda: s.ask("runs"))
        other = record(tmp_path / "other", [5, 6])
        os.replace(other, path)
        s.wait(lambda: s.ask("runs") and curve(s, s.ask("runs")[0]["id"])["mean"] == [5, 6])


def test_damage_is_reported(tmp_path):
    path = record(tmp_path / "runs" / "a", range(50))
    with open(path, "rb") as f:
        data = bytearray(f.read())
    at, records = 0, []
    while at < len(data):
        records.append(at)
        at += 16 + int.from_bytes(data[at : at + 8], "little")
    for i in (5, 40):
        data[records[i] + 14] ^= 255
    with open(path, "wb") as f:
        f.write(data)
    whole = record(tmp_path / "runs" / "b", range(50))
    size = os.path.getsize(whole)
    with open(whole, "r+b") as f:
        f.truncate(size - 5)
    os.symlink("/etc/hostname", tmp_path / "runs" / "a" / "x.tfevents.link")
    (tmp_path / "runs" / "noise.tfevents").write_bytes(random.Random(1).randbytes(5000))
    with insight_server.serving(tmp_path / "runs", tmp_path / "index") as s:
        s.wait(lambda: len(s.ask("problems")) == 3)
        found = {p["file"]: p["text"] for p in s.ask("problems")}
        assert "leads out" in found["a/x.tfevents.link"]
        assert "length is damaged at byte 0" in found["noise.tfevents"]
        assert "damaged" in found[os.path.relpath(path, tmp_path / "runs")]
        runs = {r["name"]: r["id"] for r in s.ask("runs")}
        assert len(curve(s, runs["b"])["mean"]) == 49
        assert curve(s, runs["a"])["mean"] == [v for v in range(50) if v not in (4, 39)]


def test_other_sites_are_refused(tmp_path):
    (tmp_path / "runs").mkdir()
    with insight_server.serving(tmp_path / "runs", tmp_path / "index") as s:
        host = s.url.removeprefix("http://").rstrip("/")
        port = host.split(":")[1]
        for headers, status in (
            ({}, 200),
            ({"Host": f"localhost:{port}"}, 200),
            ({"Host": f"[::1]:{port}"}, 200),
            ({"Origin": f"http://{host}"}, 200),
            ({"Host": "evil.example"}, 403),
            ({"Host": f"127.0.0.1.evil.example:{port}"}, 403),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Sec-Fetch-Site": "cross-site"}, 403),
            ({"Sec-Fetch-Site": "same-origin"}, 200),
        ):
            assert s.raw("api/runs", **headers)[0] == status, headers
        for path in (
            "../../etc/passwd",
            "..%2f..%2fetc/passwd",
            "%2e%2e/%2e%2e/etc/passwd",
            "assets/../../etc/passwd",
            "//etc/passwd",
            "api/../../etc/passwd",
            "api/image?run=1&tag=../../../etc/passwd",
        ):
            assert s.raw(path)[0] in (400, 404), path
        _, headers, _ = s.raw("")
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.ci
def test_it_ends_whenever_it_is_told(tmp_path):
    (tmp_path / "runs").mkdir()
    for _ in range(10):
        with insight_server.serving(tmp_path / "runs", tmp_path / "index"):
            pass


def test_a_token_is_asked_for(tmp_path):
    (tmp_path / "runs").mkdir()
    with insight_server.serving(
        tmp_path / "runs", tmp_path / "index", "--token", "secret", "--host", "127.0.0.1"
    ) as s:
        assert s.address.endswith("?token=secret")
        assert s.raw("api/runs")[0] == 403 and s.raw("")[0] == 403
        assert s.raw("api/runs?token=secreT")[0] == 403
        assert s.raw("api/runs?token=secret")[0] == 200
        assert s.raw("api/runs", Authorization="Bearer secret")[0] == 200
        status, headers, _ = s.raw("?token=secret")
        cookie = headers["Set-Cookie"]
        assert status == 200 and "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert s.raw("api/runs", Cookie=cookie.split(";")[0])[0] == 200
    with insight_server.serving(tmp_path / "runs", tmp_path / "index", "--host", "0.0.0.0") as s:
        assert len(s.address.split("?token=")[1]) == 32


@pytest.mark.ci
def test_odd_requests_do_no_harm(tmp_path):
    record(tmp_path / "runs" / "a", range(10), w=np.ones(5, "float32"))
    pick = random.Random(3)
    questions = (
        "runs tags scalars histograms items image texts tensor record lineage problems".split()
    )
    odd = [
        "",
        "-1",
        "1",
        "1e400",
        "nan",
        "loss",
        "w",
        "\0",
        "%",
        "é" * 50,
        "1," * 900,
        "'; DROP",
        "9" * 30,
    ]
    names = ["run", "runs", "tag", "kind", "number", "limit", "columns", "from", "to", "axis"]
    with insight_server.serving(tmp_path / "runs", tmp_path / "index") as s:
        s.wait(lambda: s.ask("runs"))
        from urllib.parse import urlencode

        for _ in range(600):
            args = {n: pick.choice(odd) for n in pick.sample(names, pick.randrange(6))}
            status = s.raw(f"api/{pick.choice(questions)}?{urlencode(args)}")[0]
            assert status in (200, 400, 404), args
        assert curve(s, 1)["mean"] == list(range(10))


@pytest.mark.ci
def test_many_writers(tmp_path):
    threads = [
        threading.Thread(target=record, args=(tmp_path / "runs" / f"r{i}", np.arange(200) + i))
        for i in range(8)
    ]
    with insight_server.serving(tmp_path, tmp_path / "index") as s:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        runs = s.wait(lambda: r if len(r := s.ask("runs")) == 8 else None)
        time.sleep(1.5)
        for r in runs:
            first = int(r["name"].rsplit("r", 1)[1])
            assert curve(s, r["id"])["mean"] == list(range(first, first + 200))
