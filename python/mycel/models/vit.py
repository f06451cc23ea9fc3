"""Vision Transformer (Dosovitskiy et al. 2020)."""

from mycel import nn, ops
from mycel.common import Parameter, dtype
from mycel.models._parts import activation, attend, dense, join_heads, split_heads
from mycel.models._registry import PretrainedCell
from mycel.nn.cell import Cell


class _Patches(Cell):
    def __init__(self, c):
        super().__init__()
        self.projection = nn.Conv2d(
            c.num_channels,
            c.hidden_size,
            c.patch_size,
            stride=c.patch_size,
            pad_mode="valid",
            has_bias=True,
        )

    def construct(self, x):
        x = self.projection(x)
        x = ops.reshape(x, (x.shape[0], x.shape[1], x.shape[2] * x.shape[3]))
        return ops.transpose(x, (0, 2, 1))


class _Embeddings(Cell):
    def __init__(self, c):
        super().__init__()
        count = (c.image_size // c.patch_size) ** 2
        self.cls_token = Parameter(ops.zeros((1, 1, c.hidden_size), dtype.float32))
        self.position_embeddings = Parameter(
            ops.randn((1, count + 1, c.hidden_size)) * c.initializer_range
        )
        self.patch_embeddings = _Patches(c)
        self.dropout = nn.Dropout(p=c.hidden_dropout_prob)

    def construct(self, x):
        x = self.patch_embeddings(x)
        first = ops.broadcast_to(self.cls_token, (x.shape[0], 1, x.shape[2]))
        return self.dropout(ops.concat((first, x), axis=1) + self.position_embeddings)


class _SelfAttention(Cell):
    def __init__(self, c):
        super().__init__()
        self.size = c.hidden_size // c.num_attention_heads
        bias = bool(c.qkv_bias)
        self.query = dense(c.hidden_size, c.hidden_size, bias)
        self.key = dense(c.hidden_size, c.hidden_size, bias)
        self.value = dense(c.hidden_size, c.hidden_size, bias)

    def construct(self, x):
        query = split_heads(self.query(x), self.size)
        key = split_heads(self.key(x), self.size)
        return join_heads(attend(query, key, split_heads(self.value(x), self.size)))


class _Output(Cell):
    def __init__(self, c, inputs):
        super().__init__()
        self.dense = dense(inputs, c.hidden_size)
        self.dropout = nn.Dropout(p=c.hidden_dropout_prob)

    def construct(self, x):
        return self.dropout(self.dense(x))


class _Attention(Cell):
    def __init__(self, c):
        super().__init__()
        self.attention = _SelfAttention(c)
        self.output = _Output(c, c.hidden_size)

    def construct(self, x):
        return self.output(self.attention(x))


class _Intermediate(Cell):
    def __init__(self, c):
        super().__init__()
        self.dense = dense(c.hidden_size, c.intermediate_size)
        self.act = activation(c.hidden_act, "ViT")

    def construct(self, x):
        return self.act(self.dense(x))


class _Layer(Cell):
    def __init__(self, c):
        super().__init__()
        self.attention = _Attention(c)
        self.intermediate = _Intermediate(c)
        self.output = _Output(c, c.intermediate_size)
        self.layernorm_before = nn.LayerNorm((c.hidden_size,), epsilon=c.layer_norm_eps)
        self.layernorm_after = nn.LayerNorm((c.hidden_size,), epsilon=c.layer_norm_eps)

    def construct(self, x):
        x = self.attention(self.layernorm_before(x)) + x
        return self.output(self.intermediate(self.layernorm_after(x))) + x


class _Encoder(Cell):
    def __init__(self, c):
        super().__init__()
        self.layer = nn.CellList([_Layer(c) for _ in range(c.num_hidden_layers)])

    def construct(self, x):
        for layer in self.layer:
            x = layer(x)
        return x


class _Pooler(Cell):
    def __init__(self, c):
        super().__init__()
        self.dense = dense(c.hidden_size, c.get("pooler_output_size") or c.hidden_size)
        self.act = activation(c.get("pooler_act") or "tanh", "ViT")

    def construct(self, x):
        return self.act(self.dense(x[:, 0]))


class _Vit(PretrainedCell):
    _prefix = "vit"
    _defaults = {
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.0,
        "layer_norm_eps": 1e-12,
        "image_size": 224,
        "patch_size": 16,
        "num_channels": 3,
        "qkv_bias": True,
        "initializer_range": 0.02,
        "tie_word_embeddings": False,
        "num_labels": 2,
    }


class _Body(Cell):
    def __init__(self, c):
        super().__init__()
        self.embeddings = _Embeddings(c)
        self.encoder = _Encoder(c)
        self.layernorm = nn.LayerNorm((c.hidden_size,), epsilon=c.layer_norm_eps)

    def construct(self, x):
        return self.layernorm(self.encoder(self.embeddings(x)))


class ViTModel(_Vit):
    """(hidden states, pooled) of pixel_values [batch, channels, height, width]."""

    _model_type = "vit"

    def __init__(self, config):
        super().__init__(config)
        c = self.config
        self.embeddings = _Embeddings(c)
        self.encoder = _Encoder(c)
        self.layernorm = nn.LayerNorm((c.hidden_size,), epsilon=c.layer_norm_eps)
        self.pooler = _Pooler(c)

    def construct(self, pixel_values):
        x = self.layernorm(self.encoder(self.embeddings(pixel_values)))
        return x, self.pooler(x)


class ViTForImageClassification(_Vit):
    """Scores [batch, labels]; their number is that of id2label in config.json."""

    _model_type = "vit"

    def __init__(self, config):
        super().__init__(config)
        c = self.config
        self.vit = _Body(c)
        self.classifier = dense(c.hidden_size, len(c.get("id2label") or range(c.num_labels)))

    def construct(self, pixel_values):
        return self.classifier(self.vit(pixel_values)[:, 0])
