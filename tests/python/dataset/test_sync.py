"""sync_wait and sync_update: rows follow what the training does."""

import mycel
import mycel.dataset as ds
import numpy as np
import pytest


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
    with pytest.raises(RuntimeError, match=r"2 rows were given.*sync_update\('policy'\) behind"):
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
    with pytest.raises(NotImplementedError, match="sync_wait is for loops of the program"):
        mycel.Model(mycel.nn.Dense(4, 1), mycel.nn.MSELoss(), metrics={"loss"}).eval(d)
