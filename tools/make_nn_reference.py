"""Writes tests/python/data/nn_reference.npz: what a peer with the published API computes for the
cases of tests/python/nn_cases.py. Run it in an environment where `mindspore` is installed (2.0.0
was used); nothing else needs the peer.

Stored per case: results, gradients of sum(result * seed) with respect to floating-point inputs and
to trainable parameters, and states that the call changed. A case that the peer cannot run on its
CPU is left out, with a line on standard output.
"""

import sys
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Tensor, context, nn, ops

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
import nn_cases as cases  # noqa: E402

context.set_context(mode=context.PYNATIVE_MODE, device_target="CPU")


class Weighted(nn.Cell):
    """sum(result * seed) over the results of a layer."""

    def __init__(self, net, seeds):
        super().__init__(auto_prefix=False)
        self.net = net
        self.seeds = seeds

    def construct(self, *inputs):
        out = self.net(*inputs)
        out = out if isinstance(out, tuple) else (out,)
        total = 0
        for y, seed in zip(out, self.seeds):
            total += (y * seed).sum()
        return total


def run_layer(case, number):
    name, args, kwargs, inputs, training = case
    rng = np.random.default_rng(number)
    arrays = [cases.draw(spec, rng) for spec in inputs]
    net = getattr(nn, name)(*args, **kwargs)
    net.set_train(training)
    found = {}
    parameters = list(net.parameters_and_names())
    for path, p in parameters:
        p.set_data(Tensor(cases.parameter_value(path, p.shape, rng)))
        found[f"shape/{path}"] = np.array(p.shape)
    tensors = [Tensor(a) for a in arrays]
    out = net(*tensors)
    out = out if isinstance(out, tuple) else (out,)
    for i, y in enumerate(out):
        found[f"out/{i}"] = y.asnumpy().copy()
    for path, p in parameters:
        if "moving" in path:
            found[f"state/{path}"] = p.asnumpy().copy()
    try:
        found.update(gradients(net, tensors, out, rng))
    except Exception as error:  # noqa: BLE001
        print(f"no gradient: {case}: {str(error).splitlines()[0]}")
    return found


def gradients(net, tensors, out, rng):
    seeds = [Tensor(rng.normal(size=y.shape).astype(np.float32)) for y in out]
    whole = Weighted(net, seeds)
    found = {}
    weights = ms.ParameterTuple(net.trainable_params())
    if weights:
        by_input, by_weight = ops.GradOperation(get_all=True, get_by_list=True)(whole, weights)(
            *tensors
        )
        for (path, _), g in zip(
            [x for x in net.parameters_and_names() if x[1].requires_grad], by_weight
        ):
            found[f"dp/{path}"] = g.asnumpy().copy()
    else:
        by_input = ops.GradOperation(get_all=True)(whole)(*tensors)
    for i, (t, g) in enumerate(zip(tensors, by_input)):
        if t.dtype == ms.float32:
            found[f"dx/{i}"] = g.asnumpy().copy()
    return found


def run_optimizer(case, number):
    name, kwargs = case
    rng = np.random.default_rng(number)
    params = [
        ms.Parameter(Tensor(rng.normal(size=s).astype(np.float32)), name=n)
        for n, s in cases.PARAMETERS
    ]
    optimizer = getattr(nn, name)(params, **kwargs)
    found = {}
    for step in range(cases.STEPS):
        grads = tuple(Tensor(rng.normal(size=s).astype(np.float32)) for _, s in cases.PARAMETERS)
        optimizer(grads)
        for n, p in zip([n for n, _ in cases.PARAMETERS], params):
            found[f"{step}/{n}"] = p.asnumpy().copy()
    found["names"] = np.array(sorted(p.name for p in optimizer.get_parameters()))
    return found


def main():
    everything, left_out = {}, 0
    groups = [("layer", cases.LAYERS, run_layer), ("loss", cases.LOSSES, run_layer),
              ("optimizer", cases.OPTIMIZERS, run_optimizer)]  # fmt: skip
    for group, table, run in groups:
        for number, case in enumerate(table):
            try:
                for key, value in run(case, number).items():
                    everything[f"{group}/{number}/{key}"] = value
            except Exception as error:  # noqa: BLE001
                left_out += 1
                print(f"left out: {group} {number} {case}: {str(error).splitlines()[0]}")
    for number, (name, args, kwargs) in enumerate(cases.SCHEDULES):
        cell = getattr(nn, name)(*args, **kwargs)
        rates = [cell(Tensor([s], ms.int32)).asnumpy().reshape(()) for s in range(10)]
        everything[f"schedule/{number}"] = np.array(rates)
    for number, (name, args) in enumerate(cases.LR_FUNCTIONS):
        everything[f"lr/{number}"] = np.array(getattr(nn, name)(*args))
    path = ROOT / "tests" / "python" / "data" / "nn_reference.npz"
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, **everything)
    print(f"{len(everything)} arrays, {left_out} cases left out, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
