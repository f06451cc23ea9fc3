"""sync_wait and sync_update: rows that are made only when the training says so."""

from mycel.dataset import _arguments as arguments


class Gate:
    """How many rows of an epoch may be made, and what sync_update calls."""

    def __init__(self, name, num_batch, callback):
        self.name = arguments.names(name, "sync_wait: 'condition_name'")[0]
        self.rows = arguments.count(num_batch, "sync_wait: 'num_batch'")
        self.callback = callback
        if callback is not None:
            arguments.function(callback, "sync_wait: 'callback'")
        self.begin()

    def begin(self):
        """An epoch begins."""
        self.given, self.released = 0, self.rows

    def pass_row(self):
        """A row is about to be made. RuntimeError: it was not released, and nobody else can."""
        if self.given >= self.released:
            raise RuntimeError(
                f"sync_wait: {self.given} rows were given and no more are released; call "
                f"sync_update({self.name!r}) behind every {self.rows}"
            )
        self.given += 1

    def update(self, num_batch, data):
        """What sync_update does."""
        rows = self.rows
        if num_batch is not None:
            rows = arguments.count(num_batch, "sync_update: 'num_batch'")
        if self.callback is not None:
            self.callback(data)
        self.released += rows


def found(gates, name):
    """The gate of a name."""
    if not isinstance(name, str):
        raise TypeError(f"sync_update: 'condition_name' must be a str, got {name!r}")
    for gate in gates:
        if gate.name == name:
            return gate
    names = ", ".join(repr(g.name) for g in gates) or "none"
    raise RuntimeError(f"sync_update: there is no condition {name!r}; conditions: {names}")
