"""Writes tests/python/data/op_reference.npz: what a peer with the published API computes for the
cases of tests/python/op_form_cases.py. Run it in an environment where `mindspore` is installed
(2.0.0 was used); nothing else needs the peer. A case that the peer cannot run on its CPU is left
out, with a line on standard output.
"""

import sys
from importlib import import_module
from pathlib import Path

import mindspore as ms
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
import op_form_cases as cases  # noqa: E402

_MODULES = [
    import_module(f"mindspore.ops.operations.{name}_ops")
    for name in ("nn", "math", "array", "image", "random", "sparse", "other")
]


class _Anywhere:
    """mindspore.ops with the classes of its inner modules."""

    def __getattr__(self, name):
        for module in (ms.ops, *_MODULES):
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(name)


def flat(value):
    if isinstance(value, (tuple, list)):
        return [x for item in value for x in flat(item)]
    return [value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)]


def main():
    ms.set_context(device_target="CPU", mode=ms.PYNATIVE_MODE)
    cases.ops = _Anywhere()
    found, left_out = {}, 0
    for name, (fn, *arrays) in cases.CASES.items():
        arrays = [a.array if isinstance(a, cases.F) else a for a in arrays]
        try:
            for i, y in enumerate(flat(fn(*(ms.Tensor(a) for a in arrays)))):
                found[f"{name}/{i}"] = y
        except Exception as error:  # noqa: BLE001
            left_out += 1
            text = " ".join(str(error).split())
            print(f"left out: {name}: {text[:150]}")
    path = ROOT / "tests" / "python" / "data" / "op_reference.npz"
    np.savez_compressed(path, **found)
    print(f"{len(found)} arrays, {left_out} cases left out, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
