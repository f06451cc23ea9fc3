"""Automatic mixed precision: networks that compute in a 16-bit float where that is safe, their
parameters kept in float32 (Micikevicius et al. 2018).

Levels: "O0" nothing changes. "O1": the layers and primitives of the white list compute in the
16-bit type and give float32. "O2": everything does but the layers of the black list. "O3":
everything."""

from mycel import nn, ops
from mycel._mycel import Tensor, entry
from mycel.common import dtype as mstype
from mycel.common.parameter import Parameter
from mycel.nn import _compile
from mycel.nn._hooks import cast_floats
from mycel.nn.cell import Cell
from mycel.nn.wrap import TrainOneStepCell, TrainOneStepWithLossScaleCell, WithLossCell
from mycel.train.loss_scale_manager import (
    DynamicLossScaleManager,
    FixedLossScaleManager,
    LossScaleManager,
)

_WHITE_LIST = [
    nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Conv1dTranspose, nn.Conv2dTranspose, nn.Conv3dTranspose,
    nn.Dense, nn.LSTMCell, nn.RNNCell, nn.GRUCell, ops.Conv2D, ops.Conv3D, ops.Conv2DTranspose,
    ops.Conv2DBackpropInput, ops.MatMul, ops.BatchMatMul, ops.PReLU, ops.ReLU, ops.Ger,
]  # fmt: skip
_BLACK_LIST = [nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm]
_LEVELS = ("O0", "O1", "O2", "O3")


def get_white_list():
    """The layers and primitives that compute in 16 bits at level "O1": a copy to change for
    custom_mixed_precision."""
    return list(_WHITE_LIST)


def get_black_list():
    """The layers that stay in float32 at level "O2": a copy to change for
    custom_mixed_precision."""
    return list(_BLACK_LIST)


class _InPrecision:
    """A primitive that computes in another dtype and gives float32."""

    def __init__(self, primitive, dtype):
        self.primitive, self.dtype = primitive, dtype

    def __call__(self, *args):
        return cast_floats(self.primitive(*cast_floats(args, self.dtype)), mstype.float32)

    def __repr__(self):
        return f"{self.primitive!r} in {self.dtype}"


def _give(cell, dtype):
    """The results of a cell in a dtype."""
    cell.__dict__["_result_type"] = dtype
    cell.__dict__["_special"] = True
    _compile.changed()


def _cast_white(network, white_list, dtype):
    kinds = tuple(k for k in white_list if issubclass(k, Cell))
    primitives = tuple(k for k in white_list if not issubclass(k, Cell))
    for _, cell in network.cells_and_names():
        if cell._float_type is not None:  # chosen by the user, or part of a layer that is cast
            continue
        if isinstance(cell, kinds):
            cell.to_float(dtype)
            _give(cell, mstype.float32)
        elif not type(cell).__module__.startswith("mycel."):
            for name, value in list(cell.__dict__.items()):
                if primitives and isinstance(value, primitives):
                    setattr(cell, name, _InPrecision(value, dtype))


def _cast_all_but(network, black_list, dtype):
    network.to_float(dtype)
    kinds = tuple(black_list)
    for _, cell in network.cells_and_names():
        if cell is not network and kinds and isinstance(cell, kinds):
            cell.to_float(mstype.float32)
            _give(cell, dtype)
    _give(network, mstype.float32)


def _require_network(owner, network):
    if not isinstance(network, Cell):
        raise TypeError(f"{owner}: 'network' must be a Cell, got {type(network).__name__}")


def _require_float16(owner, dtype):
    if dtype not in (mstype.float16, mstype.bfloat16):
        raise ValueError(f"{owner}: 'dtype' must be float16 or bfloat16, got {dtype}")


@entry
def auto_mixed_precision(network, amp_level="O0", dtype=mstype.float16):
    """Makes a network compute as the level says, and gives it; its results are float32.
    dtype: float16 or bfloat16."""
    _require_network("auto_mixed_precision", network)
    _require_float16("auto_mixed_precision", dtype)
    if amp_level == "O1":
        _cast_white(network, _WHITE_LIST, dtype)
    elif amp_level == "O2":
        _cast_all_but(network, _BLACK_LIST, dtype)
    elif amp_level == "O3":
        _cast_all_but(network, (), dtype)
    elif amp_level != "O0":
        raise ValueError(
            f"auto_mixed_precision: 'amp_level' must be one of {', '.join(_LEVELS)}, got "
            f"{amp_level!r}"
        )
    return network


def _check_list(name, kinds):
    from mycel.ops import Primitive

    if not isinstance(kinds, list):
        raise TypeError(f"custom_mixed_precision: '{name}' must be a list, got {kinds!r}")
    for k in kinds:
        if not isinstance(k, type) or not issubclass(k, (Cell, Primitive)):
            raise TypeError(f"custom_mixed_precision: '{name}' holds {k!r}, no layer or primitive")
        if name == "black_list" and not issubclass(k, Cell):
            raise TypeError(f"custom_mixed_precision: {k.__name__} in 'black_list' is no layer")


@entry
def custom_mixed_precision(network, *, white_list=None, black_list=None, dtype=mstype.float16):
    """Makes a network compute in 16 bits in what a list names (white_list) or in all but that
    (black_list), and gives it. dtype: float16 or bfloat16."""
    _require_network("custom_mixed_precision", network)
    _require_float16("custom_mixed_precision", dtype)
    if (white_list is None) == (black_list is None):
        raise ValueError("custom_mixed_precision: give a white_list or a black_list")
    if white_list is not None:
        _check_list("white_list", white_list)
        _cast_white(network, white_list, dtype)
    else:
        _check_list("black_list", black_list)
        _cast_all_but(network, black_list, dtype)
    return network


class _Float32Loss(WithLossCell):
    """loss_fn of outputs and labels as float32."""

    def construct(self, data, label):
        outputs = cast_floats(self._backbone(data), mstype.float32)
        return self._loss_fn(outputs, cast_floats(label, mstype.float32))


def check_level(owner, level, boost_level, options):
    """What Model and build_train_network take."""
    if level == "auto":
        raise ValueError(
            f"{owner}: level 'auto' chooses for GPUs and Ascend; name one of {', '.join(_LEVELS)}"
        )
    if level not in _LEVELS:
        raise ValueError(f"{owner}: the level must be one of {', '.join(_LEVELS)}, got {level!r}")
    if boost_level != "O0":
        raise NotImplementedError(
            f"{owner}: boost_level={boost_level!r} is not supported; only 'O0'"
        )
    for name, value in options.items():
        if name == "boost_config_dict" and value in (None, ""):
            continue
        if name not in ("loss_scale_manager", "keep_batchnorm_fp32", "cast_model_type"):
            raise TypeError(f"{owner}: there is no option '{name}'")


@entry
def build_train_network(network, optimizer, loss_fn=None, level="O0", boost_level="O0", **kwargs):
    """The cell that makes one training step at a level of mixed precision, the loss in float32.

    loss_scale_manager: how the loss is scaled; at "O2" a DynamicLossScaleManager unless None is
    given. keep_batchnorm_fp32: whether the layers of the black list stay in float32 (at "O2").
    cast_model_type: float16, bfloat16, or float32 for no change."""
    check_level("build_train_network", level, boost_level, kwargs)
    _require_network("build_train_network", network)
    dtype = kwargs.get("cast_model_type", mstype.float16 if level != "O0" else mstype.float32)
    if dtype == mstype.float32:
        level = "O0"
    else:
        _require_float16("build_train_network", dtype)
    keeps = kwargs.get("keep_batchnorm_fp32", level == "O2")
    if level == "O1":
        _cast_white(network, _WHITE_LIST, dtype)
    elif dtype != mstype.float32:
        _cast_all_but(network, _BLACK_LIST if keeps else (), dtype)
    manager = kwargs.get("loss_scale_manager", DynamicLossScaleManager() if level == "O2" else None)
    if loss_fn is None:
        whole = network
    else:
        whole = (WithLossCell if dtype == mstype.float32 else _Float32Loss)(network, loss_fn)
    if manager is None:
        return TrainOneStepCell(whole, optimizer).set_train()
    cell = manager.get_update_cell()
    if cell is None:
        return TrainOneStepCell(whole, optimizer, manager.get_loss_scale()).set_train()
    return TrainOneStepWithLossScaleCell(whole, optimizer, cell).set_train()


def _each(fn, inputs):
    return type(inputs)(map(fn, inputs)) if isinstance(inputs, (tuple, list)) else fn(inputs)


@entry
def all_finite(inputs):
    """Whether all elements of a tensor, or of the tensors of a tuple, are finite: a bool tensor."""
    tensors = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"all_finite: 'inputs' must hold tensors, got {type(t).__name__}")
    found = None
    for t in tensors:
        finite = ops.isfinite(t).all()
        found = finite if found is None else ops.logical_and(found, finite)
    if found is None:
        raise ValueError("all_finite: 'inputs' holds no tensors")
    return found


class LossScaler:
    """Base of loss scalers: what a training function multiplies its loss by, so that small
    gradients do not vanish in 16 bits."""

    def scale(self, inputs):
        """A tensor, or those of a tuple, multiplied by the scale."""
        raise NotImplementedError(f"{type(self).__name__}: scale is not written")

    def unscale(self, inputs):
        """A tensor, or those of a tuple, divided by the scale."""
        raise NotImplementedError(f"{type(self).__name__}: unscale is not written")

    def adjust(self, grads_finite):
        """Told of each step whether its gradients are finite, as a bool tensor."""
        raise NotImplementedError(f"{type(self).__name__}: adjust is not written")


def _check_scale(owner, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{owner}: 'scale_value' must be a number, got {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{owner}: 'scale_value' must be at least 1, got {value}")


class _Scaler(LossScaler):
    def scale(self, inputs):
        """A tensor, or those of a tuple, multiplied by the scale."""
        return _each(lambda t: t * self.scale_value.astype(t.dtype), inputs)

    def unscale(self, inputs):
        """A tensor, or those of a tuple, divided by the scale."""
        return _each(lambda t: t / self.scale_value.astype(t.dtype), inputs)


class StaticLossScaler(_Scaler):
    """A scale that stays."""

    @entry
    def __init__(self, scale_value):
        _check_scale("StaticLossScaler", scale_value)
        self.scale_value = Parameter(
            Tensor(scale_value, mstype.float32), name="scale_value", requires_grad=False
        )

    def adjust(self, grads_finite):
        """False: the scale stays."""
        return False


class DynamicLossScaler(_Scaler):
    """A scale that is divided by scale_factor (down to 1) after a step with gradients that are not
    finite, and multiplied by it after scale_window steps without."""

    @entry
    def __init__(self, scale_value, scale_factor, scale_window):
        _check_scale("DynamicLossScaler", scale_value)
        for name, value in (("scale_factor", scale_factor), ("scale_window", scale_window)):
            if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
                raise ValueError(
                    f"DynamicLossScaler: '{name}' must be an int above 0, got {value!r}"
                )
        self.scale_value = Parameter(
            Tensor(scale_value, mstype.float32), name="scale_value", requires_grad=False
        )
        self.scale_factor, self.scale_window = scale_factor, scale_window
        self.counter = Parameter(Tensor(0, mstype.int32), name="counter", requires_grad=False)

    def adjust(self, grads_finite):
        """Moves the scale and gives True."""
        scale, counter = self.scale_value.value(), self.counter.value()
        grown = scale * self.scale_factor
        full = ops.logical_and(counter == self.scale_window - 1, ops.isfinite(grown))
        lower = ops.maximum(scale / self.scale_factor, Tensor(1.0, mstype.float32))
        ops.assign(
            self.scale_value, ops.select(grads_finite, ops.select(full, grown, scale), lower)
        )
        counted = (counter + 1) % self.scale_window
        ops.assign(self.counter, ops.select(grads_finite, counted, ops.zeros_like(counted)))
        return True


__all__ = [
    "DynamicLossScaleManager",
    "DynamicLossScaler",
    "FixedLossScaleManager",
    "LossScaleManager",
    "LossScaler",
    "StaticLossScaler",
    "all_finite",
    "auto_mixed_precision",
    "build_train_network",
    "custom_mixed_precision",
    "get_black_list",
    "get_white_list",
]
