"""Layers, losses, optimizers and learning rates against what a peer computed (see nn_cases.py).

Tolerances: both sides are float32 with other orders of summation and other polynomials for exp,
tanh and erf; 1e-4 relative with 2e-5 absolute covers a few hundred roundings of 6e-8 and shows any
wrong formula.
"""

from pathlib import Path

import mycel as ms
import nn_cases as cases
import numpy as np
import pytest
from mycel import Tensor, nn, ops

REFERENCE = np.load(Path(__file__).parent / "data" / "nn_reference.npz")
GROUPS = {"layer": cases.LAYERS, "loss": cases.LOSSES}


def stored(prefix):
    return {k[len(prefix) :]: REFERENCE[k] for k in REFERENCE.files if k.startswith(prefix)}


def close(got, want, what):
    # Small elements of a sum of large ones carry the rounding of the large ones.
    size = np.abs(want, where=np.isfinite(want), out=np.zeros(want.shape)).max(initial=1)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-4, atol=2e-5 * size, err_msg=what)


def label(table):
    return [f"{i}-{case[0]}" for i, case in enumerate(table)]


def gradients(net, tensors, seeds):
    def total(*inputs):
        out = net(*inputs)
        out = out if isinstance(out, tuple) else (out,)
        return sum((y * Tensor(s)).sum() for y, s in zip(out, seeds))

    weights = net.trainable_params()
    places = tuple(i for i, t in enumerate(tensors) if t.dtype == ms.float32)
    if not weights:
        return ops.grad(total, places)(*tensors), ()
    if not places:
        return (), ops.grad(total, None, weights)(*tensors)
    return ops.grad(total, places, weights)(*tensors)


# The peer's SeLU gradient on its CPU is no derivative of its SeLU (see test_selu_gradient).
# Its CTCLoss gives the gradient that a log_softmax before it would pass on, not its own.
NO_GRADIENT = {"SeLU", "CTCLoss"}


def check_gradients(net, tensors, want, rng, outs):
    seeds = [rng.normal(size=y.shape).astype(np.float32) for y in outs]
    if not any(k.startswith(("dx/", "dp/")) for k in want):
        return
    by_input, by_weight = gradients(net, tensors, seeds)
    places = [i for i, t in enumerate(tensors) if t.dtype == ms.float32]
    for i, g in zip(places, by_input):
        # Labels have no gradient in the peer; here they have the mathematical one.
        label_of_loss = isinstance(net, nn.LossBase) and i > 0 and not want.get(f"dx/{i}", 0).any()
        if f"dx/{i}" in want and not label_of_loss:
            close(g.asnumpy(), want[f"dx/{i}"], f"gradient of input {i}")
    names = [n for n, p in net.parameters_and_names() if p.requires_grad]
    for name, g in zip(names, by_weight):
        close(g.asnumpy(), want[f"dp/{name}"], f"gradient of {name}")


def unbiased(net, path, want, first, x):
    """The peer's state, with the batch's variance made unbiased: moving_variance takes n / (n - 1)
    times the variance here, as Ioffe and Szegedy (2015, algorithm 2) have it; the peer's CPU kernel
    leaves the factor out."""
    state = want[f"state/{path}"]
    if path != "moving_variance" or np.array_equal(state, first[path]):
        return state
    n = x.size // x.shape[1]
    batch = (state - net.momentum * first[path]) / (1 - net.momentum)
    return net.momentum * first[path] + (1 - net.momentum) * batch * n / (n - 1)


def run(group, number):
    name, args, kwargs, inputs, training = GROUPS[group][number]
    want = stored(f"{group}/{number}/")
    if not want:
        pytest.skip("the peer has no CPU kernel for this case")
    rng = np.random.default_rng(number)
    arrays = [cases.draw(spec, rng) for spec in inputs]
    net = getattr(nn, name)(*args, **kwargs)
    net.set_train(training)
    first = {}
    for path, p in net.parameters_and_names():
        assert tuple(want[f"shape/{path}"]) == p.shape, path
        first[path] = cases.parameter_value(path, p.shape, rng)
        p.set_data(Tensor(first[path]))
    tensors = [Tensor(a) for a in arrays]
    out = net(*tensors)
    outs = out if isinstance(out, tuple) else (out,)
    for i, y in enumerate(outs):
        close(y.asnumpy(), want[f"out/{i}"], f"result {i}")
    for path, p in net.parameters_and_names():
        if f"state/{path}" in want:
            close(p.asnumpy(), unbiased(net, path, want, first, arrays[0]), path)
    if name not in NO_GRADIENT:
        check_gradients(net, tensors, want, rng, outs)


@pytest.mark.parametrize("number", range(len(cases.LAYERS)), ids=label(cases.LAYERS))
def test_layer(number):
    run("layer", number)


@pytest.mark.parametrize("number", range(len(cases.LOSSES)), ids=label(cases.LOSSES))
def test_loss(number):
    run("loss", number)


@pytest.mark.parametrize("number", range(len(cases.OPTIMIZERS)), ids=label(cases.OPTIMIZERS))
def test_optimizer(number):
    name, kwargs = cases.OPTIMIZERS[number]
    want = stored(f"optimizer/{number}/")
    # The peer's CPU kernels leave Nesterov's term out of Momentum, and miss FTRL's formula by up to
    # 4 % in single elements: test_nn_train.py has the formulas of both.
    if not want or name == "FTRL" or (name == "Momentum" and kwargs.get("use_nesterov")):
        pytest.skip("the peer has no right CPU kernel for this case")
    rng = np.random.default_rng(number)
    params = [
        ms.Parameter(Tensor(rng.normal(size=s).astype(np.float32)), name=n)
        for n, s in cases.PARAMETERS
    ]
    optimizer = getattr(nn, name)(params, **kwargs)
    for step in range(cases.STEPS):
        grads = tuple(Tensor(rng.normal(size=s).astype(np.float32)) for _, s in cases.PARAMETERS)
        optimizer(grads)
        for (n, _), p in zip(cases.PARAMETERS, params):
            close(p.asnumpy(), want[f"{step}/{n}"], f"step {step}, {n}")


@pytest.mark.parametrize("number", range(len(cases.SCHEDULES)), ids=label(cases.SCHEDULES))
def test_schedule(number):
    name, args, kwargs = cases.SCHEDULES[number]
    cell = getattr(nn, name)(*args, **kwargs)
    rates = [float(cell(Tensor([s], ms.int32)).asnumpy().reshape(())) for s in range(10)]
    np.testing.assert_allclose(rates, REFERENCE[f"schedule/{number}"], rtol=1e-5)


@pytest.mark.parametrize("number", range(len(cases.LR_FUNCTIONS)), ids=label(cases.LR_FUNCTIONS))
def test_lr_function(number):
    name, args = cases.LR_FUNCTIONS[number]
    np.testing.assert_allclose(getattr(nn, name)(*args), REFERENCE[f"lr/{number}"], rtol=1e-12)


def test_selu_gradient():
    x = np.array([-2, -0.5, 0.3, 2], np.float32)
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    g = ops.grad(lambda t: nn.SeLU()(t).sum())(Tensor(x)).asnumpy()
    np.testing.assert_allclose(g, np.where(x > 0, scale, scale * alpha * np.exp(x)), rtol=1e-6)
