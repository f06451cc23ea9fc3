"""sync_wait and sync_update: rows follow what the training does."""

import threading
import time

import mycel
import mycel.dataset as ds
import numpy as np
import pytest
from mycel import nn


class Augment:
    """Adds what the last update said."""

    def __init__(self):
        self.loss = 0

    def preprocess(self, x):
        return np.asarray(x + self.loss)

    def update(self, data):
        self.loss = data["loss"]


def made(rows=20, num_batch=1, workers=None):
    augment = Augment()
    d = ds.NumpySlicesDataset(np.zeros(rows, np.int64), ["x"], shuffle=False)
    d = d.sync_wait("policy", num_batch, augment.update)
    d = d.map(augment.preprocess, "x", num_parallel_workers=workers)
    return d.batch(4)


@pytest.mark.parametrize("workers", [None, 2])
def test_each_batch_sees_the_update_before_it(workers):
    d = made(workers=workers)
    for epoch in range(2):
        seen = []
        for k, (x,) in enumerate(d.create_tuple_iterator(num_epochs=1, output_numpy=True)):
            seen.append(x.tolist())
            d.sync_update("policy", data={"loss": 100 * epoch + k + 1})
        first = 0 if epoch == 0 else 5  # what the last update of the epoch before said
        assert seen == [[v] * 4 for v in [first, *(100 * epoch + k for k in range(1, 5))]]


def test_several_batches_at_a_time():
    d = made(num_batch=2)
    rows = d.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(rows), next(rows)
    with pytest.raises(
        RuntimeError, match=r"2 rows were given[^;]*; call sync_update\('policy'\) behind"
    ):
        next(rows)
    d.sync_update("policy", data={"loss": 3})
    assert [next(rows)[0][0], next(rows)[0][0]] == [3, 3]
    d.sync_update("policy", num_batch=1, data={"loss": 4})
    assert next(rows)[0][0] == 4
    with pytest.raises(StopIteration):  # the end needs no update
        next(rows)


def test_what_is_refused():
    d = made()
    with pytest.raises(RuntimeError, match="there is no condition 'other'; conditions: 'policy'"):
        d.sync_update("other")
    with pytest.raises(RuntimeError, match="there is a condition 'policy' already"):
        d.sync_wait("policy")
    with pytest.raises(ValueError, match="'num_batch' must be at least 1"):
        d.sync_wait("more", 0)
    with pytest.raises(ValueError, match="sync_update: 'num_batch' must be at least 1"):
        d.sync_update("policy", -1, {"loss": 0})
    with pytest.raises(TypeError, match="'condition_name'"):
        d.sync_update(3)


# -- with Model: a callback of the training releases the next batch ------------


class Watched(nn.Cell):
    """The mean of what it is given, times a weight that does not change anything here."""

    def __init__(self):
        super().__init__()
        self.w = mycel.Parameter(mycel.Tensor(1.0, mycel.float32), name="w")

    def construct(self, x):
        return (x * self.w).mean()


class Tells(mycel.Callback):
    """What the documentation of the published framework does: the loss goes back to the data."""

    def __init__(self, dataset, every=1):
        self.dataset, self.every, self.seen = dataset, every, []

    def on_train_step_end(self, run_context):
        args = run_context.original_args()
        self.seen.append(args.train_dataset_element[0].asnumpy().tolist())
        if args.cur_step_num % self.every == 0:
            self.dataset.sync_update("policy", data={"loss": args.cur_step_num})

    def on_eval_step_end(self, run_context):
        self.dataset.sync_update("policy", data={"loss": run_context.original_args().cur_step_num})


def model_of(d):
    net = Watched()
    return mycel.Model(net, optimizer=nn.SGD(net.trainable_params(), 1e-9))


def floats(d):
    return d.map(lambda x: x.astype(np.float32), "x")


def test_a_callback_of_the_training_releases_the_next_batch():
    d = floats(made(workers=2))
    tells = Tells(d)
    model_of(d).train(2, d, [tells])
    assert tells.seen == [[k] * 4 for k in range(10)]  # the update behind step k, and no later one


def test_two_batches_are_released_at_a_time():
    d = floats(made(num_batch=2))
    tells = Tells(d, every=2)
    model_of(d).train(1, d.take(4), [tells])
    assert [x[0] for x in tells.seen] == [0, 0, 2, 2]


def test_a_data_sink_of_one_step():
    d = floats(made())
    tells = Tells(d)
    model_of(d).train(5, d, [tells], dataset_sink_mode=True, sink_size=1)
    assert [x[0] for x in tells.seen] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match=r"sync_wait\('policy'\) lets 1 pass; got sink_size=-1"):
        model_of(d).train(1, d, [tells], dataset_sink_mode=True)


def test_evaluation():
    d = floats(made())
    net = Watched()
    model = mycel.Model(net, eval_network=net, eval_indexes=[0, -1, -1], metrics={"loss"})
    assert model.eval(d, [Tells(d)]) == {"loss": 2.0}  # the mean of 0 to 4


def test_training_without_an_update_is_an_error():
    d = floats(made())
    with pytest.raises(RuntimeError, match=r"1 rows were given.*call sync_update\('policy'\)"):
        model_of(d).train(1, d)
    model_of(d).train(1, d, [Tells(d)])  # and the dataset still serves


def test_waiting_for_another_thread():
    d = floats(made(rows=8))
    later = threading.Timer(0.2, d.sync_update, ["policy"], {"data": {"loss": 7}})
    later.start()
    rows = [x[0] for (x,) in d.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert rows == [0, 7]
    before = mycel.dataset.config.get_callback_timeout()
    mycel.dataset.config.set_callback_timeout(1)
    stop = threading.Event()
    idle = threading.Thread(target=stop.wait)
    idle.start()
    try:
        start = time.monotonic()
        with pytest.raises(RuntimeError, match="no more were released in 1 s"):
            list(d.create_tuple_iterator(num_epochs=1))
        assert time.monotonic() - start >= 1
    finally:
        stop.set()
        idle.join()
        mycel.dataset.config.set_callback_timeout(before)
