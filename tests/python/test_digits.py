"""The main job in both languages, over two epochs: one seed, one checksum of the weights."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]


def weights_of(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return re.search(r"weights ([0-9a-f]{8})", done.stdout)[1]


@pytest.mark.one_mode("runs whole programs, which choose their mode")
@pytest.mark.ci
def test_both_languages_end_in_the_same_bits(tmp_path):
    build = Path(os.environ.get("MYCEL_BUILD_DIR", TREE / "build"))
    program = build / "examples" / "digits"
    if not program.exists():
        pytest.skip("the C++ examples are not built")
    script = TREE / "examples" / "digits.py"
    options = ["--epochs", 2, "--seed", 1, "--out", tmp_path]
    assert weights_of([program, *options]) == weights_of([sys.executable, script, *options])
