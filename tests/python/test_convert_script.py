"""`mycel convert --to script`: a readable network with the same numbers that trains at once."""

import importlib.util
import json
import pathlib
import subprocess
import sys

import mycel as ms
import numpy as np
import pytest
from mycel import Tensor, nn, ops

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

GOLDEN = pathlib.Path(__file__).parent / "data" / "script_golden.py.txt"


@pytest.fixture(scope="module")
def program():
    path = pathlib.Path(ms.__file__).parents[2] / "bin" / "mycel"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return str(path)


def convert(program, model, out):
    done = subprocess.run(
        [program, "convert", str(model), "--to", "script", "-o", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done


def imported(folder, stem):
    spec = importlib.util.spec_from_file_location(f"converted_{stem}", folder / f"{stem}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Builder:
    """An ONNX graph, node by node."""

    def __init__(self):
        self.nodes, self.weights, self.draw = [], [], np.random.default_rng(0)

    def weight(self, name, *shape, low=None):
        value = self.draw.standard_normal(shape) * 0.3
        if low is not None:
            value = low + np.abs(value)
        self.weights.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name

    def ints(self, name, values):
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def op(self, kind, inputs, name, **attrs):
        out = f"out{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [out], name=name, **attrs))
        return out

    def conv_bn(self, x, path, inputs, outputs, stride=1):
        conv, bn = f"{path}.conv", f"{path}.bn"
        at = f"/{path.replace('.', '/')}"
        w = self.weight(f"{conv}.weight", outputs, inputs, 3, 3)
        x = self.op(
            "Conv", [x, w], f"{at}/conv/Conv", strides=[stride] * 2, pads=[1] * 4,
            kernel_shape=[3, 3],
        )  # fmt: skip
        parts = [
            self.weight(f"{bn}.weight", outputs, low=0.5),
            self.weight(f"{bn}.bias", outputs),
            self.weight(f"{bn}.running_mean", outputs),
            self.weight(f"{bn}.running_var", outputs, low=0.5),
        ]
        return self.op("BatchNormalization", [x, *parts], f"{at}/bn/BatchNormalization")

    def save(self, path, x, y, shape, result):
        graph = helper.make_graph(
            self.nodes,
            "net",
            [helper.make_tensor_value_info(x, TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(y, TensorProto.FLOAT, result)],
            self.weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
        model.ir_version = 9
        onnx.checker.check_model(model)
        onnx.save(model, path)


@pytest.fixture(scope="module")
def residual(tmp_path_factory):
    """Two stages of residual blocks; those of a stage differ in their widths."""
    b = Builder()
    x = b.op("Relu", [b.conv_bn("images", "stem", 3, 8)], "/stem/relu/Relu")
    for stage, width in enumerate((8, 16)):
        if stage:
            x = b.op("Relu", [b.conv_bn(x, f"down{stage}", 8, 16, 2)], f"/down{stage}/relu/Relu")
        for i in range(2):
            path = f"stage{stage}.{i}"
            at = f"/stage{stage}/{i}"
            y = b.conv_bn(x, f"{path}.first", width, width)
            y = b.op("Relu", [y], f"{at}/relu/Relu")
            y = b.conv_bn(y, f"{path}.second", width, width)
            x = b.op("Relu", [b.op("Add", [y, x], f"{at}/Add")], f"{at}/relu/Relu_1")
    x = b.op("GlobalAveragePool", [x], "/pool/GlobalAveragePool")
    x = b.op("Flatten", [x], "/Flatten")
    w, bias = b.weight("head.weight", 5, 16), b.weight("head.bias", 5)
    x = b.op("Gemm", [x, w, bias], "/head/Gemm", transB=1)
    path = tmp_path_factory.mktemp("residual") / "small_resnet.onnx"
    b.save(path, "images", x, ["batch", 3, 12, 12], ["batch", 5])
    return path


def test_the_listing_is_readable(program, residual, tmp_path):
    done = convert(program, residual, tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "small_resnet.py").read_text()
    assert text == GOLDEN.read_text()
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["converted"] and report["coverage_percent"] == 100
    assert report["instances"] and report["internal"] == []
    assert any("batch statistics in training mode" in n for n in report["notes"])
    assert "Open: batch may be anything." in report["notes"]
    assert "small_resnet.onnx" in (tmp_path / "report.md").read_text()


def losses(net, x):
    class Loss(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = net

        def construct(self, x):
            y = self.net(x)
            return ops.reduce_mean(y * y)

    net.set_train(True)
    step = nn.TrainOneStepCell(Loss(), nn.Adam(net.trainable_params(), 1e-2))
    return [float(step(x).asnumpy()) for _ in range(4)]


def test_numbers_are_those_of_onnxruntime_and_training_lowers_the_loss(program, residual, tmp_path):
    assert convert(program, residual, tmp_path).returncode == 0
    net = imported(tmp_path, "small_resnet").load()
    net.set_train(False)
    for batch in (1, 4):
        x = np.random.default_rng(batch).standard_normal((batch, 3, 12, 12)).astype(np.float32)
        (want,) = ort.InferenceSession(str(residual)).run(None, {"images": x})
        np.testing.assert_allclose(net(Tensor(x)).asnumpy(), want, atol=1e-4)
    seen = losses(net, Tensor(x))
    assert seen[-1] < seen[0]


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", weight_init="he_uniform")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", weight_init="he_uniform")
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1 = nn.Dense(256, 120, weight_init="he_uniform")
        self.fc2 = nn.Dense(120, 10, weight_init="he_uniform")

    def construct(self, x):
        x = self.pool(ops.relu(self.conv1(x)))
        x = self.pool(ops.relu(self.conv2(x)))
        x = ops.reshape(x, (x.shape[0], 256))
        return self.fc2(ops.relu(self.fc1(x)))


@pytest.mark.parametrize("suffix", ["onnx", "mindir"])
def test_networks_of_mycel_come_back(program, suffix, tmp_path):
    net = LeNet()
    x = Tensor(np.random.default_rng(0).standard_normal((2, 1, 28, 28)).astype(np.float32))
    kind = {"onnx": "ONNX", "mindir": "MINDIR"}[suffix]
    path = ms.export(net, x, file_name=str(tmp_path / f"lenet.{suffix}"), file_format=kind)
    done = convert(program, path, tmp_path / "script")
    assert done.returncode == 0, done.stderr
    back = imported(tmp_path / "script", "lenet").load()
    np.testing.assert_allclose(back(x).asnumpy(), net(x).asnumpy(), atol=1e-5)
    assert type(back.conv1).__name__ == "Conv2d" and type(back.fc2).__name__ == "Dense"
    seen = losses(back, x)
    assert seen[-1] < seen[0]


@pytest.mark.one_mode("the program of its own runs no Python")
def test_what_has_no_words_is_named(program, tmp_path):
    body = helper.make_graph(
        [helper.make_node("Identity", ["on"], ["on2"]), helper.make_node("Exp", ["v"], ["v2"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [2]),
        ],
        [
            helper.make_tensor_value_info("on2", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v2", TensorProto.FLOAT, [2]),
        ],
    )
    node = helper.make_node("Loop", ["n", "", "x"], ["y"], name="/walk/Loop", body=body)
    graph = helper.make_graph(
        [node],
        "net",
        [
            helper.make_tensor_value_info("n", TensorProto.INT64, []),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    onnx.save(model, tmp_path / "loop.onnx")
    done = convert(program, tmp_path / "loop.onnx", tmp_path / "out")
    assert done.returncode == 1
    assert "Loop /walk/Loop" in done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert not report["converted"] and "/walk/Loop" in report["reason"]
