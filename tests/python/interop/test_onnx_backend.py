"""The published cases of the package `onnx` through mycel.onnx.prepare: all with ordinary
element types pass, but for those that known_failures.txt lists with a reason; the listed ones must
still fail, so that the list stays true."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ci, pytest.mark.one_mode("a prepared model is compiled in any mode")]


def _ordinary():
    import onnx_cases

    return {n: c for n, c in onnx_cases.cases().items() if not onnx_cases.odd_types(c)}


@pytest.mark.parametrize("kind", ["node", "disk"])
def test_published_cases(kind):
    import onnx_cases

    wrong = []
    for name, case in (_ordinary() if kind == "node" else onnx_cases.disk_cases()).items():
        listed = onnx_cases.expectation(name)
        try:
            onnx_cases.run(case)
            if listed and not listed[1]:
                wrong.append(f"{name} passes, but is listed: {listed[0]}")
        except (AssertionError, ValueError, TypeError, NotImplementedError, RuntimeError) as e:
            if not listed:
                wrong.append(f"{name}: {type(e).__name__}: {str(e).strip()[:300]}")
    assert not wrong, f"{len(wrong)} cases:\n" + "\n".join(wrong[:40])


def test_at_least_97_percent_pass():
    import onnx_cases

    ordinary = _ordinary()
    failing = [n for n in ordinary if onnx_cases.expectation(n)]
    assert len(ordinary) > 1600
    assert len(failing) <= 0.03 * len(ordinary)


def test_page_is_up_to_date():
    tool = Path(__file__).resolve().parents[3] / "tools" / "onnx_page.py"
    result = subprocess.run(
        [sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
