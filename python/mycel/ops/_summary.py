"""Values of a network for a summary of its run: whoever records one (train.SummaryRecord) listens.
Where nobody does nothing happens but the checks. In compiled code a value is offered whenever and
wherever the program comes by."""

import weakref

from mycel import _mycel
from mycel._mycel import Tensor, entry
from mycel.ops.primitive import Primitive

listeners = weakref.WeakSet()  # their offer(plugin, name, tensor) gets the values


def _offer(plugin, name, value):
    if not listeners:
        return
    value = _mycel.insight.plain(value)
    for listener in list(listeners):
        listener.offer(plugin, name, value)


class _Summary(Primitive):
    _plugin = ""
    _ranks = range(32)  # of tensors that it takes

    def __init__(self):
        super().__init__(type(self).__name__)

    @entry
    def __call__(self, name, value):
        from mycel.front import here

        owner = type(self).__name__
        if not isinstance(name, str) or not name:
            raise TypeError(f"{owner}: 'name' must be a str that is not empty, got {name!r}")
        if not isinstance(value, Tensor):
            raise TypeError(f"{owner}: 'value' must be a Tensor, got {type(value).__name__}")
        if value.ndim not in self._ranks:
            raise ValueError(f"{owner}: 'value' must not have {value.ndim} dims")
        compiling, plugin = here(), self._plugin
        if compiling is None:
            _offer(plugin, name, value)
        else:
            compiling.effect(lambda tensors: _offer(plugin, name, tensors[0]), [value])


class ScalarSummary(_Summary):
    """A number by name: called with (name, value), a tensor of one element or no dims."""

    _plugin = "scalar"
    _ranks = range(2)


class ImageSummary(_Summary):
    """Images [n, c, h, w] by name, c 1 or 3."""

    _plugin = "image"
    _ranks = (4,)


class TensorSummary(_Summary):
    """A tensor by name."""

    _plugin = "tensor"


class HistogramSummary(_Summary):
    """The distribution of a tensor's elements by name."""

    _plugin = "histogram"
    _ranks = range(1, 32)


__all__ = ["HistogramSummary", "ImageSummary", "ScalarSummary", "TensorSummary"]
