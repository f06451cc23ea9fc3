"""Recurrent layers with the published forms of inputs and results: states of LSTMs are pairs."""

from mycel._mycel import Tensor
from mycel.nn import layer as _layer


def _pair(layer, hx):
    if not isinstance(hx, (tuple, list)) or len(hx) != 2:
        raise TypeError(f"{layer.cls_name}: 'hx' must be a pair (h, c)")
    return tuple(hx)


class LSTMCell(_layer.classes["LSTMCell"]):
    __doc__ = _layer.classes["LSTMCell"].__doc__
    __module__ = "mycel.nn"

    def construct(self, x, hx):
        return super().construct(x, *_pair(self, hx))


class LSTM(_layer.classes["LSTM"]):
    __doc__ = _layer.classes["LSTM"].__doc__
    __module__ = "mycel.nn"

    def construct(self, x, hx=None, seq_length=None):
        h, c = (None, None) if hx is None else _pair(self, hx)
        out, h, c = super().construct(x, h, c, seq_length)
        return out, (h, c)


def _single(name):
    base = _layer.classes[name]

    def construct(self, x, hx=None, seq_length=None):
        if hx is not None and not isinstance(hx, Tensor):
            raise TypeError(f"{name}: 'hx' must be a Tensor, got {type(hx).__name__}")
        return base.construct(self, x, hx, None, seq_length)

    return type(
        name, (base,), {"construct": construct, "__doc__": base.__doc__, "__module__": "mycel.nn"}
    )


RNN, GRU = _single("RNN"), _single("GRU")

__all__ = ["GRU", "LSTM", "LSTMCell", "RNN"]
