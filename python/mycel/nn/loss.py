"""The base class of losses that users write. The published losses are in mycel.nn.layer."""

from mycel import _mycel, _published_modules
from mycel._mycel import entry
from mycel.nn.cell import Cell


class LossBase(Cell):
    """Base of losses: get_loss weighs and reduces the loss per element.

    reduction: "mean", "sum" or "none".
    """

    @entry
    def __init__(self, reduction="mean"):
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(
                f"{self.cls_name}: 'reduction' must be one of mean, sum, none, got {reduction!r}"
            )
        self.reduction = reduction
        self.average = reduction == "mean"
        self.reduce = reduction != "none"

    def get_axis(self, x):
        """All axes of x as a tuple."""
        return tuple(range(len(x.shape)))

    @entry
    def get_loss(self, x, weights=1.0):
        """x times weights, reduced as the loss was made to."""
        x = x * weights
        if self.reduction == "mean":
            return _mycel.op("reduce_mean")(x)
        return _mycel.op("reduce_sum")(x) if self.reduction == "sum" else x

    def construct(self, logits, labels):
        """The loss of a batch; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__}: construct is not written")


__getattr__ = _published_modules.names_of("nn")
