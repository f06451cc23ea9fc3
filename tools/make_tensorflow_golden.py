"""Writes tests/data/tensorflow_cases.npz: frozen graphs, inputs, and what TensorFlow gives. Needs
tensorflow; run it as <python> tools/make_tensorflow_golden.py."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

OUT = Path(__file__).resolve().parents[1] / "tests" / "data" / "tensorflow_cases.npz"
RNG = np.random.default_rng(5)
CASES = {}
raw = tf.raw_ops


def floats(*shape, low=-2.0, high=2.0):
    return RNG.uniform(low, high, shape).astype(np.float32)


def ints(*shape, high=6, dtype=np.int32):
    return RNG.integers(1, high, shape).astype(dtype)


def case(name, fn, *inputs, open_batch=False, lower=False):
    def spec(v):
        shape = (None, *v.shape[1:]) if open_batch else v.shape
        return tf.TensorSpec(shape, v.dtype)

    concrete = tf.function(fn).get_concrete_function(*map(spec, inputs))
    frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=lower)
    results = frozen(*map(tf.constant, inputs))
    results = results if isinstance(results, (list, tuple)) else [results]
    graph = frozen.graph.as_graph_def()
    names = [t.name for t in frozen.inputs], [t.name for t in frozen.outputs]
    CASES[name] = (graph.SerializeToString(), names, inputs, [np.asarray(r) for r in results])


def elementwise():
    a, b, p = floats(2, 3), floats(3), floats(2, 3, low=0.3)
    binary = [
        "AddV2",
        "Sub",
        "Mul",
        "RealDiv",
        "Maximum",
        "Minimum",
        "SquaredDifference",
        "FloorDiv",
        "FloorMod",
        "Atan2",
        "Equal",
        "NotEqual",
        "Less",
        "LessEqual",
        "Greater",
        "GreaterEqual",
        "DivNoNan",
    ]
    for op in binary:
        case(
            op,
            lambda x, y, op=op: (
                getattr(raw, op)(x=x, y=y) if op != "Atan2" else raw.Atan2(y=x, x=y)
            ),
            a,
            b,
        )
    case("Pow", lambda x, y: raw.Pow(x=x, y=y), p, b)
    unary = [
        "Abs",
        "Neg",
        "Sign",
        "Ceil",
        "Floor",
        "Round",
        "Rint",
        "Exp",
        "Expm1",
        "Square",
        "Sin",
        "Cos",
        "Tan",
        "Atan",
        "Sinh",
        "Cosh",
        "Asinh",
        "Tanh",
        "Sigmoid",
        "Erf",
        "IsNan",
        "IsInf",
        "IsFinite",
        "ZerosLike",
        "OnesLike",
    ]
    for op in unary:
        case(op, lambda x, op=op: getattr(raw, op)(**{"y" if op == "x" else "x": x}), a)
    for op in ["Log", "Log1p", "Sqrt", "Rsqrt", "Reciprocal"]:
        case(op, lambda x, op=op: getattr(raw, op)(x=x), p)
    for op in ["Asin", "Acos", "Atanh"]:
        case(op, lambda x, op=op: getattr(raw, op)(x=x / 3), a)
    case("Acosh", lambda x: raw.Acosh(x=x + 1), p)
    for op in ["Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu"]:
        case(op, lambda x, op=op: getattr(raw, op)(features=x * 4), a)
    case("Softmax", lambda x: tf.nn.softmax(x), a)
    case("LogSoftmax", lambda x: tf.nn.log_softmax(x), a)
    case(
        "Logical",
        lambda x, y: (
            tf.logical_and(x > 0, y > 0),
            tf.logical_or(x > 0, y > 0),
            tf.logical_not(x > 0),
        ),
        a,
        b,
    )
    case(
        "Bits",
        lambda x, y: (
            tf.bitwise.bitwise_and(x, y),
            tf.bitwise.bitwise_or(x, y),
            tf.bitwise.bitwise_xor(x, y),
            tf.bitwise.left_shift(x, y),
        ),
        ints(2, 3),
        ints(2, 3),
    )
    case(
        "IntDiv",
        lambda x, y: (tf.math.floordiv(x, y), tf.math.floormod(x, y), tf.truncatediv(-x, y)),
        ints(2, 3, high=30),
        ints(2, 3),
    )
    case("SelectV2", lambda x, y: tf.where(x > 0, x, y), a, b)
    case("Cast", lambda x: (tf.cast(x, tf.int32), tf.cast(x > 0, tf.float32)), a)
    case("AddN", lambda x, y: tf.add_n([x, y, x]), a, floats(2, 3))
    case("ClipByValue", lambda x: tf.clip_by_value(x, -0.5, 0.7), a)
    case("BiasAdd", lambda x: tf.nn.bias_add(x, tf.constant([1.0, 2.0, 3.0])), a)


def windows():
    x = floats(2, 6, 5, 3)
    w, d = tf.constant(floats(3, 2, 3, 4)), tf.constant(floats(3, 3, 3, 2))
    for padding in ["SAME", "VALID"]:
        case(f"Conv2D_{padding}", lambda x, p=padding: tf.nn.conv2d(x, w, [1, 2, 1, 1], p), x)
        case(
            f"Depthwise_{padding}",
            lambda x, p=padding: tf.nn.depthwise_conv2d(x, d, [1, 1, 1, 1], p),
            x,
        )
        case(f"MaxPool_{padding}", lambda x, p=padding: tf.nn.max_pool2d(x, (3, 2), 2, p), x)
        case(f"AvgPool_{padding}", lambda x, p=padding: tf.nn.avg_pool2d(x, (3, 2), 2, p), x)
    case("Conv2D_explicit", lambda x: tf.nn.conv2d(x, w, 1, [[0, 0], [1, 2], [0, 1], [0, 0]]), x)
    case("Conv2D_dilated", lambda x: tf.nn.conv2d(x, w, 1, "SAME", dilations=2), x)
    case(
        "Conv3D",
        lambda x: tf.nn.conv3d(x, tf.constant(floats(2, 3, 2, 2, 3)), [1, 1, 2, 1, 1], "SAME"),
        floats(1, 4, 5, 4, 2),
    )
    case(
        "Conv2DTranspose",
        lambda x: tf.nn.conv2d_transpose(
            x, tf.constant(floats(3, 3, 4, 2)), [1, 8, 6, 4], 2, "SAME"
        ),
        floats(1, 4, 3, 2),
    )
    v = [tf.constant(floats(3, low=0.5)) for _ in range(4)]
    case(
        "FusedBatchNormV3",
        lambda x: raw.FusedBatchNormV3(
            x=x, scale=v[0], offset=v[1], mean=v[2], variance=v[3], is_training=False
        )[0],
        x,
    )
    case("LRN", lambda x: tf.nn.lrn(x, 1, 1.5, 0.3, 0.6), x)
    case("ResizeBilinear", lambda x: tf.image.resize(x, [9, 4]), x)
    case("ResizeNearest", lambda x: tf.image.resize(x, [9, 4], "nearest"), x)


def shapes():
    x = floats(2, 3, 4)
    case("Reshape", lambda x: tf.reshape(x, [4, -1]), x)
    case("ReshapeOpen", lambda x: tf.reshape(x, [tf.shape(x)[0], -1]) * 2, x, open_batch=True)
    case("Transpose", lambda x: tf.transpose(x, [2, 0, 1]), x)
    case("Concat", lambda x: tf.concat([x, x * 2], 1), x)
    case("Pack", lambda x: tf.stack([x, x + 1], 2), x)
    case("Unpack", lambda x: tf.unstack(x, axis=1), x)
    case("Split", lambda x: tf.split(x, 2, 2), x)
    case("SplitV", lambda x: tf.split(x, [1, 3], 2), x)
    case("StridedSlice", lambda x: (x[:, 1:, ::-2], x[..., 2], x[:, tf.newaxis, 0]), x)
    case("Slice", lambda x: tf.slice(x, [0, 1, 1], [-1, 2, 2]), x)
    case("Squeeze", lambda x: tf.squeeze(tf.expand_dims(x, 1), [1]), x)
    case("Tile", lambda x: tf.tile(x, [1, 2, 1]), x)
    case("BroadcastTo", lambda x: tf.broadcast_to(x, [5, 2, 3, 4]), x)
    case(
        "Pad",
        lambda x: (
            tf.pad(x, [[1, 0], [0, 2], [1, 1]]),
            tf.pad(x, [[0, 0], [1, 0], [0, 1]], constant_values=3.0),
            tf.pad(x, [[0, 0], [1, 1], [2, 1]], "REFLECT"),
        ),
        x,
    )
    case(
        "Blocks",
        lambda x: (
            tf.nn.space_to_depth(x, 2),
            tf.nn.depth_to_space(x, 2),
            tf.space_to_batch(x, [2, 3], [[1, 1], [0, 0]]),
            tf.batch_to_space(x, [2, 2], [[0, 1], [1, 0]]),
        ),
        floats(4, 4, 6, 4),
    )
    case("Reverse", lambda x: tf.reverse(x, [1]), x)
    case("ReverseSequence", lambda x: tf.reverse_sequence(x, [2, 3], 1, 0), x)
    case("Fill", lambda x: x + tf.fill(tf.shape(x), 2.0), x)
    case("Range", lambda x: x[0, 0] + tf.cast(tf.range(0, 8, 2), tf.float32), x)
    case("Sizes", lambda x: (tf.shape(x), tf.rank(x), tf.size(x)), x)


def picking():
    x, at = floats(3, 4), np.int32([[2, 0], [1, 1]])
    case("GatherV2", lambda x, i: (tf.gather(x, i, axis=1), tf.gather(x, i)), x, at)
    case("GatherBatch", lambda x: tf.gather(x, [[0, 1], [3, 2], [1, 1]], axis=1, batch_dims=1), x)
    case("GatherNd", lambda x, i: tf.gather_nd(x, i), x, at)
    case("ScatterNd", lambda x: tf.scatter_nd([[2], [0], [2]], x, [4, 4]), x)
    case(
        "TensorScatter",
        lambda x: (
            tf.tensor_scatter_nd_update(x, [[1]], [[9.0, 8, 7, 6]]),
            tf.tensor_scatter_nd_add(x, [[1]], [[9.0, 8, 7, 6]]),
        ),
        x,
    )
    case("OneHot", lambda i: tf.one_hot(i, 4, 2.0, -1.0), at)
    case("TopKV2", lambda x: tf.math.top_k(x, 2), x)
    case("ArgMax", lambda x: (tf.argmax(x, 1), tf.argmin(x, 0, tf.int32)), x)
    case(
        "Segments",
        lambda x: (
            tf.math.segment_sum(x, [0, 0, 2]),
            tf.math.unsorted_segment_sum(x, [1, 0, 1], 2),
        ),
        x,
    )
    case(
        "Diagonals", lambda x: (tf.linalg.band_part(x, 1, 0), tf.raw_ops.MatrixDiag(diagonal=x)), x
    )
    case("Cumsum", lambda x: (tf.cumsum(x, 1), tf.cumsum(x, 0, exclusive=True, reverse=True)), x)


def reductions():
    x = floats(2, 3, 4)
    for op in ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"]:
        f = getattr(tf, op)
        case(op, lambda x, f=f: (f(x, [0, 2]), f(x, 1, keepdims=True), f(x)), x)
    case("reduce_any", lambda x: (tf.reduce_any(x > 1, 1), tf.reduce_all(x > -1, 1)), x)
    case("L2Loss", lambda x: tf.nn.l2_loss(x), x)


def products():
    a, b = floats(3, 4), floats(4, 5)
    case("MatMul", lambda a, b: (a @ b, tf.matmul(a, a, transpose_b=True)), a, b)
    case("BatchMatMulV2", lambda a: tf.matmul(a, a, adjoint_b=True), floats(2, 3, 4))
    case("Einsum", lambda a, b: tf.einsum("bij,bkj->bik", a, b), floats(2, 3, 4), floats(2, 5, 4))


def control():
    x = floats(3)
    case("If", lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1), x)
    case("IfOther", lambda x: tf.cond(tf.reduce_sum(x) > 100, lambda: x * 2, lambda: x - 1), x)
    case(
        "While",
        lambda x: tf.while_loop(
            lambda i, v: i < 4, lambda i, v: (i + 1, v * 1.5 + 1), [tf.constant(0), x]
        )[1],
        x,
    )
    case(
        "WhileValue",
        lambda x: tf.while_loop(lambda v: tf.reduce_sum(v) < 100, lambda v: (v * 1.5 + 1,), [x])[0],
        x,
    )


def networks():
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(3)
    net = tf.keras.Sequential(
        [
            layers.Input((12, 12, 3)),
            layers.Conv2D(8, 3, padding="same"),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.DepthwiseConv2D(3, strides=2, padding="same"),
            layers.ReLU(6.0),
            layers.Conv2D(12, 1),
            layers.GlobalAveragePooling2D(),
            layers.Dense(5, activation="softmax"),
        ]
    )
    case(
        "separable_network", lambda x: net(x, training=False), floats(2, 12, 12, 3), open_batch=True
    )
    block = layers.MultiHeadAttention(2, 8)
    x = floats(2, 6, 16)
    block(x, x)
    norm = layers.LayerNormalization()
    norm(x)
    case("attention_network", lambda x: norm(x + block(x, x)), x)
    lstm = layers.LSTM(6, return_sequences=True)
    lstm(floats(2, 5, 4))
    case("lstm_unrolled", lambda x: layers_unrolled(lstm, x), floats(2, 5, 4))


def layers_unrolled(lstm, x):
    h, c = tf.zeros((2, 6)), tf.zeros((2, 6))
    outputs = []
    for t in range(5):
        y, (h, c) = lstm.cell(x[:, t], [h, c])
        outputs.append(y)
    return tf.stack(outputs, 1)


def main():
    for group in [elementwise, windows, shapes, picking, reductions, products, control, networks]:
        group()
    arrays = {}
    for name, (graph, (ins, outs), inputs, results) in CASES.items():
        arrays[f"{name}/graph"] = np.frombuffer(graph, np.uint8)
        arrays[f"{name}/names"] = np.array([",".join(ins), ",".join(outs)])
        for i, v in enumerate(inputs):
            arrays[f"{name}/in{i}"] = v
        for i, v in enumerate(results):
            arrays[f"{name}/out{i}"] = v
    np.savez_compressed(OUT, **arrays)
    print(len(CASES), "cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
