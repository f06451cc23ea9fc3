"""Optimizer primitives whose Parameters do not come first, or that leave the weights to the
caller."""

from mycel.common import dtype as mstype
from mycel.common.parameter import Parameter
from mycel.ops._forms import _op, _primitive, _tensor


def _parameters(op, **given):
    for name, p in given.items():
        if not isinstance(p, Parameter):
            raise TypeError(f"{op}: '{name}' must be a Parameter, got {type(p).__name__}")
    return [p._plain() for p in given.values()]


def _store(places, values):
    for place, value in zip(places, values):
        place._assign(value.astype(place.dtype))
    return values[0]


def _sgd(parameters, gradient, learning_rate, accum, momentum, stat, **a):
    states = _parameters("SGD", parameters=parameters, accum=accum, stat=stat)
    values = _op("update_sgd")(*states, gradient, learning_rate, momentum, **a)
    return _store((parameters, accum, stat), values)


SGD = _primitive(
    "SGD",
    _sgd,
    "Called with (parameters, gradient, learning_rate, accum, momentum, stat): momentum with "
    "damping; parameters, accum and stat change.",
    dampening=0.0,
    weight_decay=0.0,
    nesterov=False,
)


def _scaled_momentum(
    weight_decay, loss_scale, variable, accumulation, learning_rate, gradient, momentum
):
    name = "FusedWeightScaleApplyMomentum"
    states = _parameters(name, variable=variable, accumulation=accumulation)
    factors = [_tensor(v) for v in (weight_decay, loss_scale, learning_rate)]
    values = _op("update_scaled_momentum")(*states, *factors, gradient, _tensor(momentum))
    return _store((variable, accumulation), values)


FusedWeightScaleApplyMomentum = _primitive(
    "FusedWeightScaleApplyMomentum",
    _scaled_momentum,
    "Called with (weight_decay, loss_scale, variable, accumulation, learning_rate, gradient, "
    "momentum): momentum on loss_scale gradient + weight_decay variable.",
)


def _adam_step(
    m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, use_locking, use_nesterov
):
    states = _parameters("AdamNoUpdateParam", m=m, v=v)
    zeros = _op("zeros_like")(gradient)
    factors = [_tensor(f) for f in (beta1_power, beta2_power, lr, beta1, beta2, epsilon)]
    step, *fresh = _op("update_adam")(zeros, *states, *factors, gradient, use_locking, use_nesterov)
    _store((m, v), fresh)
    return step


AdamNoUpdateParam = _primitive(
    "AdamNoUpdateParam",
    _adam_step,
    "Called with (m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient): what Adam "
    "would add to the weights; m and v change.",
    use_locking=False,
    use_nesterov=False,
)


def _cast_adam(
    var, m, v, lr, beta1, beta2, epsilon, decay, gradient, global_norm, use_locking=False
):
    states = _parameters("FusedCastAdamWeightDecay", var=var, m=m, v=v)
    gradient = gradient.astype(mstype.float32) / _tensor(global_norm)
    factors = [_tensor(f) for f in (lr, beta1, beta2, epsilon, decay)]
    values = _op("update_adam_weight_decay")(*states, *factors, gradient, use_locking)
    return _store((var, m, v), values)


FusedCastAdamWeightDecay = _primitive(
    "FusedCastAdamWeightDecay",
    _cast_adam,
    "Called with (var, m, v, lr, beta1, beta2, epsilon, decay, gradient, global_norm): Adam with "
    "weight decay on the gradient over global_norm; var may be float16.",
    use_locking=False,
)

__all__ = [
    "AdamNoUpdateParam",
    "FusedCastAdamWeightDecay",
    "FusedWeightScaleApplyMomentum",
    "SGD",
]
