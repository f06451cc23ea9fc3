"""A loss over few of many classes, the alignment loss with lengths as tuples, batch statistics of
groups of processes, and a growing array of tensors."""

from mycel import ops
from mycel._mycel import Tensor
from mycel.common import dtype as mstype
from mycel.nn import layer as _layer
from mycel.nn.cell import Cell
from mycel.nn.loss import LossBase


class SampledSoftmaxLoss(LossBase):
    """Softmax cross entropy over the true classes and num_sampled drawn ones (Jean et al. 2015).

    Called with weights [num_classes, d], biases [num_classes], labels [n, num_true] or [n] and
    logits [n, d], the inputs of the last layer. sampled_values: (candidates, expected counts of the
    true and of the drawn classes), by default drawn with each call.
    """

    def __init__(
        self,
        num_sampled,
        num_classes,
        num_true=1,
        sampled_values=None,
        remove_accidental_hits=True,
        seed=0,
        reduction="none",
    ):
        super().__init__(reduction)
        for name, value in (("num_sampled", num_sampled), ("num_true", num_true)):
            if not 1 <= value <= num_classes:
                raise ValueError(
                    f"SampledSoftmaxLoss: '{name}' must be in [1, {num_classes}], got {value}"
                )
        if sampled_values is not None and len(sampled_values) != 3:
            raise ValueError(
                f"SampledSoftmaxLoss: 'sampled_values' needs 3 tensors, got {len(sampled_values)}"
            )
        self.num_sampled, self.num_classes, self.num_true = num_sampled, num_classes, num_true
        self.sampled_values = sampled_values
        self.remove_accidental_hits, self.seed = remove_accidental_hits, seed

    def construct(self, weights, biases, labels, logits):
        labels = labels.reshape((-1, self.num_true))
        values = self.sampled_values
        if values is None:
            values = ops.uniform_candidate_sampler(
                labels, self.num_true, self.num_sampled, True, self.num_classes, self.seed,
                self.remove_accidental_hits,
            )  # fmt: skip
        drawn, of_true, of_drawn = values
        rows = ops.gather(weights, labels, 0)
        true = (rows * logits.expand_dims(1)).sum(-1) + ops.gather(biases, labels, 0)
        other = ops.matmul(logits, ops.gather(weights, drawn, 0).T) + ops.gather(biases, drawn, 0)
        both = ops.concat([true - ops.log(of_true), other - ops.log(of_drawn)], 1)
        loss = -ops.log_softmax(both, 1).narrow(1, 0, self.num_true).mean(1)
        return self.get_loss(loss)


class CTCLoss(_layer.classes["CTCLoss"]):
    __doc__ = _layer.classes["CTCLoss"].__doc__
    __module__ = "mycel.nn"

    def construct(self, log_probs, targets, input_lengths, target_lengths):
        lengths = (
            v if isinstance(v, Tensor) else Tensor(v, mstype.int32)
            for v in (input_lengths, target_lengths)
        )
        return super().construct(log_probs, targets, *lengths)


class SyncBatchNorm(_layer.classes["BatchNorm2d"]):
    """BatchNorm2d whose batch is that of all processes of a group; this process is the only one."""

    __module__ = "mycel.nn"

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.9,
        affine=True,
        gamma_init="ones",
        beta_init="zeros",
        moving_mean_init="zeros",
        moving_var_init="ones",
        use_batch_statistics=None,
        process_groups=None,
    ):
        for group in process_groups or ():
            if list(group) != [0]:
                raise NotImplementedError(
                    "SyncBatchNorm: 'process_groups' may only name this process, [[0]]: there "
                    f"is no communication between processes yet, got {process_groups}"
                )
        super().__init__(
            num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init,
            moving_var_init, use_batch_statistics,
        )  # fmt: skip
        self.process_groups = process_groups


class TensorArray(Cell):
    """A list of tensors of one dtype and shape that is written to and read at indices.

    dynamic_size: it grows as needed; otherwise it holds `size` of them. Unwritten places hold
    zeros.
    """

    def __init__(self, dtype, element_shape, dynamic_size=True, size=0, name="TA"):
        super().__init__()
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise ValueError(f"TensorArray: 'size' must be an int of at least 0, got {size!r}")
        self.dtype, self.element_shape = mstype.dtype(dtype), tuple(element_shape)
        self.dynamic_size, self.max_size, self.name = dynamic_size, size, name
        self._values, self._closed = [], False

    def _open(self):
        if self._closed:
            raise RuntimeError(f"TensorArray: '{self.name}' is closed")

    def _index(self, index, limit):
        index = int(index)
        if index < 0 or (limit is not None and index >= limit):
            raise IndexError(f"TensorArray: index {index} is outside [0, {limit})")
        return index

    def write(self, index, value):
        """Puts a tensor at an index; gives True."""
        self._open()
        place = self._index(index, None if self.dynamic_size else self.max_size)
        value = value if isinstance(value, Tensor) else Tensor(value, self.dtype)
        if value.dtype != self.dtype or tuple(value.shape) != self.element_shape:
            raise ValueError(
                f"TensorArray: the value must be {self.dtype}{self.element_shape}, got "
                f"{value.dtype}{tuple(value.shape)}"
            )
        while len(self._values) <= place:
            self._values.append(ops.zeros(self.element_shape, self.dtype))
        self._values[place] = value
        return True

    def read(self, index):
        """The tensor at an index."""
        self._open()
        return self._values[self._index(index, len(self._values))]

    def stack(self):
        """All tensors, up to the last one written, as one."""
        self._open()
        if not self._values:
            return ops.zeros((0, *self.element_shape), self.dtype)
        return ops.stack(self._values)

    def size(self):
        """How many tensors there are, as a tensor."""
        self._open()
        return Tensor(len(self._values), mstype.int64)

    def clear(self):
        """Takes all tensors away; gives True."""
        self._open()
        self._values = []
        return True

    def close(self):
        """Ends the array's use; gives True."""
        self._open()
        self._values, self._closed = [], True
        return True


__all__ = ["CTCLoss", "SampledSoftmaxLoss", "SyncBatchNorm", "TensorArray"]
