"""BERT (Devlin et al. 2018): the encoder, with a head for masked words and one for classes."""

from mycel import nn, ops
from mycel.common import Parameter, dtype
from mycel.models._parts import activation, attend, dense, join_heads, mask_bias, split_heads
from mycel.models._registry import PretrainedCell
from mycel.nn.cell import Cell


class _Embeddings(Cell):
    def __init__(self, c):
        super().__init__()
        self.word_embeddings = nn.Embedding(c.vocab_size, c.hidden_size)
        self.position_embeddings = nn.Embedding(c.max_position_embeddings, c.hidden_size)
        self.token_type_embeddings = nn.Embedding(c.type_vocab_size, c.hidden_size)
        self.LayerNorm = nn.LayerNorm((c.hidden_size,), epsilon=c.layer_norm_eps)
        self.dropout = nn.Dropout(p=c.hidden_dropout_prob)

    def construct(self, ids, types=None):
        positions = ops.reshape(ops.arange(0, ids.shape[1]), (1, ids.shape[1]))
        types = ops.zeros_like(ids) if types is None else types
        x = self.word_embeddings(ids) + self.token_type_embeddings(types)
        return self.dropout(self.LayerNorm(x + self.position_embeddings(positions)))


class _SelfAttention(Cell):
    def __init__(self, c):
        super().__init__()
        self.size = c.hidden_size // c.num_attention_heads
        self.query = dense(c.hidden_size, c.hidden_size)
        self.key = dense(c.hidden_size, c.hidden_size)
        self.value = dense(c.hidden_size, c.hidden_size)

    def construct(self, x, bias):
        query = split_heads(self.query(x), self.size)
        key = split_heads(self.key(x), self.size)
        value = split_heads(self.value(x), self.size)
        return join_heads(attend(query, key, value, bias))


class _Output(Cell):
    """LayerNorm(x W + b + residual)."""

    def __init__(self, c, inputs):
        super().__init__()
        self.dense = dense(inputs, c.hidden_size)
        self.LayerNorm = nn.LayerNorm((c.hidden_size,), epsilon=c.layer_norm_eps)
        self.dropout = nn.Dropout(p=c.hidden_dropout_prob)

    def construct(self, x, residual):
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)


class _Attention(Cell):
    def __init__(self, c):
        super().__init__()
        self.self = _SelfAttention(c)
        self.output = _Output(c, c.hidden_size)

    def construct(self, x, bias):
        return self.output(self.self(x, bias), x)


class _Intermediate(Cell):
    def __init__(self, c):
        super().__init__()
        self.dense = dense(c.hidden_size, c.intermediate_size)
        self.act = activation(c.hidden_act, "BERT")

    def construct(self, x):
        return self.act(self.dense(x))


class _Layer(Cell):
    def __init__(self, c):
        super().__init__()
        self.attention = _Attention(c)
        self.intermediate = _Intermediate(c)
        self.output = _Output(c, c.intermediate_size)

    def construct(self, x, bias):
        x = self.attention(x, bias)
        return self.output(self.intermediate(x), x)


class _Encoder(Cell):
    def __init__(self, c):
        super().__init__()
        self.layer = nn.CellList([_Layer(c) for _ in range(c.num_hidden_layers)])

    def construct(self, x, bias):
        for layer in self.layer:
            x = layer(x, bias)
        return x


class _Pooler(Cell):
    def __init__(self, c):
        super().__init__()
        self.dense = dense(c.hidden_size, c.hidden_size)

    def construct(self, x):
        return ops.tanh(self.dense(x[:, 0]))


class _Bert(Cell):
    def __init__(self, c, pooler):
        super().__init__()
        self.embeddings = _Embeddings(c)
        self.encoder = _Encoder(c)
        self.pooler = _Pooler(c) if pooler else None

    def construct(self, ids, mask=None, types=None):
        x = self.embeddings(ids, types)
        x = self.encoder(x, mask_bias(mask, x.dtype))
        return x if self.pooler is None else (x, self.pooler(x))


class _BertNetwork(PretrainedCell):
    _prefix = "bert"
    _dropped = (r"(bert\.)?embeddings\.position_ids", r"cls\.seq_relationship\..*")
    _defaults = {
        "vocab_size": 30522,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "tie_word_embeddings": True,
        "is_decoder": False,
        "num_labels": 2,
        "position_embedding_type": "absolute",
    }

    def __init__(self, config):
        super().__init__(config)
        self._allow("is_decoder", False)
        self._allow("position_embedding_type", "absolute", None)


class BertModel(_BertNetwork):
    """(hidden states, pooled) of input_ids [batch, time], attention_mask and token_type_ids."""

    _model_type = "bert"

    def __init__(self, config):
        super().__init__(config)
        self.embeddings = _Embeddings(self.config)
        self.encoder = _Encoder(self.config)
        self.pooler = _Pooler(self.config)

    def construct(self, input_ids, attention_mask=None, token_type_ids=None):
        x = self.embeddings(input_ids, token_type_ids)
        x = self.encoder(x, mask_bias(attention_mask, x.dtype))
        return x, self.pooler(x)


class _Transform(Cell):
    def __init__(self, c):
        super().__init__()
        self.dense = dense(c.hidden_size, c.hidden_size)
        self.act = activation(c.hidden_act, "BERT")
        self.LayerNorm = nn.LayerNorm((c.hidden_size,), epsilon=c.layer_norm_eps)

    def construct(self, x):
        return self.LayerNorm(self.act(self.dense(x)))


class _Predictions(Cell):
    def __init__(self, c, tied):
        super().__init__()
        self.transform = _Transform(c)
        self.decoder = None if tied else dense(c.hidden_size, c.vocab_size, False)
        self.bias = Parameter(ops.zeros((c.vocab_size,), dtype.float32))

    def construct(self, x, table):
        x = self.transform(x)
        if self.decoder is not None:
            return self.decoder(x) + self.bias
        return ops.matmul(x, table, transpose_b=True) + self.bias


class _Head(Cell):
    def __init__(self, c, tied):
        super().__init__()
        self.predictions = _Predictions(c, tied)

    def construct(self, x, table):
        return self.predictions(x, table)


class BertForMaskedLM(_BertNetwork):
    """Scores [batch, time, vocab] of the words at each place."""

    _model_type = "bert"
    _tied = {
        "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    }

    def __init__(self, config):
        super().__init__(config)
        self.bert = _Bert(self.config, pooler=False)
        self.cls = _Head(self.config, self._ties())

    def construct(self, input_ids, attention_mask=None, token_type_ids=None):
        x = self.bert(input_ids, attention_mask, token_type_ids)
        return self.cls(x, self.bert.embeddings.word_embeddings.embedding_table)


class BertForSequenceClassification(_BertNetwork):
    """Scores [batch, labels]; their number is that of id2label in config.json."""

    _model_type = "bert"

    def __init__(self, config):
        super().__init__(config)
        c = self.config
        self.bert = _Bert(c, pooler=True)
        self.dropout = nn.Dropout(p=c.hidden_dropout_prob)
        self.classifier = dense(c.hidden_size, len(c.get("id2label") or range(c.num_labels)))

    def construct(self, input_ids, attention_mask=None, token_type_ids=None):
        _, pooled = self.bert(input_ids, attention_mask, token_type_ids)
        return self.classifier(self.dropout(pooled))
