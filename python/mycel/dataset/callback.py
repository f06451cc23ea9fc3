"""Callbacks of a pipeline: called while rows are read."""

from mycel.dataset import _arguments as arguments


class _RunContext:
    def __init__(self):
        self.cur_epoch_num = self.cur_step_num = self.cur_step_num_in_epoch = 0


class DSCallback:
    """Called as rows are given: subclass and override. Each hook gets an object with
    cur_epoch_num, cur_step_num_in_epoch and cur_step_num, all counted from 1. step_size: steps
    between two calls of the step hooks."""

    def __init__(self, step_size=1):
        self.step_size = arguments.count(step_size, "DSCallback: 'step_size'")
        self._context = _RunContext()
        self._started = False

    def ds_begin(self, ds_run_context):
        """Before the first row."""

    def ds_epoch_begin(self, ds_run_context):
        """Before the first row of an epoch."""

    def ds_epoch_end(self, ds_run_context):
        """Behind the last row of an epoch."""

    def ds_step_begin(self, ds_run_context):
        """Before a row is given."""

    def ds_step_end(self, ds_run_context):
        """When a row was given."""

    def _begin(self, epoch):
        c = self._context
        if not self._started:
            self._started = True
            self.ds_begin(c)
        c.cur_epoch_num, c.cur_step_num_in_epoch = epoch + 1, 0
        self.ds_epoch_begin(c)

    def _step(self):
        c = self._context
        c.cur_step_num_in_epoch += 1
        c.cur_step_num += 1
        if (c.cur_step_num_in_epoch - 1) % self.step_size == 0:
            self.ds_step_begin(c)
            self.ds_step_end(c)

    def _end(self):
        self.ds_epoch_end(self._context)


def checked(callbacks, owner):
    """Callbacks as a list."""
    if callbacks is None:
        return []
    listed = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
    for c in listed:
        if not isinstance(c, DSCallback):
            raise TypeError(f"{owner}: 'callbacks' must be DSCallback objects, got {c!r}")
    return listed
