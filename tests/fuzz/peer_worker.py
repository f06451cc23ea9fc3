"""Runs calls of ops with a library under the published API: lines of JSON in, lines of JSON out.
Started by compare_ops.py with the Python that has the library."""

import importlib
import json
import os
import sys

import numpy as np


def array(spec):
    """A NumPy array out of {"dtype", "shape", "data"}."""
    return np.frombuffer(bytes.fromhex(spec["data"]), spec["dtype"]).reshape(spec["shape"])


class Peer:
    """A library under the published API."""

    def __init__(self, name):
        self.ms = importlib.import_module(name)

    def value(self, v):
        """An argument: arrays become tensors."""
        if isinstance(v, dict):
            if "data" not in v:
                return getattr(self.ms, "bool_" if v["dtype"] == "bool" else v["dtype"])
            return self.ms.Tensor(array(v).copy())
        if isinstance(v, list):
            return tuple(map(self.value, v))
        return v

    def results(self, out):
        """The tensors of a result, as JSON."""
        if isinstance(out, (tuple, list)):
            return [r for item in out for r in self.results(item)]
        if not isinstance(out, self.ms.Tensor):
            out = self.ms.Tensor(out)
        a = out.asnumpy()
        return [{"dtype": str(a.dtype), "shape": list(a.shape), "data": a.tobytes().hex()}]

    def run(self, call):
        """{"results"} or {"error", "text"} of {"name", "class", "made", "args", "kwargs"}."""
        try:
            f = getattr(self.ms.ops, call["name"])
            if call["class"]:
                f = f(**{k: self.value(v) for k, v in call["made"].items()})
            args = [self.value(v) for v in call["args"]]
            kwargs = {k: self.value(v) for k, v in call["kwargs"].items()}
            return {"results": self.results(f(*args, **kwargs))}
        except Exception as e:  # noqa: BLE001  whatever it is, it is the answer
            return {"error": type(e).__name__, "text": str(e)[:300]}


def main():
    # What the peer prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    peer = Peer(sys.argv[1])
    for line in sys.stdin:
        answers.write(json.dumps(peer.run(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
