"""tools/check_layers.py on small trees: each rule once kept and once broken."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.one_mode("runs no tensor")
TOOL = ROOT / "tools" / "check_layers.py"


@pytest.fixture(scope="module")
def layers():
    spec = importlib.util.spec_from_file_location("check_layers", TOOL)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def check(layers, tmp_path):
    """check({"src/a/b.cc": '#include "x.h"'}) -> the violations as text."""

    def run(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
        return [str(violation) for violation in layers.check_tree(tmp_path)]

    return run


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("src/nn/dense.cc", '"tensor/shape.h"'),  # downwards
        ("src/nn/dense.cc", '"nn/layer.h"'),  # own room
        ("src/nn/dense.cc", '"layer.h"'),  # own folder
        ("src/nn/dense.cc", '"mycel/ops.h"'),  # generated, above the ops
        ("src/base/log.cc", '"mycel/version.h"'),
        ("src/ir/op.h", '"loops/nest.h"'),  # listed siblings
        ("src/train/model.cc", '"nn/cell.h"'),
        ("src/ops/loss/loss.op.cc", '"ops/reduce/reduce.h"'),  # room to room
        ("src/ops/conv/conv.cpu.cc", '"backend/cpu/kernel.h"'),
        ("src/autodiff/grad.cc", '"ops/value.h"'),
        ("src/data/pipeline.cc", '"tensor/tensor.h"'),
        ("src/loops/llvm/jit.cc", "<llvm/IR/IRBuilder.h>"),
        ("src/backend/cpu/onednn/matmul.cc", "<dnnl.hpp>"),
        ("python/bind/tensor.cc", "<nanobind/nanobind.h>"),
        ("src/ir/graph_test.cc", "<gtest/gtest.h>"),
        ("src/ir/graph_test.cc", '"runtime/plan.h"'),  # tests may look up
        ("tests/cpp/models.cc", '"nn/cell.h"'),
        ("suites/boost/trees.cc", '"train/model.h"'),
        ("src/nn/dense.cc", "<vector>"),
    ],
)
def test_allowed(check, path, include):
    assert check({path: f"#include {include}"}) == []


@pytest.mark.parametrize(
    ("path", "include", "expected"),
    [
        ("src/tensor/shape.h", '"ir/graph.h"', "tensor is level 1 and may include levels up to 0"),
        ("src/passes/fuse.cc", '"autodiff/grad.h"', "passes is level 4"),
        ("src/loops/nest.cc", '"ir/op.h"', "loops is level 2"),
        ("src/nn/cell.cc", '"train/model.h"', "nn is level 7"),
        ("src/ops/conv/conv.op.cc", '"backend/cpu/kernel.h"', "never sees a backend"),
        ("src/ops/conv/conv.h", '"backend/cpu/kernel.h"', "ops is level 3"),
        ("src/autodiff/grad.cc", '"ops/conv/conv.h"', "never one family"),
        ("src/data/pipeline.cc", '"ir/graph.h"', "data is level 7 and may include levels up to 1"),
        ("src/ir/graph.cc", '"mycel/ops.h"', "generated from the op records"),
        ("src/ir/graph.cc", '"graphs/x.h"', "graphs/ is not a room"),
        ("src/loops/jit.cc", "<llvm/IR/IRBuilder.h>", "LLVM headers belong to src/loops/llvm/"),
        ("src/loops/llvm.h", '"llvm/IR/IRBuilder.h"', "LLVM headers belong to src/loops/llvm/"),
        ("src/ops/conv/conv.cpu.cc", "<dnnl.hpp>", "oneDNN headers belong to"),
        ("src/nn/cell.cc", "<nanobind/nanobind.h>", "nanobind and Python headers"),
        ("src/parallel/mesh.cc", "<mpi.h>", "MPI headers belong to"),
        ("src/backend/cpu/copy.cc", "<cuda_runtime.h>", "CUDA headers belong to"),
        ("src/ir/graph.cc", "<gtest/gtest.h>", "only *_test.cc and tests/ may"),
    ],
)
def test_refused(check, path, include, expected):
    (violation,) = check({path: f"#pragma once\n#include {include}"})
    assert violation.startswith(f"{path}:2: includes ")
    assert expected in violation


def test_room_without_a_level_is_refused(check):
    (violation,) = check({"src/magic/wand.cc": ""})
    assert "'magic' has no level" in violation


def test_long_file_is_refused(check):
    assert check({"src/ir/short.cc": "\n" * 998}) == []
    (violation,) = check({"src/ir/long.py": "\n" * 1000})
    assert "1001 lines; the limit is 1000" in violation


@pytest.mark.parametrize("name", ["util.h", "string_utils.cc", "test_helpers.py", "misc/a.cc"])
def test_vague_name_is_refused(check, name):
    violations = check({f"src/base/{name}": ""})
    assert any("says nothing" in violation for violation in violations)


def test_exit_status_and_closing_line(tmp_path):
    def run():
        return subprocess.run(
            [sys.executable, TOOL, tmp_path], capture_output=True, text=True, check=False
        )

    done = run()
    assert (done.returncode, done.stdout) == (0, "check_layers: 0 violations\n")
    (tmp_path / "src/base").mkdir(parents=True)
    (tmp_path / "src/base/log.h").write_text('#include "nn/cell.h"\n')
    done = run()
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith('src/base/log.h:1: includes "nn/cell.h"')
    assert done.stdout.splitlines()[-1] == "check_layers: 1 violation"
