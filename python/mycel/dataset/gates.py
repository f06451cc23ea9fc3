"""sync_wait and sync_update: rows that are made only when the training says so."""

import threading

from mycel import _mycel
from mycel.dataset import _arguments as arguments
from mycel.dataset import config


def _patience():
    """Seconds to wait for sync_update: none where nobody else could call it."""
    return 0.0 if threading.active_count() == 1 else float(config.get_callback_timeout())


class Gate:
    """What sync_update calls, and the gate of the pipeline that it opens."""

    def __init__(self, name, num_batch, callback):
        self.name = arguments.names(name, "sync_wait: 'condition_name'")[0]
        self.rows = arguments.count(num_batch, "sync_wait: 'num_batch'")
        self.callback = callback
        if callback is not None:
            arguments.function(callback, "sync_wait: 'callback'")
        self.made = _mycel.data.Gate(self.name, self.rows, _patience)

    def update(self, num_batch, data):
        """What sync_update does."""
        rows = self.rows
        if num_batch is not None:
            rows = arguments.count(num_batch, "sync_update: 'num_batch'")
        if self.callback is not None:
            self.callback(data)
        self.made.release(rows)


def found(gates, name):
    """The gate of a name."""
    if not isinstance(name, str):
        raise TypeError(f"sync_update: 'condition_name' must be a str, got {name!r}")
    for gate in gates:
        if gate.name == name:
            return gate
    names = ", ".join(repr(g.name) for g in gates) or "none"
    raise RuntimeError(f"sync_update: there is no condition {name!r}; conditions: {names}")
