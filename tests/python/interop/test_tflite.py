"""TFLite files: one operator at a time against what the published reference kernels gave
(tools/make_tflite_golden.py), integers bit for bit; whole networks against the kernels themselves
where the package ai-edge-litert is installed."""

import pathlib

import mycel as ms
import mycel.tflite
import numpy as np
import pytest
from mycel import Tensor

ROOT = pathlib.Path(__file__).resolve().parents[3]
CASES = np.load(ROOT / "tests" / "data" / "tflite_cases.npz")
NAMES = sorted({key.split("/")[0] for key in CASES.files})
TINY = ROOT.parent / "shared" / "data" / "tinyml"


def case(name):
    def listed(kind):
        found, i = [], 0
        while f"{name}/{kind}{i}" in CASES:
            found.append(CASES[f"{name}/{kind}{i}"])
            i += 1
        return found

    return CASES[f"{name}/model"].tobytes(), listed("in"), listed("out")


def check(got, want):
    got = got.asnumpy()
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * max(1, np.abs(want).max()))
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", NAMES)
def test_operator(name):
    model, inputs, wanted = case(name)
    net = mycel.tflite.load(model)
    results = net._network.run([Tensor(v) for v in inputs])
    assert len(results) == len(wanted)
    for got, want in zip(results, wanted):
        check(got, want)


def reference(path, inputs):
    litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is missing")
    it = litert.Interpreter(
        model_path=str(path),
        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF,
        num_threads=1,
    )
    it.allocate_tensors()
    for x in inputs:
        it.set_tensor(it.get_input_details()[0]["index"], x)
        it.invoke()
        yield it.get_tensor(it.get_output_details()[0]["index"])


@pytest.mark.ci
@pytest.mark.parametrize("name", ["kws_ref_model", "pretrainedResnet_quant"])
def test_networks_of_integers_bit_for_bit(name):
    path = TINY / f"{name}.tflite"
    if not path.exists():
        pytest.skip("the MLPerf Tiny networks are not beside the repository")
    net = mycel.tflite.load(path)
    shape = [int(d.replace("?", "1")) for d in net.inputs[0][1][5:-1].split(",")]
    rng = np.random.default_rng(3)
    inputs = rng.integers(-128, 127, (300, *shape), np.int8, endpoint=True)
    for x, want in zip(inputs, reference(path, inputs)):
        np.testing.assert_array_equal(net(Tensor(x)).asnumpy(), want)


@pytest.mark.ci
def test_a_network_of_floats():
    path = TINY / "pretrainedResnet.tflite"
    if not path.exists():
        pytest.skip("the MLPerf Tiny networks are not beside the repository")
    net = mycel.tflite.load(path)
    inputs = np.random.default_rng(3).standard_normal((5, 1, 32, 32, 3)).astype(np.float32)
    for x, want in zip(inputs, reference(path, inputs)):
        np.testing.assert_allclose(net(Tensor(x)).asnumpy(), want, rtol=1e-5, atol=1e-5)


def test_what_inputs_stand_for():
    model, _, _ = case("add_int8")
    inputs, outputs = mycel.tflite.load(model).quantization
    assert inputs["t0"] == (pytest.approx(0.11), 3)
    assert outputs["t2"] == (pytest.approx(0.13), 9)


def test_weights_train():
    model, inputs, _ = case("conv_same")
    net = mycel.tflite.load(model)
    assert [p.shape for p in net.trainable_params()] == [(4, 3, 2, 3), (4,)]
    grads = ms.grad(lambda x: net(x).sum(), None, net.trainable_params())(Tensor(inputs[0]))
    assert all(np.abs(g.asnumpy()).max() > 0 for g in grads)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda b: b[:3], "TFL3 does not stand at byte 4"),
        (lambda b: b[:4] + b"XXXX" + b[8:], "TFL3 does not stand at byte 4"),
        (lambda b: b[:200], "damaged: "),
    ],
)
def test_damaged_files_are_refused(damage, message):
    model, _, _ = case("conv_same")
    with pytest.raises(ValueError, match=message):
        mycel.tflite.load(damage(model))


def test_every_cut_is_refused():
    model, _, _ = case("add")
    for n in range(len(model)):
        with pytest.raises(ValueError, match="TFLite"):
            mycel.tflite.load(model[:n])


def test_inputs_are_checked():
    model, inputs, _ = case("add")
    net = mycel.tflite.load(model)
    with pytest.raises(ValueError, match="input 't0' is .*; the model takes float32"):
        net._network.run([Tensor(inputs[0].astype(np.int32)), Tensor(inputs[1])])
