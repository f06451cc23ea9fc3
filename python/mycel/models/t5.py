"""T5 (Raffel et al. 2019): encoder and decoder with relative positions."""

import math

import numpy as np

from mycel import nn, ops
from mycel.common import Tensor, dtype
from mycel.models._generation import _ends
from mycel.models._parts import (
    RMSNorm,
    activation,
    attend,
    cached,
    causal_bias,
    dense,
    join_heads,
    mask_bias,
    split_heads,
)
from mycel.models._registry import PretrainedCell
from mycel.nn.cell import Cell


def buckets(queries, keys, both, count, farthest):
    """The bucket of each distance, [queries, keys]; queries are the last ones of the keys. Near
    distances have one each, far ones share them on a logarithmic scale."""
    far = np.arange(keys)[None, :] - np.arange(keys - queries, keys)[:, None]
    result = np.zeros_like(far)
    if both:
        count //= 2
        result = result + (far > 0) * count
        far = np.abs(far)
    else:
        far = -np.minimum(far, 0)
    exact = count // 2
    wide = np.log(np.maximum(far, 1).astype(np.float32) / np.float32(exact))
    wide = wide / np.float32(math.log(farthest / exact)) * np.float32(count - exact)
    wide = np.minimum(exact + wide.astype(np.int64), count - 1)
    return result + np.where(far < exact, far, wide)


class _Attention(Cell):
    def __init__(self, c, relative):
        super().__init__()
        inner = c.num_heads * c.d_kv
        self.size = c.d_kv
        self.q = dense(c.d_model, inner, False)
        self.k = dense(c.d_model, inner, False)
        self.v = dense(c.d_model, inner, False)
        self.o = dense(inner, c.d_model, False)
        if relative:
            self.relative_attention_bias = nn.Embedding(
                c.relative_attention_num_buckets, c.num_heads
            )

    def construct(self, x, bias, memory=None, kept=None):
        query = split_heads(self.q(x), self.size)
        if memory is not None and kept is not None:
            key, value = kept
        else:
            source = x if memory is None else memory
            key, value = (
                split_heads(self.k(source), self.size),
                split_heads(self.v(source), self.size),
            )
            if memory is None:
                key, value, kept = cached(kept, key, value)
            else:
                kept = (key, value)
        return self.o(join_heads(attend(query, key, value, bias, 1.0))), kept


class _SelfLayer(Cell):
    def __init__(self, c, relative):
        super().__init__()
        self.SelfAttention = _Attention(c, relative)
        self.layer_norm = RMSNorm(c.d_model, c.layer_norm_epsilon)

    def construct(self, x, bias, kept=None):
        y, kept = self.SelfAttention(self.layer_norm(x), bias, None, kept)
        return x + y, kept


class _CrossLayer(Cell):
    def __init__(self, c):
        super().__init__()
        self.EncDecAttention = _Attention(c, False)
        self.layer_norm = RMSNorm(c.d_model, c.layer_norm_epsilon)

    def construct(self, x, bias, memory, kept=None):
        y, kept = self.EncDecAttention(self.layer_norm(x), bias, memory, kept)
        return x + y, kept


class _Dense(Cell):
    def __init__(self, c):
        super().__init__()
        kind = c.feed_forward_proj
        self.gated = kind.startswith("gated-")
        name = kind[len("gated-") :] if self.gated else kind
        self.act = activation("gelu_new" if kind == "gated-gelu" else name, "T5")
        if self.gated:
            self.wi_0 = dense(c.d_model, c.d_ff, False)
            self.wi_1 = dense(c.d_model, c.d_ff, False)
        else:
            self.wi = dense(c.d_model, c.d_ff, False)
        self.wo = dense(c.d_ff, c.d_model, False)

    def construct(self, x):
        y = self.act(self.wi_0(x)) * self.wi_1(x) if self.gated else self.act(self.wi(x))
        return self.wo(y)


class _DenseLayer(Cell):
    def __init__(self, c):
        super().__init__()
        self.DenseReluDense = _Dense(c)
        self.layer_norm = RMSNorm(c.d_model, c.layer_norm_epsilon)

    def construct(self, x):
        return x + self.DenseReluDense(self.layer_norm(x))


class _Block(Cell):
    def __init__(self, c, decodes, first):
        super().__init__()
        layers = [_SelfLayer(c, first)] + ([_CrossLayer(c)] if decodes else [])
        self.layer = nn.CellList([*layers, _DenseLayer(c)])

    def construct(self, x, bias):
        x, _ = self.layer[0](x, bias)
        return self.layer[1](x)

    def decode(self, x, bias, cross_bias, memory, kept):
        x, own = self.layer[0](x, bias, None if kept is None else kept[0])
        x, cross = self.layer[1](x, cross_bias, memory, None if kept is None else kept[1])
        return self.layer[2](x), (own, cross)


class _Stack(Cell):
    def __init__(self, c, decodes):
        super().__init__()
        count = c.get("num_decoder_layers") or c.num_layers if decodes else c.num_layers
        self.block = nn.CellList([_Block(c, decodes, i == 0) for i in range(count)])
        self.final_layer_norm = RMSNorm(c.d_model, c.layer_norm_epsilon)
        self.decodes = decodes
        self.count = c.relative_attention_num_buckets
        self.farthest = c.relative_attention_max_distance

    def positions(self, queries, keys):
        """[1, heads, queries, keys]"""
        at = Tensor(
            buckets(queries, keys, not self.decodes, self.count, self.farthest), dtype.int64
        )
        table = self.block[0].layer[0].SelfAttention.relative_attention_bias
        return ops.expand_dims(ops.transpose(table(at), (2, 0, 1)), 0)

    def construct(self, x, mask=None):
        bias = self.positions(x.shape[1], x.shape[1])
        if mask is not None:
            bias = bias + mask_bias(mask, x.dtype)
        for block in self.block:
            x = block(x, bias)
        return self.final_layer_norm(x)

    def decode(self, x, memory, mask, kept):
        start = 0 if kept is None else kept[0][0][0].shape[2]
        keys = start + x.shape[1]
        bias = self.positions(x.shape[1], keys) + causal_bias(x.shape[1], keys, None, x.dtype)
        cross = mask_bias(mask, x.dtype)
        now = []
        for i, block in enumerate(self.block):
            x, own = block.decode(x, bias, cross, memory, None if kept is None else kept[i])
            now.append(own)
        return self.final_layer_norm(x), tuple(now)


class T5ForConditionalGeneration(PretrainedCell):
    """Scores [batch, time, vocab] of the words behind decoder_input_ids, given input_ids."""

    _model_type = "t5"
    _dropped = (r"decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight",)
    _tied = {
        "encoder.embed_tokens.weight": "shared.weight",
        "decoder.embed_tokens.weight": "shared.weight",
        "lm_head.weight": "shared.weight",
    }
    _same = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
    _defaults = {
        "vocab_size": 32128,
        "d_model": 512,
        "d_kv": 64,
        "d_ff": 2048,
        "num_layers": 6,
        "num_heads": 8,
        "relative_attention_num_buckets": 32,
        "relative_attention_max_distance": 128,
        "layer_norm_epsilon": 1e-6,
        "feed_forward_proj": "relu",
        "tie_word_embeddings": True,
        "decoder_start_token_id": 0,
    }

    def __init__(self, config):
        super().__init__(config)
        c = self.config
        self.shared = nn.Embedding(c.vocab_size, c.d_model)
        self.encoder = _Stack(c, False)
        self.decoder = _Stack(c, True)
        self.lm_head = None if self._ties() else dense(c.d_model, c.vocab_size, False)
        scales = c.get("scale_decoder_outputs", self._ties())
        self.scale = c.d_model**-0.5 if scales else 1.0

    def encode(self, input_ids, attention_mask=None):
        return self.encoder(self.shared(input_ids), attention_mask)

    def decode(self, ids, memory, mask=None, kept=None):
        x, kept = self.decoder.decode(self.shared(ids), memory, mask, kept)
        x = x * self.scale
        if self.lm_head is not None:
            return self.lm_head(x), kept
        return ops.matmul(x, self.shared.embedding_table, transpose_b=True), kept

    def construct(self, input_ids, decoder_input_ids, attention_mask=None):
        memory = self.encode(input_ids, attention_mask)
        return self.decode(decoder_input_ids, memory, attention_mask)[0]

    def generate(self, input_ids, attention_mask=None, max_new_tokens=20, eos_token_id=None):
        """decoder_start_token_id and the tokens that score best behind it, [batch, 1 + new]. A row
        that has given eos_token_id goes on with pad_token_id of config.json."""
        memory = self.encode(input_ids, attention_mask)
        ends, pad = _ends(eos_token_id), self.config.get("pad_token_id") or 0
        ids = np.full((input_ids.shape[0], 1), self.config.decoder_start_token_id, np.int64)
        step, kept, done = ids, None, np.zeros(ids.shape[0], bool)
        for _ in range(max_new_tokens):
            logits, kept = self.decode(Tensor(step, dtype.int64), memory, attention_mask, kept)
            best = logits.asnumpy()[:, -1].astype(np.float32).argmax(-1)
            best = np.where(done, pad, best)
            step = best[:, None].astype(np.int64)
            ids = np.concatenate([ids, step], axis=1)
            done |= np.isin(best, list(ends))
            if done.all():
                break
        return Tensor(ids, dtype.int64)
