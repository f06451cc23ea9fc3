"""Data sinks: many steps in one call into C++, while the next batch is read on another thread."""

import weakref

from mycel import _mycel
from mycel._mycel import entry
from mycel.common.api import CompiledFunction, jit
from mycel.dataset.datasets import Dataset
from mycel.nn import _compile
from mycel.nn.cell import Cell


class Steps:
    """Steps of a function or cell on batches, for the C++ loop: `first` runs one from Python and
    gives what is compiled, which C++ then runs alone; `last` gets the tensors of its last run."""

    def __init__(self, fn):
        self.fn, self.outputs, self._finish = fn, None, None

    def first(self, batch):
        """Runs a step. None: nothing is compiled, each step goes through Python."""
        compiled = _compiled_form(self.fn)
        if compiled is None:
            self.outputs = self.fn(*batch)
            return None
        self.outputs, again, self._finish = compiled._run(batch, {})
        return again

    def last(self, tensors):
        """Makes the outputs out of the tensors of a compiled step."""
        self.outputs = self._finish(tensors)


def _compiled_form(fn):
    if isinstance(fn, CompiledFunction):
        return fn
    if isinstance(fn, Cell) and _mycel.graph_mode():
        return _compile.compiled_form(fn)
    return None


@entry
def data_sink(fn, dataset, sink_size=1, jit_config=None, input_signature=None):
    """A function without arguments that runs `fn` on the next sink_size batches of `dataset`, epoch
    after epoch, and gives the result of the last one. sink_size -1: an epoch a call. fn: a
    function of the columns or a Cell; compiled ones run without Python between the steps.
    input_signature: compiles fn, as in `jit`."""
    if not callable(fn):
        raise TypeError(f"data_sink: a function was expected, got {type(fn).__name__}")
    if not isinstance(dataset, Dataset):
        raise TypeError(f"data_sink: a dataset was expected, got {type(dataset).__name__}")
    check_size("data_sink", sink_size)
    if jit_config is not None or input_signature is not None:
        fn = jit(fn, input_signature=input_signature, jit_config=jit_config)
    steps, sink = Steps(fn), _mycel.train.Sink(dataset._pipeline)

    @entry
    def run():
        sink.run(steps, sink_size)
        return steps.outputs

    weakref.finalize(steps, sink.close)  # its thread ends before the interpreter does
    return run


def check_size(owner, size):
    """TypeError or ValueError unless it is -1 or positive."""
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"{owner}: 'sink_size' must be an int, got {type(size).__name__}")
    if size != -1 and size < 1:
        raise ValueError(f"{owner}: 'sink_size' must be -1 (an epoch) or positive, got {size}")


__all__ = ["data_sink"]
