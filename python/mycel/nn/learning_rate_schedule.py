"""The base class of learning rates that depend on the step. The published ones are in
mycel.nn.layer."""

from mycel import _published_modules
from mycel.nn.cell import Cell


class LearningRateSchedule(Cell):
    """A learning rate as a function of the step: construct(global_step) gives a tensor with one
    number."""

    def construct(self, global_step):
        """The learning rate at a step; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__}: construct is not written")


__getattr__ = _published_modules.names_of("nn")
