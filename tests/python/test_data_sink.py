"""Data sinks: the same bits as steps one by one, in both modes; callbacks once a call."""

import gc
import os
import signal
import threading

import mycel as ms
import numpy as np
import pytest
from mycel import nn, ops
from mycel.dataset import GeneratorDataset, NumpySlicesDataset, digits
from mycel.train import Callback, LossMonitor
from test_train import data, make_model, weights


class Record(Callback):
    def __init__(self):
        self.seen = []

    def step_begin(self, run_context):
        self.seen.append("begin")

    def step_end(self, run_context):
        p = run_context.original_args()
        loss = float(p.net_outputs.asnumpy())
        self.seen.append((p.cur_epoch_num, p.cur_step_num, p.batch_num, round(loss, 6)))


def test_a_sink_computes_what_steps_compute(mode):
    plain, sunk, sized = make_model(), make_model(), make_model()
    each, by_epoch, by_four = Record(), Record(), Record()
    plain.train(2, data(192), each)  # 6 batches an epoch
    sunk.train(2, data(192), by_epoch, dataset_sink_mode=True)
    sized.train(3, data(192), by_four, dataset_sink_mode=True, sink_size=4)
    losses = [s[3] for s in each.seen if s != "begin"]
    assert len(losses) == 12
    assert by_epoch.seen == ["begin", (1, 6, 6, losses[5]), "begin", (2, 12, 6, losses[11])]
    assert [s for s in by_four.seen if s != "begin"] == [
        (1, 4, 4, losses[3]),
        (2, 8, 4, losses[7]),
        (3, 12, 4, losses[11]),
    ]
    for other in (sunk, sized):
        for a, b in zip(weights(plain), weights(other)):
            np.testing.assert_array_equal(a, b)


def test_batches_of_another_size_are_compiled_for_themselves(mode):
    plain, sunk = make_model(), make_model()
    plain.train(2, data(100, 32))  # 32 32 32 4
    sunk.train(2, data(100, 32), dataset_sink_mode=True)
    for a, b in zip(weights(plain), weights(sunk)):
        np.testing.assert_array_equal(a, b)


def test_evaluation_is_the_same(mode):
    model = make_model({"acc", "loss"})
    test = digits(usage="test").batch(99)
    assert model.eval(test) == model.eval(test, dataset_sink_mode=True)
    model.fit(1, data(64), test, dataset_sink_mode=True, valid_dataset_sink_mode=True)


def test_monitors_count_steps_across_a_call(capsys):
    make_model().train(2, data(192), LossMonitor(5), dataset_sink_mode=True)
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == [
        "epoch: 1 step: 6",
        "epoch: 2 step: 6",
    ]
    make_model().train(4, data(64), LossMonitor(5), dataset_sink_mode=True)
    assert capsys.readouterr().out.count("loss is") == 1  # steps 2 4 6 8


def test_a_generator_is_read_on_another_thread_and_not_beyond_the_end():
    seen = []

    def rows():
        seen.append(threading.get_ident())
        for i in range(4):
            yield np.full(64, i, np.float32).reshape(1, 8, 8), np.int32(i)

    model = make_model()
    model.train(3, GeneratorDataset(rows, ["x", "y"]).batch(2), dataset_sink_mode=True)
    assert len(seen) == 3 and threading.get_ident() not in seen


def test_errors_of_the_data_reach_the_caller():
    def rows():
        yield np.zeros((1, 8, 8), np.float32), np.int32(0)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        make_model().train(1, GeneratorDataset(rows, ["x", "y"]).batch(1), dataset_sink_mode=True)


def test_ctrl_c_ends_a_call(mode):
    def rows():
        for i in range(100000):
            if i == 50:
                os.kill(os.getpid(), signal.SIGINT)
            yield np.zeros((1, 8, 8), np.float32), np.int32(0)

    with pytest.raises(KeyboardInterrupt):
        make_model().train(1, GeneratorDataset(rows, ["x", "y"]).batch(1), dataset_sink_mode=True)


def test_data_sink_gives_the_last_result_of_each_call():
    dataset = NumpySlicesDataset({"x": np.arange(10, dtype=np.float32)}, shuffle=False).batch(2)
    total = ms.Parameter(ms.Tensor(np.zeros(2, np.float32)), name="total")

    @ms.jit
    def step(x):
        ops.assign_add(total, x)
        return total * 1

    sums = np.cumsum(np.tile(np.arange(10).reshape(5, 2), (4, 1)), axis=0)
    run = ms.data_sink(step, dataset, sink_size=3)
    for i in (2, 5, 8):
        np.testing.assert_array_equal(run().asnumpy(), sums[i])
    assert step.signatures == 1
    del run
    gc.collect()
    total.set_data(ms.Tensor(np.zeros(2, np.float32)))
    by_epoch = ms.data_sink(lambda x: step(x), dataset, sink_size=-1)
    for i in (4, 9):
        np.testing.assert_array_equal(by_epoch().asnumpy(), sums[i])
    with pytest.raises(TypeError, match="data_sink: a dataset was expected, got list"):
        ms.data_sink(step, [1])
    with pytest.raises(ValueError, match="got -2"):
        ms.data_sink(step, dataset, -2)


def test_a_cell_as_a_sink(mode):
    net = nn.Dense(3, 2)
    dataset = NumpySlicesDataset(np.random.rand(7, 3).astype(np.float32), shuffle=False).batch(1)
    run = ms.data_sink(net, dataset, sink_size=7)
    np.testing.assert_array_equal(run().asnumpy(), run().asnumpy())
