"""Layers, losses and optimizers that are compared with a peer. tools/make_nn_reference.py runs
these cases in the peer and writes data/nn_reference.npz; test_nn_reference.py runs them here. Both
draw inputs and parameters from `draw`, so the file holds results alone.

A case: (class, positional arguments, keyword arguments, inputs, training). An input is a shape, or
a tuple (kind, shape, …) read by `draw`.
"""

import numpy as np


def draw(spec, rng):
    """An input array: normal numbers, or what the kind says."""
    if not spec or isinstance(spec[0], int):
        return rng.normal(size=spec).astype(np.float32)
    kind, shape, *rest = spec
    if kind == "index":
        return rng.integers(0, rest[0], size=shape).astype(np.int32)
    if kind == "sign":
        return np.where(rng.normal(size=shape) > 0, 1, -1).astype(rest[0] if rest else np.float32)
    if kind == "probability":
        return rng.uniform(0.05, 0.95, size=shape).astype(np.float32)
    if kind == "simplex":
        x = rng.uniform(0.05, 1, size=shape).astype(np.float32)
        return x / x.sum(-1, keepdims=True)
    if kind == "binary":
        return (rng.normal(size=shape) > 0).astype(np.float32)
    if kind == "positive":
        return rng.uniform(0.2, 2, size=shape).astype(np.float32)
    if kind == "number":
        return np.array(rest[0], dtype=rest[1]).reshape(shape)
    if kind == "causal":
        return np.triu(np.ones(shape, bool), 1)
    if kind == "padding":  # of the last places of the last sample
        mask = np.zeros(shape, bool)
        mask[-1, -1:] = True
        return mask
    raise ValueError(kind)


def parameter_value(name, shape, rng):
    """First values of a parameter: variances stay positive."""
    if "variance" in name:
        return rng.uniform(0.5, 1.5, size=shape).astype(np.float32)
    return (0.5 * rng.normal(size=shape)).astype(np.float32)


IMAGE = (2, 4, 7, 6)
TRAIN = True

LAYERS = [
    ("ReLU", (), {}, [(3, 5)], False),
    ("ReLU6", (), {}, [(3, 5)], False),
    ("Sigmoid", (), {}, [(3, 5)], False),
    ("Tanh", (), {}, [(3, 5)], False),
    ("SiLU", (), {}, [(3, 5)], False),
    ("Mish", (), {}, [(3, 5)], False),
    ("HSwish", (), {}, [(3, 5)], False),
    ("HSigmoid", (), {}, [(3, 5)], False),
    ("Softsign", (), {}, [(3, 5)], False),
    ("Tanhshrink", (), {}, [(3, 5)], False),
    ("LogSigmoid", (), {}, [(3, 5)], False),
    ("FastGelu", (), {}, [(3, 5)], False),
    ("SeLU", (), {}, [(3, 5)], False),
    ("GELU", (True,), {}, [(3, 5)], False),
    ("GELU", (False,), {}, [(3, 5)], False),
    ("ELU", (1.0,), {}, [(3, 5)], False),
    ("CELU", (0.7,), {}, [(3, 5)], False),
    ("LeakyReLU", (0.3,), {}, [(3, 5)], False),
    ("HShrink", (0.4,), {}, [(3, 5)], False),
    ("SoftShrink", (0.4,), {}, [(3, 5)], False),
    ("Hardtanh", (-0.5, 0.7), {}, [(3, 5)], False),
    ("Threshold", (0.1, 20.0), {}, [(3, 5)], False),
    ("PReLU", (4, 0.3), {}, [IMAGE], False),
    ("GLU", (), {}, [(3, 6)], False),
    ("Softmax", (), {}, [(3, 5)], False),
    ("Softmax", (1,), {}, [(2, 3, 4)], False),
    ("LogSoftmax", (-1,), {}, [(3, 5)], False),
    ("Softmin", (), {}, [(3, 5)], False),
    ("Softmax2d", (), {}, [IMAGE], False),
    ("Dense", (5, 3), {}, [(4, 5)], False),
    ("Dense", (5, 3), {"has_bias": False, "activation": "relu"}, [(2, 4, 5)], False),
    ("BiDense", (3, 4, 2), {}, [(5, 3), (5, 4)], False),
    ("Flatten", (), {}, [IMAGE], False),
    ("Unflatten", (1, (2, 2)), {}, [IMAGE], False),
    ("OneHot", (-1, 5, 1.0, 0.0), {}, [("index", (3, 2), 5)], False),
    ("ClipByNorm", (), {}, [(3, 4), ("number", (), 1.5, "float32")], False),
    ("Norm", (), {"axis": 1, "keep_dims": True}, [(3, 4)], False),
    ("Conv1d", (4, 6, 3), {"has_bias": True}, [(2, 4, 9)], False),
    (
        "Conv1d",
        (4, 6, 3),
        {"pad_mode": "pad", "padding": 2, "stride": 2, "group": 2},
        [(2, 4, 9)],
        False,
    ),
    ("Conv2d", (4, 6, 3), {}, [IMAGE], False),
    ("Conv2d", (4, 6, 3), {"pad_mode": "valid", "stride": 2, "has_bias": True}, [IMAGE], False),
    (
        "Conv2d",
        (4, 6, (3, 2)),
        {"pad_mode": "pad", "padding": (1, 0, 2, 1), "dilation": 2},
        [IMAGE],
        False,
    ),
    ("Conv2d", (4, 4, 3), {"group": 4}, [IMAGE], False),
    ("Conv2dTranspose", (4, 6, 3), {"stride": 2}, [IMAGE], False),
    ("Conv2dTranspose", (4, 6, 3), {"pad_mode": "valid", "has_bias": True}, [IMAGE], False),
    ("Conv2dTranspose", (4, 6, 3), {"pad_mode": "pad", "padding": 1, "stride": 2}, [IMAGE], False),
    ("Conv1dTranspose", (4, 6, 3), {"pad_mode": "pad", "padding": 1}, [(2, 4, 9)], False),
    ("Conv3d", (2, 3, 2), {"pad_mode": "valid", "has_bias": True}, [(2, 2, 4, 5, 3)], False),
    ("MaxPool1d", (3, 2), {}, [(2, 4, 9)], False),
    ("MaxPool2d", (2, 2), {}, [IMAGE], False),
    ("MaxPool2d", (3, 2), {"pad_mode": "same"}, [IMAGE], False),
    ("AvgPool1d", (3, 2), {}, [(2, 4, 9)], False),
    ("AvgPool2d", (2, 2), {}, [IMAGE], False),
    ("AvgPool2d", (3, 2), {"pad_mode": "same"}, [IMAGE], False),
    ("AdaptiveAvgPool2d", ((3, 2),), {}, [IMAGE], False),
    ("AdaptiveAvgPool1d", (3,), {}, [(2, 4, 9)], False),
    ("AdaptiveMaxPool2d", ((3, 2),), {}, [IMAGE], False),
    ("BatchNorm1d", (5,), {}, [(6, 5)], TRAIN),
    ("BatchNorm1d", (5,), {}, [(6, 5)], False),
    ("BatchNorm2d", (4,), {"momentum": 0.8, "eps": 1e-3}, [IMAGE], TRAIN),
    ("BatchNorm2d", (4,), {}, [IMAGE], False),
    ("BatchNorm2d", (4,), {"use_batch_statistics": True}, [IMAGE], False),
    ("LayerNorm", ((6,),), {}, [(2, 3, 6)], False),
    ("LayerNorm", ((3, 6), 1, 1), {"epsilon": 1e-5}, [(2, 3, 6)], False),
    ("GroupNorm", (2, 4), {}, [IMAGE], False),
    ("LRN", (2, 1.5, 0.3, 0.6), {}, [IMAGE], False),
    ("Embedding", (7, 3), {}, [("index", (2, 4), 7)], False),
    ("Embedding", (7, 3), {"use_one_hot": True}, [("index", (2, 4), 7)], False),
    ("Pad", (((1, 2), (0, 1)),), {}, [(3, 4)], False),
    ("Pad", (((1, 2), (0, 1)), "REFLECT"), {}, [(3, 4)], False),
    ("Pad", (((1, 2), (0, 1)), "SYMMETRIC"), {}, [(3, 4)], False),
    ("ConstantPad1d", ((1, 2), 0.5), {}, [(2, 3, 4)], False),
    ("ZeroPad2d", ((1, 2, 0, 1),), {}, [IMAGE], False),
    ("ReflectionPad1d", ((1, 2),), {}, [(2, 3, 4)], False),
    ("ReflectionPad2d", ((1, 2, 1, 0),), {}, [IMAGE], False),
    ("ReplicationPad2d", ((1, 2, 1, 0),), {}, [IMAGE], False),
    ("MatMul", (), {"transpose_x2": True}, [(3, 4), (5, 4)], False),
    ("ReduceLogSumExp", (1,), {"keep_dims": True}, [(3, 4)], False),
    ("Roll", (1, 0), {}, [(3, 4)], False),
    ("L1Regularizer", (0.3,), {}, [(3, 4)], False),
    ("PixelShuffle", (2,), {}, [(2, 8, 3, 2)], False),
    ("PixelUnshuffle", (2,), {}, [(2, 2, 6, 4)], False),
    ("ImageGradients", (), {}, [IMAGE], False),
    ("CentralCrop", (0.5,), {}, [(2, 3, 8, 8)], False),
    ("PSNR", (), {}, [("probability", (2, 3, 8, 8)), ("probability", (2, 3, 8, 8))], False),
    ("SSIM", (), {}, [("probability", (2, 3, 16, 16)), ("probability", (2, 3, 16, 16))], False),
    ("MultiheadAttention", (8, 2), {}, [(3, 2, 8), (4, 2, 8), (4, 2, 8)], False),
    (
        "MultiheadAttention",
        (8, 4),
        {"add_bias_kv": True, "add_zero_attn": True, "kdim": 5, "vdim": 7},
        [(3, 2, 8), (4, 2, 5), (4, 2, 7), ("padding", (2, 4))],
        False,
    ),
    (
        "MultiheadAttention",
        (8, 2),
        {"batch_first": True, "has_bias": False},
        [(2, 3, 8), (2, 4, 8), (2, 4, 8), ("padding", (2, 4))],
        False,
    ),
    ("MultiheadAttention", (8, 2), {}, [(3, 8), (4, 8), (4, 8)], False),
    (
        "TransformerEncoderLayer",
        (8, 2, 16),
        {},
        [(3, 2, 8), ("causal", (3, 3)), ("padding", (2, 3))],
        False,
    ),
    (
        "TransformerEncoderLayer",
        (8, 2, 16),
        {"norm_first": True, "batch_first": True, "activation": "gelu"},
        [(2, 3, 8), (3, 3)],
        False,
    ),
    (
        "TransformerDecoderLayer",
        (8, 2, 16),
        {},
        [(3, 2, 8), (4, 2, 8), ("causal", (3, 3)), ("causal", (3, 4))],
        False,
    ),
    ("TransformerDecoderLayer", (8, 2, 16), {"norm_first": True}, [(3, 2, 8), (4, 2, 8)], False),
    ("Transformer", (8, 2, 1, 1, 16), {}, [(4, 2, 8), (3, 2, 8)], False),
]

LOSSES = [
    ("L1Loss", (), {}, [(3, 5), (3, 5)], False),
    ("MSELoss", ("sum",), {}, [(3, 5), (3, 5)], False),
    ("RMSELoss", (), {}, [(3, 5), (3, 5)], False),
    ("MAELoss", (), {}, [(3, 5), (3, 5)], False),
    ("SmoothL1Loss", (0.6,), {}, [(3, 5), (3, 5)], False),
    ("SmoothL1Loss", (1.0, "mean"), {}, [(3, 5), (3, 5)], False),
    ("HuberLoss", ("mean", 0.7), {}, [(3, 5), (3, 5)], False),
    ("SoftmaxCrossEntropyWithLogits", (), {"sparse": True}, [(4, 5), ("index", (4,), 5)], False),
    (
        "SoftmaxCrossEntropyWithLogits",
        (),
        {"sparse": True, "reduction": "mean"},
        [(4, 5), ("index", (4,), 5)],
        False,
    ),
    (
        "SoftmaxCrossEntropyWithLogits",
        (),
        {"sparse": False, "reduction": "mean"},
        [(4, 5), ("simplex", (4, 5))],
        False,
    ),
    ("CrossEntropyLoss", (), {}, [(4, 5), ("index", (4,), 5)], False),
    (
        "CrossEntropyLoss",
        (),
        {"label_smoothing": 0.2, "ignore_index": 1},
        [(4, 5), ("index", (4,), 5)],
        False,
    ),
    ("NLLLoss", (), {}, [(4, 5), ("index", (4,), 5)], False),
    ("BCELoss", (), {}, [("probability", (3, 4)), ("binary", (3, 4))], False),
    ("BCEWithLogitsLoss", (), {}, [(3, 4), ("binary", (3, 4))], False),
    ("KLDivLoss", (), {}, [(3, 4), ("simplex", (3, 4))], False),
    ("KLDivLoss", ("sum",), {}, [(3, 4), ("simplex", (3, 4))], False),
    ("CosineEmbeddingLoss", (0.2,), {}, [(3, 4), (3, 4), ("sign", (3,), "int32")], False),
    ("HingeEmbeddingLoss", (), {}, [(3, 4), ("sign", (3, 4))], False),
    ("MarginRankingLoss", (0.3,), {}, [(6,), (6,), ("sign", (6,))], False),
    ("TripletMarginLoss", (), {}, [(3, 4), (3, 4), (3, 4)], False),
    ("MultiMarginLoss", (), {}, [(3, 4), ("index", (3,), 4)], False),
    ("MultiLabelSoftMarginLoss", (), {}, [(3, 4), ("binary", (3, 4))], False),
    ("SoftMarginLoss", (), {}, [(3, 4), ("sign", (3, 4))], False),
    ("GaussianNLLLoss", (), {}, [(3, 4), (3, 4), ("positive", (3, 4))], False),
    ("PoissonNLLLoss", (), {}, [(3, 4), ("positive", (3, 4))], False),
    ("DiceLoss", (), {}, [("probability", (3, 4)), ("binary", (3, 4))], False),
    ("MultiClassDiceLoss", (), {}, [(2, 3, 4), ("binary", (2, 3, 4))], False),
    ("FocalLoss", (), {"gamma": 1.5}, [(4, 3), ("index", (4,), 3)], False),
    (
        "CTCLoss",
        (0, "mean"),
        {},
        [
            (6, 2, 4),
            ("number", (2, 2), [[1, 2], [3, 3]], np.int32),
            ("number", (2,), [6, 5], np.int32),
            ("number", (2,), [2, 2], np.int32),
        ],
        False,
    ),
    (
        "CTCLoss",
        (3, "none"),
        {},
        [
            (3, 2, 4),
            ("number", (2, 2), [[1, 2], [0, 0]], np.int32),
            ("number", (2,), [3, 2], np.int32),
            ("number", (2,), [1, 2], np.int32),
        ],
        False,
    ),
]

SCHEDULES = [
    ("ExponentialDecayLR", (0.1, 0.9, 4), {}),
    ("ExponentialDecayLR", (0.1, 0.9, 4, True), {}),
    ("NaturalExpDecayLR", (0.1, 0.9, 4, True), {}),
    ("NaturalExpDecayLR", (0.1, 0.05, 4), {}),
    ("InverseDecayLR", (0.1, 0.5, 4, True), {}),
    ("InverseDecayLR", (0.1, 0.5, 4), {}),
    ("CosineDecayLR", (0.01, 0.1, 5), {}),
    ("PolynomialDecayLR", (0.1, 0.01, 4, 0.5), {}),
    ("PolynomialDecayLR", (0.1, 0.01, 4, 2.0, True), {}),
    ("WarmUpLR", (0.1, 3), {}),
]

LR_FUNCTIONS = [
    ("piecewise_constant_lr", ([2, 5, 10], [0.1, 0.05, 0.01])),
    ("exponential_decay_lr", (0.1, 0.9, 8, 2, 2)),
    ("exponential_decay_lr", (0.1, 0.9, 8, 2, 2, True)),
    ("natural_exp_decay_lr", (0.1, 0.9, 8, 2, 2)),
    ("natural_exp_decay_lr", (0.1, 0.9, 8, 2, 2, True)),
    ("inverse_decay_lr", (0.1, 0.5, 8, 2, 2)),
    ("inverse_decay_lr", (0.1, 0.5, 8, 2, 2, True)),
    ("cosine_decay_lr", (0.01, 0.1, 8, 2, 2)),
    ("polynomial_decay_lr", (0.1, 0.01, 8, 2, 2, 0.5)),
    ("polynomial_decay_lr", (0.1, 0.01, 8, 2, 2, 0.5, True)),
    ("warmup_lr", (0.1, 8, 2, 2)),
]

# (class, keyword arguments). Every one makes STEPS steps on PARAMETERS with drawn gradients.
PARAMETERS = [("conv.weight", (3, 2)), ("bn.gamma", (3,)), ("head.bias", (4,))]
STEPS = 4
OPTIMIZERS = [
    ("SGD", {"learning_rate": 0.1}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "dampening": 0.3}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True}),
    ("Momentum", {"learning_rate": 0.1, "momentum": 0.9}),
    (
        "Momentum",
        {
            "learning_rate": [0.1, 0.05, 0.01, 0.005],
            "momentum": 0.9,
            "weight_decay": 0.02,
            "loss_scale": 8.0,
        },
    ),
    ("Momentum", {"learning_rate": 0.1, "momentum": 0.9, "use_nesterov": True}),
    ("Adam", {"learning_rate": 0.1}),
    ("Adam", {"learning_rate": 0.1, "use_nesterov": True, "weight_decay": 0.1}),
    ("Adam", {"learning_rate": 0.1, "beta1": 0.8, "beta2": 0.95, "eps": 1e-4, "loss_scale": 4.0}),
    ("Adam", {"learning_rate": 0.1, "use_amsgrad": True}),
    ("AdamWeightDecay", {"learning_rate": 0.1, "weight_decay": 0.1}),
    ("LazyAdam", {"learning_rate": 0.1}),
    ("AdamOffload", {"learning_rate": 0.1}),
    ("AdaMax", {"learning_rate": 0.1}),
    ("Lamb", {"learning_rate": 0.1, "weight_decay": 0.01}),
    ("RMSProp", {"learning_rate": 0.1}),
    ("RMSProp", {"learning_rate": 0.1, "centered": True, "momentum": 0.5, "decay": 0.8}),
    ("Adagrad", {"learning_rate": 0.1}),
    ("Adadelta", {"learning_rate": 1.0}),
    ("ASGD", {"learning_rate": 0.1, "t0": 1.0, "lambd": 0.01}),
    ("Rprop", {"learning_rate": 0.1}),
    ("FTRL", {"learning_rate": 0.1, "l1": 0.01, "l2": 0.1}),
    ("ProximalAdagrad", {"learning_rate": 0.1, "l1": 0.01, "l2": 0.1}),
    ("AdaFactor", {}),
    (
        "AdaFactor",
        {"learning_rate": 0.1, "relative_step": False, "scale_parameter": False, "beta1": 0.0},
    ),
]
