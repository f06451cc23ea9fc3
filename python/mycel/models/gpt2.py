"""GPT-2 (Radford et al. 2019)."""

from mycel import nn, ops
from mycel.models._generation import Greedy
from mycel.models._parts import (
    Conv1D,
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


class _Attention(Cell):
    def __init__(self, c):
        super().__init__()
        self.size = c.n_embd // c.n_head
        self.width = c.n_embd
        self.c_attn = Conv1D(c.n_embd, 3 * c.n_embd)
        self.c_proj = Conv1D(c.n_embd, c.n_embd)

    def construct(self, x, bias, kept=None):
        x = self.c_attn(x)
        query = split_heads(x[:, :, : self.width], self.size)
        key = split_heads(x[:, :, self.width : 2 * self.width], self.size)
        value = split_heads(x[:, :, 2 * self.width :], self.size)
        key, value, kept = cached(kept, key, value)
        return self.c_proj(join_heads(attend(query, key, value, bias))), kept


class _Mlp(Cell):
    def __init__(self, c):
        super().__init__()
        inner = c.get("n_inner") or 4 * c.n_embd
        self.c_fc = Conv1D(c.n_embd, inner)
        self.c_proj = Conv1D(inner, c.n_embd)
        self.act = activation(c.activation_function, "GPT-2")

    def construct(self, x):
        return self.c_proj(self.act(self.c_fc(x)))


class _Block(Cell):
    def __init__(self, c):
        super().__init__()
        self.ln_1 = nn.LayerNorm((c.n_embd,), epsilon=c.layer_norm_epsilon)
        self.attn = _Attention(c)
        self.ln_2 = nn.LayerNorm((c.n_embd,), epsilon=c.layer_norm_epsilon)
        self.mlp = _Mlp(c)

    def construct(self, x, bias, kept=None):
        y, kept = self.attn(self.ln_1(x), bias, kept)
        x = x + y
        return x + self.mlp(self.ln_2(x)), kept


class _Gpt2(PretrainedCell):
    _prefix = "transformer"
    _dropped = (r"(transformer\.)?h\.\d+\.attn\.(masked_)?bias",)
    _defaults = {
        "vocab_size": 50257,
        "n_embd": 768,
        "n_layer": 12,
        "n_head": 12,
        "n_positions": 1024,
        "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5,
        "tie_word_embeddings": True,
        "scale_attn_weights": True,
        "scale_attn_by_inverse_layer_idx": False,
        "add_cross_attention": False,
    }

    def __init__(self, config):
        super().__init__(config)
        self._allow("scale_attn_weights", True)
        self._allow("scale_attn_by_inverse_layer_idx", False)
        self._allow("add_cross_attention", False)

    def _make(self, cell):
        c = self.config
        cell.wte = nn.Embedding(c.vocab_size, c.n_embd)
        cell.wpe = nn.Embedding(c.n_positions, c.n_embd)
        cell.h = nn.CellList([_Block(c) for _ in range(c.n_layer)])
        cell.ln_f = nn.LayerNorm((c.n_embd,), epsilon=c.layer_norm_epsilon)


def _run(cell, ids, mask, kept):
    start = 0 if kept is None else kept[0][0].shape[2]
    places = ops.reshape(ops.arange(start, start + ids.shape[1]), (1, ids.shape[1]))
    x = cell.wte(ids) + cell.wpe(places)
    bias = causal_bias(ids.shape[1], start + ids.shape[1], mask, x.dtype)
    now = []
    for i, block in enumerate(cell.h):
        x, own = block(x, bias, None if kept is None else kept[i])
        now.append(own)
    return cell.ln_f(x), tuple(now)


class GPT2Model(_Gpt2):
    """Hidden states of input_ids [batch, time]."""

    _model_type = "gpt2"

    def __init__(self, config):
        super().__init__(config)
        self._make(self)

    def construct(self, input_ids, attention_mask=None):
        return _run(self, input_ids, attention_mask, None)[0]


class _Transformer(Cell):
    def construct(self, ids, mask=None, kept=None):
        return _run(self, ids, mask, kept)


class GPT2LMHeadModel(Greedy, _Gpt2):
    """Scores [batch, time, vocab] of the next words; with use_cache also what is kept."""

    _model_type = "gpt2"
    _tied = {"lm_head.weight": "transformer.wte.weight"}

    def __init__(self, config):
        super().__init__(config)
        self.transformer = _Transformer()
        self._make(self.transformer)
        c = self.config
        self.lm_head = None if self._ties() else dense(c.n_embd, c.vocab_size, False)

    def construct(self, input_ids, attention_mask=None, kept=None, use_cache=False):
        x, kept = self.transformer(input_ids, attention_mask, kept)
        if self.lm_head is not None:
            x = self.lm_head(x)
        else:
            x = ops.matmul(x, self.transformer.wte.embedding_table, transpose_b=True)
        return (x, kept) if use_cache else x
