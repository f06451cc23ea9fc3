"""Mistakes of newcomers, with the exact text of the error that each gets. The lines that show where
the mistake stands ("At file:line", the source, the caret) are tests/python/test_errors.py's
business
and left out here. Cases are strings, so that the table reads as a newcomer would have typed."""

import os

import mycel as ms
import numpy as np
import pytest
from mycel import Parameter, Tensor, nn, ops
from mycel.common.initializer import initializer
from mycel.common.tensor_file import load_tensors, save_tensors

pytestmark = pytest.mark.plain_calls("the errors name the line that made the call")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 4)

    def construct(self, x):
        return self.dense(x)


class NoInit(nn.Cell):
    def __init__(self):
        self.dense = nn.Dense(3, 4)


class NoConstruct(nn.Cell):
    pass


def twice():
    net = Net()
    net.other = Parameter(Tensor(1.0), name="dense.weight")
    net.check_names()


def diverge():
    net = Net()
    fast = nn.SGD(net.trainable_params(), learning_rate=1e30)
    ms.Model(net, nn.MSELoss(), fast).train(9, DATA, ms.LossMonitor())


NAMES = {"ms": ms, "nn": nn, "np": np, "ops": ops, "Tensor": Tensor, "initializer": initializer}
NAMES |= {
    c.__name__: c for c in (Net, NoInit, NoConstruct, twice, diverge, load_tensors, save_tensors)
}
X = Tensor(np.ones((2, 3), np.float32))
ROWS = {"x": np.ones((4, 3), np.float32), "y": np.ones((4, 4), np.float32)}
DATA = ms.dataset.NumpySlicesDataset(ROWS).batch(2)
NAMES |= {"X": X, "DATA": DATA}

# (what was typed, exception, exact text)
MISTAKES = [
    (
        "Tensor([[1.0, 2.0, 3.0]]) + Tensor([1.0, 2.0])",
        ValueError,
        "add: the shapes do not broadcast (got input float32[1, 3], other float32[2])\n"
        "  Shapes are compared from the last dim on: sizes must be equal, or one of them "
        "1.",
    ),
    (
        "Tensor(np.ones((2, 3), np.float32)) @ Tensor(np.ones((2, 3), np.float32))",
        ValueError,
        "matmul: the dims that are summed over differ: 3 and 2 (got input float32[2, 3], "
        "other float32[2, 3])\n"
        "  [..., n, k] times [..., k, m] gives [..., n, m]; transpose an operand where "
        "needed.",
    ),
    (
        "ops.concat((Tensor([[1.0, 2.0]]), Tensor([1.0])), 0)",
        ValueError,
        "concat: all tensors must have 2 dims (got tensors[0] float32[1, 2], tensors[1] "
        "float32[1])\n"
        "  expand_dims adds one; stack joins along a new one.",
    ),
    (
        "Tensor(np.ones((2, 3), np.float32)).reshape(4)",
        ValueError,
        "reshape: 6 elements do not fill shape (4,) (got input float32[2, 3])\n"
        "  The product of the new shape must be 6; one entry may be -1, which stands for "
        "the rest.",
    ),
    (
        "Tensor(np.ones((2, 3), np.float32))[5]",
        IndexError,
        "indexing: position 5 is outside dim 0 of float32(2, 3)",
    ),
    (
        "Tensor(np.ones((2, 3), np.float32))[0, 0, 0]",
        IndexError,
        "indexing: float32(2, 3) has 2 dims, 3 indices given",
    ),
    (
        "Tensor([[1, 2], [3]])",
        ValueError,
        "Tensor: the nested sequence is ragged: its first parts say shape (2, 2)\n"
        "  Every inner sequence must have the same length.",
    ),
    (
        'Tensor("abc")',
        TypeError,
        "Tensor: str cannot become a tensor\n"
        "  Allowed: numbers, nested lists or tuples of numbers, NumPy arrays, tensors.",
    ),
    (
        'Tensor([1.0], dtype="flot32")',
        TypeError,
        "Tensor: 'dtype': 'flot32' is not a dtype Mycel has\n"
        "  Give one of mycel.float32, float16, bfloat16, float64, int8 … int64, uint8 "
        "… uint64, bool_, complex64, complex128.",
    ),
    (
        "bool(Tensor([1.0, 2.0]))",
        ValueError,
        "bool(): float32(2,) has 2 elements; exactly 1 is needed\n  Use .all() or .any().",
    ),
    (
        'ops.exp("x")',
        TypeError,
        "exp: 'input': str cannot become a tensor\n"
        "  Allowed: numbers, nested lists or tuples of numbers, NumPy arrays, tensors.",
    ),
    (
        "ops.add(Tensor(1.0))",
        TypeError,
        "add: argument 'other' is missing\n  Signature: add(input, other)",
    ),
    (
        "ops.add(Tensor(1.0), othr=Tensor(1.0))",
        TypeError,
        "add: unknown argument 'othr'\n  Did you mean 'other'?",
    ),
    (
        "ops.softmx(Tensor([1.0]))",
        AttributeError,
        "mycel.ops has no 'softmx'\n  Did you mean 'softmax'?",
    ),
    (
        "ops.expand_dims(Tensor([1.0]), 1.5)",
        TypeError,
        "expand_dims: 'axis' must be an int, got float",
    ),
    (
        "ops.transpose(Tensor(np.ones((2, 3), np.float32)), (0, 0))",
        ValueError,
        "transpose: input_perm must name each of the 2 axes once, got [0, 0] (got "
        "input float32[2, 3])",
    ),
    (
        "nn.Dense(3)",
        TypeError,
        "Dense: argument 'out_channels' is missing: Dense(in_channels, out_channels, "
        'weight_init="normal", bias_init="zeros", has_bias=True, activation=None)',
    ),
    (
        "nn.Dense(3, 0)",
        ValueError,
        "Dense: 'out_channels' must be positive, got 0",
    ),
    (
        "nn.Dense(3, 4, bias=True)",
        TypeError,
        "Dense: there is no argument 'bias': Dense(in_channels, out_channels, "
        'weight_init="normal", bias_init="zeros", has_bias=True, activation=None)',
    ),
    (
        'nn.Dense(3, 4, weigth_init="ones")',
        TypeError,
        "Dense: there is no argument 'weigth_init': Dense(in_channels, out_channels, "
        'weight_init="normal", bias_init="zeros", has_bias=True, activation=None)\n'
        "  Did you mean 'weight_init'?",
    ),
    (
        'nn.Dense(3, 4, weight_init="He")',
        ValueError,
        "Dense: 'weight_init': there is no initializer 'He'",
    ),
    (
        "nn.Dens(3, 4)",
        AttributeError,
        "mycel.nn has no 'Dens'\n  Did you mean 'Dense'?",
    ),
    (
        "nn.Dense(3, 4)(Tensor(np.ones((2, 5), np.float32)))",
        ValueError,
        "dense: the last dim is 5, the weight [out, in] takes 3 (got input float32[2, "
        "5], weight float32[4, 3], bias float32[4])\n"
        "  Give the layer in_channels=5, or flatten or reshape its input to [..., 3].",
    ),
    (
        "nn.Dense(3, 4)()",
        TypeError,
        "Dense: takes 1 tensors, got 0",
    ),
    (
        "nn.Conv2d(1, 6, 3, padding=1)",
        ValueError,
        "Conv2d: 'padding' [1] needs pad_mode 'pad', got 'same'",
    ),
    (
        'nn.Conv2d(1, 6, 3, pad_mode="sam")',
        ValueError,
        "Conv2d: 'pad_mode' must be one of same, valid, pad, got 'sam'",
    ),
    (
        "nn.Conv2d(3, 4, 3, group=2)",
        ValueError,
        "Conv2d: 'group' 2 must divide 'in_channels' 3 and 'out_channels' 4",
    ),
    (
        "nn.Dropout(1.5)",
        ValueError,
        "Dropout: 'keep_prob' must be in (0, 1], got 1.5",
    ),
    (
        "nn.Embedding(10, 4)(Tensor([10], ms.int32))",
        IndexError,
        "gather: index 10 (element 0 of the indices) is outside [-10, 9]",
    ),
    (
        "Net()(Tensor(np.ones((2, 5), np.float32)))",
        ValueError,
        "In Net.dense (Dense): dense: the last dim is 5, the weight [out, in] takes 3 "
        "(got input float32[2, 5], weight float32[4, 3], bias float32[4])\n"
        "  Give the layer in_channels=5, or flatten or reshape its input to [..., 3].",
    ),
    (
        "NoInit()",
        AttributeError,
        "NoInit: cannot assign 'dense' before Cell.__init__ has run\n"
        "  Call super().__init__() first.",
    ),
    (
        "NoConstruct()(Tensor(1.0))",
        NotImplementedError,
        "NoConstruct: construct is not written",
    ),
    (
        "twice()",
        ValueError,
        "Net: two parameters are named 'dense.weight'\n  Checkpoints need distinct names.",
    ),
    (
        "nn.Adam([])",
        ValueError,
        "Adam: there are no parameters to optimize",
    ),
    (
        "nn.SoftmaxCrossEntropyWithLogits(sparse=True)(Tensor([[1.0, 2.0]]), Tensor([2], ms.int32))",  # noqa: E501
        ValueError,
        "sparse_softmax_cross_entropy: label 2 at position 0 is outside [0, 2)\n"
        "  Labels count from 0, and the network gives 2 scores: it needs one for each "
        "class.",
    ),
    (
        "nn.SoftmaxCrossEntropyWithLogits(sparse=True)(Tensor([[1.0, 2.0]]), Tensor([0.0]))",
        TypeError,
        "sparse_softmax_cross_entropy: 'labels' must be int32 or int64 (got logits "
        "float32[1, 2], labels float32[1])",
    ),
    (
        "nn.SoftmaxCrossEntropyWithLogits(sparse=True)(Tensor([[1.0, 2.0]]), Tensor([0, 1], ms.int32))",  # noqa: E501
        ValueError,
        "sparse_softmax_cross_entropy: the labels must have shape (1,) (got logits "
        "float32[1, 2], labels int32[2])",
    ),
    (
        'nn.SoftmaxCrossEntropyWithLogits(reduction="avg")',
        ValueError,
        "SoftmaxCrossEntropyWithLogits: 'reduction' must be one of none, mean, sum, got 'avg'",
    ),
    (
        "nn.SequentialCell(3)",
        TypeError,
        "SequentialCell: a Cell was expected, got int",
    ),
    (
        "nn.WithLossCell(lambda x: x, nn.MSELoss())",
        TypeError,
        "WithLossCell: 'backbone' must be a Cell, got function",
    ),
    (
        'nn.TrainOneStepCell(Net(), "adam")',
        TypeError,
        "TrainOneStepCell: 'optimizer' must be an Optimizer, got 'adam'",
    ),
    (
        'nn.Accuracy("clasification")',
        ValueError,
        "Accuracy: 'eval_type' must be one of classification, multilabel, got 'clasification'",
    ),
    (
        "nn.Accuracy().eval()",
        RuntimeError,
        "Accuracy: no batch has been added: there is no value",
    ),
    (
        'ms.Parameter("a")',
        TypeError,
        "Tensor: str cannot become a tensor\n"
        "  Allowed: numbers, nested lists or tuples of numbers, NumPy arrays, tensors.",
    ),
    (
        "ms.Parameter(Tensor([1.0, 2.0])).set_data(Tensor([1.0]))",
        ValueError,
        "Parameter 'Parameter' is float32(2,); float32(1,) cannot be assigned to it\n"
        "  Use set_data(value, slice_shape=True) to change the shape, .astype to "
        "change the dtype.",
    ),
    (
        'ms.set_context(mode="GRAPH")',
        ValueError,
        "set_context: 'mode' must be GRAPH_MODE (0) or PYNATIVE_MODE (1), got 'GRAPH'",
    ),
    (
        'ms.set_context(devise_target="CPU")',
        ValueError,
        "set_context: unknown option 'devise_target'\n  Did you mean 'device_target'?",
    ),
    (
        'ms.set_context(device_target="GPU")',
        ValueError,
        "set_context: 'device_target' must be 'CPU', got 'GPU'\n"
        "  This build runs on CPUs; leave device_target out, or set it to 'CPU'.",
    ),
    (
        "ms.set_seed(-1)",
        ValueError,
        "set_seed: 'seed' must be in [0, 2**64), got -1",
    ),
    (
        "ms.grad(lambda x: x, 3)(Tensor(1.0))",
        ValueError,
        "grad: grad_position 3 is out of range; <lambda> was given 1 arguments",
    ),
    (
        'initializer("norml", (2, 3))',
        ValueError,
        "there is no initializer 'norml'\n  Did you mean 'Normal'?",
    ),
    (
        "Net().conv",
        AttributeError,
        "'Net' object has no attribute 'conv'",
    ),
    (
        'Net().set_train("yes")',
        TypeError,
        "set_train: 'mode' must be True or False, got 'yes'",
    ),
    (
        "nn.Conv2d(4, 8, 3)(Tensor(np.ones((2, 3, 8, 8), np.float32)))",
        ValueError,
        "conv2d: the input has 3 channels, the weight (8, 4, 3, 3) takes 4 in 1 group "
        "(got input float32[2, 3, 8, 8], weight float32[8, 4, 3, 3])\n"
        "  Give the layer in_channels=3, or an input whose channels are dim 1.",
    ),
    (
        "nn.MaxPool2d(9, 1)(Tensor(np.ones((2, 3, 8, 8), np.float32)))",
        ValueError,
        "max_pool2d: the window does not fit: kernel_size 9 over 8 positions (got x "
        "float32[2, 3, 8, 8])\n"
        "  Take a smaller kernel_size, or pad_mode='same'.",
    ),
    (
        "nn.BatchNorm2d(5)(Tensor(np.ones((2, 3, 8, 8), np.float32)))",
        ValueError,
        "BatchNorm2d: x must have 5 channels, got float32(2, 3, 8, 8)\n"
        "  Give the layer num_features=3.",
    ),
    (
        "nn.BatchNorm2d(3)(Tensor(np.ones((3, 8, 8), np.float32)))",
        ValueError,
        "BatchNorm2d: x must have 4 dims, got float32(3, 8, 8)",
    ),
    (
        "nn.LayerNorm((4,))(Tensor(np.ones((2, 3), np.float32)))",
        ValueError,
        "layer_norm: 'gamma' must have shape (3,) (got input_x float32[2, 3], gamma "
        "float32[4], beta float32[4])",
    ),
    (
        'nn.Dense(3, 4, activation="reluu")',
        ValueError,
        "Dense: 'activation': there is no activation 'reluu'\n  Did you mean 'relu'?",
    ),
    (
        "ops.Relu()",
        AttributeError,
        "mycel.ops has no 'Relu'\n  Did you mean 'relu'?",
    ),
    (
        "ms.Modle",
        AttributeError,
        "mycel has no 'Modle'\n  Did you mean 'Model'?",
    ),
    (
        "nn.Adam(Net())",
        TypeError,
        "Adam: 'params' must be Parameters or groups of them, got Net",
    ),
    (
        "nn.Adam(Net().trainable_params(), lr=0.1)",
        TypeError,
        "Adam: there is no argument 'lr': Adam(learning_rate=0.001, beta1=0.9, "
        "beta2=0.999, eps=1e-08, use_locking=False, use_nesterov=False, "
        "weight_decay=0.0, loss_scale=1.0, use_amsgrad=False)",
    ),
    (
        "nn.Adam(Net().trainable_params(), learning_rate=-1.0)",
        ValueError,
        "Adam: 'learning_rate' must not be negative, got -1",
    ),
    (
        "nn.Adam(Net().trainable_params())((Tensor(1.0),))",
        ValueError,
        "Adam: 1 gradients given for 2 parameters",
    ),
    (
        "nn.SGD(Net().trainable_params(), momentum=-0.1)",
        ValueError,
        "SGD: 'momentum' must not be negative, got -0.1",
    ),
    (
        "ms.Model(Net(), nn.MSELoss()).train(1, DATA)",
        RuntimeError,
        "Model.train: there is no optimizer",
    ),
    (
        "ms.Model(Net(), nn.MSELoss(), nn.SGD(Net().trainable_params())).train(0, DATA)",
        ValueError,
        "Model.train: 'epoch' must be at least 1, got 0",
    ),
    (
        "ms.Model(Net(), nn.MSELoss(), nn.SGD(Net().trainable_params())).train(1, [1, 2])",
        TypeError,
        "Model.train: a dataset was expected, got list",
    ),
    (
        "ms.Model(Net(), nn.MSELoss()).eval(DATA)",
        ValueError,
        "Model.eval: there are no metrics; give them to Model",
    ),
    (
        "diverge()",
        ValueError,
        "epoch: 1 step: 2: the loss is inf; training stops\n"
        "  Try a smaller learning rate or clipped gradients; look for log(0) or x / 0.",
    ),
    (
        "ms.dataset.NumpySlicesDataset(np.zeros((0, 3), np.float32))",
        ValueError,
        "dataset: there are no rows in columns column_0",
    ),
    (
        'ms.dataset.NumpySlicesDataset({"a": [1, 2], "b": [1]})',
        ValueError,
        "dataset: column 'b' has 1 rows, 'a' has 2",
    ),
    (
        "DATA.batch(0)",
        ValueError,
        "batch: 'batch_size' must be at least 1, got 0",
    ),
    (
        "ops.softmax(X, axis=5)",
        ValueError,
        "softmax: axis 5 is outside [-2, 1] for 2 dims",
    ),
    (
        "ops.transpose(X, (0, 0))",
        ValueError,
        "transpose: input_perm must name each of the 2 axes once, got [0, 0] (got input "
        "float32[2, 3])",
    ),
    (
        "ops.one_hot(X, 3, 1, 0)",
        TypeError,
        "one_hot: 'indices' must be an integer dtype (got indices float32[2, 3], "
        "on_value float32[], off_value float32[])",
    ),
    (
        "ops.reduce_sum(X, 2)",
        ValueError,
        "reduce_sum: axis 2 is outside [-2, 1] for 2 dims",
    ),
    (
        "X[5]",
        IndexError,
        "indexing: position 5 is outside dim 0 of float32(2, 3)",
    ),
    (
        "X[0, 0, 0]",
        IndexError,
        "indexing: float32(2, 3) has 2 dims, 3 indices given",
    ),
    (
        "bool(X)",
        ValueError,
        "bool(): float32(2, 3) has 6 elements; exactly 1 is needed\n  Use .all() or .any().",
    ),
    (
        "Tensor([[1, 2], [3]])",
        ValueError,
        "Tensor: the nested sequence is ragged: its first parts say shape (2, 2)\n"
        "  Every inner sequence must have the same length.",
    ),
    (
        "float(X)",
        ValueError,
        "float(): float32(2, 3) has 6 elements; exactly 1 is needed",
    ),
]

# The same for files: FOLDER is the folder of the test.
FILE_MISTAKES = [
    (
        'ms.export(3, file_name=FOLDER + "/net")',
        TypeError,
        "export: 'net' must be a Cell, got int",
    ),
    (
        'ms.export(Net(), X, file_name=FOLDER + "/net", file_format="AIR")',
        NotImplementedError,
        "export: the format 'AIR' is not supported; allowed: 'MINDIR', 'ONNX'",
    ),
    (
        'ms.export(Net(), X, file_name=FOLDER + "/net", file_format="MINDR")',
        ValueError,
        "export: 'file_format' must be 'MINDIR' or 'ONNX', got 'MINDR'",
    ),
    (
        'ms.export(Net(), X, file_name=FOLDER + "/net", fileformat="MINDIR")',
        TypeError,
        "export: there is no option 'fileformat'",
    ),
    (
        'ms.export(Net(), X.asnumpy(), file_name=FOLDER + "/net")',
        TypeError,
        "export: input 0 must be a Tensor, got ndarray",
    ),
    (
        'ms.load(FOLDER + "/weights.safetensors")',
        ValueError,
        "'FOLDER/weights.safetensors': this is no exported network\n"
        "  Networks are written by mycel.export; checkpoints are read by load_checkpoint.",
    ),
    (
        'ms.load(FOLDER + "/net.mindir")(Tensor(np.ones((5, 3), np.float32)))',
        ValueError,
        "'FOLDER/net.mindir': input 'input0' is float32(5, 3); it was exported for float32[2, 3]\n"
        "  Export again with an input of this shape, or with None for the dims that vary.",
    ),
    (
        'ms.load(FOLDER + "/net.mindir")()',
        ValueError,
        "'FOLDER/net.mindir': 0 inputs given, 1 expected",
    ),
]


def plain(error):
    """The text without the lines that show where."""
    kept, where = [], False
    for line in str(error).splitlines():
        if line.lstrip().startswith("At "):
            where = True
        elif not (where and (line.startswith("    ") or set(line.strip()) <= set("^~"))):
            where = False
            kept.append(line)
    return "\n".join(kept)


def check(typed, kind, text, names):
    with pytest.raises(kind) as e:
        eval(typed, names)  # noqa: S307
    assert type(e.value) is kind
    assert len(str(e.value).splitlines()) <= 8
    return plain(e.value), text


@pytest.mark.parametrize("typed, kind, text", MISTAKES, ids=[m[0] for m in MISTAKES])
def test_mistake(typed, kind, text):
    got, want = check(typed, kind, text, dict(NAMES))
    assert got == want


@pytest.mark.parametrize("typed, kind, text", FILE_MISTAKES, ids=[m[0] for m in FILE_MISTAKES])
def test_mistake_with_a_file(typed, kind, text, tmp_path):
    folder = str(tmp_path)
    save_tensors(folder + "/weights.safetensors", {"w": X})
    ms.export(Net(), X, file_name=folder + "/net")
    got, want = check(typed, kind, text, NAMES | {"FOLDER": folder, "X": X})
    assert got.replace(folder, "FOLDER") == want


@pytest.mark.parametrize("name", ["missing.mindir", "none/net.mindir"])
def test_a_file_that_is_not_there_is_named(name, tmp_path):
    with pytest.raises(OSError, match=name):
        ms.load(str(tmp_path / name))


def test_a_truncated_file_is_named(tmp_path):
    path = ms.export(Net(), X, file_name=str(tmp_path / "net"))
    os.truncate(path, os.path.getsize(path) // 2)
    with pytest.raises(ValueError, match="net.mindir"):
        ms.load(path)


def test_an_exported_network_gives_the_same_bits(tmp_path):
    net = Net()
    path = ms.export(net, X, file_name=str(tmp_path / "net"))
    assert ms.load(path)(X).asnumpy().tobytes() == net(X).asnumpy().tobytes()
    assert nn.GraphCell(ms.load(path))(X).asnumpy().tobytes() == net(X).asnumpy().tobytes()
