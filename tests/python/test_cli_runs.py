"""`mycel runs`: what a terminal shows of recorded runs."""

import json
import os
import subprocess

import mycel as ms
import pytest
from insight_server import PROGRAM
from mycel import _mycel

pytestmark = pytest.mark.one_mode("a program")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("MYCEL_CACHE", str(tmp_path / "cache"))
    for name, rate in (("one", 0.1), ("two", 0.3)):
        r = _mycel.insight.Recorder(str(tmp_path / "runs" / name), "events", "", 0)
        r.hparams({"rate": rate, "net": "same"})
        for step in range(50):
            r.scalar("loss/auto", rate * (50 - step), step)
        r.histogram("w", ms.Tensor([1.0, 2.0]), 3)
        r.close()
    return tmp_path / "runs"


def program(*args, status=0):
    done = subprocess.run(
        [PROGRAM, "runs", *map(str, args)], capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def test_ls(runs, tmp_path):
    lines = program("ls", runs).splitlines()
    assert lines[0].split() == ["run", "begun", "minutes", "step", "state", "loss"]
    assert lines[2].split()[0] == "two" and lines[2].split()[-1] == "0.3"
    one, two = json.loads(program("ls", runs, "--json"))
    assert one["facts"]["rate"] == "0.1" and abs(two["scalars"]["loss/auto"] - 0.3) < 1e-6
    (tmp_path / "empty").mkdir()
    assert program("ls", tmp_path / "empty").startswith("no event files")
    assert "no folder" in program("ls", tmp_path / "absent", status=1)


def test_show_and_compare(runs):
    shown = program("show", runs, "one")
    assert "rate" in shown and "histogram" in shown and "loss/auto" in shown
    rows = {line.split()[0]: line.split()[1:] for line in program("compare", runs).splitlines()[1:]}
    assert rows == {"rate": ["0.1", "0.3"], "loss/auto": ["0.1", "0.3"]}
    assert "Did you mean 'one'?" in program("show", runs, "onne", status=1)


def test_plot(runs):
    drawn = program("plot", runs, "loss/auto", "two", "--height", "4")
    assert "two (0 to 49)" in drawn and "one" not in drawn
    bars = [line for line in drawn.splitlines() if "█" in line]
    assert len(bars) == 4
    assert bars[0].rstrip().count("█") < bars[-1].rstrip().count("█")  # it falls
    assert "loss/auto" in program("plot", runs, "los", status=1)
