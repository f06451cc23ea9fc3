"""Frozen TensorFlow graphs against what TensorFlow gave (tools/make_tensorflow_golden.py)."""

import pathlib
import subprocess
import sys

import mycel.tensorflow
import numpy as np
import pytest
from mycel import Tensor

CASES = np.load(
    pathlib.Path(__file__).resolve().parents[3] / "tests" / "data" / "tensorflow_cases.npz"
)
NAMES = sorted({key.split("/")[0] for key in CASES.files})


def load(name):
    inputs, outputs = (str(v).split(",") for v in CASES[f"{name}/names"])
    return mycel.tensorflow.load(CASES[f"{name}/graph"].tobytes(), inputs, outputs)


def arrays(name, kind):
    found = []
    while f"{name}/{kind}{len(found)}" in CASES:
        found.append(CASES[f"{name}/{kind}{len(found)}"])
    return found


@pytest.mark.parametrize("name", NAMES)
def test_graph(name):
    net = load(name)
    results = net._network.run([Tensor(v) for v in arrays(name, "in")])
    wanted = arrays(name, "out")
    assert len(results) == len(wanted)
    for got, want in zip(results, wanted):
        got = got.asnumpy()
        assert got.shape == want.shape
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5)


def test_weights_train():
    import mycel as ms

    net = load("separable_network")
    x = Tensor(arrays("separable_network", "in")[0])
    grads = ms.grad(lambda x: net(x)[:, 0].sum(), None, net.trainable_params())(x)
    assert len(grads) > 5
    assert all(np.isfinite(g.asnumpy()).all() for g in grads)


def test_graphs_may_be_cut():
    graph = CASES["MatMul/graph"].tobytes()
    with pytest.raises(ValueError, match="there is no node 'nowhere'"):
        mycel.tensorflow.load(graph, outputs="nowhere")


def test_damage_names_the_byte():
    graph = CASES["separable_network/graph"].tobytes()
    with pytest.raises(ValueError, match="TensorFlow: damaged at byte"):
        mycel.tensorflow.load(b"\x0a\xff\xff\xff\x7f" + graph)


def test_the_page_is_up_to_date():
    root = pathlib.Path(__file__).resolve().parents[3]
    page = root / "tools" / "tensorflow_page.py"
    checked = subprocess.run(
        [sys.executable, page, "--check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
