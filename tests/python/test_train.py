"""Model, callbacks, datasets and checkpoints."""

import os
import re
import signal
import subprocess
import sys
import time

import mycel as ms
import numpy as np
import pytest
from mycel import nn
from mycel.dataset import GeneratorDataset, NumpySlicesDataset, digits
from mycel.train import (
    Callback,
    EarlyStopping,
    History,
    LossMonitor,
    Model,
)


def make_model(metrics=None):
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Flatten(), nn.Dense(64, 32), nn.ReLU(), nn.Dense(32, 10))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Model(net, loss, nn.Adam(net.trainable_params(), 0.01), metrics)


def data(n=320, batch=32):
    return digits(usage="train", num_samples=n).shuffle(n).batch(batch)


def weights(model):
    return [p.asnumpy() for p in model.train_network.get_parameters()]


def test_digits_converge():
    model = make_model({"acc", "loss"})
    model.train(8, data())
    assert model.eval(digits(usage="test").batch(99))["acc"] > 0.8


def test_callbacks_run_in_order():
    seen = []

    class Record(Callback):
        def begin(self, run_context):
            seen.append("begin")

        def on_train_step_end(self, run_context):
            p = run_context.original_args()
            seen.append((p.cur_epoch_num, p.cur_step_num, p.cur_step_in_epoch))
            if p.cur_step_num == 3:
                run_context.request_stop()

        def end(self, run_context):
            seen.append("end")

    make_model().train(5, data(64), Record())
    assert seen == ["begin", (1, 1, 1), (1, 2, 2), (2, 3, 1), "end"]


def test_fit_gives_metrics_to_callbacks():
    history = History()
    make_model({"loss", "acc"}).fit(
        2, data(64), digits(usage="test").batch(99), callbacks=[history]
    )
    assert history.epoch["epoch"] == [1, 2]
    assert set(history.history) == {"loss", "acc", "net_output"}
    with pytest.raises(ValueError, match="there is no 'eval_f1' to watch"):
        make_model().train(1, data(64), EarlyStopping("eval_f1"))


SCRIPT = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from test_train import *
from mycel.train import CheckpointConfig, ModelCheckpoint
class Kill(Callback):
    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == 11:
            os.kill(os.getpid(), signal.SIGKILL)
config = CheckpointConfig(save_checkpoint_steps=3)
make_model().train(4, data(160), [ModelCheckpoint("m", sys.argv[2], config), Kill()])
"""


def test_killed_run_resumes_to_the_same_bits(tmp_path):
    here = os.path.dirname(os.path.abspath(__file__))
    run = subprocess.run([sys.executable, "-c", SCRIPT, here, str(tmp_path)])
    assert run.returncode == -signal.SIGKILL
    whole = make_model()
    whole.train(4, data(160))
    model = make_model()
    model.resume(tmp_path / "m-2_4.ckpt")
    model.train(4, data(160))
    for a, b in zip(weights(whole), weights(model)):
        np.testing.assert_array_equal(a, b)


UNTIL_KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
from test_train import *
from mycel.train import CheckpointConfig, ModelCheckpoint
config = CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=3)
make_model().train(10**6, data(160), [ModelCheckpoint("m", sys.argv[2], config)])
"""


@pytest.mark.ci
@pytest.mark.parametrize("wait", np.random.default_rng().uniform(0.01, 0.5, 3).round(3))
def test_a_run_killed_at_any_moment_resumes_to_the_same_bits(tmp_path, wait):
    here = os.path.dirname(os.path.abspath(__file__))
    run = subprocess.Popen([sys.executable, "-c", UNTIL_KILLED, here, str(tmp_path)])
    while not list(tmp_path.glob("*.ckpt")):
        assert run.poll() is None
        time.sleep(0.01)
    time.sleep(wait)
    run.kill()
    run.wait()
    newest = max(tmp_path.glob("*.ckpt"), key=lambda f: tuple(map(int, re.findall(r"\d+", f.stem))))
    epochs = int(re.findall(r"\d+", newest.stem)[0]) + 1
    model = make_model()
    model.resume(newest)
    model.train(epochs, data(160))
    whole = make_model()
    whole.train(epochs, data(160))
    for a, b in zip(weights(whole), weights(model)):
        np.testing.assert_array_equal(a, b)


def test_interrupt_comes_after_the_step():
    class Interrupt(Callback):
        def on_train_step_begin(self, run_context):
            if run_context.original_args().cur_step_num == 2:
                os.kill(os.getpid(), signal.SIGINT)

    # A program started in the background ignores the signal, and so would this test.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt, match="after step 2"):
            make_model().train(2, data(128), Interrupt())
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_checkpoint_errors(tmp_path):
    net, path = nn.Dense(2, 3), str(tmp_path / "a.ckpt")
    ms.save_checkpoint(net, path)
    loaded = ms.load_checkpoint(path)
    assert ms.load_param_into_net(nn.Dense(2, 3), loaded) == []
    with pytest.raises(ValueError, match=r"a\.ckpt: entry 'weight' has shape \(3, 2\)"):
        ms.load_param_into_net(nn.Dense(4, 3), loaded)
    del loaded["bias"]
    with pytest.raises(ValueError, match="no entry for parameters bias"):
        ms.load_param_into_net(nn.Dense(2, 3), loaded)
    assert ms.load_param_into_net(nn.Dense(2, 3), loaded, partial=True) == ["bias"]
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 2)
    with pytest.raises(ValueError, match="a.ckpt"):
        ms.load_checkpoint(path)
    with pytest.raises(NotImplementedError, match="async_save"):
        ms.save_checkpoint(net, path, async_save=True)


def test_datasets():
    d = (
        NumpySlicesDataset({"x": np.arange(10), "y": np.arange(10) * 2})
        .map(lambda v: v + 1, "x")
        .batch(4)
    )
    rows = [r["x"].asnumpy().tolist() for r in d.create_dict_iterator()]
    assert rows == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
    assert d.get_dataset_size() == 3 and d.get_batch_size() == 4
    stream = GeneratorDataset(lambda: ((np.float32(i),) for i in range(6)), ["x"]).shuffle(3)
    assert sorted(float(r[0].asnumpy()) for r in stream) == list(range(6))


def test_callbacks_go_on_where_they_were(tmp_path):
    from mycel.train import CheckpointConfig, ModelCheckpoint, ReduceLROnPlateau

    def watchers():
        return [
            History(),
            ReduceLROnPlateau("loss", factor=0.5, patience=2, min_delta=10),
            EarlyStopping("loss", min_delta=10, patience=7, restore_best_weights=True),
        ]

    whole, kept = make_model(), watchers()
    whole.train(9, data(64), kept)
    first, second, again = make_model(), make_model(), watchers()
    save = ModelCheckpoint("run", str(tmp_path), CheckpointConfig(save_checkpoint_steps=2))
    first.train(4, data(64), [save, *watchers()])
    second.resume(tmp_path / "run-4_2.ckpt")
    second.train(9, data(64), again)
    assert kept[2].stopped_epoch == again[2].stopped_epoch == 8
    assert kept[0].epoch == again[0].epoch and kept[0].history == again[0].history
    for a, b in zip(weights(whole), weights(second)):
        np.testing.assert_array_equal(a, b)
    assert len(ms.load_checkpoint(str(tmp_path / "run-4_2.ckpt"), make_model().train_network)) > 4


def test_what_is_not_done_is_refused():
    with pytest.raises(ValueError, match="no rows"):
        NumpySlicesDataset(np.zeros((0, 2)))
    with pytest.raises(NotImplementedError, match="boost_level='O1'"):
        Model(nn.Dense(2, 2), boost_level="O1")
    with pytest.raises(ValueError, match="'sink_size' needs dataset_sink_mode=True"):
        make_model().train(1, data(64), sink_size=3)
    with pytest.raises(ValueError, match="must be -1 \\(an epoch\\) or positive, got 0"):
        make_model().train(1, data(64), dataset_sink_mode=True, sink_size=0)


def test_loss_monitor_stops_at_nan():
    x, y = np.full((4, 2), np.nan, np.float32), np.zeros((4, 1), np.float32)
    net = nn.Dense(2, 1)
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    with pytest.raises(ValueError, match="the loss is nan"):
        model.train(1, NumpySlicesDataset((x, y)).batch(2), LossMonitor())
