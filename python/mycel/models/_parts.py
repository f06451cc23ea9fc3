"""Parts that several of the networks have."""

from mycel import nn, ops
from mycel.common import Parameter, dtype
from mycel.nn.cell import Cell

_ACTIVATIONS = {
    "gelu": lambda x: ops.gelu(x),
    "gelu_new": lambda x: ops.gelu(x, approximate="tanh"),
    "gelu_pytorch_tanh": lambda x: ops.gelu(x, approximate="tanh"),
    "relu": lambda x: ops.relu(x),
    "silu": lambda x: ops.silu(x),
    "swish": lambda x: ops.silu(x),
    "tanh": lambda x: ops.tanh(x),
}
_NEVER = -3.4028234663852886e38


def activation(name, who):
    if name not in _ACTIVATIONS:
        raise NotImplementedError(
            f"{who}: the activation '{name}' is not supported; allowed: "
            f"{', '.join(sorted(_ACTIVATIONS))}"
        )
    return _ACTIVATIONS[name]


class RMSNorm(Cell):
    """x / sqrt(mean(x^2) + eps) * weight, computed in float32."""

    def __init__(self, size, eps):
        super().__init__()
        self.weight = Parameter(ops.ones((size,), dtype.float32))
        self.eps = eps

    def construct(self, x):
        wide = ops.cast(x, dtype.float32)
        power = ops.reduce_mean(wide * wide, axis=-1, keep_dims=True)
        return self.weight * ops.cast(wide * ops.rsqrt(power + self.eps), x.dtype)


class Conv1D(Cell):
    """x W + b with W as [in, out], as GPT-2's files have it."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = Parameter(ops.randn((inputs, outputs)) * 0.02)
        self.bias = Parameter(ops.zeros((outputs,), dtype.float32))

    def construct(self, x):
        return ops.matmul(x, self.weight) + self.bias


def split_heads(x, size):
    """[batch, time, heads * size] to [batch, heads, time, size]."""
    x = ops.reshape(x, (x.shape[0], x.shape[1], x.shape[2] // size, size))
    return ops.transpose(x, (0, 2, 1, 3))


def join_heads(x):
    x = ops.transpose(x, (0, 2, 1, 3))
    return ops.reshape(x, (x.shape[0], x.shape[1], x.shape[2] * x.shape[3]))


def attend(query, key, value, bias=None, scale=None):
    """softmax(scale q k^T + bias) v over heads; keys may have fewer heads than queries."""
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = repeat_heads(key, groups), repeat_heads(value, groups)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = ops.matmul(query, key, transpose_b=True) * scale
    if bias is not None:
        scores = scores + bias
    weights = ops.softmax(ops.cast(scores, dtype.float32), -1)
    return ops.matmul(ops.cast(weights, value.dtype), value)


def repeat_heads(x, times):
    batch, heads, time, size = x.shape
    wide = ops.broadcast_to(ops.expand_dims(x, 2), (batch, heads, times, time, size))
    return ops.reshape(wide, (batch, heads * times, time, size))


def mask_bias(mask, kind):
    """What padding adds to the scores: mask [batch, keys], 1 for a token, 0 for padding."""
    if mask is None:
        return None
    allowed = ops.cast(ops.reshape(mask, (mask.shape[0], 1, 1, mask.shape[1])), dtype.bool_)
    return bias_of(allowed, kind)


def bias_of(allowed, kind):
    zero = ops.zeros(allowed.shape, dtype.float32)
    return ops.cast(ops.select(allowed, zero, zero + _NEVER), kind)


def causal_bias(queries, keys, mask, kind, window=None):
    """Queries are the last ones of the keys; each sees those before it and itself."""
    rows = ops.reshape(ops.arange(keys - queries, keys), (queries, 1))
    columns = ops.reshape(ops.arange(0, keys), (1, keys))
    allowed = ops.reshape(columns <= rows, (1, 1, queries, keys))
    if window is not None:
        near = ops.reshape(columns > rows - window, (1, 1, queries, keys))
        allowed = ops.logical_and(allowed, near)
    if mask is not None:
        tokens = ops.cast(ops.reshape(mask, (mask.shape[0], 1, 1, mask.shape[1])), dtype.bool_)
        allowed = ops.logical_and(allowed, tokens)
    return bias_of(allowed, kind)


def cached(kept, key, value):
    """Keys and values behind those that are kept, and what is kept from now on."""
    if kept is not None:
        key = ops.concat((kept[0], key), axis=2)
        value = ops.concat((kept[1], value), axis=2)
    return key, value, (key, value)


def dense(inputs, outputs, bias=True):
    return nn.Dense(inputs, outputs, has_bias=bias)
