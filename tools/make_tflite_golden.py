"""Writes tests/data/tflite_cases.npz: TFLite models of one operator each, inputs, and what the
published reference kernels give. Needs ai-edge-litert; run it as
<python> tools/make_tflite_golden.py [NAME...] (names: print what fails instead of writing)."""

from __future__ import annotations

import sys
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

OUT = Path(__file__).resolve().parents[1] / "tests" / "data" / "tflite_cases.npz"
TYPES = {
    "float32": 0,
    "int32": 2,
    "uint8": 3,
    "int64": 4,
    "bool": 6,
    "int16": 7,
    "int8": 9,
    "float64": 10,
    "uint32": 15,
}
RNG = np.random.default_rng(7)


class T:
    """A tensor of the file: with `data` a constant."""

    def __init__(self, shape, dtype="float32", scale=None, zero=0, data=None, axis=0):
        self.shape, self.dtype, self.scale, self.zero = list(shape), dtype, scale, zero
        self.data, self.axis = data, axis


def const(values, dtype="int32", scale=None, zero=0, axis=0):
    values = np.asarray(values, dtype)
    return T(values.shape, dtype, scale, zero, values, axis)


def weights(*shape, dtype="float32", scale=None, axis=0):
    if dtype == "float32":
        return const(RNG.standard_normal(shape), "float32")
    info = np.iinfo(dtype)
    low, high = max(info.min + 1, -30000), min(info.max, 30000)
    return const(RNG.integers(low, high, shape), dtype, scale, 0, axis)


def options(kind, **values):
    o = getattr(schema, kind + "OptionsT")()
    for k, v in values.items():
        assert hasattr(o, k), (kind, k)
        setattr(o, k, v)
    return o


def build(op, inputs, outputs, opts=None, more=()):
    """The bytes of a model with one operator; `more`: subgraphs [(op, inputs, outputs, opts)]."""
    m = schema.ModelT()
    m.version, m.description, m.buffers = 3, "golden", [schema.BufferT()]
    m.operatorCodes, m.subgraphs = [], []
    for kind, ins, outs, o in [(op, inputs, outputs, opts), *more]:
        g = schema.SubGraphT()
        g.tensors, g.name, ids = [], f"graph{len(m.subgraphs)}", {}
        for t in [*ins, *outs]:
            if t is None or id(t) in ids:
                continue
            x = schema.TensorT()
            x.shape, x.hasRank, x.type = np.array(t.shape, np.int32), True, TYPES[t.dtype]
            x.name, x.buffer = f"t{len(g.tensors)}", 0
            if t.data is not None:
                b = schema.BufferT()
                b.data = np.frombuffer(t.data.tobytes(), np.uint8)
                x.buffer = len(m.buffers)
                m.buffers.append(b)
            if t.scale is not None:
                q = schema.QuantizationParametersT()
                q.scale = np.atleast_1d(np.asarray(t.scale, np.float32))
                q.zeroPoint = np.broadcast_to(np.int64(t.zero), q.scale.shape).copy()
                q.quantizedDimension, x.quantization = t.axis, q
            ids[id(t)] = len(g.tensors)
            g.tensors.append(x)
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, kind)
        code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), 1
        n = schema.OperatorT()
        n.opcodeIndex = len(m.operatorCodes)
        m.operatorCodes.append(code)
        n.inputs = np.array([-1 if t is None else ids[id(t)] for t in ins], np.int32)
        n.outputs = np.array([ids[id(t)] for t in outs], np.int32)
        if o is not None:
            n.builtinOptions = o
            n.builtinOptionsType = getattr(schema.BuiltinOptions, type(o).__name__[:-1])
        g.operators = [n]
        given = [ids[id(t)] for t in ins if t is not None and t.data is None]
        g.inputs = np.array(list(dict.fromkeys(given)), np.int32)
        g.outputs = n.outputs
        m.subgraphs.append(g)
    b = flatbuffers.Builder(4096)
    b.Finish(m.Pack(b), file_identifier=b"TFL3")
    return bytes(b.Output())


def reference(model, inputs):
    it = Interpreter(
        model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF, num_threads=1
    )
    it.allocate_tensors()
    for d, v in zip(it.get_input_details(), inputs):
        it.set_tensor(d["index"], v)
    it.invoke()
    return [it.get_tensor(d["index"]) for d in it.get_output_details()]


CASES = {}


def case(name, op, inputs, outputs, opts=None, low=-3.0, high=3.0, values=None, more=()):
    given = []
    for t in dict.fromkeys(t for t in inputs if t is not None and t.data is None):
        if t.dtype.startswith("float"):
            given.append(RNG.uniform(low, high, t.shape).astype(t.dtype))
        elif t.dtype == "bool":
            given.append(RNG.integers(0, 2, t.shape).astype(bool))
        elif t.scale is not None:
            info = np.iinfo(t.dtype)
            given.append(RNG.integers(info.min, info.max, t.shape, t.dtype, endpoint=True))
        else:
            given.append(RNG.integers(int(low), int(high) + 1, t.shape).astype(t.dtype))
    CASES[name] = (build(op, inputs, outputs, opts, more), values or given)


def elementwise():
    a, b, y = T((2, 3, 4)), T((3, 1)), T((2, 3, 4))
    for op in ["ADD", "SUB", "MUL", "DIV"]:
        kind = op.capitalize()
        case(op.lower(), op, [a, b], [y], options(kind, fusedActivationFunction=1))
    for op in ["MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD"]:
        case(op.lower(), op, [a, b], [y])
    case("pow", "POW", [a, b], [y], low=0.5, high=2)
    case("atan2", "ATAN2", [a, T((2, 3, 4))], [y])
    i, j = T((2, 3), "int32"), T((2, 3), "int32")
    for op in ["ADD", "MUL", "FLOOR_DIV", "FLOOR_MOD", "BITWISE_XOR"]:
        kind = options(op.capitalize()) if op in ("ADD", "MUL") else None
        case(f"{op.lower()}_int", op, [i, j], [T((2, 3), "int32")], kind, low=1, high=9)
    case("right_shift", "RIGHT_SHIFT", [i, j], [T((2, 3), "int32")], low=1, high=9)
    for op in ["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"]:
        case(op.lower(), op, [a, b], [T((2, 3, 4), "bool")])
        q = [T((2, 3), "int8", 0.1, 3), T((2, 3), "int8", 0.07, -20)]
        case(f"{op.lower()}_int8", op, q, [T((2, 3), "bool")])
    p, q = T((2, 3), "bool"), T((2, 3), "bool")
    case("logical_and", "LOGICAL_AND", [p, q], [T((2, 3), "bool")])
    case("logical_or", "LOGICAL_OR", [p, q], [T((2, 3), "bool")])
    case("logical_not", "LOGICAL_NOT", [p], [T((2, 3), "bool")])
    unary = [
        "ABS",
        "NEG",
        "SIGN",
        "CEIL",
        "FLOOR",
        "ROUND",
        "EXP",
        "SIN",
        "COS",
        "SQUARE",
        "TANH",
        "LOGISTIC",
        "RELU",
        "RELU6",
        "RELU_N1_TO_1",
        "RELU_0_TO_1",
        "ELU",
        "HARD_SWISH",
        "ZEROS_LIKE",
    ]
    for op in unary:
        case(op.lower(), op, [T((3, 5))], [T((3, 5))], low=-8, high=8)
    for op in ["LOG", "SQRT", "RSQRT"]:
        case(op.lower(), op, [T((3, 5))], [T((3, 5))], low=0.1, high=8)
    case("gelu", "GELU", [T((3, 5))], [T((3, 5))], options("Gelu"))
    case("gelu_tanh", "GELU", [T((3, 5))], [T((3, 5))], options("Gelu", approximate=True))
    case("leaky_relu", "LEAKY_RELU", [T((3, 5))], [T((3, 5))], options("LeakyRelu", alpha=0.3))
    case("prelu", "PRELU", [T((1, 2, 2, 3)), weights(1, 1, 3)], [T((1, 2, 2, 3))])
    case("softmax", "SOFTMAX", [T((3, 5))], [T((3, 5))], options("Softmax", beta=1.5))
    case("log_softmax", "LOG_SOFTMAX", [T((3, 5))], [T((3, 5))])
    case("add_n", "ADD_N", [T((2, 3)), T((2, 3)), T((2, 3))], [T((2, 3))])
    case("cast", "CAST", [T((2, 3))], [T((2, 3), "int32")], options("Cast"))
    case("select", "SELECT", [T((2,), "bool"), T((2, 3)), T((2, 3))], [T((2, 3))])
    case("select_v2", "SELECT_V2", [T((1, 3), "bool"), T((2, 3)), T((2, 1))], [T((2, 3))])
    case("bitcast", "BITCAST", [T((2, 3))], [T((2, 3), "int32")])


def windows():
    for padding, name in [(0, "same"), (1, "valid")]:
        o = options("Conv2D", padding=padding, strideH=2, strideW=1, fusedActivationFunction=3)
        case(
            f"conv_{name}",
            "CONV_2D",
            [T((2, 6, 5, 3)), weights(4, 3, 2, 3), weights(4)],
            [T((2, 3, 5, 4) if name == "same" else (2, 2, 4, 4))],
            o,
        )
        o = options("DepthwiseConv2D", padding=padding, strideH=1, strideW=1, depthMultiplier=2)
        shape = (1, 6, 5, 6) if name == "same" else (1, 4, 3, 6)
        case(
            f"depthwise_{name}",
            "DEPTHWISE_CONV_2D",
            [T((1, 6, 5, 3)), weights(1, 3, 3, 6), weights(6)],
            [T(shape)],
            o,
        )
        o = options("Pool2D", padding=padding, strideH=2, strideW=2, filterHeight=3, filterWidth=2)
        shape = (1, 3, 3, 3) if name == "same" else (1, 2, 2, 3)
        for op in ["MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D"]:
            case(f"{op.lower()}_{name}", op, [T((1, 6, 5, 3))], [T(shape)], o)
        for dtype, zero in [("int8", -5), ("uint8", 120)]:
            for op in ["MAX_POOL_2D", "AVERAGE_POOL_2D"]:
                case(
                    f"{op.lower()}_{name}_{dtype}",
                    op,
                    [T((1, 6, 5, 3), dtype, 0.1, zero)],
                    [T(shape, dtype, 0.1, zero)],
                    o,
                )
    o = options("Conv2D", strideH=1, strideW=1, dilationHFactor=2, dilationWFactor=2, padding=0)
    case(
        "conv_dilated",
        "CONV_2D",
        [T((1, 6, 5, 3)), weights(4, 3, 3, 3), None],
        [T((1, 6, 5, 4))],
        o,
    )
    s = [0.01, 0.02, 0.005, 0.03]
    for act in [0, 1, 3]:
        o = options("Conv2D", padding=0, strideH=2, strideW=1, fusedActivationFunction=act)
        case(
            f"conv_int8_{act}",
            "CONV_2D",
            [
                T((2, 6, 5, 3), "int8", 0.05, 11),
                weights(4, 3, 2, 3, dtype="int8", scale=s),
                const(RNG.integers(-900, 900, 4)),
            ],
            [T((2, 3, 5, 4), "int8", 0.31, -7)],
            o,
        )
    o = options("DepthwiseConv2D", padding=0, strideH=1, strideW=2, depthMultiplier=1)
    case(
        "depthwise_int8",
        "DEPTHWISE_CONV_2D",
        [
            T((1, 6, 5, 4), "int8", 0.05, 11),
            weights(1, 3, 3, 4, dtype="int8", scale=s, axis=3),
            const(RNG.integers(-900, 900, 4)),
        ],
        [T((1, 6, 3, 4), "int8", 0.2, -7)],
        o,
    )
    o = options("Conv2D", padding=0, strideH=1, strideW=1)
    case(
        "conv_uint8",
        "CONV_2D",
        [
            T((1, 4, 5, 3), "uint8", 0.05, 111),
            const(RNG.integers(0, 255, (4, 3, 2, 3)), "uint8", 0.02, 120),
            const(RNG.integers(-900, 900, 4)),
        ],
        [T((1, 4, 5, 4), "uint8", 0.3, 130)],
        o,
    )
    o = options("TransposeConv", padding=0, strideH=2, strideW=2)
    case(
        "transpose_conv",
        "TRANSPOSE_CONV",
        [const([1, 8, 6, 3]), weights(3, 3, 3, 2), T((1, 4, 3, 2))],
        [T((1, 8, 6, 3))],
        o,
    )
    case(
        "transpose_conv_int8",
        "TRANSPOSE_CONV",
        [
            const([1, 8, 6, 3]),
            weights(3, 3, 3, 2, dtype="int8", scale=s[:3]),
            T((1, 4, 3, 2), "int8", 0.1, 4),
        ],
        [T((1, 8, 6, 3), "int8", 0.3, 9)],
        o,
    )
    o = options("Conv3D", padding=0, strideD=1, strideH=2, strideW=1)
    case(
        "conv_3d", "CONV_3D", [T((1, 4, 5, 4, 2)), weights(2, 3, 2, 2, 3)], [T((1, 4, 3, 4, 3))], o
    )
    for corners, half in [(False, False), (True, False), (False, True)]:
        o = options("ResizeBilinear", alignCorners=corners, halfPixelCenters=half)
        n = f"{int(corners)}{int(half)}"
        case(
            f"resize_bilinear_{n}",
            "RESIZE_BILINEAR",
            [T((1, 4, 5, 2)), const([7, 3])],
            [T((1, 7, 3, 2))],
            o,
        )
        case(
            f"resize_bilinear_int8_{n}",
            "RESIZE_BILINEAR",
            [T((1, 4, 5, 2), "int8", 0.1, 3), const([7, 9])],
            [T((1, 7, 9, 2), "int8", 0.1, 3)],
            o,
        )
        o = options("ResizeNearestNeighbor", alignCorners=corners, halfPixelCenters=half)
        case(
            f"resize_nearest_{n}",
            "RESIZE_NEAREST_NEIGHBOR",
            [T((1, 4, 5, 2)), const([7, 3])],
            [T((1, 7, 3, 2))],
            o,
        )


def shapes():
    x = T((2, 3, 4))
    case("reshape", "RESHAPE", [x, const([4, -1])], [T((4, 6))])
    case("squeeze", "SQUEEZE", [T((1, 3, 1))], [T((3, 1))], options("Squeeze", squeezeDims=[0]))
    case("expand_dims", "EXPAND_DIMS", [x, const([1])], [T((2, 1, 3, 4))])
    case("transpose", "TRANSPOSE", [x, const([2, 0, 1])], [T((4, 2, 3))])
    o = options("Concatenation", axis=1)
    case("concat", "CONCATENATION", [x, T((2, 2, 4))], [T((2, 5, 4))], o)
    q = [T((2, 3), "uint8", 0.1, 7), T((2, 2), "uint8", 0.13, 99)]
    case("concat_uint8", "CONCATENATION", q, [T((2, 5), "uint8", 0.2, 30)], o)
    q = [T((2, 3), "int8", 0.1, 7), T((2, 2), "int8", 0.1, 7)]
    case("concat_int8", "CONCATENATION", q, [T((2, 5), "int8", 0.1, 7)], o)
    case(
        "pack",
        "PACK",
        [T((2, 3)), T((2, 3))],
        [T((2, 2, 3))],
        options("Pack", valuesCount=2, axis=1),
    )
    case(
        "unpack",
        "UNPACK",
        [T((2, 3))],
        [T((2,)) for _ in range(3)],
        options("Unpack", num=3, axis=1),
    )
    case("tile", "TILE", [T((2, 3)), const([2, 1])], [T((4, 3))])
    case("broadcast_to", "BROADCAST_TO", [T((1, 3)), const([2, 3])], [T((2, 3))])
    case("fill", "FILL", [const([2, 3]), T(())], [T((2, 3))])
    case("shape", "SHAPE", [x], [T((3,), "int32")], options("Shape", outType=2))
    case("rank", "RANK", [x], [T((), "int32")])
    case("range", "RANGE", [const(2), const(11), const(3)], [T((3,), "int32")])
    pads = const([[1, 0], [2, 1]])
    case("pad", "PAD", [T((2, 3)), pads], [T((3, 6))])
    case("pad_int8", "PAD", [T((2, 3), "int8", 0.1, 9), pads], [T((3, 6), "int8", 0.1, 9)])
    case("padv2", "PADV2", [T((2, 3)), pads, const(2.5, "float32")], [T((3, 6))])
    for mode in [0, 1]:
        case(
            f"mirror_pad_{mode}",
            "MIRROR_PAD",
            [T((2, 3)), const([[1, 0], [2, 1]])],
            [T((3, 6))],
            options("MirrorPad", mode=mode),
        )
    case(
        "space_to_depth",
        "SPACE_TO_DEPTH",
        [T((1, 4, 6, 3))],
        [T((1, 2, 3, 12))],
        options("SpaceToDepth", blockSize=2),
    )
    case(
        "depth_to_space",
        "DEPTH_TO_SPACE",
        [T((1, 2, 3, 12))],
        [T((1, 4, 6, 3))],
        options("DepthToSpace", blockSize=2),
    )
    case(
        "space_to_batch",
        "SPACE_TO_BATCH_ND",
        [T((1, 3, 5, 2)), const([2, 3]), const([[1, 0], [0, 1]])],
        [T((6, 2, 2, 2))],
    )
    case(
        "batch_to_space",
        "BATCH_TO_SPACE_ND",
        [T((6, 2, 2, 2)), const([2, 3]), const([[1, 0], [0, 1]])],
        [T((1, 3, 5, 2))],
    )
    case("slice", "SLICE", [x, const([0, 1, 1]), const([-1, 2, 2])], [T((2, 2, 2))])
    o = options("StridedSlice", beginMask=1, endMask=2, shrinkAxisMask=4)
    case(
        "strided_slice",
        "STRIDED_SLICE",
        [x, const([0, 2, 1]), const([2, 0, 2]), const([1, -1, 1])],
        [T((2, 3))],
        o,
    )
    case(
        "split", "SPLIT", [const(2), x], [T((2, 3, 2)), T((2, 3, 2))], options("Split", numSplits=2)
    )
    case(
        "split_v",
        "SPLIT_V",
        [x, const([1, -1]), const(1)],
        [T((2, 1, 4)), T((2, 2, 4))],
        options("SplitV", numSplits=2),
    )
    case("reverse", "REVERSE_V2", [x, const([1])], [T((2, 3, 4))])
    case(
        "reverse_sequence",
        "REVERSE_SEQUENCE",
        [x, const([2, 3])],
        [T((2, 3, 4))],
        options("ReverseSequence", seqDim=1, batchDim=0),
    )
    case(
        "dynamic_update_slice",
        "DYNAMIC_UPDATE_SLICE",
        [x, T((1, 2, 2)), const([1, 2, 1])],
        [T((2, 3, 4))],
    )


def picking():
    x = T((3, 4))
    case("gather", "GATHER", [x, const([2, 0, 0])], [T((3, 3))], options("Gather", axis=1))
    case(
        "gather_batch",
        "GATHER",
        [x, const([[2, 0], [1, 1], [3, 0]])],
        [T((3, 2))],
        options("Gather", axis=1, batchDims=1),
    )
    case("embedding_lookup", "EMBEDDING_LOOKUP", [const([2, 0]), x], [T((2, 4))])
    case("gather_nd", "GATHER_ND", [x, const([[2, 1], [0, 3]])], [T((2,))])
    case(
        "scatter_nd", "SCATTER_ND", [const([[2], [0], [2]]), T((3, 2)), const([4, 2])], [T((4, 2))]
    )
    case(
        "one_hot",
        "ONE_HOT",
        [const([1, 3, 0]), const(4), const(2.0, "float32"), const(-1.0, "float32")],
        [T((3, 4))],
        options("OneHot", axis=-1),
    )
    case("topk", "TOPK_V2", [x, const(2)], [T((3, 2)), T((3, 2), "int32")])
    case("segment_sum", "SEGMENT_SUM", [x, const([0, 0, 2])], [T((3, 4))])
    for op in ["SUM", "MAX", "MIN", "PROD"]:
        case(
            f"unsorted_segment_{op.lower()}",
            f"UNSORTED_SEGMENT_{op}",
            [x, const([1, 0, 1]), const(2)],
            [T((2, 4))],
        )
    case("matrix_diag", "MATRIX_DIAG", [x], [T((3, 4, 4))])
    case("matrix_set_diag", "MATRIX_SET_DIAG", [x, T((3,))], [T((3, 4))])
    case(
        "bucketize",
        "BUCKETIZE",
        [x],
        [T((3, 4), "int32")],
        options("Bucketize", boundaries=np.float32([-1, 0, 2])),
    )
    case(
        "sparse_to_dense",
        "SPARSE_TO_DENSE",
        [
            const([[0, 1], [2, 0]]),
            const([3, 2]),
            const([5.0, 6.0], "float32"),
            const(1.0, "float32"),
        ],
        [T((3, 2))],
    )
    case(
        "unique",
        "UNIQUE",
        [const([3, 1, 3, 2])],
        [T((3,), "int32"), T((4,), "int32")],
        options("Unique", idxOutType=2),
    )
    case("where", "WHERE", [T((2, 3), "bool")], [T((2, 2), "int64")])


def reductions():
    x, keep = T((2, 3, 4)), options("Reducer", keepDims=True)
    for op in ["MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"]:
        case(op.lower(), op, [x, const([2, 0])], [T((3,))], options("Reducer"))
        case(f"{op.lower()}_keep", op, [x, const([1])], [T((2, 1, 4))], keep)
    for op in ["REDUCE_ANY", "REDUCE_ALL"]:
        case(op.lower(), op, [T((2, 3), "bool"), const([1])], [T((2,), "bool")], options("Reducer"))
    case("arg_max", "ARG_MAX", [x, const(1)], [T((2, 4), "int32")], options("ArgMax", outputType=2))
    case(
        "arg_min", "ARG_MIN", [x, const(-1)], [T((2, 3), "int64")], options("ArgMin", outputType=4)
    )
    case("cumsum", "CUMSUM", [x, const(1)], [T((2, 3, 4))], options("Cumsum", exclusive=True))
    case("cumsum_reverse", "CUMSUM", [x, const(1)], [T((2, 3, 4))], options("Cumsum", reverse=True))
    case("l2_normalization", "L2_NORMALIZATION", [T((2, 3))], [T((2, 3))], options("L2Norm"))
    case(
        "lrn",
        "LOCAL_RESPONSE_NORMALIZATION",
        [T((1, 2, 2, 6))],
        [T((1, 2, 2, 6))],
        options("LocalResponseNormalization", radius=2, bias=1.5, alpha=0.3, beta=0.6),
    )
    q4, q3 = T((2, 5, 5, 3), "int8", 0.1, 3), T((2, 7, 3), "int8", 0.1, 3)
    case("mean_int8", "MEAN", [q4, const([1, 2])], [T((2, 1, 1, 3), "int8", 0.03, -9)], keep)
    case("mean_int8_same", "MEAN", [q4, const([1, 2])], [T((2, 1, 1, 3), "int8", 0.1, 3)], keep)
    case(
        "mean_int8_one", "MEAN", [q3, const([1])], [T((2, 3), "int8", 0.05, -9)], options("Reducer")
    )
    case(
        "reduce_max_int8",
        "REDUCE_MAX",
        [q3, const([1])],
        [T((2, 3), "int8", 0.1, 3)],
        options("Reducer"),
    )


def products():
    o = options("FullyConnected", fusedActivationFunction=1)
    case("dense", "FULLY_CONNECTED", [T((3, 5)), weights(4, 5), weights(4)], [T((3, 4))], o)
    o = options("FullyConnected", keepNumDims=True)
    case("dense_keep", "FULLY_CONNECTED", [T((2, 3, 5)), weights(4, 5), None], [T((2, 3, 4))], o)
    q = options("FullyConnected")
    w = weights(9, 50, dtype="int8", scale=0.01)
    case(
        "dense_int8",
        "FULLY_CONNECTED",
        [T((300, 50), "int8", 0.05, 9), w, const(RNG.integers(-900, 900, 9))],
        [T((300, 9), "int8", 0.9, -3)],
        q,
    )
    s = list(RNG.uniform(0.005, 0.02, 9))
    case(
        "dense_int8_by_channel",
        "FULLY_CONNECTED",
        [
            T((300, 50), "int8", 0.05, 9),
            weights(9, 50, dtype="int8", scale=s),
            const(RNG.integers(-900, 900, 9)),
        ],
        [T((300, 9), "int8", 0.9, -3)],
        q,
    )
    o = options("BatchMatMul", adjY=True)
    case("batch_matmul", "BATCH_MATMUL", [T((2, 3, 5)), T((2, 4, 5))], [T((2, 3, 4))], o)
    case(
        "batch_matmul_int8",
        "BATCH_MATMUL",
        [T((2, 30, 5), "int8", 0.1, 3), T((2, 5, 40), "int8", 0.07, -8)],
        [T((2, 30, 40), "int8", 0.9, 5)],
        options("BatchMatMul"),
    )


def quantized():
    big = (40, 25)
    for dtype, zeros in [("int8", (3, -20, 9)), ("uint8", (103, 130, 119)), ("int16", (0, 0, 0))]:
        step = 1 if dtype != "int16" else 1 / 256
        a, b = T(big, dtype, 0.11 * step, zeros[0]), T((25,), dtype, 0.07 * step, zeros[1])
        y = T(big, dtype, 0.13 * step, zeros[2])
        for op in ["ADD", "SUB", "MUL"]:
            if dtype == "int16" and op == "SUB":
                continue
            o = options(op.capitalize(), fusedActivationFunction=0 if dtype == "int16" else 1)
            if hasattr(o, "potScaleInt16"):
                o.potScaleInt16 = False
            case(f"{op.lower()}_{dtype}", op, [a, b], [y], o)
    a, b = T(big, "int8", 0.1, 3), T((25,), "int8", 0.1, 3)
    for op in ["MAXIMUM", "MINIMUM"]:
        case(f"{op.lower()}_int8", op, [a, b], [T(big, "int8", 0.1, 3)])
    case(
        "squared_difference_int8",
        "SQUARED_DIFFERENCE",
        [T(big, "int8", 0.1, 3), T((25,), "int8", 0.07, 9)],
        [T(big, "int8", 0.9, -50)],
    )
    all8 = np.arange(-128, 128, dtype=np.int8).reshape(1, 256)
    for op, o, scale, zero in [
        ("LOGISTIC", None, 1 / 256, -128),
        ("TANH", None, 1 / 128, 0),
        ("ELU", None, 0.09, -4),
        ("HARD_SWISH", None, 0.06, -10),
        ("RELU", None, 0.05, -100),
        ("RELU6", None, 0.05, -100),
        ("RELU_N1_TO_1", None, 0.05, -10),
        ("LEAKY_RELU", options("LeakyRelu", alpha=0.2), 0.07, 5),
        ("EXP", None, 0.4, -128),
        ("GELU", options("Gelu"), 0.05, -100),
        ("ABS", None, 0.06, -128),
    ]:
        case(
            f"{op.lower()}_int8",
            op,
            [T((1, 256), "int8", 0.06, 7)],
            [T((1, 256), "int8", scale, zero)],
            o,
            values=[all8],
        )
    case(
        "prelu_int8",
        "PRELU",
        [T((1, 4, 4, 3), "int8", 0.06, 7), weights(1, 1, 3, dtype="int8", scale=0.01)],
        [T((1, 4, 4, 3), "int8", 0.05, 5)],
    )
    for scale in [0.02, 0.1447, 1.3]:
        case(
            f"softmax_int8_{scale}",
            "SOFTMAX",
            [T((200, 12), "int8", scale, 7)],
            [T((200, 12), "int8", 1 / 256, -128)],
            options("Softmax", beta=1.0),
        )
    case(
        "softmax_uint8",
        "SOFTMAX",
        [T((60, 12), "uint8", 0.1, 7)],
        [T((60, 12), "uint8", 1 / 256, 0)],
        options("Softmax", beta=1.0),
    )
    case(
        "softmax_int8_int16",
        "SOFTMAX",
        [T((60, 12), "int8", 0.1, 7)],
        [T((60, 12), "int16", 1 / 32768, 0)],
        options("Softmax", beta=1.0),
    )
    case("quantize", "QUANTIZE", [T((50, 20))], [T((50, 20), "int8", 0.03, -4)], low=-5, high=5)
    case(
        "quantize_uint8",
        "QUANTIZE",
        [T((50, 20))],
        [T((50, 20), "uint8", 0.5, 100)],
        low=-5,
        high=5,
    )
    case(
        "requantize",
        "QUANTIZE",
        [T((1, 256), "int8", 0.06, 7)],
        [T((1, 256), "int8", 0.05, -5)],
        values=[all8],
    )
    case(
        "requantize_uint8",
        "QUANTIZE",
        [T((1, 256), "int8", 0.06, 7)],
        [T((1, 256), "uint8", 0.06, 135)],
        values=[all8],
    )
    case("dequantize", "DEQUANTIZE", [T((1, 256), "int8", 0.06, 7)], [T((1, 256))], values=[all8])
    x = T((3, 4), "int8", 0.1, 3)
    case("reshape_int8", "RESHAPE", [x, const([2, 6])], [T((2, 6), "int8", 0.1, 3)])
    case("transpose_int8", "TRANSPOSE", [x, const([1, 0])], [T((4, 3), "int8", 0.1, 3)])
    case(
        "gather_int8", "GATHER", [x, const([2, 0])], [T((2, 4), "int8", 0.1, 3)], options("Gather")
    )
    case(
        "fake_quant",
        "FAKE_QUANT",
        [T((3, 5))],
        [T((3, 5))],
        options("FakeQuant", min=-2.0, max=2.5, numBits=8),
    )


def control():
    x, y = T((3,)), T((3,))
    add = ("ADD", [T((3,)), const([1, 2, 3], "float32")], [T((3,))], options("Add"))
    mul = ("MUL", [T((3,)), const([2, 2, 2], "float32")], [T((3,))], options("Mul"))
    o = options("If", thenSubgraphIndex=1, elseSubgraphIndex=2)
    for v in [True, False]:
        case(
            f"if_{v}",
            "IF",
            [T((), "bool"), x],
            [y],
            o,
            more=[add, mul],
            values=[np.array(v), np.float32([1, -2, 3])],
        )
    less = ("LESS", [T(()), const(50.0, "float32")], [T((), "bool")], None)
    double = ("MUL", [T(()), const(2.0, "float32")], [T(())], options("Mul"))
    case(
        "while",
        "WHILE",
        [T(())],
        [T(())],
        options("While", condSubgraphIndex=1, bodySubgraphIndex=2),
        more=[less, double],
        values=[np.float32(1.5)],
    )


def main():
    for group in [elementwise, windows, shapes, picking, reductions, products, quantized, control]:
        group()
    arrays, names = {}, []
    for name, (model, inputs) in CASES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        try:
            results = reference(model, inputs)
        except Exception as e:  # noqa: BLE001
            print(f"{name}: {str(e).strip().splitlines()[-1][:150]}")
            continue
        names.append(name)
        arrays[f"{name}/model"] = np.frombuffer(model, np.uint8)
        for i, v in enumerate(inputs):
            arrays[f"{name}/in{i}"] = v
        for i, v in enumerate(results):
            arrays[f"{name}/out{i}"] = v
    print(f"{len(names)} cases")
    if not sys.argv[1:]:
        np.savez_compressed(OUT, **arrays)
    return 0


if __name__ == "__main__":
    sys.exit(main())
