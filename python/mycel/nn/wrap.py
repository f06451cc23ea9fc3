"""Cells around a network: loss, training step, evaluation, gradients, loss scaling."""

from mycel import _mycel, _published_modules
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.common.parameter import Parameter, ParameterTuple
from mycel.nn.cell import Cell
from mycel.nn.optim import Optimizer, _RecordOptimizer
from mycel.ops._transforms import GradOperation, flatten, unflatten

_nn = _mycel.nn


class WithLossCell(Cell):
    """loss_fn(backbone(data), label)."""

    @entry
    def __init__(self, backbone, loss_fn):
        super().__init__(auto_prefix=False)
        _require_cell(self, "backbone", backbone)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data, label):
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self):
        """The network without the loss."""
        return self._backbone


class WithEvalCell(Cell):
    """(loss, outputs, label) of a batch. add_cast_fp32: outputs are cast to float32 before the
    loss."""

    @entry
    def __init__(self, network, loss_fn, add_cast_fp32=False):
        super().__init__(auto_prefix=False)
        _require_cell(self, "network", network)
        self._network = network
        self._loss_fn = loss_fn
        self.add_cast_fp32 = bool(add_cast_fp32)

    def construct(self, data, label):
        outputs = self._network(data)
        if self.add_cast_fp32:
            outputs = outputs.astype(mstype.float32)
            if isinstance(label, Tensor) and label.is_floating_point():
                label = label.astype(mstype.float32)
        return self._loss_fn(outputs, label), outputs, label


def _require_cell(owner, name, value):
    if not isinstance(value, Cell):
        raise TypeError(f"{owner.cls_name}: '{name}' must be a Cell, got {type(value).__name__}")


def _identity(grads):
    return grads


class TrainOneStepCell(Cell):
    """One training step: the network's loss, its gradients times sens, the optimizer's update.
    Gives the loss. Subclasses may use self.grad, self.weights, self.grad_reducer and
    self.optimizer."""

    @entry
    def __init__(self, network, optimizer, sens=1.0):
        super().__init__(auto_prefix=False)
        _require_cell(self, "network", network)
        if not isinstance(optimizer, (Optimizer, Cell)):
            raise TypeError(f"{self.cls_name}: 'optimizer' must be an Optimizer, got {optimizer!r}")
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = self.optimizer.parameters
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.sens = sens
        self.reducer_flag = False
        self.grad_reducer = _identity

    def __setattr__(self, name, value):
        if name == "weights":  # the network's own parameters: not collected twice
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    def construct(self, *inputs):
        values, grads = self._gradients(inputs, self.sens)
        self.optimizer(self.grad_reducer(grads))
        return values

    def _gradients(self, inputs, sens):
        """(the network's result, gradients of the weights as a tuple)."""
        tensors = []
        key = flatten(inputs, tensors)
        structure = []

        def forward(flat):
            out = []
            result = self.network(*unflatten(key, iter(flat)))
            structure[:] = [flatten(result, out)]
            if not out:
                raise TypeError(f"{self.cls_name}: the network must give a tensor, got {result!r}")
            return out

        values, grads = _nn.value_and_grads(forward, tensors, list(self.weights), sens)
        return unflatten(structure[0], iter(values)), tuple(grads)


class WithGradCell(Cell):
    """The gradients of loss_fn(network(data), label), or of network(*inputs) without a loss, with
    respect to the network's trainable parameters. sens: factor or tensor that gradients start from
    (ones)."""

    @entry
    def __init__(self, network, loss_fn=None, sens=None):
        super().__init__(auto_prefix=False)
        _require_cell(self, "network", network)
        self.network = network
        self.loss_fn = loss_fn
        self.weights = network.trainable_params()
        self.sens = sens
        self._whole = network if loss_fn is None else WithLossCell(network, loss_fn)
        self._whole.set_train()

    def construct(self, *inputs):
        grad = GradOperation(get_by_list=True, sens_param=self.sens is not None)
        extra = () if self.sens is None else (self.sens,)
        return grad(self._whole, self.weights)(*inputs, *extra)


class ForwardValueAndGrad(Cell):
    """(result, gradients) of a network. weights: parameters to differentiate with get_by_list;
    get_all: also with respect to all inputs; neither: with respect to the first input. sens_param:
    the last input is the gradient of the result."""

    @entry
    def __init__(self, network, weights=None, get_all=False, get_by_list=False, sens_param=False):
        super().__init__(auto_prefix=False)
        if not callable(network):
            raise TypeError(f"ForwardValueAndGrad: 'network' must be callable, got {network!r}")
        if get_by_list and weights is None:
            raise TypeError("ForwardValueAndGrad: get_by_list=True needs 'weights'")
        self.network = network
        if isinstance(network, Cell):
            network.set_grad()
        if isinstance(weights, Parameter):
            weights = [weights]
        self.__dict__["weights"] = ParameterTuple(weights) if weights is not None else None
        self.get_all, self.get_by_list, self.sens_param = (
            bool(get_all),
            bool(get_by_list),
            bool(sens_param),
        )
        self.grad = GradOperation(get_all=get_all, get_by_list=get_by_list, sens_param=sens_param)

    def construct(self, *inputs):
        kept = []

        def remember(*args):
            kept[:] = [self.network(*args)]
            return kept[0]

        gradient = self.grad(remember, self.weights) if self.get_by_list else self.grad(remember)
        grads = gradient(*inputs)
        return _closed(kept[0]), grads


def _closed(value):
    """The value without traces of transforms that have ended."""
    tensors = []
    key = flatten(value, tensors)
    return unflatten(key, iter([_mycel.nn.untraced(t) for t in tensors]))


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """A training step whose loss is scaled so that float16 gradients do not vanish. Gives (loss,
    overflow, scale). Parameters stay as they are when a gradient is infinite or not a number.

    scale_sense: a tensor with the scale, or a cell such as DynamicLossScaleUpdateCell that holds
    it.
    """

    @entry
    def __init__(self, network, optimizer, scale_sense):
        super().__init__(network, optimizer, sens=None)
        self.scaling_func = None
        if isinstance(scale_sense, Cell):
            self.scaling_func = scale_sense
            self.scale_sense = Parameter(
                Tensor(scale_sense.get_loss_scale(), mstype.float32),
                name="scale_sense",
                requires_grad=False,
            )
        elif isinstance(scale_sense, Tensor):
            if scale_sense.shape not in ((), (1,)):
                raise ValueError(
                    f"{self.cls_name}: 'scale_sense' must hold one number, "
                    f"got shape {scale_sense.shape}"
                )
            self.scale_sense = Parameter(scale_sense, name="scale_sense", requires_grad=False)
        else:
            raise TypeError(
                f"{self.cls_name}: 'scale_sense' must be a Tensor or a Cell, "
                f"got {type(scale_sense).__name__}"
            )

    def set_sense_scale(self, sens):
        """Sets the scale, where no cell decides it."""
        if self.scaling_func is not None or not isinstance(sens, Tensor):
            raise TypeError(
                f"{self.cls_name}: the scale can be set to a Tensor when no cell decides it"
            )
        self.scale_sense.set_data(sens)

    def start_overflow_check(self, pre_cond, compute_input):
        """For published code: (a status, compute_input). Gradients are looked at themselves."""
        return Tensor(0.0, mstype.float32), compute_input

    def get_overflow_status(self, status, compute_output):
        """Whether some tensor of compute_output is infinite or not a number, as a bool tensor."""
        tensors = []
        flatten(compute_output, tensors)
        return _nn.any_nonfinite(tensors)

    def process_loss_scale(self, overflow):
        """Tells the scaling cell of an overflow; gives it back."""
        if self.scaling_func is not None:
            return self.scaling_func(self.scale_sense, overflow)
        return overflow

    def construct(self, *inputs):
        scale = self.scale_sense.value()
        loss, grads = self._gradients(inputs, scale)
        grads = tuple(_nn.unscaled(g, scale) for g in grads)
        grads = self.grad_reducer(grads)
        overflow = self.process_loss_scale(self.get_overflow_status(None, grads))
        if isinstance(self.optimizer, _RecordOptimizer):
            # Both outcomes are computed and one is chosen: no branch, also in a compiled step.
            self.optimizer._optimizer.step_unless(overflow, grads)
        elif not bool(overflow):
            self.optimizer(grads)
        return loss, overflow, scale


class DynamicLossScaleUpdateCell(Cell):
    """A loss scale that is divided by scale_factor after an overflow and multiplied by it after
    scale_window steps without one; at least 1."""

    @entry
    def __init__(self, loss_scale_value, scale_factor, scale_window):
        super().__init__()
        if loss_scale_value <= 0 or scale_factor <= 0 or scale_window <= 0:
            raise ValueError("DynamicLossScaleUpdateCell: all three arguments must be positive")
        self.loss_scale_value = loss_scale_value
        self.scale_factor = scale_factor
        self.scale_window = scale_window
        self.last_overflow_iter = Parameter(Tensor(0, mstype.int32), "last_overflow_iter", False)
        self.cur_iter = Parameter(Tensor(1, mstype.int32), "current_iterator_step", False)

    def get_loss_scale(self):
        """The first scale."""
        return self.loss_scale_value

    def construct(self, loss_scale, overflow):
        select, maximum = _mycel.op("select"), _mycel.op("maximum")
        cur, last = self.cur_iter.value(), self.last_overflow_iter.value()
        scale = loss_scale.value() if isinstance(loss_scale, Parameter) else loss_scale
        grows = (cur - last) >= self.scale_window
        grown = select(grows, scale * float(self.scale_factor), scale)
        shrunk = maximum(scale / float(self.scale_factor), Tensor(1.0, mstype.float32))
        if isinstance(loss_scale, Parameter):
            loss_scale._assign(select(overflow, shrunk, grown), False)
        changed = _mycel.op("logical_or")(overflow, grows)
        self.last_overflow_iter._assign(select(changed, cur, last), False)
        self.cur_iter._assign(cur + 1, False)
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """A loss scale that stays."""

    @entry
    def __init__(self, loss_scale_value):
        super().__init__()
        if loss_scale_value <= 0:
            raise ValueError("FixedLossScaleUpdateCell: 'loss_scale_value' must be positive")
        self.loss_scale_value = loss_scale_value

    def get_loss_scale(self):
        """The scale."""
        return self.loss_scale_value

    def construct(self, _, overflow):
        return overflow


class ParameterUpdate(Cell):
    """Sets a parameter to the value given, and gives it."""

    @entry
    def __init__(self, param):
        super().__init__(auto_prefix=False)
        if not isinstance(param, Parameter):
            raise TypeError(
                f"ParameterUpdate: a Parameter was expected, got {type(param).__name__}"
            )
        self._param = param

    def construct(self, x):
        self._param.set_data(x)
        return x


class Jvp(Cell):
    """(result, its derivative in a direction) of a function or network: Jvp(fn)(*inputs, v), v one
    tensor or a tuple with one per input."""

    @entry
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def construct(self, *args):
        from mycel.ops import jvp

        inputs, v = args[:-1], args[-1]
        return jvp(self.fn, inputs if len(inputs) > 1 else inputs[0], v)


class Vjp(Cell):
    """(result, gradients) of a function or network: Vjp(fn)(*inputs, v), v the gradient of the
    result."""

    @entry
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def construct(self, *args):
        from mycel.ops import vjp

        inputs, v = args[:-1], args[-1]
        made = vjp(self.fn, *inputs)
        grads = made[1](v)
        return made[0], grads


class TimeDistributed(Cell):
    """A layer applied to every step of a dim: inputs are cut along time_axis, the results stacked
    along it.

    reshape_with_axis: instead, time_axis is merged with this axis for one call and split again
    after.
    """

    @entry
    def __init__(self, layer, time_axis, reshape_with_axis=None):
        super().__init__()
        if not callable(layer):
            raise TypeError(
                f"TimeDistributed: 'layer' must be callable, got {type(layer).__name__}"
            )
        self.layer, self.time_axis, self.reshape_with_axis = layer, time_axis, reshape_with_axis

    def construct(self, inputs):
        time = self.time_axis % inputs.ndim
        if self.reshape_with_axis is None:
            steps = _mycel.op("unstack")(inputs, time)
            return _mycel.op("stack")(*[self.layer(s) for s in steps], axis=time)
        other = self.reshape_with_axis % inputs.ndim
        if abs(time - other) != 1:
            raise ValueError("TimeDistributed: 'reshape_with_axis' must be next to 'time_axis'")
        first, shape = min(time, other), inputs.shape
        merged = inputs.reshape((*shape[:first], -1, *shape[first + 2 :]))
        out = self.layer(merged)
        return out.reshape((*out.shape[:first], *shape[first : first + 2], *out.shape[first + 1 :]))


class DistributedGradReducer(Cell):
    """Sums gradients over devices; with one device it gives them as they are.

    parameters: those that the gradients belong to. mean: divide by the number of devices.
    """

    @entry
    def __init__(self, parameters, mean=None, degree=None, fusion_type=1, group="hccl_world_group"):
        super().__init__(auto_prefix=False)
        if degree not in (None, 1):
            raise NotImplementedError(
                "DistributedGradReducer: this process has one device; degree must be 1"
            )

    def construct(self, grads):
        return grads


__getattr__ = _published_modules.names_of("nn")
