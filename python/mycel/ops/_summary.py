"""Values of a network for a summary of its run. They are written by a recorder of summaries;
where none listens, as published, nothing happens but the checks."""

from mycel._mycel import Tensor, entry
from mycel.ops.primitive import Primitive


class _Summary(Primitive):
    _ranks = range(32)  # of tensors that it takes

    def __init__(self):
        super().__init__(type(self).__name__)

    @entry
    def __call__(self, name, value):
        owner = type(self).__name__
        if not isinstance(name, str) or not name:
            raise TypeError(f"{owner}: 'name' must be a str that is not empty, got {name!r}")
        if not isinstance(value, Tensor):
            raise TypeError(f"{owner}: 'value' must be a Tensor, got {type(value).__name__}")
        if value.ndim not in self._ranks:
            raise ValueError(f"{owner}: 'value' must not have {value.ndim} dims")


class ScalarSummary(_Summary):
    """A number by name: called with (name, value), a tensor of one element or no dims."""

    _ranks = range(2)


class ImageSummary(_Summary):
    """Images [n, c, h, w] by name."""

    _ranks = (4,)


class TensorSummary(_Summary):
    """A tensor by name."""


class HistogramSummary(_Summary):
    """The distribution of a tensor's elements by name."""

    _ranks = range(1, 32)


__all__ = ["HistogramSummary", "ImageSummary", "ScalarSummary", "TensorSummary"]
