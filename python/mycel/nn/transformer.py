"""Attention and transformers in their published forms: switches of the call, activations given as
functions, stacks of layers that may be the user's own cells."""

import copy

from mycel import ops
from mycel._mycel import Tensor
from mycel.common.initializer import initializer
from mycel.nn import layer as _layer
from mycel.nn.cell import Cell
from mycel.nn.container import CellList


class MultiheadAttention(_layer.classes["MultiheadAttention"]):
    __doc__ = _layer.classes["MultiheadAttention"].__doc__
    __module__ = "mycel.nn"

    def construct(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
    ):
        """The output, and with need_weights the weights: their mean over the heads, or with
        average_attn_weights=False those of each head."""
        out, weights = super().construct(query, key, value, key_padding_mask, attn_mask)
        if not need_weights:
            return (out,)
        return out, (weights.mean(-3) if average_attn_weights else weights)


def _activation(name, activation):
    """The layer of a published activation: a name, ops.relu, ops.gelu or a layer."""
    if activation == "relu" or activation is ops.relu:
        return _layer.ReLU()
    if activation == "gelu" or activation is ops.gelu:
        return _layer.GELU(approximate=False)
    if isinstance(activation, Cell):
        return activation
    raise ValueError(
        f"{name}: 'activation' must be 'relu', 'gelu', ops.relu, ops.gelu or a layer, got "
        f"{activation!r}"
    )


def _block(name):
    base = _layer.classes[name]

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
    ):
        base.__init__(
            self,
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            _activation(name, activation),
            layer_norm_eps,
            batch_first,
            norm_first,
        )

    members = {"__init__": __init__, "__doc__": base.__doc__, "__module__": "mycel.nn"}
    return type(name, (base,), members)


TransformerEncoderLayer = _block("TransformerEncoderLayer")
TransformerDecoderLayer = _block("TransformerDecoderLayer")


class _Stack(Cell):
    """num_layers copies of a layer, then a norm if there is one."""

    def __init__(self, prototype, num_layers, norm):
        super().__init__()
        if not isinstance(prototype, Cell):
            raise TypeError(
                f"{self.cls_name}: the layer must be a Cell, got {type(prototype).__name__}"
            )
        if isinstance(num_layers, bool) or not isinstance(num_layers, int) or num_layers < 1:
            raise ValueError(
                f"{self.cls_name}: 'num_layers' must be a positive int, got {num_layers!r}"
            )
        if norm is not None and not isinstance(norm, Cell):
            raise TypeError(
                f"{self.cls_name}: 'norm' must be a Cell or None, got {type(norm).__name__}"
            )
        self.layers = CellList([copy.deepcopy(prototype) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm


class TransformerEncoder(_Stack):
    """num_layers encoder layers, each with parameters of its own, then norm."""

    def __init__(self, encoder_layer, num_layers, norm=None):
        super().__init__(encoder_layer, num_layers, norm)

    def construct(self, src, src_mask=None, src_key_padding_mask=None):
        for block in self.layers:
            src = block(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(_Stack):
    """num_layers decoder layers, each with parameters of its own, then norm."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__(decoder_layer, num_layers, norm)

    def construct(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
    ):
        for block in self.layers:
            tgt = block(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Cell):
    """An encoder of the source and a decoder of the target that attends to it (Vaswani et al.
    2017). Matrices start as XavierUniform."""

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
    ):
        super().__init__()
        own = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps) + (
            batch_first,
            norm_first,
        )
        norm = lambda: _layer.LayerNorm((d_model,), epsilon=layer_norm_eps)
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*own)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*own)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm())
        self.encoder, self.decoder = custom_encoder, custom_decoder
        for p in self.get_parameters():
            if p.ndim > 1:
                p.set_data(initializer("xavier_uniform", p.shape, p.dtype))
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
    ):
        self._check(src, tgt)
        memory = self.encoder(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
        )

    def _check(self, src, tgt):
        for name, x in (("src", src), ("tgt", tgt)):
            if not isinstance(x, Tensor) or x.ndim not in (2, 3) or x.shape[-1] != self.d_model:
                raise ValueError(
                    f"Transformer: '{name}' must have 2 or 3 dims, the last of {self.d_model}, got "
                    f"{x.shape if isinstance(x, Tensor) else type(x).__name__}"
                )
        batch = 0 if self.batch_first else 1
        if src.ndim != tgt.ndim or (src.ndim == 3 and src.shape[batch] != tgt.shape[batch]):
            raise ValueError(
                f"Transformer: 'src' and 'tgt' must have one batch, got {src.shape} and {tgt.shape}"
            )


__all__ = [
    "MultiheadAttention",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]
