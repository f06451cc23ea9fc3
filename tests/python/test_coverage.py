"""The page of what is here is up to date; refused names say why."""

import subprocess
import sys
import types
from pathlib import Path

import mycel as ms
import pytest
from mycel import nn, ops
from mycel._refused import REFUSED, Refused

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_up_to_date():
    command = [sys.executable, str(ROOT / "tools" / "coverage.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", REFUSED)
def test_refused_names_can_be_imported_and_say_why(module):
    home = ms
    for part in module.split(".")[1:]:
        home = getattr(home, part)
    for names, reason in REFUSED[module]:
        for name in names.split():
            found = getattr(home, name)
            assert isinstance(found, Refused), name
            with pytest.raises(
                NotImplementedError, match="^" + found.name.replace(".", r"\.")
            ) as e:
                found()
            assert reason in str(e.value)
            with pytest.raises(NotImplementedError):
                types.new_class("Sub", (found,))


def test_names_that_were_never_published():
    with pytest.raises(AttributeError, match="mycel.ops has no 'NoSuchOp'"):
        ops.NoSuchOp  # noqa: B018
    with pytest.raises(AttributeError, match="Did you mean 'Dense'"):
        nn.Dens  # noqa: B018


def test_summaries_check_what_they_are_given():
    assert ops.ScalarSummary()("loss", ms.Tensor(1.0)) is None
    for op, value in ((ops.ScalarSummary(), [[1.0]]), (ops.ImageSummary(), [1.0])):
        with pytest.raises(ValueError, match="must not have"):
            op("x", ms.Tensor(value))
    with pytest.raises(TypeError, match="must be a Tensor, got float"):
        ops.HistogramSummary()("x", 1.0)
    with pytest.raises(TypeError, match="'name' must be a str"):
        ops.TensorSummary()("", ms.Tensor(1.0))


def test_run_check(capsys):
    ms.run_check()
    assert ms.__version__ in capsys.readouterr().out
