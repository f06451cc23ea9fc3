"""A callback of a pipeline and of the training that it feeds."""

from mycel.dataset.callback import DSCallback
from mycel.train.callback import Callback


class WaitedDSCallback(Callback, DSCallback):
    """A callback of pipeline and training: sync_epoch_begin and sync_step_begin are called before
    an epoch or step of the pipeline, behind the one before of the training, with both contexts.
    Give it to map and to Model.train. step_size: steps between two calls of sync_step_begin."""

    def __init__(self, step_size=1):
        DSCallback.__init__(self, step_size)
        self._train = None

    def sync_epoch_begin(self, train_run_context, ds_run_context):
        """Before an epoch of the pipeline; not before the first."""

    def sync_step_begin(self, train_run_context, ds_run_context):
        """Before a step of the pipeline; not before the first."""

    def epoch_end(self, run_context):
        """Called by the training."""
        self._train = run_context.original_args()

    def step_end(self, run_context):
        """Called by the training."""
        self._train = run_context.original_args()

    # Rows are handed over on the thread that trains: what came before is done.
    def ds_epoch_begin(self, ds_run_context):
        """Calls sync_epoch_begin."""
        if ds_run_context.cur_epoch_num > 1 and self._train is not None:
            self.sync_epoch_begin(self._train, ds_run_context)

    def ds_step_begin(self, ds_run_context):
        """Calls sync_step_begin."""
        if ds_run_context.cur_step_num > 1 and self._train is not None:
            self.sync_step_begin(self._train, ds_run_context)
