"""Llama (Touvron et al. 2023) and Mixtral (Jiang et al. 2024): rotary positions, grouped heads,
gated products, and a choice of experts."""

import math

import numpy as np

from mycel import nn, ops
from mycel.common import Tensor, dtype
from mycel.models._generation import Greedy
from mycel.models._parts import (
    RMSNorm,
    activation,
    attend,
    cached,
    causal_bias,
    dense,
    join_heads,
    split_heads,
)
from mycel.models._registry import PretrainedCell
from mycel.nn.cell import Cell


def _frequencies(c, size):
    """Turns per place, for each pair; `rope_type` says how it is stretched."""
    rope = c.get("rope_parameters") or {}
    scaling = c.get("rope_scaling") or rope
    theta = rope.get("rope_theta") or c.get("rope_theta") or c._defaults["rope_theta"]
    kind = scaling.get("rope_type") or scaling.get("type") or "default"
    f = theta ** -(np.arange(0, size, 2, dtype=np.float64) / size)
    if kind == "linear":
        f = f / scaling["factor"]
    elif kind == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        length = scaling["original_max_position_embeddings"]
        waves = 2 * math.pi / f
        smooth = np.clip((length / waves - low) / (high - low), 0, 1)
        f = (1 - smooth) * f / scaling["factor"] + smooth * f
    elif kind != "default":
        raise NotImplementedError(
            f"Llama: rope_type '{kind}' is not supported; allowed: default, linear, llama3"
        )
    return Tensor(f.astype(np.float32))


class _Rotary(Cell):
    """cos and sin of the places, [1, 1, time, size]."""

    def __init__(self, c, size):
        super().__init__()
        self.frequencies = _frequencies(c, size)

    def construct(self, start, time, kind):
        places = ops.cast(ops.reshape(ops.arange(start, start + time), (time, 1)), dtype.float32)
        angles = places * ops.reshape(self.frequencies, (1, self.frequencies.shape[0]))
        angles = ops.reshape(ops.concat((angles, angles), axis=1), (1, 1, time, -1))
        return ops.cast(ops.cos(angles), kind), ops.cast(ops.sin(angles), kind)


def _turned(x, cos, sin):
    half = x.shape[-1] // 2
    back = ops.concat((-x[..., half:], x[..., :half]), axis=3)
    return x * cos + back * sin


class _Attention(Cell):
    def __init__(self, c):
        super().__init__()
        self.size = c.get("head_dim") or c.hidden_size // c.num_attention_heads
        keys = c.get("num_key_value_heads") or c.num_attention_heads
        bias = bool(c.get("attention_bias", False))
        self.q_proj = dense(c.hidden_size, c.num_attention_heads * self.size, bias)
        self.k_proj = dense(c.hidden_size, keys * self.size, bias)
        self.v_proj = dense(c.hidden_size, keys * self.size, bias)
        self.o_proj = dense(c.num_attention_heads * self.size, c.hidden_size, bias)

    def construct(self, x, bias, cos, sin, kept=None):
        query = _turned(split_heads(self.q_proj(x), self.size), cos, sin)
        key = _turned(split_heads(self.k_proj(x), self.size), cos, sin)
        value = split_heads(self.v_proj(x), self.size)
        key, value, kept = cached(kept, key, value)
        return self.o_proj(join_heads(attend(query, key, value, bias))), kept


class _Mlp(Cell):
    def __init__(self, c):
        super().__init__()
        bias = bool(c.get("mlp_bias", False))
        self.gate_proj = dense(c.hidden_size, c.intermediate_size, bias)
        self.up_proj = dense(c.hidden_size, c.intermediate_size, bias)
        self.down_proj = dense(c.intermediate_size, c.hidden_size, bias)
        self.act = activation(c.hidden_act, "Llama")

    def construct(self, x):
        return self.down_proj(self.act(self.gate_proj(x)) * self.up_proj(x))


class _Expert(Cell):
    def __init__(self, c):
        super().__init__()
        self.w1 = dense(c.hidden_size, c.intermediate_size, False)
        self.w2 = dense(c.intermediate_size, c.hidden_size, False)
        self.w3 = dense(c.hidden_size, c.intermediate_size, False)
        self.act = activation(c.hidden_act, "Mixtral")

    def construct(self, x):
        return self.w2(self.act(self.w1(x)) * self.w3(x))


class _Experts(Cell):
    """The best experts of each token, weighted; every expert computes every token, the weight of
    those that are not chosen is 0."""

    def __init__(self, c):
        super().__init__()
        self.chosen = c.num_experts_per_tok
        self.gate = dense(c.hidden_size, c.num_local_experts, False)
        self.experts = nn.CellList([_Expert(c) for _ in range(c.num_local_experts)])

    def construct(self, x):
        share = ops.softmax(ops.cast(self.gate(x), dtype.float32), -1)
        best, _ = ops.top_k(share, self.chosen)
        kept = ops.select(share >= best[..., -1:], share, ops.zeros_like(share))
        kept = ops.cast(kept / ops.reduce_sum(kept, axis=-1, keep_dims=True), x.dtype)
        total = ops.zeros_like(x)
        for i, expert in enumerate(self.experts):
            total = total + expert(x) * kept[..., i : i + 1]
        return total


class _Layer(Cell):
    def __init__(self, c):
        super().__init__()
        self.input_layernorm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.self_attn = _Attention(c)
        self.post_attention_layernorm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        if "num_local_experts" in c:
            self.block_sparse_moe = _Experts(c)
        else:
            self.mlp = _Mlp(c)
        self.sparse = "num_local_experts" in c

    def construct(self, x, bias, cos, sin, kept=None):
        y, kept = self.self_attn(self.input_layernorm(x), bias, cos, sin, kept)
        x = x + y
        y = self.post_attention_layernorm(x)
        y = self.block_sparse_moe(y) if self.sparse else self.mlp(y)
        return x + y, kept


class _Stack(Cell):
    def __init__(self, c):
        super().__init__()
        size = c.get("head_dim") or c.hidden_size // c.num_attention_heads
        self.embed_tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        self.layers = nn.CellList([_Layer(c) for _ in range(c.num_hidden_layers)])
        self.norm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.rotary = _Rotary(c, size)
        self.window = c.get("sliding_window")

    def construct(self, ids, mask=None, kept=None):
        start = 0 if kept is None else kept[0][0].shape[2]
        time = ids.shape[1]
        x = self.embed_tokens(ids)
        bias = causal_bias(time, start + time, mask, x.dtype, self.window)
        cos, sin = self.rotary(start, time, x.dtype)
        now = []
        for i, layer in enumerate(self.layers):
            x, own = layer(x, bias, cos, sin, None if kept is None else kept[i])
            now.append(own)
        return self.norm(x), tuple(now)


class _Llama(PretrainedCell):
    _prefix = "model"
    _dropped = (r"(model\.)?layers\.\d+\.self_attn\.rotary_emb\.inv_freq",)
    _defaults = {
        "vocab_size": 32000,
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "intermediate_size": 11008,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
    }


class _Bare(_Llama):
    def __init__(self, config):
        super().__init__(config)
        made = _Stack(self.config)
        self.embed_tokens, self.layers, self.norm = made.embed_tokens, made.layers, made.norm
        self.rotary, self.window = made.rotary, made.window

    def construct(self, input_ids, attention_mask=None):
        return _Stack.construct(self, input_ids, attention_mask)[0]


class _Causal(Greedy, _Llama):
    _tied = {"lm_head.weight": "model.embed_tokens.weight"}

    def __init__(self, config):
        super().__init__(config)
        c = self.config
        self.model = _Stack(c)
        self.lm_head = None if self._ties() else dense(c.hidden_size, c.vocab_size, False)

    def construct(self, input_ids, attention_mask=None, kept=None, use_cache=False):
        x, kept = self.model(input_ids, attention_mask, kept)
        if self.lm_head is not None:
            x = self.lm_head(x)
        else:
            x = ops.matmul(x, self.model.embed_tokens.embedding_table, transpose_b=True)
        return (x, kept) if use_cache else x


class LlamaModel(_Bare):
    """Hidden states of input_ids [batch, time]."""

    _model_type = "llama"


class LlamaForCausalLM(_Causal):
    """Scores [batch, time, vocab] of the next words; with use_cache also what is kept."""

    _model_type = "llama"


_MIXTRAL = {
    **_Llama._defaults,
    "intermediate_size": 14336,
    "num_key_value_heads": 8,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "rms_norm_eps": 1e-5,
    "rope_theta": 1e6,
}


class MixtralModel(_Bare):
    """Hidden states of input_ids [batch, time]."""

    _model_type = "mixtral"
    _defaults = _MIXTRAL

    def __init__(self, config):
        super().__init__({"num_local_experts": 8, "num_key_value_heads": 8, **config})


class MixtralForCausalLM(_Causal):
    """Scores [batch, time, vocab] of the next words; with use_cache also what is kept."""

    _model_type = "mixtral"
    _defaults = _MIXTRAL

    def __init__(self, config):
        super().__init__({"num_local_experts": 8, "num_key_value_heads": 8, **config})
