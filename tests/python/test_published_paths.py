"""Module paths that published programs import from, and what they log."""

import importlib
import os
import subprocess
import sys

import mycel as ms
import numpy as np
import pytest

PATHS = [
    ("common.api", "ms_function jit _cell_graph_executor"),
    ("common.parameter", "Parameter ParameterTuple"),
    ("common.tensor", "Tensor"),
    ("nn.grad.cell_grad", "Jvp Vjp"),
    ("nn.layer.basic", "Dense Dropout Flatten"),
    ("nn.layer.conv", "Conv2d"),
    ("nn.learning_rate_schedule", "LearningRateSchedule CosineDecayLR"),
    ("nn.loss", "SoftmaxCrossEntropyWithLogits LossBase"),
    ("nn.loss.loss", "MSELoss"),
    ("nn.metrics.accuracy", "Accuracy"),
    ("nn.optim.momentum", "Momentum"),
    ("nn.optim.optimizer", "Optimizer"),
    ("nn.wrap.cell_wrapper", "TrainOneStepCell WithLossCell"),
    ("nn.wrap.grad_reducer", "DistributedGradReducer"),
    ("nn.wrap.loss_scale", "TrainOneStepWithLossScaleCell"),
    ("ops.composite", "GradOperation HyperMap MultitypeFuncGraph"),
    ("ops.composite.base", "GradOperation"),
    ("ops.function.math_func", "add"),
    ("ops.functional", "depend grad"),
    ("ops.operations", "Add Conv2D"),
    ("ops.operations.nn_ops", "Conv2D"),
    ("ops.primitive", "Primitive constexpr prim_attr_register"),
    ("train", "Model export load DatasetHelper"),
    ("train.amp", "build_train_network"),
    ("train.callback", "LossMonitor ModelCheckpoint CheckpointConfig"),
    ("train.callback._loss_monitor", "LossMonitor"),
    ("train.dataset_helper", "DatasetHelper connect_network_with_dataset"),
    ("train.serialization", "load_checkpoint export load"),
]


@pytest.mark.parametrize("path, names", PATHS)
def test_names_are_found(path, names):
    module = importlib.import_module(f"mycel.{path}")
    for name in names.split():
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError):
        getattr(module, "no_such_name_anywhere")  # noqa: B009


def test_import_forms():
    code = (
        "import mycel.nn.optim.adam as a; from mycel.ops import functional as F;"
        "from mycel.ops import operations as P, composite as C; from mycel.nn.layer import conv;"
        "import mycel as ms; assert a.Adam is ms.nn.Adam and F.add is P.add is ms.ops.add;"
        "assert conv.Conv2d is ms.nn.Conv2d and P.Add is ms.ops.Add and C.HyperMap"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_paths_that_are_not_published_are_not_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("mycel.nn.optim.nothing")


def run_log(**env):
    code = (
        "from mycel import log\n"
        "log.debug('d'); log.info('n = %d', 3); log.warning('w %s %s', 1, 2); log.error('e')\n"
        "print(log.get_level())"
    )
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GLOG", "MYCEL_LOG"))}
    out = subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, **env},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split(" ", 1)[1] for line in out.stderr.splitlines()]
    return lines, out.stdout.strip()


def test_log_levels():
    assert run_log() == (["warning user: w 1 2", "error user: e"], "2")
    assert run_log(GLOG_v="1")[0] == ["info user: n = 3", "warning user: w 1 2", "error user: e"]
    assert run_log(GLOG_v="4") == ([], "4")


def test_dataset_helper():
    from mycel import dataset, nn

    rows = dataset.NumpySlicesDataset(np.arange(6, dtype=np.float32), ["x"], shuffle=False).batch(2)
    helper = ms.DatasetHelper(rows, dataset_sink_mode=False)
    for _ in range(2):
        got = [row[0].asnumpy().tolist() for row in helper]
        assert got == [[0, 1], [2, 3], [4, 5]]
    helper = ms.DatasetHelper(rows, dataset_sink_mode=True, sink_size=2)
    net = ms.connect_network_with_dataset(nn.ReLU(), helper)
    got = [net(*row).asnumpy().tolist() for _ in range(2) for row in helper]
    assert got == [[0, 1], [2, 3], [4, 5], [0, 1]] and helper.sink_size() == 2
    with pytest.raises(RuntimeError, match="dataset_sink_mode"):
        ms.connect_network_with_dataset(nn.ReLU(), ms.DatasetHelper(rows, False))


def test_cell_graph_executor():
    from mycel import Tensor, nn
    from mycel.common.api import _cell_graph_executor

    net = nn.ReLU()
    phase, new = _cell_graph_executor.compile(net, Tensor([-1.0, 2.0]))
    assert new and _cell_graph_executor(net, Tensor([-1.0, 2.0]), phase=phase).tolist() == [0, 2]
    assert not _cell_graph_executor.compile(net, Tensor([-1.0, 2.0]))[1]
