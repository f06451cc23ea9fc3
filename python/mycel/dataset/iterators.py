"""Iterators over the rows of a dataset."""

import weakref

from mycel import _mycel
from mycel.dataset import config

_live = weakref.WeakSet()  # iterators whose threads must end before Python does


class Iterator:
    """Rows of a dataset, an epoch for each `for` loop; `convert` makes a row from a list of
    values."""

    def __init__(self, dataset, pipeline, num_epochs, as_tensors, convert):
        self._dataset, self._convert, self._as_tensors = dataset, convert, as_tensors
        self._left = num_epochs
        epoch, position = dataset._start()
        self._reader = _mycel.data.Reader(pipeline, epoch, position, -1, 0, num_epochs, True)
        self._begun = False
        _live.add(self)

    def __iter__(self):
        return self

    def __next__(self):
        if self._left == 0:
            self._close()
            raise StopIteration
        if not self._begun:
            self._begun = True
            self._dataset._begin(self._reader.position()[0])
        row = self._reader.next(self._as_tensors)
        if row is None:
            self._begun = False
            self._dataset._ended()
            if self._left > 0:
                self._left -= 1
            raise StopIteration
        row = self._convert(row)
        self._dataset._step()
        return row

    def state_dict(self):
        """Where the iterator stands: the epoch and how many of its rows were given. A dataset that
        is made in the same way goes on there after load_state_dict."""
        epoch, position = self._reader.position()
        return {"epoch": epoch, "position": position, "seed": config.current_seed()}

    def get_next(self):
        """The next row, or None at the end of an epoch."""
        return next(self, None)

    def stats(self):
        """What the reader did so far: workers, rows, waits, wait_seconds, rows ahead
        and how many may be."""
        return self._reader.stats()

    def describe(self):
        """The pipeline as JSON (Dataset.describe), with "position": {"epoch", "row"} and "queue":
        {"workers", "ahead", "ahead_at_most", "fill", "rows", "waits", "wait_seconds"}."""
        return self._reader.describe_json()

    def release(self):
        """Ends the threads that make rows; there are no rows afterwards."""
        self._left = 0
        self._close()

    stop = release

    def _close(self):
        self._reader.close()
        _live.discard(self)


def close_all():
    """Ends the threads of all iterators, before Python goes."""
    for iterator in list(_live):
        iterator.release()
